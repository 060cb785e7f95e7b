/* SPDX-License-Identifier: MIT */
/*
 * The marks of writers that wait for a reader-writer lock, over a scripted kernel. NEXT: a writer
 * that has slept looks on. QUIET: a writer naps. And readers that pass sleeping writers.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/rwlock_word.h"
#include "os/thread.h"
#include "policy/cost.h"
#include "policy/window.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

#define READER  1u
#define WRITER  2u
#define OVERDUE 4u

/* lib/policy/pace.h: sections are short, so writers do not nap. */
#define SHORT_SECTIONS 63

static struct ipcwait_rwlock l;

/* A lock in this state, on which the last wake began just now. Nobody spins. */
static void world(uint64_t word, unsigned flags)
{
	fake_reset();
	CHECK_EQ(ipcwait_rwlock_init(&l, flags), 0);
	CHECK_EQ(ipcwait_window_set_preset(&l.window, IPCWAIT_BLOCK), 0);
	ipcwait_window_stamp(&l.window);
	rwlock_fabricate(&l, word);
	errno = 4711;
}

/* A sleep costs 30 us, whatever the tests before have taught. */
static void teach_costs(void)
{
	for (int i = 0; i < 160; i++) {
		iw_cost_note_latency(20000);
		iw_cost_note_waker(10000);
	}
}

static void left(uint64_t word, unsigned waits, unsigned wakes)
{
	CHECK_EQ(rwlock_word(&l), word);
	CHECK_EQ(fake.waits, waits);
	CHECK_EQ(fake.wakes, wakes);
	CHECK_EQ(errno, 4711);
}

static void unlock_it(void)
{
	CHECK_EQ(ipcwait_rwlock_unlock(&l), 0);
}

/* Readers pass a sleeping writer. The last reader wakes it. */
static void pass_it(void)
{
	CHECK_EQ(rwlock_word(&l), WORD(1, 1, 0));
	CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&l), 0);
	CHECK_EQ(ipcwait_rwlock_rdlock_until(&l, 0), 0);
	left(WORD(4, 1, 0), fake.waits, 0);
	for (int i = 0; i < 3; i++)
		unlock_it();
	left(WORD(1, 1, 0), fake.waits, 0);
	unlock_it();
	left(WORD(0, 1, 0) | WORD_WAKE, fake.waits, 1);
	CHECK_EQ(fake.wake.bits, WRITER);
}

static void test_readers_pass_a_sleeping_writer(void **state)
{
	const struct fake_step script[] = { { .meanwhile = pass_it } };

	(void)state;
	for (unsigned flags = 0; flags <= IPCWAIT_PRIVATE; flags++) {
		world(WORD(1, 0, 0), flags);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
		left(WORD_WRITER, 1, 1);
	}
}

/* Readers also pass a writer that was woken and has not run yet. It sleeps again then. */
static void pass_it_awake(void)
{
	unlock_it();
	left(WORD(0, 1, 0) | WORD_WAKE, fake.waits, 1);
	CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
	unlock_it();
	left(WORD(0, 1, 0) | WORD_WAKE, fake.waits, 1);
	CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
}

static void test_readers_pass_a_woken_writer(void **state)
{
	const struct fake_step script[] = { { .meanwhile = pass_it_awake },
					    { .meanwhile = unlock_it } };

	(void)state;
	world(WORD(1, 0, 0), 0);
	l.note.v = SHORT_SECTIONS;
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WORD_WRITER, 2, 2);
}

/*
 * A writer that was woken too early spins, and sets NEXT. This is what other threads do when they
 * find NEXT for the first time.
 */
static void (*beside_next)(void);
static bool spun; /* the writer has set NEXT */

static void on_clock(void)
{
	void (*act)(void) = beside_next;

	if (!act || !(rwlock_word(&l) & WORD_NEXT))
		return;
	spun = true;
	beside_next = NULL;
	act();
}

static void wait_as_next(uint64_t word, uint32_t note, void (*act)(void))
{
	static const struct fake_step script[] = { { 0 }, { .meanwhile = unlock_it } };

	world(word, 0);
	teach_costs();
	l.note.v = note;
	CHECK_EQ(ipcwait_window_set_preset(&l.window, IPCWAIT_SPIN), 0);
	FAKE_SCRIPT(script);
	fake.on_clock = on_clock;
	beside_next = act;
	spun = false;
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	CHECK(spun);
}

