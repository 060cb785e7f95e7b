/* SPDX-License-Identifier: MIT */
/*
 * The specifications that the tests of threads go by: histories made by hand, right and wrong, for
 * each object. Those of registers and mutexes are in wing_gong_test.c.
 */
#include <errno.h>

#include "common/cmocka_all.h"
#include "linear/wing_gong.h"

#define OPS_MAX 10
#define NEVER   HISTORY_PENDING

/* clang-format off */
/* The first two numbers are the stamps of call and return. */
#define OP(call, ret, code, arg, result) { call, ret, arg, result, 0, code }

struct row {
	const char *what;
	bool good;
	struct history_op ops[OPS_MAX];
};

static const struct row rwlocks[] = {
	{ "two readers", true,
	  { OP(1, 2, RWLOCK_RDLOCK, 0, 0), OP(3, 4, RWLOCK_TRYRDLOCK, 0, 0),
	    OP(5, 6, RWLOCK_RDUNLOCK, 0, 0), OP(7, 8, RWLOCK_RDUNLOCK, 0, 0),
	    OP(9, 10, RWLOCK_TRYWRLOCK, 0, 0) } },
	{ "a writer beside a reader", false,
	  { OP(1, 2, RWLOCK_RDLOCK, 0, 0), OP(3, 4, RWLOCK_WRLOCK, 0, 0) } },
	{ "a reader beside a writer", false,
	  { OP(1, 2, RWLOCK_WRLOCK, 0, 0), OP(3, 4, RWLOCK_RDLOCK_UNTIL, 0, 0) } },
	{ "two writers", false,
	  { OP(1, 2, RWLOCK_WRLOCK, 0, 0), OP(3, 4, RWLOCK_TRYWRLOCK, 0, 0) } },
	{ "a writer after the last of two readers", true,
	  { OP(1, 2, RWLOCK_RDLOCK, 0, 0), OP(3, 4, RWLOCK_RDLOCK, 0, 0),
	    OP(5, 12, RWLOCK_WRLOCK, 0, 0), OP(6, 7, RWLOCK_RDUNLOCK, 0, 0),
	    OP(8, 9, RWLOCK_RDUNLOCK, 0, 0) } },
	{ "a writer after the first of two readers", false,
	  { OP(1, 2, RWLOCK_RDLOCK, 0, 0), OP(3, 4, RWLOCK_RDLOCK, 0, 0),
	    OP(5, 8, RWLOCK_WRLOCK, 0, 0), OP(6, 7, RWLOCK_RDUNLOCK, 0, 0) } },
	{ "a try fails beside a writer", true,
	  { OP(1, 2, RWLOCK_WRLOCK, 0, 0), OP(3, 4, RWLOCK_TRYRDLOCK, 0, -EBUSY),
	    OP(5, 6, RWLOCK_WRLOCK_UNTIL, 0, -ETIMEDOUT) } },
	{ "a try to read fails beside a reader", false,
	  { OP(1, 2, RWLOCK_RDLOCK, 0, 0), OP(3, 4, RWLOCK_TRYRDLOCK, 0, -EBUSY) } },
	{ "the same, for the sake of somebody", true,
	  { OP(1, 2, RWLOCK_RDLOCK, 0, 0), OP(3, 4, RWLOCK_TRYRDLOCK, LOCK_KEPT, -EBUSY) } },
	{ "a try fails beside nobody", false, { OP(1, 2, RWLOCK_TRYWRLOCK, 0, -EBUSY) } },
	{ "it expires beside nobody", false, { OP(1, 2, RWLOCK_RDLOCK_UNTIL, 0, -ETIMEDOUT) } },
	{ "a try expires", false,
	  { OP(1, 2, RWLOCK_WRLOCK, 0, 0), OP(3, 4, RWLOCK_TRYRDLOCK, 0, -ETIMEDOUT) } },
	{ "a read ended that nobody began", false, { OP(1, 2, RWLOCK_RDUNLOCK, 0, 0) } },
	{ "a writer that was killed", true,
	  { OP(1, NEVER, RWLOCK_WRLOCK, 0, 0), OP(2, 3, RWLOCK_TRYRDLOCK, 0, -EBUSY) } },
	{ "no such operation", false, { OP(1, 2, 9, 0, 0) } },
};

