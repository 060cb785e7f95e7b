/* SPDX-License-Identifier: MIT */
/* lib/policy/migration.c: apart, or as the scheduler has it, told by the lengths of waits. */
#include "common/cmocka_all.h"
#include "policy/migration.h"
#include "policy/window.h"

#define US     UINT64_C(1000)
#define MS     UINT64_C(1000000)
#define WINDOW (30 * US)

/* As in the source: the longest row, the shortest after a kept trial, and a trial. */
#define ROW_MOST  31
#define ROW_LEAST 16
#define ROW_KEPT  2
#define TRIAL     40
#define FAILED    10

/* Where a thread has its own decides too, so here it is always the same place in a page. */
static _Alignas(4096) struct iw_migration m;
static uint64_t now = 100 * MS;

/* One wait of @ns, which the thread does as it is told. Where it is moved that works. */
static enum iw_move wait_once(bool beside, uint64_t ns)
{
	enum iw_move how = IW_STAY;

	if (!iw_migration_pauses(&m, now)) {
		how = iw_migration_on_trial(&m) ? iw_migration_judge(&m, now) : IW_STAY;
		if (how == IW_RETURN)
			iw_migration_moved(&m, true, 1, now);
		else
			how = iw_migration_begin(&m, beside, WINDOW, now);
		if (how == IW_LEAVE)
			iw_migration_moved(&m, true, 1, now);
		iw_migration_end(&m, ns);
	}
	now += ns;
	return how;
}

/* Waits like that until the thread is moved, @most at most. How many there were. */
static unsigned waits_until(enum iw_move how, bool beside, uint64_t ns, unsigned most)
{
	for (unsigned i = 0; i < most; i++) {
		enum iw_move did = wait_once(beside, ns);

		if (did == how)
			return i;
		CHECK_EQ(did, IW_STAY);
	}
	return most;
}

static void leaves_after_a_row(void)
{
	unsigned n = waits_until(IW_LEAVE, true, 5 * US, 100);

	CHECK(n >= ROW_LEAST && n <= ROW_MOST);
	CHECK(iw_migration_on_trial(&m));
}

/* Both of a pair have the same row: they must not leave in the same wait each time. */
static void rows_differ(void)
{
	/* Of a counter of 25 MHz. The address of the thread's data counts too, and is random. */
	unsigned first = waits_until(IW_LEAVE, true, 5 * US, 100), same = 0;

	for (int i = 1; i < 128; i++) {
		m = (struct iw_migration){ .home = 0 };
		now += 40;
		same += waits_until(IW_LEAVE, true, 5 * US, 100) == first;
	}
	CHECK(same <= 64);
}

/* One that is elsewhere begins the row anew. */
static void a_row_has_no_gap(void)
{
	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < ROW_LEAST - 1; k++)
			CHECK_EQ(wait_once(true, 5 * US), IW_STAY);
		CHECK_EQ(wait_once(false, 5 * US), IW_STAY);
	}
}

static void long_waits_do_not_leave(void)
{
	CHECK_EQ(waits_until(IW_LEAVE, true, WINDOW + 1, 1000), 1000);
}

static void not_beside_no_move(void)
{
	CHECK_EQ(waits_until(IW_LEAVE, false, 5 * US, 1000), 1000);
}

/* The first of a trial are not judged: the partner does not know of the move. */
static void keeps_what_is_shorter(void)
{
	(void)waits_until(IW_LEAVE, true, 5 * US, 100);
	for (int i = 1; i < 8; i++)
		CHECK_EQ(wait_once(false, 50 * US), IW_STAY);
	CHECK_EQ(waits_until(IW_RETURN, false, 9 * US / 2, 33), 33);
	CHECK(!iw_migration_on_trial(&m));
	CHECK(m.kept);
}

/* 90 % is shorter, and 91 % is not. */
static void equal_is_not_shorter(void)
{
	unsigned n;

	(void)waits_until(IW_LEAVE, true, 10 * US, 100);
	n = waits_until(IW_RETURN, false, 91 * US / 10, 10000);
	/* Until it has waited for 16 ms. */
	CHECK(n > 1700 && n < 1800);
	CHECK(!m.kept);
}

