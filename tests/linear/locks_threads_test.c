/* SPDX-License-Identifier: MIT */
/*
 * Mutexes and reader-writer locks under real threads, by wing_gong.c. An attempt may fail although
 * nobody has the lock, where it is kept for somebody who has waited; so those beside which somebody
 * waited may fail at any time. Where nobody waits, none may.
 */
#include <sched.h>

#include "common/check.h"
#include "common/cmocka_all.h"
#include "linear/rounds.h"

#define ROUNDS   1500
#define THREADS  4
#define SECTIONS 5     /* of a thread in a round */
#define TRIES    14    /* of each of two */
#define SOON     30000 /* ns */

static struct ipcwait_mutex mutex;
static struct ipcwait_rwlock lock;
static unsigned kind;    /* of the mutex */
static bool only_tries;  /* nobody waits */
static unsigned written; /* under the lock, and not atomic */

static bool is_wait(const struct spec *spec, const struct history_op *op)
{
	if (spec->op_names == mutex_names)
		return op->code == MUTEX_LOCK || op->code == MUTEX_LOCK_UNTIL;
	return op->code == RWLOCK_RDLOCK || op->code == RWLOCK_RDLOCK_UNTIL ||
	       op->code == RWLOCK_WRLOCK || op->code == RWLOCK_WRLOCK_UNTIL;
}

static bool overlap(const struct history_op *a, const struct history_op *b)
{
	return a->thread != b->thread && a->call < b->ret && b->call < a->ret;
}

static size_t mark_kept(const struct spec *spec, struct history_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n && ops[i].result < 0; k++)
			if (is_wait(spec, &ops[k]) && overlap(&ops[i], &ops[k]))
				ops[i].arg = LOCK_KEPT;
	return n;
}

static void inside(struct rounds_user *me, bool writes)
{
	unsigned was = written;

	/* Others find it taken. */
	if (rounds_below(me, 3) == 0)
		(void)sched_yield();
	rounds_dawdle(me);
	CHECK(written == was);
	if (writes)
		written = was + 1;
}

static void begin_mutex(unsigned round)
{
	CHECK_EQ(ipcwait_mutex_init(&mutex, rounds_flags(round) | kind), 0);
	rounds_set_preset(&mutex.window, round);
}

static int do_mutex(unsigned code, int64_t deadline_ns)
{
	switch (code) {
	case MUTEX_LOCK:
		return ipcwait_mutex_lock(&mutex);
	case MUTEX_TRYLOCK:
		return ipcwait_mutex_trylock(&mutex);
	case MUTEX_LOCK_UNTIL:
		return ipcwait_mutex_lock_until(&mutex, deadline_ns);
	default:
		return ipcwait_mutex_unlock(&mutex);
	}
}

static int64_t on_mutex(struct rounds_user *me, unsigned code)
{
	int64_t deadline_ns = rounds_deadline(me, SOON);
	struct history_op *op = history_call(&me->part, me->id, code, 0);

	history_return(&me->part, op, do_mutex(code, deadline_ns));
	return op->result;
}

static void use_mutex(struct rounds_user *me)
{
	static const unsigned codes[] = { MUTEX_TRYLOCK, MUTEX_LOCK, MUTEX_LOCK_UNTIL };

	for (unsigned i = 0; i < (only_tries ? TRIES : SECTIONS); i++) {
		unsigned code = codes[only_tries ? 0 : rounds_below(me, 3)];

		rounds_dawdle(me);
		if (on_mutex(me, code) != 0)
			continue;
		inside(me, true);
		/* Who knows its owner says so. */
		if (kind == IPCWAIT_ERRORCHECK && rounds_below(me, 4) == 0)
			(void)on_mutex(me, MUTEX_LOCK);
		(void)on_mutex(me, MUTEX_UNLOCK);
		if (kind == IPCWAIT_ERRORCHECK && rounds_below(me, 4) == 0)
			(void)on_mutex(me, MUTEX_UNLOCK);
	}
}

static size_t prepare_mutex(struct history_op *ops, size_t n)
{
	const struct spec spec = spec_mutex();

	return mark_kept(&spec, ops, n);
}

static void end_mutex(struct rounds_user *host)
{
	(void)host;
	CHECK_EQ(ipcwait_mutex_fini(&mutex), 0);
}

