/* SPDX-License-Identifier: MIT */
/*
 * Events and event counts under real threads, by wing_gong.c. The numbers of a notification are no
 * part of the specification: that notify(n) ends the waits of n that sleep shows in that thread
 * 0 releases those who wait without a deadline so, and the test gets stuck if it does not.
 */
#include "common/check.h"
#include "common/cmocka_all.h"
#include "linear/rounds.h"

#define ROUNDS  1500
#define THREADS 4
#define TURNS   5
#define SOON    30000 /* ns */

static struct ipcwait_event event;
static struct ipcwait_eventcount ec;
static unsigned reset_flag;

/* Nobody but thread 0 notifies: what an expired wait takes is missed by another one. */
static bool alone;

static void begin_event(unsigned round)
{
	CHECK_EQ(ipcwait_event_init(&event, rounds_flags(round) | reset_flag), 0);
	rounds_set_preset(&event.window, round);
}

static int64_t event_set(int64_t arg)
{
	(void)arg;
	return ipcwait_event_set(&event);
}

static int64_t event_reset(int64_t arg)
{
	(void)arg;
	return ipcwait_event_reset(&event);
}

static int64_t event_trywait(int64_t arg)
{
	(void)arg;
	return ipcwait_event_trywait(&event);
}

static int64_t event_is_set(int64_t arg)
{
	(void)arg;
	return ipcwait_event_is_set(&event);
}

static int64_t event_wait(int64_t arg)
{
	int r;

	(void)arg;
	rounds_park();
	r = ipcwait_event_wait(&event);
	rounds_unpark();
	return r;
}

static int64_t event_wait_until(int64_t arg)
{
	return ipcwait_event_wait_until(&event, arg);
}

static void wait_for_event(struct rounds_user *me)
{
	struct history_op *op;

	if (me->id && rounds_below(me, 2)) {
		(void)rounds_record(me, EVENT_WAIT, 0, event_wait);
		return;
	}
	op = history_call(&me->part, me->id, EVENT_WAIT_UNTIL, 0);
	history_return(&me->part, op, event_wait_until(rounds_deadline(me, SOON)));
}

/* Nobody resets it meanwhile: all who are parked, or one. */
static unsigned release_event(struct rounds_user *me)
{
	unsigned parked = rounds_parked();

	(void)rounds_record(me, EVENT_SETS, 0, event_set);
	return reset_flag ? 1 : parked;
}

static void use_event(struct rounds_user *me)
{
	for (unsigned i = 0; i < TURNS; i++) {
		unsigned what = rounds_below(me, 16);

		rounds_dawdle(me);
		if (what < 6)
			wait_for_event(me);
		else if (what < 8)
			(void)rounds_record(me, EVENT_TRYWAIT, 0, event_trywait);
		else if (what < 12)
			(void)rounds_record(me, EVENT_SETS, 0, event_set);
		else if (what < 15)
			(void)rounds_record(me, EVENT_RESETS, 0, event_reset);
		else
			(void)rounds_record(me, EVENT_IS_SET, 0, event_is_set);
	}
	if (me->id == 0)
		rounds_release_all(me, false, release_event);
}

/* What is left over shows; and nobody is counted that is gone. */
static void end_event(struct rounds_user *host)
{
	(void)rounds_record(host, EVENT_IS_SET, 0, event_is_set);
	(void)rounds_record(host, EVENT_TRYWAIT, 0, event_trywait);
	(void)rounds_record(host, EVENT_TRYWAIT, 0, event_trywait);
	CHECK_EQ(ipcwait_event_fini(&event), 0);
}

static void run_event(const char *name, bool auto_reset, bool signals)
{
	const struct rounds r = { .name = name,
				  .spec = spec_event(auto_reset, false),
				  .kind = IPCWAIT_KIND_EVENT,
				  .threads = THREADS,
				  .count = ROUNDS,
				  .signals = signals,
				  .begin = begin_event,
				  .turn = use_event,
				  .last_words = end_event };

	reset_flag = auto_reset ? IPCWAIT_AUTO_RESET : 0;
	rounds_run(&r);
}

static void test_manual(void **state)
{
	(void)state;
	run_event("event", false, false);
	run_event("event, signals", false, true);
}

static void test_auto(void **state)
{
	(void)state;
	run_event("auto-reset event", true, false);
	run_event("auto-reset event, signals", true, true);
}

static void begin_eventcount(unsigned round)
{
	alone = round / 8 & 1;
	CHECK_EQ(ipcwait_eventcount_init(&ec, rounds_flags(round)), 0);
	rounds_set_preset(&ec.window, round);
}

static int64_t prepare(int64_t arg)
{
	(void)arg;
	return (int64_t)ipcwait_eventcount_prepare(&ec);
}

static int64_t notify(int64_t n)
{
	return ipcwait_eventcount_notify(&ec, (uint32_t)n);
}

static int64_t commit(int64_t key)
{
	int r;

	rounds_park();
	r = ipcwait_eventcount_commit(&ec, (uint64_t)key, IPCWAIT_FOREVER);
	rounds_unpark();
	return r;
}

static void wait_for_notification(struct rounds_user *me)
{
	int64_t key = rounds_record(me, EVENTCOUNT_PREPARE, 0, prepare);
	struct history_op *op;
	int r;

	rounds_dawdle(me);
	if (me->id && rounds_below(me, 2)) {
		(void)rounds_record(me, EVENTCOUNT_COMMIT, key, commit);
		return;
	}
	op = history_call(&me->part, me->id, EVENTCOUNT_COMMIT, key);
	r = ipcwait_eventcount_commit(&ec, (uint64_t)key, rounds_deadline(me, SOON));
	history_return(&me->part, op, r);
	/* One that expires, or is interrupted, has used up no notification of another. */
	if (r == 0)
		rounds_came_back();
}

/* Those who have prepared and do not sleep yet come back besides. */
static unsigned release_some(struct rounds_user *me)
{
	unsigned n = 1 + rounds_below(me, THREADS), parked = rounds_parked();

	(void)rounds_record(me, EVENTCOUNT_NOTIFY, n, notify);
	return n < parked ? n : parked;
}

static void use_eventcount(struct rounds_user *me)
{
	for (unsigned i = 0; i < TURNS && !(alone && me->id == 0); i++) {
		unsigned what = rounds_below(me, alone ? 8 : 16);

		rounds_nap(me);
		if (what < 8)
			wait_for_notification(me);
		else if (what < 12)
			(void)rounds_record(me, EVENTCOUNT_NOTIFY, what - 8, notify);
		else
			(void)rounds_record(me, EVENTCOUNT_PREPARE, 0, prepare);
	}
	if (me->id == 0)
		rounds_release_all(me, alone || rounds_below(me, 2), release_some);
}

static void end_eventcount(struct rounds_user *host)
{
	(void)rounds_record(host, EVENTCOUNT_PREPARE, 0, prepare);
	CHECK_EQ(ipcwait_eventcount_fini(&ec), 0);
}

static void run_eventcount(const char *name, bool signals)
{
	const struct rounds r = { .name = name,
				  .spec = spec_eventcount(),
				  .kind = IPCWAIT_KIND_EVENTCOUNT,
				  .threads = THREADS,
				  .count = ROUNDS,
				  .signals = signals,
				  .begin = begin_eventcount,
				  .turn = use_eventcount,
				  .last_words = end_eventcount };

	rounds_run(&r);
}

static void test_eventcount(void **state)
{
	(void)state;
	run_eventcount("event count", false);
	run_eventcount("event count, signals", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manual),
		cmocka_unit_test(test_auto),
		cmocka_unit_test(test_eventcount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
