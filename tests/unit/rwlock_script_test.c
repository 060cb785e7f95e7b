/* SPDX-License-Identifier: MIT */
/*
 * Waits for a reader-writer lock over a scripted kernel: what a waiter publishes and takes back,
 * and what it does about those who do not come.
 */
#include <errno.h>
#include <limits.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/rwlock_word.h"

#define MS       INT64_C(1000000)
#define DEADLINE (fake.now_ns + 1000 * MS)

#define READER  1u
#define WRITER  2u
#define OVERDUE 4u

/* lib/policy/pace.h: sections are short, so writers do not nap. */
#define SHORT_SECTIONS 63

#define EPOCH_ONE (UINT64_C(1) << 30)
#define FULL      0x3fff

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

static void left(uint64_t word, unsigned waits, unsigned wakes)
{
	CHECK_EQ(rwlock_word(&l), word);
	CHECK_EQ(fake.waits, waits);
	CHECK_EQ(fake.wakes, wakes);
	CHECK_EQ(errno, 4711);
}

struct row {
	uint64_t before, after;
	uint32_t bits; /* whom it wakes; 0: nobody */
};

static void unlock_it(void)
{
	CHECK_EQ(ipcwait_rwlock_unlock(&l), 0);
}

static void write_and_unlock_it(void)
{
	unlock_it();
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), 0);
	unlock_it();
}

static void test_readers_wait(void **state)
{
	const struct fake_step script[] = {
		{ 0 }, /* for no reason */
		{ .result = -EAGAIN },
		{ .result = -EINTR },
		{ .meanwhile = unlock_it },
	};

	(void)state;
	for (unsigned flags = 0; flags <= IPCWAIT_PRIVATE; flags++) {
		world(WRITTEN(0, 0), flags);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
		left(WORD(1, 0, 0), 4, 1);
		CHECK_EQ(fake.wait.value, (uint32_t)WORD(0, 0, 1));
		CHECK_EQ(fake.wait.bits, READER);
		CHECK_EQ(fake.wait.private_, flags);
		CHECK(fake.wait.deadline_ns < IPCWAIT_FOREVER);
	}
}

static void test_writers_wait(void **state)
{
	const struct fake_step script[] = {
		{ 0 },
		{ .result = -EAGAIN },
		{ .result = -EINTR },
		{ .meanwhile = write_and_unlock_it },
	};

	(void)state;
	world(WORD(1, 0, 0), IPCWAIT_PRIVATE);
	l.note.v = SHORT_SECTIONS;
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WORD_WRITER, 4, 1);
	CHECK_EQ(fake.wait.value, (uint32_t)WORD(0, 1, 0));
	CHECK_EQ(fake.wait.bits, WRITER);
	CHECK(fake.wait.deadline_ns < IPCWAIT_FOREVER);
}

static void write_waiting(uint32_t note)
{
	const struct fake_step script[] = { { .meanwhile = unlock_it } };

	world(WRITTEN(0, 0), 0);
	l.note.v = note;
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
}

/* Of one writer in sixteen that had to wait. lib/policy/pace.h */
static void test_sections_are_measured(void **state)
{
	const uint32_t one = 1u << 12, last = 15 * one, learned = 63;

	(void)state;
	write_waiting(last - one);
	left(WORD_WRITER, 1, 1);
	CHECK_EQ(l.note.v, last);
	write_waiting(last);
	left(WORD_WRITER | WORD_TIMED, 1, 1);
	unlock_it();
	left(0, 1, 1);
	CHECK(l.note.v & learned);
	write_waiting(last);
	fake.now_ns += MS / 10;
	unlock_it();
	left(0, 1, 1);
	CHECK(!(l.note.v & learned));
}

