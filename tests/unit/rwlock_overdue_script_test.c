/* SPDX-License-Identifier: MIT */
/*
 * Overdue waiters of a reader-writer lock, over a scripted kernel. An overdue writer is next, and
 * an overdue reader gets a turn for all sleeping readers.
 */
#include <errno.h>
#include <limits.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/rwlock_word.h"

#define MS INT64_C(1000000)

#define READER  1u
#define WRITER  2u
#define OVERDUE 4u

#define FULL 0x3fff

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

static void unlock_it(void)
{
	CHECK_EQ(ipcwait_rwlock_unlock(&l), 0);
}

static void keep_readers_out_and_unlock(void)
{
	uint64_t w = rwlock_word(&l);

	CHECK_EQ(w & ~WORD(0, 0, FULL), WRITTEN(3, 0) | WORD_URGENT);
	unlock_it();
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&l), -EBUSY);
	CHECK_EQ(ipcwait_rwlock_rdlock_until(&l, 0), -ETIMEDOUT);
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), -EBUSY);
	CHECK_EQ(rwlock_word(&l), (w & ~WORD_WRITER) | WORD_WAKE);
}

/* An overdue writer keeps readers out, and is woken before them. */
static void test_an_overdue_writer_is_urgent(void **state)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
		{ .meanwhile = keep_readers_out_and_unlock },
	};

	(void)state;
	for (unsigned readers = 0; readers < 2; readers++) {
		world(WRITTEN(2, readers), 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
		left(WRITTEN(2, readers), 2, 1);
		CHECK_EQ(fake.wait.bits, WRITER | OVERDUE);
		CHECK_EQ(fake.wake.bits, OVERDUE);
	}
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
		  .sleep_ns = MS,
		  .meanwhile = expire_beside_another },
	};

	(void)state;
	world(WRITTEN(1, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_wrlock_until(&l, fake.now_ns + 6 * MS), -ETIMEDOUT);
	left(WRITTEN(1, 0), 2, 0);
}

/* What others do while an overdue reader sleeps: the turn of @sleepers begins. */
static void begin_the_turn(unsigned sleepers)
{
	const uint64_t turn = WORD(0, 1, sleepers) | WORD_TURN;

	CHECK_EQ(rwlock_word(&l), WRITTEN(1, sleepers) | WORD_RURGENT);
	unlock_it();
	CHECK_EQ(fake.wakes, 1);
	CHECK_EQ(fake.wake.bits, READER);
	CHECK_EQ(fake.wake.value, INT_MAX);
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), -EBUSY);
	CHECK_EQ(ipcwait_rwlock_wrlock_until(&l, 0), -ETIMEDOUT);
	CHECK_EQ(rwlock_word(&l), turn);
	/* New readers may join. */
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&l), 0);
	CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), -EBUSY);
	unlock_it();
	unlock_it();
	left(turn, fake.waits, 1);
}

static void begin_the_turn_of_one(void)
{
	begin_the_turn(1);
}

static void begin_the_turn_of_two(void)
{
	begin_the_turn(2);
}

/* No writer is let in before the overdue reader and all that sleep beside it have come. */
static void test_an_overdue_reader_has_the_turn(void **state)
{
	const struct fake_step one[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
		{ .meanwhile = begin_the_turn_of_one },
	};
	const struct fake_step two[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
		{ .meanwhile = begin_the_turn_of_two },
	};

	(void)state;
	for (unsigned flags = 0; flags <= IPCWAIT_PRIVATE; flags++) {
		world(WRITTEN(1, 0), flags);
		FAKE_SCRIPT(one);
		CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
		left(WORD(1, 1, 0), 2, 1);
		world(WRITTEN(1, 1), flags);
		FAKE_SCRIPT(two);
		CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
		left(WORD(1, 1, 1) | WORD_TURN, 2, 1);
		CHECK_EQ(ipcwait_rwlock_trywrlock(&l), -EBUSY);
		unlock_it();
		CHECK_EQ(ipcwait_rwlock_trywrlock(&l), -EBUSY);
		left(WORD(0, 1, 1) | WORD_TURN, 2, 1);
	}
}