static void run_mutex(const char *name, unsigned flags, bool tries, bool signals)
{
	const struct rounds r = { .name = name,
				  .spec = spec_mutex(),
				  .kind = IPCWAIT_KIND_MUTEX,
				  .threads = tries ? 2 : THREADS,
				  .count = ROUNDS,
				  .signals = signals,
				  .begin = begin_mutex,
				  .turn = use_mutex,
				  .last_words = end_mutex,
				  .prepare = prepare_mutex };

	kind = flags;
	only_tries = tries;
	rounds_run(&r);
}

static void test_mutex(void **state)
{
	(void)state;
	run_mutex("mutex", 0, false, false);
	run_mutex("mutex, signals", 0, false, true);
	run_mutex("mutex, tries", 0, true, false);
	run_mutex("errorcheck mutex", IPCWAIT_ERRORCHECK, false, false);
}

static void begin_rwlock(unsigned round)
{
	CHECK_EQ(ipcwait_rwlock_init(&lock, rounds_flags(round)), 0);
	rounds_set_preset(&lock.window, round);
}

static int do_rwlock(unsigned code, int64_t deadline_ns)
{
	switch (code) {
	case RWLOCK_RDLOCK:
		return ipcwait_rwlock_rdlock(&lock);
	case RWLOCK_TRYRDLOCK:
		return ipcwait_rwlock_tryrdlock(&lock);
	case RWLOCK_RDLOCK_UNTIL:
		return ipcwait_rwlock_rdlock_until(&lock, deadline_ns);
	case RWLOCK_RDUNLOCK:
		return ipcwait_rwlock_rdunlock(&lock);
	case RWLOCK_WRLOCK:
		return ipcwait_rwlock_wrlock(&lock);
	case RWLOCK_TRYWRLOCK:
		return ipcwait_rwlock_trywrlock(&lock);
	case RWLOCK_WRLOCK_UNTIL:
		return ipcwait_rwlock_wrlock_until(&lock, deadline_ns);
	default:
		return ipcwait_rwlock_wrunlock(&lock);
	}
}

static int64_t on_rwlock(struct rounds_user *me, unsigned code)
{
	int64_t deadline_ns = rounds_deadline(me, SOON);
	struct history_op *op = history_call(&me->part, me->id, code, 0);

	history_return(&me->part, op, do_rwlock(code, deadline_ns));
	return op->result;
}

static void use_rwlock(struct rounds_user *me)
{
	static const unsigned reads[] = { RWLOCK_TRYRDLOCK, RWLOCK_RDLOCK,
					  RWLOCK_RDLOCK_UNTIL };
	static const unsigned writes[] = { RWLOCK_TRYWRLOCK, RWLOCK_WRLOCK,
					   RWLOCK_WRLOCK_UNTIL };

	for (unsigned i = 0; i < (only_tries ? TRIES : SECTIONS); i++) {
		bool write = rounds_below(me, 2);
		unsigned how = only_tries ? 0 : rounds_below(me, 3);

		rounds_dawdle(me);
		if (on_rwlock(me, write ? writes[how] : reads[how]) != 0)
			continue;
		inside(me, write);
		(void)on_rwlock(me, write ? RWLOCK_WRUNLOCK : RWLOCK_RDUNLOCK);
	}
}

static size_t prepare_rwlock(struct history_op *ops, size_t n)
{
	const struct spec spec = spec_rwlock();

	return mark_kept(&spec, ops, n);
}

static void end_rwlock(struct rounds_user *host)
{
	(void)host;
	CHECK_EQ(ipcwait_rwlock_fini(&lock), 0);
}

static void run_rwlock(const char *name, bool tries, bool signals)
{
	const struct rounds r = { .name = name,
				  .spec = spec_rwlock(),
				  .kind = IPCWAIT_KIND_RWLOCK,
				  .threads = tries ? 2 : THREADS,
				  .count = ROUNDS,
				  .signals = signals,
				  .begin = begin_rwlock,
				  .turn = use_rwlock,
				  .last_words = end_rwlock,
				  .prepare = prepare_rwlock };

	only_tries = tries;
	rounds_run(&r);
}

static void test_rwlock(void **state)
{
	(void)state;
	run_rwlock("reader-writer lock", false, false);
	run_rwlock("reader-writer lock, signals", false, true);
	run_rwlock("reader-writer lock, tries", true, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex),
		cmocka_unit_test(test_rwlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