static int64_t freed_ns;

static void unlock_to_next(void)
{
	uint64_t w = rwlock_word(&l);

	CHECK_EQ(w & ~WORD(1, 0, 0), (w & WORD_WRITER) | WORD(0, 2, 0) | WORD_NEXT);
	unlock_it();
	left(WORD(0, 2, 0) | WORD_NEXT, 1, 0);
	freed_ns = fake.now_ns;
}

static void test_a_woken_writer_is_next(void **state)
{
	(void)state;
	wait_as_next(WRITTEN(1, 0), 0, unlock_to_next);
	left(WRITTEN(1, 0), 1, 0);
	wait_as_next(WORD(1, 1, 0), 0, unlock_to_next);
	left(WRITTEN(1, 0), 1, 0);
	/* The writer ends the wake that is under way. */
	wait_as_next(WRITTEN(1, 0) | WORD_WAKE, 0, unlock_to_next);
	left(WRITTEN(1, 0), 1, 0);
}

static unsigned readings; /* of the clock, before the unlock */

static void unlock_later(void)
{
	if (readings--)
		beside_next = unlock_later;
	else
		unlock_to_next();
}

/* It looks all the time, also under short sections. Other writers look once in 1 us there. */
static void test_next_looks_closely(void **state)
{
	(void)state;
	for (unsigned later = 20; later < 40; later++) {
		readings = later;
		wait_as_next(WRITTEN(1, 0), SHORT_SECTIONS, unlock_later);
		left(WRITTEN(1, 0), 1, 0);
		CHECK(fake.now_ns - freed_ns < US / 2);
	}
}

/* It spins for the cost of a sleep even if waits are known to be long. */
static void test_next_spins_in_long_waits(void **state)
{
	static const struct fake_step script[] = { { 0 } };

	(void)state;
	world(WRITTEN(1, 0), 0);
	teach_costs();
	CHECK_EQ(ipcwait_window_set_preset(&l.window, IPCWAIT_ADAPTIVE), 0);
	for (int i = 0; i < 40; i++)
		iw_window_record(&l.window, IW_BIN_LONG, 1, 0);
	FAKE_SCRIPT(script);
	fake.on_clock = on_clock;
	beside_next = unlock_later;
	readings = 20;
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WRITTEN(1, 0), 1, 0);
}

/* A call that only tries takes a free lock in spite of NEXT. */
static void try_beside_next(void)
{
	unlock_to_next();
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&l), 0);
	left(WORD(1, 2, 0), 1, 0);
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), -EBUSY);
	/* The reader has cleared NEXT, so its unlock wakes a writer. */
	unlock_it();
	left(WORD(0, 2, 0) | WORD_WAKE, 1, 1);
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), 0);
	unlock_it();
	left(WORD(0, 2, 0) | WORD_WAKE, 1, 1);
	rwlock_fabricate(&l, WORD(0, 2, 0) | WORD_NEXT);
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), 0);
	left(WRITTEN(2, 0), 1, 1);
	unlock_it();
	left(WORD(0, 2, 0) | WORD_WAKE, 1, 2);
}

static void test_trying_beside_next(void **state)
{
	(void)state;
	wait_as_next(WRITTEN(1, 0), 0, try_beside_next);
	left(WRITTEN(1, 0), 1, 2);
}

/* A thread that would sleep, or whose deadline is past, takes the free lock too. */
static void come_beside_next(void)
{
	unlock_to_next();
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WRITTEN(2, 0), 1, 0);
	rwlock_fabricate(&l, WORD(0, 2, 0) | WORD_NEXT);
	CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
	left(WORD(1, 2, 0), 1, 0);
	rwlock_fabricate(&l, WORD(0, 2, 0) | WORD_NEXT);
	CHECK_EQ(ipcwait_rwlock_rdlock_until(&l, 0), 0);
	left(WORD(1, 2, 0), 1, 0);
	rwlock_fabricate(&l, WORD(0, 2, 0) | WORD_NEXT);
}