static const struct row events[] = {
	{ "set, for all", true,
	  { OP(1, 2, EVENT_SETS, 0, 0), OP(3, 4, EVENT_WAIT, 0, 0),
	    OP(5, 6, EVENT_TRYWAIT, 0, 0), OP(7, 8, EVENT_IS_SET, 0, 1) } },
	{ "not set", false, { OP(1, 2, EVENT_WAIT, 0, 0), OP(3, 4, EVENT_SETS, 0, 0) } },
	{ "a pulse lets through who waits", true,
	  { OP(1, 6, EVENT_WAIT, 0, 0), OP(2, 3, EVENT_SETS, 0, 0),
	    OP(4, 5, EVENT_RESETS, 0, 0) } },
	{ "and nobody who comes later", false,
	  { OP(1, 2, EVENT_SETS, 0, 0), OP(3, 4, EVENT_RESETS, 0, 0),
	    OP(5, 6, EVENT_WAIT, 0, 0) } },
	{ "not there, but set", false,
	  { OP(1, 2, EVENT_SETS, 0, 0), OP(3, 4, EVENT_TRYWAIT, 0, -EAGAIN) } },
	{ "expired, but set", false,
	  { OP(1, 2, EVENT_SETS, 0, 0), OP(3, 4, EVENT_WAIT_UNTIL, 0, -ETIMEDOUT) } },
	{ "expired, set meanwhile", true,
	  { OP(1, 4, EVENT_WAIT_UNTIL, 0, -ETIMEDOUT), OP(2, 3, EVENT_SETS, 0, 0) } },
	{ "interrupted", true, { OP(1, 2, EVENT_WAIT, 0, -EINTR) } },
	{ "a try that is interrupted", false, { OP(1, 2, EVENT_TRYWAIT, 0, -EINTR) } },
	{ "reset, but looks set", false,
	  { OP(1, 2, EVENT_SETS, 0, 0), OP(3, 4, EVENT_RESETS, 0, 0),
	    OP(5, 6, EVENT_IS_SET, 0, 1) } },
};

static const struct row auto_events[] = {
	{ "set, for one", true,
	  { OP(1, 2, EVENT_SETS, 0, 0), OP(3, 4, EVENT_WAIT, 0, 0),
	    OP(5, 6, EVENT_TRYWAIT, 0, -EAGAIN) } },
	{ "set, for two", false,
	  { OP(1, 2, EVENT_SETS, 0, 0), OP(3, 5, EVENT_WAIT, 0, 0),
	    OP(4, 6, EVENT_TRYWAIT, 0, 0) } },
	{ "set twice, for one", false,
	  { OP(1, 2, EVENT_SETS, 0, 0), OP(3, 4, EVENT_SETS, 0, 0),
	    OP(5, 7, EVENT_WAIT, 0, 0), OP(6, 8, EVENT_WAIT_UNTIL, 0, 0) } },
	{ "set twice, for two", true,
	  { OP(1, 6, EVENT_WAIT, 0, 0), OP(2, 3, EVENT_SETS, 0, 0),
	    OP(4, 5, EVENT_SETS, 0, 0), OP(7, 8, EVENT_TRYWAIT, 0, 0) } },
	{ "taken and expired", false,
	  { OP(1, 2, EVENT_SETS, 0, 0), OP(3, 4, EVENT_WAIT_UNTIL, 0, -ETIMEDOUT),
	    OP(5, 6, EVENT_WAIT, 0, 0) } },
	{ "reset and taken", false,
	  { OP(1, 2, EVENT_SETS, 0, 0), OP(3, 4, EVENT_RESETS, 0, 0),
	    OP(5, 6, EVENT_TRYWAIT, 0, 0) } },
};

static const struct row eventcounts[] = {
	{ "notified", true,
	  { OP(1, 2, EVENTCOUNT_PREPARE, 0, 0), OP(3, 6, EVENTCOUNT_COMMIT, 0, 0),
	    OP(4, 5, EVENTCOUNT_NOTIFY, 1, 0) } },
	{ "notified before the commit", true,
	  { OP(1, 2, EVENTCOUNT_PREPARE, 0, 0), OP(3, 4, EVENTCOUNT_NOTIFY, 0, 0),
	    OP(5, 6, EVENTCOUNT_COMMIT, 0, 0) } },
	{ "not notified", false,
	  { OP(1, 2, EVENTCOUNT_NOTIFY, 1, 0), OP(3, 4, EVENTCOUNT_PREPARE, 0, 1),
	    OP(5, 6, EVENTCOUNT_COMMIT, 1, 0) } },
	{ "notified, but expired", false,
	  { OP(1, 2, EVENTCOUNT_PREPARE, 0, 0), OP(3, 4, EVENTCOUNT_NOTIFY, 1, 0),
	    OP(5, 6, EVENTCOUNT_COMMIT, 0, -ETIMEDOUT) } },
	{ "expired", true,
	  { OP(1, 2, EVENTCOUNT_PREPARE, 0, 0), OP(3, 6, EVENTCOUNT_COMMIT, 0, -ETIMEDOUT),
	    OP(4, 5, EVENTCOUNT_NOTIFY, 1, 0) } },
	{ "an old key", false,
	  { OP(1, 2, EVENTCOUNT_NOTIFY, 1, 0), OP(3, 4, EVENTCOUNT_PREPARE, 0, 0) } },
	{ "a notification that is lost", false,
	  { OP(1, 3, EVENTCOUNT_NOTIFY, 1, 0), OP(2, 4, EVENTCOUNT_NOTIFY, 1, 0),
	    OP(5, 6, EVENTCOUNT_PREPARE, 0, 1) } },
	{ "interrupted", true,
	  { OP(1, 2, EVENTCOUNT_NOTIFY, 1, 0), OP(3, 4, EVENTCOUNT_COMMIT, 0, -EINTR) } },
};

