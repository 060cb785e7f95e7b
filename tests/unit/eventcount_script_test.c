/* SPDX-License-Identifier: MIT */
/*
 * The event count over a scripted kernel: rows of the table in <ipcwait/eventcount.h>, whom each
 * notification wakes with how many calls, and what waiters leave behind.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/eventcount_word.h"
#include "common/fake_os.h"

#define US       INT64_C(1000)
#define DEADLINE (fake.now_ns + 1000 * US)
#define ALL      UINT32_MAX

static struct ipcwait_eventcount ec;

/* An event count in this state, on which the last wake began just now. */
static void world(uint64_t word)
{
	fake_reset();
	CHECK_EQ(ipcwait_eventcount_init(&ec, 0), 0);
	CHECK_EQ(ipcwait_window_set_preset(&ec.window, IPCWAIT_BLOCK), 0);
	ipcwait_window_stamp(&ec.window);
	ec_fabricate(&ec, word);
	errno = 4711;
}

struct row {
	uint64_t before;
	uint32_t n;
	uint64_t after;
	uint32_t bits; /* 0: no call */
};

static void assert_rows(const struct row *rows, unsigned n, bool stale)
{
	for (unsigned i = 0; i < n; i++) {
		world(rows[i].before);
		if (stale)
			fake.now_ns += 1100 * US;
		CHECK_EQ(ipcwait_eventcount_notify(&ec, rows[i].n), 0);
		CHECK_EQ(ec_word(&ec), rows[i].after);
		CHECK_EQ(fake.wakes, rows[i].bits ? 1 : 0);
		CHECK_EQ(fake.wakes ? fake.wake.bits : 0, rows[i].bits);
		CHECK(!fake.wakes || fake.wake.value == INT32_MAX);
		CHECK(!fake.wakes || fake.wake.word == (const uint32_t *)&ec.word);
		CHECK_EQ(errno, 4711);
	}
}

#define ASSERT_ROWS(rows, stale) assert_rows(rows, sizeof(rows) / sizeof((rows)[0]), stale)

static void nobody_sleeps(void)
{
	static const struct row rows[] = {
		{ EC_WORD(0, 0, 0, 0, 0), 1, EC_WORD(1, 0, 0, 0, 0), 0 },
		{ EC_WORD(7, 9, 0, 0, 0), ALL, EC_WORD(8, 9, 0, 0, 0), 0 },
		{ EC_WORD(7, 9, 0, 0, 3), 1, EC_WORD(8, 9, 0, 0, 3), 0 },
		{ EC_WORD(7, 9, 0, 0, 3), ALL, EC_WORD(8, 9, 0, 0, 3), 0 },
	};

	ASSERT_ROWS(rows, false);
}

static void first_come_first_served(void)
{
	static const struct row rows[] = {
		{ EC_WORD(0, 0, 1, 0, 0), 1, EC_WORD(1, 1, 0, 0, 1), 1 },
		{ EC_WORD(0, 0, 5, 0, 0), 1, EC_WORD(1, 1, 4, 0, 1), 1 },
		{ EC_WORD(0, 1, 4, 0, 1), 1, EC_WORD(1, 2, 3, 0, 2), 2 },
		{ EC_WORD(0, 2, 3, 0, 2), 2, EC_WORD(1, 4, 1, 0, 4), 0xc },
		{ EC_WORD(0, 2, 3, 0, 2), 3, EC_WORD(1, 5, 0, 0, 5), 0x1c },
		{ EC_WORD(0, 2, 3, 0, 2), ALL, EC_WORD(1, 5, 0, 0, 5), 0x1c },
		{ EC_WORD(0, 2, 3, 0, 2), 0, EC_WORD(1, 2, 3, 0, 2), 0 },
		/* All come round: places, classes, epochs. */
		{ EC_WORD(0, 0x7fe, 9, 0, 0), 3, EC_WORD(1, 1, 6, 0, 3), 0xc0000001 },
		{ EC_WORD(UINT32_MAX, 33, 2, 0, 0), 1, EC_WORD(0, 34, 1, 0, 1), 2 },
		{ EC_WORD(0, 5, 40, 0, 0), 31, EC_WORD(1, 36, 9, 0, 31), ~0x10u },
		{ EC_WORD(0, 5, 40, 0, 0), 32, EC_WORD(1, 37, 8, 0, 32), ALL },
		{ EC_WORD(0, 0, 1023, 0, 100), 1000, EC_WORD(1, 1000, 23, 0, 127), ALL },
	};

	ASSERT_ROWS(rows, false);
}