static void test_coming_beside_next(void **state)
{
	(void)state;
	wait_as_next(WRITTEN(1, 0), 0, come_beside_next);
	left(WRITTEN(1, 0), 1, 0);
}

/* A writer that spins without success clears NEXT and sleeps again. */
static void nothing(void)
{
}

static void test_next_sleeps_again(void **state)
{
	(void)state;
	wait_as_next(WRITTEN(1, 0), SHORT_SECTIONS, nothing);
	left(WRITTEN(1, 0), 2, 1);
	CHECK_EQ(fake.wait.value, (uint32_t)WORD(0, 2, 0));
	wait_as_next(WRITTEN(1, 0), 0, nothing);
	left(WRITTEN(1, 0), 2, 0);
	CHECK_EQ(fake.wait.value, (uint32_t)WORD(0, 2, 0));
}

/* A writer that was woken too early naps. The next unlock does not wake it, but its alarm does. */
static void unlock_in_a_nap(void)
{
	CHECK_EQ(rwlock_word(&l), WRITTEN(2, 0) | WORD_QUIET);
	CHECK_EQ(fake.wait.bits, WRITER);
	CHECK(fake.wait.deadline_ns <= fake.now_ns + US);
	unlock_it();
	left(WORD(0, 2, 0) | WORD_QUIET, fake.waits, 0);
}

static void test_a_nap(void **state)
{
	const struct fake_step script[] = {
		{ 0 },
		{ .result = -ETIMEDOUT,
		  .sleep_ns = 100 * US,
		  .meanwhile = unlock_in_a_nap },
	};

	(void)state;
	for (unsigned flags = 0; flags <= IPCWAIT_PRIVATE; flags++) {
		world(WRITTEN(1, 0), flags);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
		left(WRITTEN(1, 0), 2, 0);
	}
}

/* A writer that has spun too much lately naps in its first sleep. */
static void test_a_nap_instead_of_a_spin(void **state)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT,
		  .sleep_ns = 100 * US,
		  .meanwhile = unlock_in_a_nap },
	};

	(void)state;
	world(WRITTEN(1, 0), 0);
	CHECK_EQ(ipcwait_window_set_preset(&l.window, IPCWAIT_ADAPTIVE), 0);
	iw_thread.credit_full_at = (uint64_t)(fake.now_ns + 30 * MS);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WRITTEN(1, 0), 1, 0);
}

/* After a nap without success the writer naps again, and keeps QUIET. */
static void test_naps_in_a_row(void **state)
{
	const struct fake_step script[] = {
		{ 0 },
		{ .result = -ETIMEDOUT, .sleep_ns = 100 * US },
		{ .result = -ETIMEDOUT, .sleep_ns = 100 * US },
		{ .result = -ETIMEDOUT,
		  .sleep_ns = 100 * US,
		  .meanwhile = unlock_in_a_nap },
	};

	(void)state;
	world(WRITTEN(1, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WRITTEN(1, 0), 4, 0);
}

/* A writer that gives up in a nap clears QUIET. */
static void test_giving_up_in_a_nap(void **state)
{
	const struct fake_step script[] = {
		{ 0 },
		{ .result = -ETIMEDOUT, .sleep_ns = 60 * US },
	};

	(void)state;
	world(WRITTEN(1, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock_until(&l, fake.now_ns + 60 * US), -ETIMEDOUT);
	left(WRITTEN(1, 0), 2, 0);
}

/* The next unlock wakes a writer that does not nap. */
static void unlock_for_one_awake(void)
{
	CHECK(!(rwlock_word(&l) & WORD_QUIET));
	CHECK(fake.wait.deadline_ns > fake.now_ns + MS);
	unlock_it();
	CHECK_EQ(fake.wakes, 1);
}

/*
 * A writer does not nap in its first sleep, after a sleep that no wake has ended, after short
 * sections, or when it is overdue.
 */
static void test_no_naps(void **state)
{
	const struct fake_step first[] = { { .meanwhile = unlock_for_one_awake } };
	const struct fake_step second[] = { { 0 }, { .meanwhile = unlock_for_one_awake } };
	const struct fake_step unwoken[] = { { .result = -EAGAIN },
					     { .meanwhile = unlock_for_one_awake } };
	const struct fake_step late[] = { { .sleep_ns = 5 * MS },
					  { .meanwhile = unlock_for_one_awake } };

	(void)state;
	world(WRITTEN(1, 0), 0);
	FAKE_SCRIPT(first);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WRITTEN(1, 0), 1, 1);
	world(WRITTEN(1, 0), 0);
	FAKE_SCRIPT(unwoken);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WRITTEN(1, 0), 2, 1);
	world(WRITTEN(1, 0), 0);
	l.note.v = SHORT_SECTIONS;
	FAKE_SCRIPT(second);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WRITTEN(1, 0), 2, 1);
	world(WRITTEN(1, 0), 0);
	FAKE_SCRIPT(late);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WRITTEN(1, 0), 2, 1);
	CHECK_EQ(fake.wake.bits, OVERDUE);
}

