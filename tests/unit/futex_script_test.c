/* SPDX-License-Identifier: MIT */
/* The public futex over a scripted kernel: what is returned, and how often the kernel is asked. */
#include <errno.h>
#include <stdlib.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"

#define US INT64_C(1000)

static uint32_t word;
static struct ipcwait_window window;

static void world(enum ipcwait_preset preset)
{
	fake_reset();
	word = 5;
	window = (struct ipcwait_window){ 0 };
	CHECK_EQ(ipcwait_window_set_preset(&window, preset), 0);
	errno = 4711;
}

static void change(void)
{
	word = 6;
}

static void change_and_change_back(void)
{
	word = 6;
	word = 5;
}

static unsigned interruptible_for(int result)
{
	return result == -EINTR ? IPCWAIT_INTERRUPTIBLE : 0;
}

/* Every result of the kernel reaches the caller after one call. */
static void without_a_window(void)
{
	static const int results[] = { 0,       -EAGAIN, -EINTR, -ETIMEDOUT,
				       -EINVAL, -EFAULT, -ENOSYS };

	for (unsigned i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		const struct fake_step script[] = { { .result = results[i] } };

		world(IPCWAIT_INHERIT);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_futex_wait(&word, 5, IPCWAIT_FOREVER, NULL,
					    interruptible_for(results[i])),
			 results[i]);
		CHECK_EQ(fake.waits, 1);
		CHECK_EQ(fake.wait.value, 5);
		CHECK(!fake.wait.private_);
		CHECK_EQ(errno, 4711);
	}
}

/* It goes on; a word that has changed meanwhile is a change during the wait. */
static void handlers_without_a_window(void)
{
	static const int results[] = { 0, -EAGAIN, -ETIMEDOUT };

	for (unsigned i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		const struct fake_step script[] = { { .result = -EINTR },
						    { .result = -EINTR },
						    { .result = results[i] } };

		world(IPCWAIT_INHERIT);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_futex_wait(&word, 5, fake.now_ns + 900 * US, NULL, 0),
			 results[i] == -EAGAIN ? 0 : results[i]);
		CHECK_EQ(fake.waits, 3);
	}
}

static void handlers_with_a_window(void)
{
	const struct fake_step script[] = { { .result = -EINTR },
					    { .result = -EINTR, .meanwhile = change } };

	world(IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_futex_wait(&word, 5, IPCWAIT_FOREVER, &window, 0), 0);
	CHECK_EQ(fake.waits, 2);
}

static void with_a_window(void)
{
	static const int results[] = { 0, -EINTR, -ETIMEDOUT, -EINVAL, -EFAULT, -ENOSYS };

	for (unsigned i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		const struct fake_step script[] = { { .result = results[i] } };

		for (enum ipcwait_preset p = IPCWAIT_INHERIT; p <= IPCWAIT_BLOCK; p++) {
			world(p);
			FAKE_SCRIPT(script);
			CHECK_EQ(ipcwait_futex_wait(
					 &word, 5, fake.now_ns + 900 * US, &window,
					 IPCWAIT_PRIVATE | interruptible_for(results[i])),
				 results[i]);
			CHECK_EQ(fake.waits, 1);
			CHECK(fake.wait.private_);
			CHECK_EQ(errno, 4711);
		}
	}
}

/* A change while the wait goes on is success, whatever the kernel says. */
static void change_wins(void)
{
	static const int results[] = { 0, -EAGAIN, -EINTR, -ETIMEDOUT };

	for (unsigned i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		const struct fake_step script[] = { { .result = results[i],
						      .meanwhile = change } };

		world(IPCWAIT_BLOCK);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_futex_wait(&word, 5, fake.now_ns + 900 * US, &window, 0),
			 0);
		CHECK_EQ(fake.waits, 1);
	}
}

/* The word changed and changed back before the kernel looked: sleep on. */
static void change_and_back(void)
{
	const struct fake_step script[] = {
		{ .result = -EAGAIN, .meanwhile = change_and_change_back },
		{ .result = -EAGAIN, .meanwhile = change_and_change_back },
		{ .meanwhile = change_and_change_back },
	};

	world(IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_futex_wait(&word, 5, IPCWAIT_FOREVER, &window, 0), 0);
	CHECK_EQ(fake.waits, 3);
}

static int64_t change_at;

static void change_in_time(void)
{
	if (fake.now_ns >= change_at)
		word = 6;
}

static void change_during_the_spin(void)
{
	world(IPCWAIT_SPIN);
	change_at = fake.now_ns + 5 * US;
	fake.on_clock = change_in_time;
	CHECK_EQ(ipcwait_futex_wait(&word, 5, IPCWAIT_FOREVER, &window, 0), 0);
	CHECK_EQ(fake.waits, 0);
}

/* Waits are regular, but a wake that changes nothing must find the waiter asleep. */
static void never_on_a_timer(void)
{
	const struct fake_step script[] = { { .sleep_ns = 1000 * US } };

	probe_world(IPCWAIT_INHERIT, 2);
	world(IPCWAIT_INHERIT);
	for (int i = 0; i < 40; i++)
		iw_window_record(&window, 1000000, 0, (uint64_t)PROBE_BLOCK_NS);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_futex_wait(&word, 5, IPCWAIT_FOREVER, &window, 0), 0);
	CHECK_EQ(fake.wait.deadline_ns, IPCWAIT_FOREVER);
}

static void differs_makes_no_call(void)
{
	world(IPCWAIT_SPIN);
	CHECK_EQ(ipcwait_futex_wait(&word, 4, IPCWAIT_FOREVER, &window, 0), -EAGAIN);
	CHECK_EQ(ipcwait_futex_wait(&word, 4, 0, &window, 0), -EAGAIN);
	CHECK_EQ(fake.waits, 0);
}

static void wake(void)
{
	static const struct {
		unsigned count;
		int woken, want;
	} rows[] = {
		{ 1, 10, 1 },
		{ 7, 3, 3 },
		{ INT32_MAX, 2, 2 },
		{ 1u << 31, 2, 2 },
		{ UINT32_MAX, 4, 4 },
		{ 1, -EFAULT, -EFAULT },
		{ 1, -EINVAL, -EINVAL },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		world(IPCWAIT_INHERIT);
		fake.woken = rows[i].woken;
		CHECK_EQ(ipcwait_futex_wake(&word, rows[i].count, IPCWAIT_PRIVATE),
			 rows[i].want);
		CHECK_EQ(fake.wakes, 1);
		CHECK_EQ(fake.wake.value, rows[i].count);
		CHECK(fake.wake.word == &word && fake.wake.private_);
		CHECK_EQ(errno, 4711);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(without_a_window),
		CHILD_TEST(with_a_window),
		CHILD_TEST(handlers_without_a_window),
		CHILD_TEST(handlers_with_a_window),
		CHILD_TEST(change_wins),
		CHILD_TEST(change_and_back),
		CHILD_TEST(change_during_the_spin),
		CHILD_TEST(never_on_a_timer),
		CHILD_TEST(differs_makes_no_call),
		CHILD_TEST(wake),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