/* An overdue writer keeps new readers out until it has had the lock. */
static void test_new_readers_wait_behind_writers(void **state)
{
	const uint64_t behind = WORD(1, 1, 0) | WORD_URGENT;

	(void)state;
	world(behind, 0);
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&l), -EBUSY);
	CHECK_EQ(ipcwait_rwlock_rdlock_until(&l, 0), -ETIMEDOUT);
	left(behind, 0, 0);
	/* Exception: readers of the turn are still to come. */
	world(WORD(1, 1, 1) | WORD_TURN | WORD_URGENT, 0);
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&l), 0);
	left(WORD(2, 1, 1) | WORD_TURN | WORD_URGENT, 0, 0);
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), -EBUSY);
}

static void test_the_turn_ends_with_the_last_reader(void **state)
{
	const struct fake_step script[] = { { .meanwhile = unlock_it } };
	const struct fake_step late[] = { { .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
					  { .meanwhile = unlock_it } };

	(void)state;
	for (unsigned others = 0; others < 2; others++) {
		world(WRITTEN(1, others), 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
		left(WORD(1, 1, others) | (others ? WORD_RWAKE : 0), 1, 1);
		world(WRITTEN(1, others), 0);
		FAKE_SCRIPT(late);
		CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
		left(WORD(1, 1, others) | (others ? WORD_TURN : 0), 2, 1);
	}
	/* Nor does it outlive those for whom there is no room. */
	world(WORD(IPCWAIT_RWLOCK_READERS_MAX, 1, 0) | WORD_URGENT, 0);
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&l), -EBUSY);
	world(WORD(IPCWAIT_RWLOCK_READERS_MAX, 1, 3) | WORD_TURN, 0);
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&l), -EAGAIN);
	left(WORD(IPCWAIT_RWLOCK_READERS_MAX, 1, 3) | WORD_TURN, 0, 0);
}

static void test_a_reader_gives_up(void **state)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT, .sleep_ns = MS } };

	(void)state;
	world(WRITTEN(2, 3), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_rdlock_until(&l, fake.now_ns + MS), -ETIMEDOUT);
	left(WRITTEN(2, 3), 1, 0);
}

/* It lets those in whom nobody else keeps out. */
static void four_readers_come(void)
{
	CHECK(rwlock_word(&l) & WORD_URGENT);
	rwlock_fabricate(&l, rwlock_word(&l) + WORD(0, 0, 4));
}

static void test_a_writer_gives_up(void **state)
{
	static const struct row rows[] = {
		{ WORD(1, 0, 0), WORD(1, 0, 4) | WORD_RWAKE, READER },
		{ WORD(1, 2, 0), WORD(1, 2, 4) | WORD_RWAKE, READER },
		{ WRITTEN(0, 0), WRITTEN(0, 4), 0 },
	};
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
		{ .result = -ETIMEDOUT, .sleep_ns = MS, .meanwhile = four_readers_come },
	};
	const uint64_t behind = WORD(1, 1, 4) | WORD_URGENT;
	const struct fake_step early[] = { { .result = -ETIMEDOUT, .sleep_ns = MS } };

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		world(rows[i].before, 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_rwlock_wrlock_until(&l, fake.now_ns + 6 * MS), -ETIMEDOUT);
		left(rows[i].after, 2, rows[i].bits ? 1 : 0);
	}
	/* Another writer keeps the readers out. */
	world(behind, 0);
	FAKE_SCRIPT(early);
	CHECK_EQ(ipcwait_rwlock_wrlock_until(&l, fake.now_ns + MS), -ETIMEDOUT);
	left(behind, 1, 0);
}

/* A wake for it that it takes no notice of is not left to others. */
static void wake_and_overtake(void)
{
	rwlock_fabricate(&l, rwlock_word(&l) | WORD_WAKE);
}

static void test_a_woken_writer_gives_up(void **state)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = MS, .meanwhile = wake_and_overtake },
	};

	(void)state;
	world(WRITTEN(1, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock_until(&l, fake.now_ns + MS), -ETIMEDOUT);
	left(WRITTEN(1, 0), 1, 0);
}

/*
 * The first alarm rings after 4 ms. Each other one rings after a quarter of the time that the
 * thread has waited, at last once a second.
 */
#define ALARMS 40

static int64_t began_ns;
static unsigned alarms;

