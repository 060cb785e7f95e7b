/* SPDX-License-Identifier: MIT */
/*
 * The latch over a scripted kernel: each row of the table in <ipcwait/latch.h>, and everything
 * that a futex wait may return.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/gates_word.h"

#define US       INT64_C(1000)
#define DEADLINE (fake.now_ns + 1000 * US)

static struct ipcwait_latch l;

/* A fresh world. BLOCK keeps the spin out. */
static void world(uint64_t word, unsigned flags)
{
	fake_reset();
	CHECK_EQ(ipcwait_latch_init(&l, 0, flags), 0);
	CHECK_EQ(ipcwait_window_set_preset(&l.window, IPCWAIT_BLOCK), 0);
	gate_fabricate(&l.word, word);
	errno = 4711;
}

static void left(uint64_t word, unsigned waits, unsigned wakes)
{
	CHECK_EQ(gate_word(&l.word), word);
	CHECK_EQ(fake.waits, waits);
	CHECK_EQ(fake.wakes, wakes);
	CHECK_EQ(errno, 4711);
}

/* What other threads do while the waiter sleeps. */
static void count_down(void)
{
	CHECK_EQ(ipcwait_latch_count_down(&l, 1), 0);
}

static void arrive(void)
{
	gate_fabricate(&l.word, gate_word(&l.word) + LATCH_WORD(0, 1));
}

static void opens_with_one_call(void)
{
	const struct fake_step script[] = { { .meanwhile = count_down },
					    { .meanwhile = count_down } };

	world(LATCH_WORD(2, 3), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_latch_wait(&l), 0);
	left(LATCH_WORD(0, 0), 2, 1);
	CHECK(fake.wait.word == (const uint32_t *)&l.word);
	CHECK_EQ(fake.wait.value, 4);
	CHECK(fake.wait.deadline_ns < IPCWAIT_FOREVER);
	CHECK(!fake.wait.private_ && !fake.wake.private_);
	CHECK(fake.wake.word == fake.wait.word);
	CHECK_EQ(fake.wake.value, UINT32_MAX);
}

static void private_flag_reaches_the_kernel(void)
{
	const struct fake_step script[] = { { .meanwhile = count_down } };

	world(LATCH_WORD(1, 0), IPCWAIT_PRIVATE);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_latch_wait_until(&l, DEADLINE), 0);
	left(0, 1, 1);
	CHECK(fake.wait.private_ && fake.wake.private_);
}

static void no_call_if_nobody_sleeps(void)
{
	world(LATCH_WORD(3, 0), 0);
	count_down();
	CHECK_EQ(ipcwait_latch_count_down(&l, 2), 0);
	CHECK_EQ(ipcwait_latch_wait(&l), 0);
	left(0, 0, 0);
	gate_fabricate(&l.word, LATCH_WORD(1, 0));
	CHECK_EQ(ipcwait_latch_arrive_and_wait(&l), 0);
	left(0, 0, 0);
}

static void arrives_and_sleeps(void)
{
	const struct fake_step script[] = { { .meanwhile = count_down } };

	world(LATCH_WORD(2, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_latch_arrive_and_wait(&l), 0);
	left(0, 1, 1);
}

static void returns_of_the_kernel(void)
{
	const struct fake_step script[] = {
		{ 0 },
		{ .result = -EAGAIN, .meanwhile = arrive },
		{ .result = -EINTR },
		{ .result = -EINTR, .sleep_ns = 5000 * US },
		{ .result = -EAGAIN, .meanwhile = count_down },
	};

	world(LATCH_WORD(1, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_latch_wait(&l), 0);
	left(0, 5, 1);
	CHECK_EQ(fake.wait.value, 2);
}

static void gives_up(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 1000 * US, .meanwhile = arrive }
	};

	world(LATCH_WORD(1, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_latch_wait_until(&l, DEADLINE), -ETIMEDOUT);
	left(LATCH_WORD(1, 1), 1, 0);
}

static void the_opening_beats_the_deadline(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 1000 * US, .meanwhile = count_down }
	};

	world(LATCH_WORD(1, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_latch_wait_until(&l, DEADLINE), 0);
	left(0, 1, 1);
}

static void no_futex(void)
{
	static const int errors[] = { -ENOSYS, -EFAULT, -EINVAL };

	for (unsigned i = 0; i < 3; i++) {
		const struct fake_step script[] = { { .result = errors[i] } };

		world(LATCH_WORD(1, 0), 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_latch_wait(&l), errors[i]);
		left(LATCH_WORD(1, 0), 1, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(opens_with_one_call),
		CHILD_TEST(private_flag_reaches_the_kernel),
		CHILD_TEST(no_call_if_nobody_sleeps),
		CHILD_TEST(arrives_and_sleeps),
		CHILD_TEST(returns_of_the_kernel),
		CHILD_TEST(gives_up),
		CHILD_TEST(the_opening_beats_the_deadline),
		CHILD_TEST(no_futex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