static const struct row conds[] = {
	{ "signalled", true,
	  { OP(1, 2, COND_ENTER, 0, 0), OP(1, 6, COND_LEAVE, 0, 0),
	    OP(3, 4, COND_SIGNALS, 0, 0) } },
	{ "not signalled", false, { OP(1, 2, COND_ENTER, 0, 0), OP(1, 6, COND_LEAVE, 0, 0) } },
	{ "signalled before", false,
	  { OP(1, 2, COND_SIGNALS, 0, 0), OP(3, 4, COND_ENTER, 0, 0),
	    OP(3, 6, COND_LEAVE, 0, 0) } },
	{ "two by one signal", false,
	  { OP(1, 2, COND_ENTER, 0, 0), OP(1, 9, COND_LEAVE, 0, 0), OP(3, 4, COND_ENTER, 1, 0),
	    OP(3, 9, COND_LEAVE, 1, 0), OP(5, 6, COND_SIGNALS, 0, 0) } },
	{ "two by a broadcast", true,
	  { OP(1, 2, COND_ENTER, 0, 0), OP(1, 9, COND_LEAVE, 0, 0), OP(3, 4, COND_ENTER, 1, 0),
	    OP(3, 9, COND_LEAVE, 1, 0), OP(5, 6, COND_BROADCASTS, 0, 0) } },
	{ "a broadcast after one has expired", true,
	  { OP(1, 2, COND_ENTER, 0, 0), OP(1, 9, COND_LEAVE, 0, 0), OP(3, 4, COND_ENTER, 1, 0),
	    OP(3, 9, COND_LEAVE, 1, -ETIMEDOUT), OP(5, 6, COND_BROADCASTS, 0, 0) } },
	{ "a signal for another one", true,
	  { OP(1, 2, COND_ENTER, 0, 0), OP(1, 9, COND_LEAVE, 0, -ETIMEDOUT),
	    OP(3, 4, COND_ENTER, 1, 0), OP(3, 9, COND_LEAVE, 1, 0),
	    OP(5, 6, COND_SIGNALS, 0, 0) } },
	{ "a signal for one that came later", false,
	  { OP(1, 2, COND_ENTER, 0, 0), OP(1, 9, COND_LEAVE, 0, -ETIMEDOUT),
	    OP(3, 4, COND_SIGNALS, 0, 0), OP(5, 6, COND_ENTER, 1, 0),
	    OP(5, 9, COND_LEAVE, 1, 0) } },
	{ "expired, with a signal", false,
	  { OP(1, 2, COND_ENTER, 0, 0), OP(1, 9, COND_LEAVE, 0, -ETIMEDOUT),
	    OP(3, 4, COND_SIGNALS, 0, 0), OP(10, 11, COND_ENTER, 1, 0),
	    OP(10, 14, COND_LEAVE, 1, 0) } },
	{ "expired, then signalled", true,
	  { OP(1, 2, COND_ENTER, 0, 0), OP(1, 4, COND_LEAVE, 0, -ETIMEDOUT),
	    OP(5, 6, COND_SIGNALS, 0, 0) } },
	{ "killed, with a signal", true,
	  { OP(1, 2, COND_ENTER, 0, 0), OP(1, NEVER, COND_LEAVE, 0, 0),
	    OP(3, 4, COND_SIGNALS, 0, 0) } },
};