static int sleep_to_the_alarm(const struct fake_call *call)
{
	int64_t waited_ns = fake.now_ns - began_ns, late_ns;
	int64_t want_ns = waited_ns < 4000 * MS ? waited_ns / 4 : 1000 * MS;

	late_ns = call->deadline_ns - fake.now_ns - (alarms ? want_ns : 4 * MS);
	CHECK(late_ns < MS / 100 && late_ns > -MS / 100);
	fake.now_ns = call->deadline_ns;
	if (++alarms <= ALARMS)
		return -ETIMEDOUT;
	unlock_it();
	return 0;
}

static void test_alarms_grow(void **state)
{
	(void)state;
	for (unsigned writes = 0; writes < 2; writes++) {
		world(WRITTEN(0, 0), 0);
		fake.on_wait = sleep_to_the_alarm;
		began_ns = fake.now_ns;
		alarms = 0;
		CHECK_EQ(writes ? ipcwait_rwlock_wrlock(&l) : ipcwait_rwlock_rdlock(&l), 0);
		left(writes ? WORD_WRITER : WORD(1, 0, 0), 0, 1);
		CHECK_EQ(alarms, ALARMS + 1);
	}
}

/* A reader of the turn has died: after a while the turn is over. */
static void test_a_turn_for_the_dead(void **state)
{
	const uint64_t turn = WORD(0, 1, 2) | WORD_TURN;
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 4 * MS },
	};

	(void)state;
	world(turn, 0);
	fake.now_ns += 2 * MS;
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), -EBUSY);
	left(turn, 0, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WORD_WRITER | EPOCH_ONE, 1, 1);
	CHECK_EQ(fake.wake.bits, READER | WRITER | OVERDUE);
	CHECK_EQ(fake.wake.value, INT_MAX);
	/* Who only tries finds out too. */
	world(turn, 0);
	fake.now_ns += 6 * MS;
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), 0);
	left(WORD_WRITER | EPOCH_ONE, 0, 1);
	/* In private nobody dies. */
	world(turn, IPCWAIT_PRIVATE);
	fake.now_ns += 6 * MS;
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), -EBUSY);
	left(turn, 0, 0);
	/* Writers do not wait for woken readers if none of the readers was overdue. */
	world(WORD(0, 1, 2) | WORD_RWAKE, 0);
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), 0);
	left(WRITTEN(1, 2) | WORD_RWAKE, 0, 0);
}

/* A writer that kept readers out has died: nobody answers to a wake. */
static void test_readers_behind_the_dead(void **state)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
		{ .result = -ETIMEDOUT, .sleep_ns = 8 * MS },
	};

	(void)state;
	world(WORD(1, 1, 0) | WORD_URGENT, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
	left(WORD(2, 0, 0) | EPOCH_ONE, 2, 2);
}

static void writer_answers(void)
{
	CHECK_EQ(fake.wakes, 1);
	CHECK_EQ(fake.wake.bits, WRITER);
	CHECK(rwlock_word(&l) & WORD_WAKE);
	rwlock_fabricate(&l, rwlock_word(&l) & ~WORD_WAKE);
}

static void test_readers_behind_the_living(void **state)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
		{ 0 }, /* the question is a fresh one */
		{ .result = -ETIMEDOUT, .sleep_ns = 8 * MS, .meanwhile = writer_answers },
		{ .result = -ETIMEDOUT, .sleep_ns = MS },
	};

	(void)state;
	world(WORD(1, 1, 0) | WORD_URGENT, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_rdlock_until(&l, fake.now_ns + 14 * MS), -ETIMEDOUT);
	left(WORD(1, 1, 0) | WORD_URGENT | WORD_WAKE, 4, 2);
}

/* An unlock believes QUIET. A writer whose alarm has rung does not. */
static void unlock_for_the_quiet(void)
{
	unlock_it();
	CHECK_EQ(fake.wakes, 0);
}

static void unlock_for_the_loud(void)
{
	CHECK_EQ(rwlock_word(&l), WRITTEN(2, 0) | WORD_URGENT);
	unlock_it();
}

