/* SPDX-License-Identifier: MIT */
/* The reader-writer lock's unlocks over a scripted kernel: what each leaves, and whom it wakes. */
#include <errno.h>
#include <limits.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/rwlock_word.h"

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

struct row {
	uint64_t before, after;
	uint32_t bits; /* whom it wakes; 0: nobody */
};

static void assert_rows(const struct row *rows, unsigned n, unsigned flags)
{
	for (unsigned i = 0; i < n; i++) {
		world(rows[i].before, flags);
		CHECK_EQ(ipcwait_rwlock_unlock(&l), 0);
		left(rows[i].after, 0, rows[i].bits ? 1 : 0);
		if (!rows[i].bits)
			continue;
		CHECK_EQ(fake.wake.bits, rows[i].bits);
		CHECK_EQ(fake.wake.value, rows[i].bits == READER ? INT_MAX : 1);
		CHECK_EQ(fake.wake.private_, flags);
		CHECK(fake.wake.word == (const uint32_t *)&l.word);
	}
}

static void test_unlock_of_a_writer(void **state)
{
	static const struct row rows[] = {
		{ WRITTEN(0, 0), 0, 0 },
		{ WRITTEN(0, 0) | WORD_EPOCH, WORD_EPOCH, 0 },
		{ WRITTEN(0, 0) | WORD_SPINNER, 0, 0 },
		/* The unlock wakes sleeping readers first. */
		{ WRITTEN(0, 1), WORD(0, 0, 1) | WORD_RWAKE, READER },
		{ WRITTEN(0, FULL), WORD(0, 0, FULL) | WORD_RWAKE, READER },
		{ WRITTEN(3, 2), WORD(0, 3, 2) | WORD_RWAKE, READER },
		{ WRITTEN(3, 2) | WORD_WAKE, WORD(0, 3, 2) | WORD_RWAKE | WORD_WAKE,
		  READER },
		{ WRITTEN(3, 2) | WORD_SPINNER | WORD_TIMED, WORD(0, 3, 2) | WORD_RWAKE,
		  READER },
		{ WRITTEN(3, 2) | WORD_NEXT | WORD_QUIET,
		  WORD(0, 3, 2) | WORD_RWAKE | WORD_NEXT | WORD_QUIET, READER },
		/* If a reader is overdue, the readers have the turn. */
		{ WRITTEN(3, 2) | WORD_RURGENT, WORD(0, 3, 2) | WORD_TURN, READER },
		/* Otherwise it wakes a writer, unless a writer will look by itself. */
		{ WRITTEN(3, 2) | WORD_RWAKE, WORD(0, 3, 2) | WORD_RWAKE | WORD_WAKE,
		  WRITER },
		{ WRITTEN(3, 2) | WORD_RWAKE | WORD_WAKE,
		  WORD(0, 3, 2) | WORD_RWAKE | WORD_WAKE, 0 },
		{ WRITTEN(0, 2) | WORD_RWAKE, WORD(0, 0, 2) | WORD_RWAKE, 0 },
		{ WRITTEN(2, 0), WORD(0, 2, 0) | WORD_WAKE, WRITER },
		{ WRITTEN(FULL, 0), WORD(0, FULL, 0) | WORD_WAKE, WRITER },
		{ WRITTEN(2, 0) | WORD_WAKE, WORD(0, 2, 0) | WORD_WAKE, 0 },
		{ WRITTEN(2, 0) | WORD_SPINNER, WORD(0, 2, 0), 0 },
		{ WRITTEN(2, 0) | WORD_NEXT, WORD(0, 2, 0) | WORD_NEXT, 0 },
		{ WRITTEN(2, 0) | WORD_QUIET, WORD(0, 2, 0) | WORD_QUIET, 0 },
	};

	(void)state;
	assert_rows(rows, sizeof(rows) / sizeof(rows[0]), 0);
	assert_rows(rows, sizeof(rows) / sizeof(rows[0]), IPCWAIT_PRIVATE);
}

/* An overdue writer is woken in any case, unless a reader is overdue too. */
static void test_unlock_to_an_overdue_writer(void **state)
{
	const uint64_t marks = WORD_SPINNER | WORD_WAKE | WORD_NEXT | WORD_QUIET;
	const uint64_t next = WORD(0, 2, 0) | WORD_URGENT | WORD_WAKE;
	const struct row rows[] = {
		{ WRITTEN(2, 0) | WORD_URGENT, next, OVERDUE },
		{ WRITTEN(2, 0) | WORD_URGENT | marks, next | (marks & ~WORD_SPINNER),
		  OVERDUE },
		{ WRITTEN(2, 1) | WORD_URGENT, next | WORD(0, 0, 1), OVERDUE },
		{ WRITTEN(2, 1) | WORD_URGENT | WORD_RWAKE,
		  next | WORD(0, 0, 1) | WORD_RWAKE, OVERDUE },
		{ WRITTEN(2, 1) | WORD_URGENT | WORD_RURGENT,
		  WORD(0, 2, 1) | WORD_URGENT | WORD_TURN, READER },
		{ WORD(1, 2, 1) | WORD_URGENT | marks,
		  next | WORD(0, 0, 1) | (marks & ~WORD_SPINNER), OVERDUE },
		/* The unlock of a reader never wakes readers. */
		{ WORD(1, 2, 1) | WORD_URGENT | WORD_RURGENT,
		  next | WORD(0, 0, 1) | WORD_RURGENT, OVERDUE },
	};

	(void)state;
	assert_rows(rows, sizeof(rows) / sizeof(rows[0]), 0);
	assert_rows(rows, sizeof(rows) / sizeof(rows[0]), IPCWAIT_PRIVATE);
}

