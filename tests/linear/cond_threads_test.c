/* SPDX-License-Identifier: MIT */
/*
 * Condition variables under real threads, by wing_gong.c: a wait is recorded as two operations,
 * specs.h. That a wait has entered before it unlocks the mutex is in the history: the entering
 * returns when the next thread has locked the mutex, and whoever signals then must find it.
 *
 * That a signal or a broadcast has been for somebody does not show in its result, nor in that of a
 * wait that a later one ends. It shows where thread 0 releases those who wait without a deadline.
 */
#include "common/check.h"
#include "common/cmocka_all.h"
#include "linear/rounds.h"

#define ROUNDS 1500
#define TURNS  4
#define SOON   30000 /* ns */

static struct ipcwait_mutex mutex;
static struct ipcwait_cond cond;

/* Under the mutex: who has entered since it was locked, and how many have. */
static struct history_op *entering;
static unsigned waits;

/* Nobody but thread 0 signals: what an expired wait takes is missed by another one. */
static bool alone;

static void begin_cond(unsigned round)
{
	waits = 0;
	alone = round / 8 & 1;
	CHECK_EQ(ipcwait_mutex_init(&mutex, rounds_flags(round)), 0);
	CHECK_EQ(ipcwait_cond_init(&cond, rounds_flags(round)), 0);
	rounds_set_preset(&cond.window, round);
}

/* Behind each locking of the mutex. */
static void note_entered(struct rounds_user *me)
{
	if (entering)
		history_return(&me->part, entering, 0);
	entering = NULL;
}

static void lock(struct rounds_user *me)
{
	CHECK_EQ(ipcwait_mutex_lock(&mutex), 0);
	note_entered(me);
}

static void unlock(void)
{
	CHECK_EQ(ipcwait_mutex_unlock(&mutex), 0);
}

/* A wait without a deadline is one that thread 0 may have to end. */
static void wait_for_signal(struct rounds_user *me, bool for_ever)
{
	int64_t deadline_ns = for_ever ? IPCWAIT_FOREVER : rounds_deadline(me, SOON);
	struct history_op *enter, *leave;
	int r;

	lock(me);
	enter = history_call(&me->part, me->id, COND_ENTER, waits);
	leave = history_call(&me->part, me->id, COND_LEAVE, waits++);
	entering = enter;
	if (for_ever)
		rounds_park();
	r = ipcwait_cond_wait_until(&cond, &mutex, deadline_ns);
	if (for_ever)
		rounds_unpark();
	else if (r == 0)
		rounds_came_back();
	history_return(&me->part, leave, r);
	note_entered(me);
	unlock();
}

static int64_t signal_one(int64_t arg)
{
	(void)arg;
	return ipcwait_cond_signal(&cond);
}

static int64_t broadcast(int64_t arg)
{
	(void)arg;
	return ipcwait_cond_broadcast(&cond);
}

static void tell(struct rounds_user *me)
{
	bool locked = rounds_below(me, 2), all = rounds_below(me, 3) == 0;

	if (locked)
		lock(me);
	(void)rounds_record(me, all ? COND_BROADCASTS : COND_SIGNALS, 0,
			    all ? broadcast : signal_one);
	if (locked)
		unlock();
}

/*
 * With the mutex, so that who is parked has entered. Each of them comes back from a broadcast; of
 * a signal one of these or another that then does not say that it has expired.
 */
static unsigned release_some(struct rounds_user *me)
{
	bool all = rounds_below(me, 2);
	unsigned parked;

	lock(me);
	parked = rounds_parked();
	if (parked)
		(void)rounds_record(me, all ? COND_BROADCASTS : COND_SIGNALS, 0,
				    all ? broadcast : signal_one);
	unlock();
	return all || !parked ? parked : 1;
}

static void use_cond(struct rounds_user *me)
{
	for (unsigned i = 0; i < TURNS && !(alone && me->id == 0); i++) {
		unsigned what = rounds_below(me, alone ? 5 : 8);

		rounds_nap(me);
		if (what < 3 && me->id)
			wait_for_signal(me, true);
		else if (what < 5)
			wait_for_signal(me, false);
		else
			tell(me);
	}
	if (me->id == 0)
		rounds_release_all(me, alone || rounds_below(me, 2), release_some);
}

/* Nobody waits: a signal is for nobody, and nothing is left of those who expired. */
static void end_cond(struct rounds_user *host)
{
	(void)rounds_record(host, COND_SIGNALS, 0, signal_one);
	CHECK_EQ(ipcwait_cond_fini(&cond), 0);
	CHECK_EQ(ipcwait_mutex_fini(&mutex), 0);
}

static void run_cond(const char *name, unsigned threads, bool signals)
{
	const struct rounds r = { .name = name,
				  .spec = spec_cond(),
				  .kind = IPCWAIT_KIND_COND,
				  .threads = threads,
				  .count = ROUNDS,
				  .signals = signals,
				  .begin = begin_cond,
				  .turn = use_cond,
				  .last_words = end_cond };

	rounds_run(&r);
}

static void test_cond(void **state)
{
	(void)state;
	run_cond("condition variable, three threads", 3, false);
	run_cond("condition variable", 4, false);
	run_cond("condition variable, signals", 5, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