/* Nobody dies in a private lock: an overdue reader has the next turn and needs no alarm. */
static void test_alarms_of_a_private_reader(void **state)
{
	const struct fake_step script[] = {
		{ 0 },
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
		{ .meanwhile = unlock_it },
	};

	(void)state;
	world(WRITTEN(0, 0), IPCWAIT_PRIVATE);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
	left(WORD(1, 0, 0), 3, 1);
	CHECK_EQ(fake.wait.deadline_ns, IPCWAIT_FOREVER);
}

/* A writer overtakes a woken reader. The reader forgets that wake, and has the turn at the next. */
static void overtake_it(void)
{
	unlock_it();
	CHECK_EQ(fake.wake.bits, READER);
	CHECK_EQ(ipcwait_rwlock_trywrlock(&l), 0);
	CHECK_EQ(rwlock_word(&l), WRITTEN(0, 1) | WORD_RWAKE);
}

static void unlock_to_it(void)
{
	CHECK_EQ(rwlock_word(&l), WRITTEN(0, 1) | WORD_RURGENT);
	unlock_it();
	CHECK_EQ(rwlock_word(&l), WORD(0, 0, 1) | WORD_TURN);
}

static void test_a_reader_is_overtaken(void **state)
{
	const struct fake_step script[] = {
		{ .sleep_ns = 5 * MS, .meanwhile = overtake_it },
		{ .meanwhile = unlock_to_it },
	};

	(void)state;
	for (unsigned flags = 0; flags <= IPCWAIT_PRIVATE; flags++) {
		world(WRITTEN(0, 0), flags);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
		left(WORD(1, 0, 0), 2, 2);
		CHECK_EQ(fake.wake.bits, READER);
	}
}

/* If both are overdue, readers go first after a writer, and the writer after the readers. */
static void unlock_to_both(void)
{
	CHECK_EQ(rwlock_word(&l), WRITTEN(1, 1) | WORD_URGENT | WORD_RURGENT);
	unlock_it();
	CHECK_EQ(fake.wake.bits, READER);
}

static void test_overdue_on_both_sides(void **state)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
		{ .meanwhile = unlock_to_both },
	};

	(void)state;
	world(WRITTEN(1, 0) | WORD_URGENT, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_rwlock_rdlock(&l), 0);
	left(WORD(1, 1, 0) | WORD_URGENT, 2, 1);
	CHECK_EQ(ipcwait_rwlock_tryrdlock(&l), -EBUSY);
	unlock_it();
	left(WORD(0, 1, 0) | WORD_URGENT | WORD_WAKE, 2, 2);
	CHECK_EQ(fake.wake.bits, OVERDUE);
}

static void test_an_overdue_reader_gives_up(void **state)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 5 * MS },
		{ .result = -ETIMEDOUT, .sleep_ns = MS },
	};

	(void)state;
	for (unsigned others = 0; others < 2; others++) {
		world(WRITTEN(1, others), 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_rwlock_rdlock_until(&l, fake.now_ns + 6 * MS), -ETIMEDOUT);
		left(WRITTEN(1, others) | (others ? WORD_RURGENT : 0), 2, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_overdue_writer_is_urgent),
		cmocka_unit_test(test_others_wait_for_an_overdue_writer),
		cmocka_unit_test(test_an_overdue_writer_gives_up),
		cmocka_unit_test(test_an_overdue_reader_has_the_turn),
		cmocka_unit_test(test_a_reader_is_overtaken),
		cmocka_unit_test(test_overdue_on_both_sides),
		cmocka_unit_test(test_an_overdue_reader_gives_up),
		cmocka_unit_test(test_alarms_of_a_private_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