/* One in line has gone, and nobody knows which: one more is notified. */
static void some_have_gone(void)
{
	static const struct row rows[] = {
		{ EC_WORD(0, 0, 5, 1, 0), 1, EC_WORD(1, 2, 3, 1, 1), 3 },
		{ EC_WORD(0, 0, 5, 3, 0), 1, EC_WORD(1, 4, 1, 1, 1), 0xf },
		{ EC_WORD(0, 0, 5, 3, 0), 2, EC_WORD(1, 5, 0, 0, 2), 0x1f },
		{ EC_WORD(0, 0, 5, 3, 0), 0, EC_WORD(1, 0, 5, 3, 0), 0 },
		/* Some may have gone, and nobody else is there. */
		{ EC_WORD(0, 0, 3, 3, 0), 1, EC_WORD(1, 3, 0, 0, 0), 7 },
		/* So many that nobody knows how many. */
		{ EC_WORD(0, 0, 20, 15, 0), 1, EC_WORD(1, 20, 0, 0, 0), 0xfffff },
		/* Scribbled. */
		{ EC_WORD(0, 0, 2, 9, 0), 1, EC_WORD(1, 2, 0, 0, 0), 3 },
	};

	ASSERT_ROWS(rows, false);
}

/* A wake that has not arrived after a millisecond may never arrive. */
static void stale_wakes(void)
{
	static const struct row rows[] = {
		{ EC_WORD(0, 3, 0, 0, 1), 1, EC_WORD(1, 3, 0, 0, 0), ALL },
		{ EC_WORD(0, 3, 4, 1, 2), 1, EC_WORD(1, 7, 0, 0, 1), ALL },
		{ EC_WORD(0, 3, 4, 0, 127), ALL, EC_WORD(1, 7, 0, 0, 4), ALL },
		{ EC_WORD(0, 3, 4, 0, 0), 1, EC_WORD(1, 4, 3, 0, 1), 8 },
	};

	ASSERT_ROWS(rows, true);
}

/* However long the woken thread takes to run. */
static void burst_makes_one_call(void)
{
	world(EC_WORD(0, 0, 1, 0, 0));
	for (int i = 0; i < 100; i++)
		CHECK_EQ(ipcwait_eventcount_notify(&ec, 1), 0);
	CHECK_EQ(fake.wakes, 1);
}

static void notify_one(void)
{
	CHECK_EQ(ipcwait_eventcount_notify(&ec, 1), 0);
}

/* Others stand in line behind. */
static void two_arrive(void)
{
	ec_fabricate(&ec, ec_word(&ec) + EC_WORD(0, 0, 2, 0, 0));
}

static void two_arrive_and_one_is_notified(void)
{
	two_arrive();
	notify_one();
}

static int commit(const struct fake_step *script, unsigned n, uint64_t word)
{
	world(word);
	ec.flags = n && script->result == -EINTR ? IPCWAIT_INTERRUPTIBLE : 0;
	fake_script(script, n);
	return ipcwait_eventcount_commit(&ec, ipcwait_eventcount_prepare(&ec), DEADLINE);
}

#define COMMIT(script, word) commit(script, sizeof(script) / sizeof((script)[0]), word)

static void woken(void)
{
	const struct fake_step script[] = { { .meanwhile = notify_one } };

	CHECK_EQ(COMMIT(script, EC_WORD(9, 66, 0, 0, 0)), 0);
	CHECK_EQ(ec_word(&ec), EC_WORD(10, 67, 0, 0, 0));
	CHECK_EQ(fake.wait.bits, 4);
	CHECK_EQ(fake.wait.value, 9);
	CHECK(fake.wait.word == (const uint32_t *)&ec.word);
	CHECK_EQ(fake.wake.bits, 4);
}

static void private_flag_reaches_the_kernel(void)
{
	const struct fake_step script[] = { { .meanwhile = notify_one } };

	world(0);
	ec.flags = IPCWAIT_PRIVATE;
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_eventcount_commit(&ec, 0, IPCWAIT_FOREVER), 0);
	CHECK(fake.wait.private_ && fake.wake.private_);
	CHECK(fake.wait.deadline_ns == IPCWAIT_FOREVER);
}