static void returns_at_once_from_what_is_far_worse(void)
{
	(void)waits_until(IW_LEAVE, true, 5 * US, 100);
	CHECK_EQ(waits_until(IW_RETURN, false, 15 * US, 100), TRIAL - 1);
}

/* The thread had nothing to do for long: that is no answer, and not the process's. */
static void a_long_wait_is_no_trial(void)
{
	(void)waits_until(IW_LEAVE, true, 5 * US, 100);
	CHECK_EQ(waits_until(IW_RETURN, false, 17 * MS, 3), 3);
	CHECK(!iw_migration_on_trial(&m));
	CHECK(m.undone);
}

/* Each failure doubles the pause of the next, of all threads, until there are none. */
static void failures_become_rare(void)
{
	uint64_t ended = 0, before = 0;

	for (int i = 0; i < FAILED; i++) {
		CHECK(waits_until(IW_LEAVE, true, 5 * US, 1000000) < 1000000);
		if (i > 1)
			CHECK(now - ended > before + before / 2);
		before = i ? now - ended : 0;
		(void)waits_until(IW_RETURN, false, 15 * US, 100);
		ended = now;
	}
	CHECK_EQ(waits_until(IW_LEAVE, true, 5 * US, 1000000), 1000000);
	m = (struct iw_migration){ .home = 0 };
	CHECK_EQ(waits_until(IW_LEAVE, true, 5 * US, 1000), 1000);
}

static void keep_one(void)
{
	(void)waits_until(IW_LEAVE, true, 5 * US, 100);
	(void)waits_until(IW_RETURN, false, 1 * US, TRIAL);
	CHECK(m.kept);
}

/* One that was kept makes up for all that failed; and the next begins after a few waits. */
static void kept_ones_make_up_for_it(void)
{
	unsigned n;

	for (int i = 0; i < 5; i++) {
		(void)waits_until(IW_LEAVE, true, 5 * US, 1000000);
		(void)waits_until(IW_RETURN, false, 15 * US, 100);
	}
	now += 100 * MS;
	keep_one();
	now += 2 * MS;
	CHECK(waits_until(IW_LEAVE, true, 5 * US, 100) <= 2 * ROW_KEPT);
	(void)waits_until(IW_RETURN, false, 15 * US, 100);
	now += 3 * MS;
	n = waits_until(IW_LEAVE, true, 5 * US, 100);
	CHECK(n >= ROW_LEAST && n <= ROW_MOST);
}

/* 40 waits of @ns, of them @beside; before it was 5 us. */
static enum iw_move answer(uint64_t ns, unsigned beside)
{
	m = (struct iw_migration){ .home = 1,
				   .before_ns = 5 * US,
				   .waits = TRIAL,
				   .waited_ns = (TRIAL - 8) * ns,
				   .beside = beside };
	return iw_migration_judge(&m, now);
}

static void says_how_it_ended(void)
{
	CHECK_EQ(answer(1 * US, 0), IW_KEEP);
	CHECK_EQ(answer(1 * US, TRIAL), IW_UNDONE);
	CHECK_EQ(answer(11 * US, 0), IW_RETURN);
	CHECK_EQ(answer(5 * US, 0), IW_STAY);
	CHECK(iw_migration_on_trial(&m));
}

static void pauses_after_a_kept_one(void)
{
	keep_one();
	CHECK(iw_migration_pauses(&m, now));
	CHECK(!iw_migration_pauses(&m, now + MS));
}

/* The scheduler puts the thread back at once: nothing was tried, and each next time comes later. */
static void undone_ones_become_rare(void)
{
	uint64_t ended = 0, before = 0;

	for (int i = 0; i < 8; i++) {
		CHECK(waits_until(IW_LEAVE, true, 5 * US, 1000000) < 1000000);
		if (i > 1)
			CHECK(now - ended > before + before / 2);
		before = i ? now - ended : 0;
		CHECK_EQ(waits_until(IW_RETURN, true, 5 * US, TRIAL), TRIAL);
		CHECK(!iw_migration_on_trial(&m));
		CHECK(!m.kept);
		ended = now;
	}
}

static void a_move_that_cannot_be_made_fails(void)
{
	CHECK_EQ(iw_migration_begin(&m, true, WINDOW, now), IW_STAY);
	iw_migration_moved(&m, false, 1, now);
	CHECK(!iw_migration_on_trial(&m));
	CHECK(iw_migration_pauses(&m, now));
}