static void test_a_nap_of_the_dead(void **state)
{
	const struct fake_step free_then[] = { { .result = -ETIMEDOUT,
						 .sleep_ns = 5 * MS,
						 .meanwhile = unlock_for_the_quiet } };
	const struct fake_step held_then[] = { { .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
					       { .meanwhile = unlock_for_the_loud } };

	(void)state;
	world(WRITTEN(1, 0) | WORD_QUIET, 0);
	FAKE_SCRIPT(free_then);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WRITTEN(1, 0), 1, 0);
	world(WRITTEN(1, 0) | WORD_QUIET, 0);
	FAKE_SCRIPT(held_then);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WRITTEN(1, 0), 2, 1);
	CHECK_EQ(fake.wake.bits, OVERDUE);
}

/* Whoever was counted before a roll call counts himself again, and once. */
static void roll_call(void)
{
	rwlock_fabricate(&l, (rwlock_word(&l) & ~WORD(0, FULL, FULL)) + EPOCH_ONE);
}

static void test_counted_anew(void **state)
{
	const struct fake_step script[] = {
		{ .meanwhile = roll_call },
		{ 0 },
		{ .result = -ETIMEDOUT, .sleep_ns = MS },
	};

	(void)state;
	for (unsigned writes = 0; writes < 2; writes++) {
		world(WRITTEN(5, 5), 0);
		l.note.v = SHORT_SECTIONS;
		FAKE_SCRIPT(script);
		CHECK_EQ(writes ? ipcwait_rwlock_wrlock_until(&l, fake.now_ns + MS)
				: ipcwait_rwlock_rdlock_until(&l, fake.now_ns + MS),
			 -ETIMEDOUT);
		CHECK_EQ(fake.wait.value, (uint32_t)(EPOCH_ONE + WORD(0, writes, !writes)));
		left(WORD_WRITER | EPOCH_ONE, 3, 0);
	}
}

/* No room to be counted: a look in a millisecond, and no wake of others' taken. */
static void test_more_waiters_than_fit(void **state)
{
	const uint64_t full = WRITTEN(FULL, FULL);
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = MS },
		{ .result = -ETIMEDOUT, .sleep_ns = MS },
	};

	(void)state;
	for (unsigned writes = 0; writes < 2; writes++) {
		world(full, 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(writes ? ipcwait_rwlock_wrlock_until(&l, fake.now_ns + 2 * MS)
				: ipcwait_rwlock_rdlock_until(&l, fake.now_ns + 2 * MS),
			 -ETIMEDOUT);
		left(full, 2, 0);
		CHECK(fake.wait.word != (const uint32_t *)&l.word);
	}
}

static void test_errors_of_the_kernel(void **state)
{
	static const int errors[] = { -EINVAL, -EFAULT, -ENOSYS };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const struct fake_step script[] = { { .result = errors[i] } };

		world(WRITTEN(1, 1), 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_rwlock_rdlock(&l), errors[i]);
		left(WRITTEN(1, 1), 1, 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_rwlock_wrlock_until(&l, DEADLINE), errors[i]);
		left(WRITTEN(1, 1), 1, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers_wait),
		cmocka_unit_test(test_writers_wait),
		cmocka_unit_test(test_sections_are_measured),
		cmocka_unit_test(test_new_readers_wait_behind_writers),
		cmocka_unit_test(test_the_turn_ends_with_the_last_reader),
		cmocka_unit_test(test_a_reader_gives_up),
		cmocka_unit_test(test_a_writer_gives_up),
		cmocka_unit_test(test_a_woken_writer_gives_up),
		cmocka_unit_test(test_alarms_grow),
		cmocka_unit_test(test_a_turn_for_the_dead),
		cmocka_unit_test(test_readers_behind_the_dead),
		cmocka_unit_test(test_readers_behind_the_living),
		cmocka_unit_test(test_a_nap_of_the_dead),
		cmocka_unit_test(test_counted_anew),
		cmocka_unit_test(test_more_waiters_than_fit),
		cmocka_unit_test(test_errors_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
