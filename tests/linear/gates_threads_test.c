/* SPDX-License-Identifier: MIT */
/* Latches, onces and barriers under real threads, by wing_gong.c. */
#include <errno.h>
#include <sched.h>

#include "common/check.h"
#include "common/cmocka_all.h"
#include "linear/rounds.h"

#define ROUNDS  1500
#define THREADS 4
#define SOON    30000 /* ns */

/* How often a latch is counted down by each thread, but for the last time. */
#define COUNTS 2

/* How often each party of a barrier gets through, and expires at most. */
#define PASSES   4
#define EXPIRIES 3

static struct ipcwait_latch latch;
static struct ipcwait_once once;
static struct ipcwait_barrier barrier;
static unsigned parties;
static unsigned waits; /* numbers of waits at the barrier */

static void begin_latch(unsigned round)
{
	assert_int_equal(
		ipcwait_latch_init(&latch, THREADS * (COUNTS + 1), rounds_flags(round)), 0);
	rounds_set_preset(&latch.window, round);
}

static int64_t count_down(int64_t n)
{
	return ipcwait_latch_count_down(&latch, (uint32_t)n);
}

static int64_t latch_count(int64_t arg)
{
	(void)arg;
	return ipcwait_latch_count(&latch);
}

static int64_t latch_trywait(int64_t arg)
{
	(void)arg;
	return ipcwait_latch_trywait(&latch);
}

static int64_t latch_wait(int64_t arg)
{
	(void)arg;
	return ipcwait_latch_wait(&latch);
}

static void latch_wait_until(struct rounds_user *me)
{
	struct history_op *op = history_call(&me->part, me->id, LATCH_WAIT_UNTIL, 0);

	history_return(&me->part, op,
		       ipcwait_latch_wait_until(&latch, rounds_deadline(me, SOON)));
}

/* Two operations, in either order for the checker: only one can be right. */
static void arrive_and_wait(struct rounds_user *me)
{
	struct history_op *down = history_call(&me->part, me->id, LATCH_COUNT_DOWN, 1);
	struct history_op *wait = history_call(&me->part, me->id, LATCH_WAIT, 0);
	int r = ipcwait_latch_arrive_and_wait(&latch);

	history_return(&me->part, wait, r);
	history_return(&me->part, down, r);
}

static void look_at_latch(struct rounds_user *me)
{
	rounds_nap(me);
	switch (rounds_below(me, 3)) {
	case 0:
		(void)rounds_record(me, LATCH_COUNT, 0, latch_count);
		break;
	case 1:
		(void)rounds_record(me, LATCH_TRYWAIT, 0, latch_trywait);
		break;
	default:
		latch_wait_until(me);
	}
}

static void use_latch(struct rounds_user *me)
{
	unsigned left = COUNTS;

	while (left) {
		unsigned n = rounds_below(me, left + 1);

		look_at_latch(me);
		(void)rounds_record(me, LATCH_COUNT_DOWN, n, count_down);
		left -= n;
		if (me->part.count > 8) {
			(void)rounds_record(me, LATCH_COUNT_DOWN, left, count_down);
			left = 0;
		}
	}
	if (rounds_below(me, 2)) {
		arrive_and_wait(me);
	} else {
		(void)rounds_record(me, LATCH_COUNT_DOWN, 1, count_down);
		(void)rounds_record(me, LATCH_WAIT, 0, latch_wait);
	}
	/* It is open, and stays so. */
	look_at_latch(me);
	(void)rounds_record(me, LATCH_COUNT_DOWN, 1, count_down);
}

static void end_latch(struct rounds_user *host)
{
	(void)rounds_record(host, LATCH_COUNT, 0, latch_count);
	CHECK_EQ(ipcwait_latch_fini(&latch), 0);
}

static void run_latch(const char *name, bool signals)
{
	const struct rounds r = { .name = name,
				  .spec = spec_latch(THREADS * (COUNTS + 1)),
				  .kind = IPCWAIT_KIND_LATCH,
				  .threads = THREADS,
				  .count = ROUNDS,
				  .signals = signals,
				  .begin = begin_latch,
				  .turn = use_latch,
				  .last_words = end_latch };

	rounds_run(&r);
}

static void test_latch(void **state)
{
	(void)state;
	run_latch("latch", false);
	run_latch("latch, signals", true);
}

static void begin_once(unsigned round)
{
	CHECK_EQ(ipcwait_once_init(&once, rounds_flags(round)), 0);
	rounds_set_preset(&once.window, round);
}