static void waits_while_others_want_the_cpus(void)
{
	iw_migration_put_off(&m, now);
	CHECK(iw_migration_pauses(&m, now + 5 * MS - 1));
	CHECK(!iw_migration_pauses(&m, now + 5 * MS));
}

/* A pause that lies further ahead than any comes from a counter that stepped back. */
static void a_step_back(void)
{
	m.not_before = now + 2000 * MS;
	CHECK(!iw_migration_pauses(&m, now));
	m.not_before = now + 1000 * MS;
	CHECK(iw_migration_pauses(&m, now));
}

/* A trial is told of every wait. */
static void a_trial_does_not_pause(void)
{
	(void)waits_until(IW_LEAVE, true, 5 * US, 100);
	m.not_before = now + MS;
	CHECK(!iw_migration_pauses(&m, now));
}

static void who_left(void)
{
	struct ipcwait_window w = { .state = { 0 } };
	uint64_t at = 5000 * MS;

	iw_window_put_stamp(&w, at, 3);
	CHECK(!iw_migration_left(3, &w, at));
	iw_migration_note_left(3, at + 20 * US);
	CHECK(iw_migration_left(3, &w, at + 30 * US));
	CHECK(!iw_migration_left(2, &w, at + 30 * US));
	/* Later than that, and when stamps have come round. */
	CHECK(!iw_migration_left(3, &w, at + 11 * MS));
	iw_window_put_stamp(&w, at + 20000 * MS, 3);
	CHECK(!iw_migration_left(3, &w, at + 20000 * MS));
	iw_window_put_stamp(&w, at, 3);
	iw_migration_forget_left();
	CHECK(!iw_migration_left(3, &w, at + 30 * US));
	iw_migration_note_left(3, at + 20 * US);
	iw_window_put_stamp(&w, at + 40 * US, 3);
	CHECK(!iw_migration_left(3, &w, at + 70 * US));
	iw_window_forget_cpu(&w);
	CHECK_EQ(iw_state_waker_cpu(iw_window_state(&w)), 0);
	iw_migration_note_left(2, at + 60 * US);
	CHECK(!iw_migration_left(3, &w, at + 70 * US));
}

/* A handler may have seen half of it: in the end there is a decision all the same. */
static void any_content(void)
{
	for (unsigned i = 0; i < 512; i++) {
		m = (struct iw_migration){
			.waited_ns = i & 1 ? UINT64_MAX : 0,
			.before_ns = i & 2 ? UINT64_MAX / 2 : 0,
			.not_before = i & 4 ? UINT64_MAX : 0,
			.waits = i & 8 ? UINT32_MAX : 0,
			.beside = i & 16 ? UINT32_MAX : 0,
			.home = i & 32 ? UINT32_MAX : 0,
			.row = i & 64 ? 255 : 0,
			.undone = i & 128 ? 255 : 0,
			.kept = i & 256,
		};
		for (int k = 0; k < 1000; k++)
			(void)wait_once(k % 300 < 200 ? true : false, 5 * US);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(leaves_after_a_row),
		CHILD_TEST(rows_differ),
		CHILD_TEST(a_row_has_no_gap),
		CHILD_TEST(long_waits_do_not_leave),
		CHILD_TEST(not_beside_no_move),
		CHILD_TEST(keeps_what_is_shorter),
		CHILD_TEST(equal_is_not_shorter),
		CHILD_TEST(returns_at_once_from_what_is_far_worse),
		CHILD_TEST(a_long_wait_is_no_trial),
		CHILD_TEST(failures_become_rare),
		CHILD_TEST(kept_ones_make_up_for_it),
		CHILD_TEST(says_how_it_ended),
		CHILD_TEST(pauses_after_a_kept_one),
		CHILD_TEST(undone_ones_become_rare),
		CHILD_TEST(a_move_that_cannot_be_made_fails),
		CHILD_TEST(waits_while_others_want_the_cpus),
		CHILD_TEST(a_step_back),
		CHILD_TEST(a_trial_does_not_pause),
		CHILD_TEST(who_left),
		CHILD_TEST(any_content),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
