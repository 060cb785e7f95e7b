/* SPDX-License-Identifier: MIT */
/*
 * What a process may leave behind that is killed in a call on a reader-writer lock: the lock, if it
 * holds it, and then for good. Else everybody gets in who may, by alarms and roll calls, and nobody
 * with another who may not.
 */
#include <errno.h>

#include "common/check.h"
#include "common/rwlock_word.h"
#include "rwlock_scene.h"

/* In which everybody must have had the lock, in ns. */
#define LONG_NS INT64_C(100000000000)

/* Longer than a wake is believed to be under way, in ns. */
#define DOUBT_NS 6000000

/* A waiter is overdue after this time, in ns. */
#define OVERDUE_NS 5000000

static const struct rwlock_scene *row(const struct stage *st)
{
	return (const struct rwlock_scene *)st->scene;
}

static struct ipcwait_rwlock *lock(const struct stage *st)
{
	return &st->r->rwlock;
}

/* Nobody writes meanwhile. */
static void be_reader(struct guarded *g)
{
	uint64_t begun = __atomic_load_n(&g->begun, __ATOMIC_RELAXED);

	CHECK_EQ(__atomic_load_n(&g->inside, __ATOMIC_RELAXED), 0);
	CHECK_EQ(__atomic_load_n(&g->done, __ATOMIC_RELAXED), begun);
	CHECK_EQ(__atomic_load_n(&g->begun, __ATOMIC_RELAXED), begun);
}

static void read_once(struct region *r)
{
	CHECK_EQ(ipcwait_rwlock_rdlock(&r->rwlock), 0);
	be_reader(&r->guarded);
	CHECK_EQ(ipcwait_rwlock_rdunlock(&r->rwlock), 0);
}

static void write_once(struct region *r)
{
	CHECK_EQ(ipcwait_rwlock_wrlock(&r->rwlock), 0);
	guarded_begin(&r->guarded);
	guarded_end(&r->guarded);
	CHECK_EQ(ipcwait_rwlock_wrunlock(&r->rwlock), 0);
}

static void visit(struct stage *st)
{
	read_once(st->r);
	write_once(st->r);
}

/* Who only tries is served after a doubt at the latest. */
static void try_until_served(struct stage *st)
{
	int64_t until_ns = ipcwait_deadline_in_ns(LONG_NS);

	while (ipcwait_rwlock_trywrlock(lock(st)) != 0) {
		CHECK(ipcwait_now_ns() < until_ns);
		stage_let_pass(STAGE_LONG_NS);
	}
	guarded_begin(&st->r->guarded);
	guarded_end(&st->r->guarded);
	CHECK_EQ(ipcwait_rwlock_wrunlock(lock(st)), 0);
}

static void take(struct stage *st)
{
	if (row(st)->holder == RWLOCK_TRACER_READS)
		CHECK_EQ(ipcwait_rwlock_rdlock(lock(st)), 0);
	else if (row(st)->holder == RWLOCK_TRACER_WRITES)
		CHECK_EQ(ipcwait_rwlock_wrlock(lock(st)), 0);
}

static bool tracer_holds(const struct stage *st)
{
	return (row(st)->holder == RWLOCK_TRACER_READS ||
		row(st)->holder == RWLOCK_TRACER_WRITES) &&
	       !st->posted;
}

static void unlock_once(struct stage *st)
{
	CHECK_EQ(ipcwait_rwlock_unlock(lock(st)), 0);
}

static void let_go(struct stage *st)
{
	if (!tracer_holds(st))
		return;
	st->posted++;
	stage_call(st, unlock_once);
}

/* Readers come last. Beside a reader they sleep only if a writer is overdue. */
static void seat_sleepers(struct stage *st)
{
	for (unsigned i = 0; i < row(st)->writers; i++)
		stage_seat(st, write_once);
	while (row(st)->writers && word_readers(rwlock_word(lock(st))) &&
	       !(rwlock_word(lock(st)) & WORD_URGENT))
		stage_let_pass(STAGE_LONG_NS);
	for (unsigned i = 0; i < row(st)->readers; i++)
		stage_seat(st, read_once);
}