static const struct row latches[] = {
	{ "counted down", true,
	  { OP(1, 6, LATCH_WAIT, 0, 0), OP(2, 3, LATCH_COUNT_DOWN, 1, 0),
	    OP(4, 5, LATCH_COUNT_DOWN, 1, 0), OP(7, 8, LATCH_TRYWAIT, 0, 0) } },
	{ "one too few", false,
	  { OP(1, 4, LATCH_WAIT, 0, 0), OP(2, 3, LATCH_COUNT_DOWN, 1, 0) } },
	{ "open, but not there", false,
	  { OP(1, 2, LATCH_COUNT_DOWN, 2, 0), OP(3, 4, LATCH_TRYWAIT, 0, -EAGAIN) } },
	{ "open, but expired", false,
	  { OP(1, 2, LATCH_COUNT_DOWN, 2, 0), OP(3, 4, LATCH_WAIT_UNTIL, 0, -ETIMEDOUT) } },
	{ "opened meanwhile", true,
	  { OP(1, 4, LATCH_WAIT_UNTIL, 0, -ETIMEDOUT), OP(2, 3, LATCH_COUNT_DOWN, 2, 0) } },
	{ "more than is left", true,
	  { OP(1, 2, LATCH_COUNT_DOWN, 3, -EOVERFLOW), OP(3, 4, LATCH_COUNT, 0, 2) } },
	{ "refused, but it fits", false, { OP(1, 2, LATCH_COUNT_DOWN, 2, -EOVERFLOW) } },
	{ "more than there is", false,
	  { OP(1, 2, LATCH_COUNT_DOWN, 2, 0), OP(3, 4, LATCH_COUNT_DOWN, 1, 0) } },
	{ "a count that is lost", false,
	  { OP(1, 3, LATCH_COUNT_DOWN, 1, 0), OP(2, 4, LATCH_COUNT_DOWN, 1, 0),
	    OP(5, 6, LATCH_COUNT, 0, 1) } },
	{ "arrived and waited, alone", false,
	  { OP(1, 2, LATCH_COUNT_DOWN, 1, 0), OP(1, 2, LATCH_WAIT, 0, 0) } },
	{ "arrived and waited, two", true,
	  { OP(1, 4, LATCH_COUNT_DOWN, 1, 0), OP(1, 4, LATCH_WAIT, 0, 0),
	    OP(2, 5, LATCH_COUNT_DOWN, 1, 0), OP(2, 5, LATCH_WAIT, 0, 0) } },
};

static const struct row onces[] = {
	{ "done by one", true,
	  { OP(1, 6, ONCE_RUN, 0, 0), OP(2, 3, ONCE_BEGIN, 0, 0), OP(4, 5, ONCE_END, 0, 0),
	    OP(1, 7, ONCE_RUN, 0, 0), OP(8, 9, ONCE_RUN, 0, 0) } },
	{ "returned before it was done", false,
	  { OP(1, 8, ONCE_RUN, 0, 0), OP(2, 3, ONCE_BEGIN, 0, 0), OP(1, 4, ONCE_RUN, 0, 0),
	    OP(5, 6, ONCE_END, 0, 0) } },
	{ "done twice", false,
	  { OP(1, 2, ONCE_BEGIN, 0, 0), OP(3, 4, ONCE_END, 0, 0), OP(5, 6, ONCE_BEGIN, 0, 0),
	    OP(7, 8, ONCE_END, 0, 0) } },
	{ "done by two at a time", false,
	  { OP(1, 2, ONCE_BEGIN, 0, 0), OP(3, 4, ONCE_BEGIN, 0, 0), OP(5, 6, ONCE_END, 0, 5),
	    OP(7, 8, ONCE_END, 0, 0) } },
	{ "failed, and done by another", true,
	  { OP(1, 6, ONCE_RUN, 5, 5), OP(2, 3, ONCE_BEGIN, 0, 0), OP(4, 5, ONCE_END, 0, 5),
	    OP(1, 12, ONCE_RUN, 0, 0), OP(7, 8, ONCE_BEGIN, 0, 0), OP(9, 10, ONCE_END, 0, 0) } },
	{ "failed, and taken for done", false,
	  { OP(1, 6, ONCE_RUN, 5, 5), OP(2, 3, ONCE_BEGIN, 0, 0), OP(4, 5, ONCE_END, 0, 5),
	    OP(1, 7, ONCE_RUN, 0, 0) } },
	{ "the failure of another", false,
	  { OP(1, 6, ONCE_RUN, 5, 5), OP(2, 3, ONCE_BEGIN, 0, 0), OP(4, 5, ONCE_END, 0, 5),
	    OP(1, 7, ONCE_RUN, 0, 5) } },
	{ "nobody has done it", false, { OP(1, 2, ONCE_RUN, 0, 0) } },
};