static void test_unlock_of_a_reader(void **state)
{
	static const struct row rows[] = {
		{ WORD(1, 0, 0), 0, 0 },
		{ WORD(IPCWAIT_RWLOCK_READERS_MAX, 0, 0),
		  WORD(IPCWAIT_RWLOCK_READERS_MAX - 1, 0, 0), 0 },
		{ WORD(IPCWAIT_RWLOCK_READERS_MAX, 1, 0) | WORD_WAKE,
		  WORD(IPCWAIT_RWLOCK_READERS_MAX - 1, 1, 0) | WORD_WAKE, 0 },
		{ WORD(2, 1, 0), WORD(1, 1, 0), 0 },
		{ WORD(1, 1, 0), WORD(0, 1, 0) | WORD_WAKE, WRITER },
		{ WORD(1, FULL, 0), WORD(0, FULL, 0) | WORD_WAKE, WRITER },
		{ WORD(1, FULL, 0) | WORD_WAKE, WORD(0, FULL, 0) | WORD_WAKE, 0 },
		{ WORD(1, 1, 0) | WORD_NEXT, WORD(0, 1, 0) | WORD_NEXT, 0 },
		{ WORD(1, 1, 0) | WORD_QUIET, WORD(0, 1, 0) | WORD_QUIET, 0 },
		{ WORD(1, 1, 5) | WORD_RWAKE, WORD(0, 1, 5) | WORD_RWAKE | WORD_WAKE,
		  WRITER },
		{ WORD(1, 1, 5) | WORD_RWAKE | WORD_WAKE,
		  WORD(0, 1, 5) | WORD_RWAKE | WORD_WAKE, 0 },
		{ WORD(1, 2, 0) | WORD_SPINNER, WORD(0, 2, 0), 0 },
		{ WORD(2, 2, 0) | WORD_SPINNER, WORD(1, 2, 0) | WORD_SPINNER, 0 },
		{ WORD(2, 1, 5) | WORD_URGENT, WORD(1, 1, 5) | WORD_URGENT, 0 },
		/* Others of the same turn are still to come. */
		{ WORD(1, 1, 2) | WORD_TURN, WORD(0, 1, 2) | WORD_TURN, 0 },
		{ WORD(1, 1, 2) | WORD_TURN | WORD_URGENT,
		  WORD(0, 1, 2) | WORD_TURN | WORD_URGENT, 0 },
	};

	(void)state;
	assert_rows(rows, sizeof(rows) / sizeof(rows[0]), 0);
	assert_rows(rows, sizeof(rows) / sizeof(rows[0]), IPCWAIT_PRIVATE);
}

static void test_an_unlock_stamps_what_it_wakes(void **state)
{
	(void)state;
	world(WRITTEN(1, 0), 0);
	l.window.stamp.v = 0;
	CHECK_EQ(ipcwait_rwlock_wrunlock(&l), 0);
	CHECK(l.window.stamp.v);
	world(WRITTEN(1, 0) | WORD_WAKE, 0);
	l.window.stamp.v = 0;
	CHECK_EQ(ipcwait_rwlock_wrunlock(&l), 0);
	CHECK(!l.window.stamp.v);
}

/* A writer that spins beside sleepers says so, and the next unlock makes no call. */
static void unlock_to_the_spinner(void)
{
	if (fake.clock_readings == 0 || !(rwlock_word(&l) & WORD_SPINNER))
		return;
	CHECK_EQ(ipcwait_rwlock_wrunlock(&l), 0);
	CHECK_EQ(fake.wakes, 0);
}

static void test_a_spinner_makes_wakes_needless(void **state)
{
	(void)state;
	world(WRITTEN(1, 0), 0);
	CHECK_EQ(ipcwait_window_set_preset(&l.window, IPCWAIT_SPIN), 0);
	fake.on_clock = unlock_to_the_spinner;
	CHECK_EQ(ipcwait_rwlock_wrlock(&l), 0);
	left(WRITTEN(1, 0), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unlock_of_a_writer),
		cmocka_unit_test(test_unlock_to_an_overdue_writer),
		cmocka_unit_test(test_unlock_of_a_reader),
		cmocka_unit_test(test_an_unlock_stamps_what_it_wakes),
		cmocka_unit_test(test_a_spinner_makes_wakes_needless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