void rwlock_prepare(struct stage *st)
{
	const struct rwlock_scene *scene = row(st);

	CHECK_EQ(ipcwait_rwlock_init(lock(st), 0), 0);
	CHECK_EQ(ipcwait_window_set_preset(&lock(st)->window, scene->preset), 0);
	st->r->patience_ns = STAGE_PATIENCE_NS;
	if (scene->holder == RWLOCK_DEAD_READER)
		rwlock_fabricate(lock(st), WORD(0, 0, 1) | WORD_TURN);
	if (scene->holder == RWLOCK_DEAD_WRITER)
		rwlock_fabricate(lock(st), WORD(0, 1, 0) | WORD_WAKE | WORD_URGENT);
	stage_call(st, take);
	if (tracer_holds(st))
		seat_sleepers(st);
}

void rwlock_gather(struct stage *st)
{
	if (row(st)->holder == RWLOCK_VICTIM_READS ||
	    row(st)->holder == RWLOCK_VICTIM_WRITES)
		seat_sleepers(st);
}

static void wake(struct stage *st, uint32_t count)
{
	CHECK(ipcwait_futex_wake((uint32_t *)&lock(st)->word, count, 0) >= 0);
	stage_let_pass(STAGE_LONG_NS);
}

/*
 * The victim is woken while the tracer holds the lock. The tracer unlocks in the victim's next
 * sleep. A writer that has come after the victim waits for the lock too.
 */
static void wake_too_early(struct stage *st)
{
	if (row(st)->overdue)
		stage_let_pass(OVERDUE_NS);
	if (row(st)->holder == RWLOCK_TRACER_WRITES)
		stage_seat(st, write_once);
	wake(st, 1);
}

void rwlock_meanwhile(struct stage *st)
{
	if (row(st)->result == -ETIMEDOUT)
		return;
	if (row(st)->extra_wake && st->slept == 1) {
		wake_too_early(st);
		return;
	}
	stage_let_pass(STAGE_LONG_NS);
	let_go(st);
	/* A victim that is stepped sleeps without a timer: this replaces the alarm of its nap. */
	if (rwlock_word(lock(st)) & WORD_QUIET)
		wake(st, UINT32_MAX);
}

void rwlock_free_for_the_spinner(struct stage *st)
{
	if (rwlock_word(lock(st)) & WORD_SPINNER)
		let_go(st);
}