/* What a thread's function did. */
struct once_turn {
	struct rounds_user *me;
	int result;
};

static int64_t nothing(int64_t result)
{
	return result;
}

static int function(void *arg)
{
	struct once_turn *turn = arg;
	struct rounds_user *me = turn->me;
	struct history_op *end;

	(void)rounds_record(me, ONCE_BEGIN, 0, nothing);
	/* Others find it running. */
	if (rounds_below(me, 2))
		(void)sched_yield();
	rounds_dawdle(me);
	turn->result = rounds_below(me, 3) ? (int)me->id + 1 : 0;
	end = history_call(&me->part, me->id, ONCE_END, 0);
	history_return(&me->part, end, turn->result);
	return turn->result;
}

static void use_once(struct rounds_user *me)
{
	for (unsigned i = 0; i < 4; i++) {
		struct history_op *op = history_call(&me->part, me->id, ONCE_RUN, 0);
		struct once_turn turn = { me, 0 };
		int r = ipcwait_once_run(&once, function, &turn);

		op->arg = turn.result;
		history_return(&me->part, op, r);
		rounds_dawdle(me);
	}
}

static void end_once(struct rounds_user *host)
{
	use_once(host);
	CHECK_EQ(ipcwait_once_fini(&once), 0);
}

static void run_once(const char *name, bool signals)
{
	const struct rounds r = { .name = name,
				  .spec = spec_once(),
				  .kind = IPCWAIT_KIND_ONCE,
				  .threads = THREADS,
				  .count = ROUNDS,
				  .signals = signals,
				  .begin = begin_once,
				  .turn = use_once,
				  .last_words = end_once };

	rounds_run(&r);
}

static void test_once(void **state)
{
	(void)state;
	run_once("once", false);
	run_once("once, signals", true);
}

static void begin_barrier(unsigned round)
{
	waits = 0;
	CHECK_EQ(ipcwait_barrier_init(&barrier, parties, rounds_flags(round)), 0);
	rounds_set_preset(&barrier.window, round);
}

/*
 * The wait is recorded as that of one who arrives and leaves, and made one operation if it was
 * the last party's or expired. Returns its result.
 */
static int pass(struct rounds_user *me, int64_t deadline_ns)
{
	int64_t number = __atomic_fetch_add(&waits, 1, __ATOMIC_RELAXED);
	struct history_op *arrive = history_call(&me->part, me->id, BARRIER_ARRIVE, number);
	struct history_op *leave = history_call(&me->part, me->id, BARRIER_LEAVE, number);
	int r = ipcwait_barrier_wait_until(&barrier, deadline_ns);

	history_return(&me->part, arrive, r);
	if (r == 0) {
		history_return(&me->part, leave, r);
		return r;
	}
	arrive->code = r == IPCWAIT_BARRIER_SERIAL ? BARRIER_SERIAL : BARRIER_EXPIRE;
	me->part.count--;
	return r;
}

/* Each passes equally often, or the last would wait for nobody. */
static void use_barrier(struct rounds_user *me)
{
	unsigned passed = 0, expired = 0;

	while (passed < PASSES) {
		bool in_time = expired < EXPIRIES && rounds_below(me, 2);
		int64_t deadline_ns = in_time ? rounds_deadline(me, SOON) : IPCWAIT_FOREVER;

		rounds_nap(me);
		if (pass(me, deadline_ns) == -ETIMEDOUT)
			expired++;
		else
			passed++;
	}
}

static void end_barrier(struct rounds_user *host)
{
	(void)host;
	CHECK_EQ(ipcwait_barrier_fini(&barrier), 0);
}

static void run_barrier(const char *name, unsigned threads, bool signals)
{
	const struct rounds r = { .name = name,
				  .spec = spec_barrier(threads),
				  .kind = IPCWAIT_KIND_BARRIER,
				  .threads = threads,
				  .count = ROUNDS,
				  .signals = signals,
				  .begin = begin_barrier,
				  .turn = use_barrier,
				  .last_words = end_barrier };

	parties = threads;
	rounds_run(&r);
}

static void test_barrier(void **state)
{
	(void)state;
	run_barrier("barrier of two", 2, false);
	run_barrier("barrier of three", 3, false);
	run_barrier("barrier of four", 4, false);
	run_barrier("barrier of four, signals", 4, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latch),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_barrier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