/* Of three parties. */
static const struct row barriers[] = {
	{ "a round", true,
	  { OP(1, 9, BARRIER_ARRIVE, 0, 0), OP(1, 9, BARRIER_LEAVE, 0, 0),
	    OP(2, 8, BARRIER_ARRIVE, 1, 0), OP(2, 8, BARRIER_LEAVE, 1, 0),
	    OP(5, 6, BARRIER_SERIAL, 0, 1) } },
	{ "released before the last arrived", false,
	  { OP(1, 9, BARRIER_ARRIVE, 0, 0), OP(1, 9, BARRIER_LEAVE, 0, 0),
	    OP(2, 4, BARRIER_ARRIVE, 1, 0), OP(2, 4, BARRIER_LEAVE, 1, 0),
	    OP(5, 6, BARRIER_SERIAL, 0, 1) } },
	{ "two serial threads", false,
	  { OP(1, 9, BARRIER_ARRIVE, 0, 0), OP(1, 9, BARRIER_LEAVE, 0, 0),
	    OP(2, 8, BARRIER_SERIAL, 0, 1), OP(5, 6, BARRIER_SERIAL, 0, 1) } },
	{ "no serial thread", false,
	  { OP(1, 9, BARRIER_ARRIVE, 0, 0), OP(1, 9, BARRIER_LEAVE, 0, 0),
	    OP(2, 8, BARRIER_ARRIVE, 1, 0), OP(2, 8, BARRIER_LEAVE, 1, 0),
	    OP(5, 7, BARRIER_ARRIVE, 2, 0), OP(5, 7, BARRIER_LEAVE, 2, 0) } },
	{ "one too few", false,
	  { OP(1, 9, BARRIER_ARRIVE, 0, 0), OP(1, 9, BARRIER_LEAVE, 0, 0),
	    OP(5, 6, BARRIER_SERIAL, 0, 1) } },
	{ "one that is not waited for", false,
	  { OP(1, 9, BARRIER_ARRIVE, 0, 0), OP(1, 9, BARRIER_LEAVE, 0, 0),
	    OP(2, 3, BARRIER_EXPIRE, 0, -ETIMEDOUT), OP(5, 6, BARRIER_SERIAL, 0, 1) } },
	{ "one that is replaced", true,
	  { OP(1, 9, BARRIER_ARRIVE, 0, 0), OP(1, 9, BARRIER_LEAVE, 0, 0),
	    OP(2, 3, BARRIER_EXPIRE, 0, -ETIMEDOUT), OP(4, 9, BARRIER_ARRIVE, 1, 0),
	    OP(4, 9, BARRIER_LEAVE, 1, 0), OP(5, 6, BARRIER_SERIAL, 0, 1) } },
	{ "the last expires", false,
	  { OP(1, NEVER, BARRIER_ARRIVE, 0, 0), OP(2, NEVER, BARRIER_ARRIVE, 1, 0),
	    OP(3, 4, BARRIER_EXPIRE, 0, -ETIMEDOUT), OP(5, 6, BARRIER_SERIAL, 0, 1),
	    OP(7, 8, BARRIER_SERIAL, 0, 1) } },
};
/* clang-format on */

static void check_rows(struct spec spec, const struct row *rows, size_t n)
{
	struct wing_gong *w = wing_gong_create(&spec);

	for (size_t i = 0; i < n; i++) {
		size_t ops = 0;

		while (ops < OPS_MAX && rows[i].ops[ops].ret)
			ops++;
		if ((wing_gong_check(w, rows[i].ops, ops) == WING_GONG_YES) == rows[i].good)
			continue;
		printf("%s:\n", rows[i].what);
		wing_gong_print(w, stdout);
		fail();
	}
	wing_gong_destroy(w);
}

#define CHECK_ROWS(spec, rows) check_rows(spec, rows, sizeof(rows) / sizeof((rows)[0]))

static void test_locks_and_events(void **state)
{
	(void)state;
	CHECK_ROWS(spec_rwlock(), rwlocks);
	CHECK_ROWS(spec_event(false, false), events);
	CHECK_ROWS(spec_event(true, false), auto_events);
	CHECK_ROWS(spec_eventcount(), eventcounts);
}

static void test_cond(void **state)
{
	(void)state;
	CHECK_ROWS(spec_cond(), conds);
}

static void test_gates(void **state)
{
	(void)state;
	CHECK_ROWS(spec_latch(2), latches);
	CHECK_ROWS(spec_once(), onces);
	CHECK_ROWS(spec_barrier(3), barriers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks_and_events),
		cmocka_unit_test(test_cond),
		cmocka_unit_test(test_gates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