/* A writer whose alarm rings becomes overdue, and is to be next: that is another scene. */
void rwlock_keep_the_mark(struct stage *st)
{
	uint64_t w = rwlock_word(lock(st));

	while (w & WORD_WRITER && !__atomic_compare_exchange_n(
					  &lock(st)->word.v, &w,
					  (w | WORD_SPINNER) & ~(WORD_URGENT | WORD_TIMED),
					  false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}

/* No call on a lock is allowed there: this one is on something else. */
void rwlock_interfere(struct region *r)
{
	CHECK_EQ(ipcwait_sem_post(&r->space), 0);
}

/* Who has it when none of the others is at it: the tracer, or somebody dead or stopped. */
static uint64_t held(struct stage *st)
{
	uint64_t w;

	do {
		unsigned asleep = stage_asleep(st);

		w = rwlock_word(lock(st));
		/* Who has been woken may just have it. */
		if (asleep < st->others)
			stage_let_pass(STAGE_LONG_NS);
	} while (w != rwlock_word(lock(st)));
	CHECK(word_may_be(w));
	w &= WORD_WRITER | WORD(IPCWAIT_RWLOCK_READERS_MAX, 0, 0);
	if (!tracer_holds(st))
		return w;
	if (row(st)->holder == RWLOCK_TRACER_WRITES)
		return w & ~WORD_WRITER;
	return w - WORD(1, 0, 0);
}

static bool holds_before(const struct stage *st)
{
	return row(st)->holder == RWLOCK_VICTIM_READS ||
	       row(st)->holder == RWLOCK_VICTIM_WRITES;
}

/* None of the others that may have it is without it for long. */
static void await_others(struct stage *st)
{
	int64_t until_ns = ipcwait_deadline_in_ns(LONG_NS);

	while (stage_asleep(st)) {
		CHECK(ipcwait_now_ns() < until_ns);
		stage_let_pass(STAGE_LONG_NS);
	}
}

/*
 * Behind the tracer, who goes on reading, a reader comes in though a writer has died waiting; and
 * then they all come in, when the tracer lets go.
 */
static void end(struct stage *st, enum heal heal)
{
	if (heal == HEAL_BY_LOOK && row(st)->holder == RWLOCK_TRACER_READS && !st->others) {
		read_once(st->r);
		(void)held(st);
	}
	let_go(st);
	await_others(st);
	stage_call(st, heal == HEAL_BY_LOOK ? try_until_served : visit);
	stage_call(st, visit);
	CHECK_EQ(held(st), 0);
}

/* It is not robust: nobody comes in, as long as it is not unlocked in the dead's name. */
static void unlock_for_the_dead(struct stage *st, uint64_t holds)
{
	CHECK(holds == WORD_WRITER || holds == WORD(1, 0, 0));
	CHECK_EQ(ipcwait_rwlock_trywrlock(lock(st)), -EBUSY);
	if (holds == WORD_WRITER)
		CHECK_EQ(ipcwait_rwlock_tryrdlock(lock(st)), -EBUSY);
	stage_call(st, unlock_once);
}

/* An unlock has used the mark up. */
static void check_mark(const struct stage *st, uint64_t holds, uint64_t w)
{
	if (st->scene->between == rwlock_keep_the_mark && !holds)
		CHECK(!(w & WORD_SPINNER));
}

static const char *left(const struct stage *st, uint64_t holds, uint64_t w)
{
	unsigned asleep =
		row(st)->extra_wake ? st->others : row(st)->readers + row(st)->writers;

	if (holds)
		return holds == WORD_WRITER ? "write lock" : "read lock";
	if (holds_before(st))
		return st->wake_pending && asleep ? "wake owed" : "unlocked";
	if (word_rsleepers(w) + word_wsleepers(w) > asleep)
		return w & WORD_QUIET ? "nap" : w & WORD_NEXT ? "its turn" : "sleeper";
	return w & WORD_SPINNER ? "spinner's mark" : "nothing";
}

const char *rwlock_mourn(struct stage *st, enum heal heal)
{
	uint64_t w = rwlock_word(lock(st)), holds = held(st);

	check_mark(st, holds, w);
	/* Its own hold is not told from that of a reader which it lets in. */
	if (holds)
		let_go(st);
	if (holds)
		unlock_for_the_dead(st, held(st));
	end(st, heal);
	return left(st, holds, w);
}

/* Nobody waits for one who is stopped, if that does not hold it; but it loses its turn. */
void rwlock_detour(struct stage *st)
{
	if (row(st)->result == -ETIMEDOUT)
		return;
	stage_let_pass(DOUBT_NS);
	let_go(st);
	if (held(st))
		return;
	await_others(st);
}

static void unlock_for_the_victim(struct stage *st)
{
	if (row(st)->reads)
		CHECK_EQ(ipcwait_rwlock_rdunlock(lock(st)), 0);
	else
		CHECK_EQ(ipcwait_rwlock_wrunlock(lock(st)), 0);
}

void rwlock_audit(struct stage *st)
{
	const struct rwlock_scene *scene = row(st);
	bool free_now = st->posted && scene->result == -EBUSY;
	bool keeps = scene->reads || scene->writes;
	uint64_t holds, w = rwlock_word(lock(st));

	check_mark(st, w & WORD_WRITER, w);
	if (scene->result == -ETIMEDOUT)
		CHECK_EQ(word_rsleepers(w) + word_wsleepers(w), 0);
	if (free_now && st->r->result == 0) {
		stage_call(st, unlock_once);
		keeps = false;
	} else {
		CHECK_EQ(st->r->result, scene->result);
	}
	if (keeps) {
		holds = held(st);
		CHECK(scene->reads ? holds == WORD(1, 0, 0) : holds == WORD_WRITER);
		stage_call(st, unlock_for_the_victim);
	}
	end(st, HEAL_BY_POST);
	CHECK_EQ(ipcwait_rwlock_fini(lock(st)), 0);
}