/* Returns for no reason, and wakes of others: the wait goes on in its place. */
static void not_notified(void)
{
	const struct fake_step script[] = { { 0 },
					    { .result = -EAGAIN, .meanwhile = two_arrive },
					    { .meanwhile = notify_one } };

	CHECK_EQ(COMMIT(script, EC_WORD(9, 5, 3, 0, 0)), 0);
	/* Behind three others, and the first of them was notified: out of turn. */
	CHECK_EQ(ec_word(&ec), EC_WORD(10, 6, 5, 1, 1));
	CHECK_EQ(fake.waits, 3);
}

static void errors(void)
{
	static const int results[] = { -ETIMEDOUT, -EINTR, -EINVAL, -EFAULT, -ENOSYS };

	for (unsigned i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		struct fake_step script[] = { { .result = results[i] } };

		/* The last in line takes its place along, any other leaves it. */
		CHECK_EQ(COMMIT(script, EC_WORD(9, 5, 3, 1, 0)), results[i]);
		CHECK_EQ(ec_word(&ec), EC_WORD(9, 5, 3, 1, 0));
		script[0].meanwhile = two_arrive;
		CHECK_EQ(COMMIT(script, EC_WORD(9, 5, 3, 1, 0)), results[i]);
		CHECK_EQ(ec_word(&ec), EC_WORD(9, 5, 6, 2, 0));
		CHECK_EQ(COMMIT(script, EC_WORD(9, 5, 30, 15, 0)), results[i]);
		CHECK_EQ(ec_word(&ec), EC_WORD(9, 5, 33, 15, 0));
		/* Notified at the last moment. */
		script[0].meanwhile = two_arrive_and_one_is_notified;
		CHECK_EQ(COMMIT(script, EC_WORD(9, 5, 0, 0, 0)), 0);
		CHECK_EQ(ec_word(&ec), EC_WORD(10, 6, 2, 0, 0));
	}
}

/* No place: it looks once in a millisecond, unless there are empty ones to be swept away. */
static void no_place(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .sleep_ns = 1000 * US } };

	CHECK_EQ(COMMIT(script, EC_WORD(9, 5, 1023, 0, 0)), -ETIMEDOUT);
	CHECK_EQ(ec_word(&ec), EC_WORD(9, 5, 1023, 0, 0));
	CHECK(fake.wait.word != (const uint32_t *)&ec.word);
	CHECK_EQ(commit(NULL, 0, EC_WORD(9, 5, 1023, 1, 0)), 0);
	CHECK_EQ(ec_word(&ec), EC_WORD(10, 1028, 0, 0, 127));
	CHECK_EQ(fake.waits, 0);
	CHECK_EQ(fake.wakes, 1);
}

/* The page of an event count that its last waiter frees while the notifier is in the kernel. */
static struct ipcwait_eventcount *mapped;

static void unmap_it(void)
{
	CHECK(munmap(mapped, 4096) == 0);
}

static void notify_in_vanishing_memory(void)
{
	fake_reset();
	mapped =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(mapped != MAP_FAILED);
	ec_fabricate(mapped, EC_WORD(0, 0, 9, 0, 0));
	CHECK_EQ(ipcwait_eventcount_notify(mapped, 1), 0);
	fake.woken = -EFAULT;
	fake.on_wake = unmap_it;
	CHECK_EQ(ipcwait_eventcount_notify(mapped, 1), 0);
	CHECK_EQ(fake.wakes, 2);
}

static void no_touch_after_the_wake_begins(void)
{
	CHECK_EQ(check_in_child(notify_in_vanishing_memory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(nobody_sleeps),
		CHILD_TEST(first_come_first_served),
		CHILD_TEST(some_have_gone),
		CHILD_TEST(stale_wakes),
		CHILD_TEST(burst_makes_one_call),
		CHILD_TEST(woken),
		CHILD_TEST(private_flag_reaches_the_kernel),
		CHILD_TEST(not_notified),
		CHILD_TEST(errors),
		CHILD_TEST(no_place),
		CHILD_TEST(no_touch_after_the_wake_begins),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
