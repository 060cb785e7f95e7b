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
		/* Nobody dies in private: it sleeps until it is woken. */
		CHECK_EQ(fake.wait.deadline_ns == IPCWAIT_FOREVER, flags);
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

/* Kept out by a writer that waits, until that has had its turn. */
static void test_new_readers_wait_behind_writers(void **state)
{
	(void)state;
	world(WORD(1, 1, 0), 0);
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&l), -EBUSY);
	CHECK_EQ(ipcwait_rwlock_rdlock_until(&l, 0), -ETIMEDOUT);
	left(WORD(1, 1, 0), 0, 0);
	/* Not where others of the turn are still to come. */
	world(WORD(1, 1, 1) | WORD_TURN, 0);
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&l), 0);
	left(WORD(2, 1, 1) | WORD_TURN, 0, 0);
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), -EBUSY);
}

static void test_the_turn_ends_with_the_last_reader(void **state)
{
	const struct fake_step script[] = { { .meanwhile = unlock_it } };

	(void)state;
	for (unsigned others = 0; others < 2; others++) {
		world(WRITTEN(1, others), 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
		left(WORD(1, 1, others) | (others ? WORD_TURN : 0), 1, 1);
	}
	/* Nor does it outlive those for whom there is no room. */
	world(WORD(IPCWAIT_RWLOCK_READERS_MAX, 1, 0), 0);
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
static void test_a_writer_gives_up(void **state)
{
	static const struct row rows[] = {
		{ WORD(1, 0, 0), WORD(1, 0, 0), 0 },
		{ WORD(1, 0, 4), WORD(1, 0, 4) | WORD_TURN, READER },
		{ WORD(1, 2, 4), WORD(1, 2, 4), 0 },
		{ WRITTEN(0, 4), WRITTEN(0, 4), 0 },
	};
	const struct fake_step script[] = { { .result = -ETIMEDOUT, .sleep_ns = MS } };

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		world(rows[i].before, 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_rwlock_wrlock_until(&l, fake.now_ns + MS), -ETIMEDOUT);
		left(rows[i].after, 1, rows[i].bits ? 1 : 0);
	}
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

/* Alarms ring after 4 ms, and twice as much each time. */
static void test_alarms_grow(void **state)
{
	struct fake_step script[12];
	int64_t expected_ns = 4 * MS;

	(void)state;
	for (unsigned n = 0; n < 12; n++) {
		for (unsigned i = 0; i < 12; i++)
			script[i] = (struct fake_step){ .result = -ETIMEDOUT,
							.sleep_ns = 4 * MS << i };
		script[8].sleep_ns = 1024 * MS;
		script[n].result = 0;
		script[n].meanwhile = unlock_it;
		world(WRITTEN(0, 0), 0);
		fake_script(script, 12);
		CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
		left(WORD(1, 0, 0), n + 1, 1);
		CHECK(fake.wait.deadline_ns + script[n].sleep_ns - fake.now_ns >=
		      expected_ns - MS);
		CHECK(fake.wait.deadline_ns + script[n].sleep_ns - fake.now_ns <=
		      expected_ns + MS);
		expected_ns = expected_ns < 512 * MS ? 2 * expected_ns : 1000 * MS;
	}
}

static void test_an_overdue_writer_is_urgent(void **state)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
		{ .meanwhile = unlock_it },
	};

	(void)state;
	world(WRITTEN(2, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WRITTEN(2, 0), 2, 1);
	CHECK_EQ(fake.wait.bits, WRITER | OVERDUE);
	CHECK_EQ(fake.wake.bits, OVERDUE);
}

/* No other writer may have it meanwhile, and it keeps the wake when one gives up. */
static void test_others_wait_for_an_overdue_writer(void **state)
{
	const uint64_t kept = WORD(0, 1, 0) | WORD_URGENT | WORD_WAKE;
	const struct fake_step script[] = { { .result = -ETIMEDOUT, .sleep_ns = MS } };

	(void)state;
	world(kept, IPCWAIT_PRIVATE);
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), -EBUSY);
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&l), -EBUSY);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock_until(&l, fake.now_ns + MS), -ETIMEDOUT);
	left(kept, 1, 0);
	CHECK_EQ(fake.wait.value, (uint32_t)(WORD(0, 2, 0) | WORD_WAKE));
}

static void expire_beside_another(void)
{
	CHECK(rwlock_word(&l) & WORD_URGENT);
}

static void test_an_overdue_writer_gives_up(void **state)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
		{ .result = -ETIMEDOUT,
		  .sleep_ns = 5 * MS,
		  .meanwhile = expire_beside_another },
	};

	(void)state;
	world(WRITTEN(1, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock_until(&l, fake.now_ns + 10 * MS), -ETIMEDOUT);
	left(WRITTEN(1, 0), 2, 0);
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
}

/* A writer that kept readers out has died: nobody answers to a wake. */
static void test_readers_behind_the_dead(void **state)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
		{ .result = -ETIMEDOUT, .sleep_ns = 8 * MS },
	};

	(void)state;
	world(WORD(1, 1, 0), 0);
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
	world(WORD(1, 1, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_rdlock_until(&l, fake.now_ns + 14 * MS), -ETIMEDOUT);
	left(WORD(1, 1, 0) | WORD_WAKE, 4, 2);
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
		cmocka_unit_test(test_an_overdue_writer_is_urgent),
		cmocka_unit_test(test_others_wait_for_an_overdue_writer),
		cmocka_unit_test(test_an_overdue_writer_gives_up),
		cmocka_unit_test(test_a_turn_for_the_dead),
		cmocka_unit_test(test_readers_behind_the_dead),
		cmocka_unit_test(test_readers_behind_the_living),
		cmocka_unit_test(test_counted_anew),
		cmocka_unit_test(test_more_waiters_than_fit),
		cmocka_unit_test(test_errors_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