/* Only one writer naps. Another writer sleeps as usual and does not change QUIET. */
static void end_the_nap(void)
{
	CHECK_EQ(rwlock_word(&l), WRITTEN(2, 0) | WORD_QUIET);
	CHECK(fake.wait.deadline_ns > fake.now_ns + MS);
	rwlock_fabricate(&l, rwlock_word(&l) & ~WORD_QUIET);
	unlock_it();
}

static void test_one_nap_at_a_time(void **state)
{
	const struct fake_step script[] = { { 0 }, { .meanwhile = end_the_nap } };

	(void)state;
	world(WRITTEN(1, 0) | WORD_QUIET, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WRITTEN(1, 0), 2, 1);
}

/* An unlock wakes an overdue writer although another writer naps. */
static void unlock_beside_an_overdue_one(void)
{
	CHECK_EQ(rwlock_word(&l), WRITTEN(2, 0) | WORD_QUIET | WORD_URGENT);
	unlock_it();
	CHECK_EQ(fake.wakes, 1);
	CHECK_EQ(fake.wake.bits, OVERDUE);
}

static void test_a_nap_beside_an_overdue_writer(void **state)
{
	const struct fake_step script[] = {
		{ 0 },
		{ .result = -ETIMEDOUT,
		  .sleep_ns = 100 * US,
		  .meanwhile = unlock_beside_an_overdue_one },
		{ .result = -ETIMEDOUT, .sleep_ns = 100 * US },
	};
	const uint64_t kept = WORD(0, 1, 0) | WORD_URGENT | WORD_WAKE;

	(void)state;
	world(WRITTEN(1, 0) | WORD_URGENT, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock_until(&l, fake.now_ns + 180 * US), -ETIMEDOUT);
	left(kept, 3, 1);
}

/* A nap does not count as a sleep up to an alarm. The next alarm comes after some 4 ms / 4. */
static void test_alarms_after_naps(void **state)
{
	enum { NAPS = 42 };
	static struct fake_step script[NAPS + 2];

	(void)state;
	for (unsigned i = 1; i <= NAPS; i++)
		script[i] =
			(struct fake_step){ .result = -ETIMEDOUT, .sleep_ns = 100 * US };
	script[NAPS + 1].meanwhile = unlock_it;
	world(WRITTEN(0, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	CHECK_EQ(fake.wait.bits, WRITER | OVERDUE);
	CHECK(fake.wait.deadline_ns <= fake.now_ns + 2 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers_pass_a_sleeping_writer),
		cmocka_unit_test(test_readers_pass_a_woken_writer),
		cmocka_unit_test(test_a_woken_writer_is_next),
		cmocka_unit_test(test_next_looks_closely),
		cmocka_unit_test(test_next_spins_in_long_waits),
		cmocka_unit_test(test_trying_beside_next),
		cmocka_unit_test(test_coming_beside_next),
		cmocka_unit_test(test_next_sleeps_again),
		cmocka_unit_test(test_a_nap),
		cmocka_unit_test(test_a_nap_instead_of_a_spin),
		cmocka_unit_test(test_naps_in_a_row),
		cmocka_unit_test(test_giving_up_in_a_nap),
		cmocka_unit_test(test_no_naps),
		cmocka_unit_test(test_one_nap_at_a_time),
		cmocka_unit_test(test_a_nap_beside_an_overdue_writer),
		cmocka_unit_test(test_alarms_after_naps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
