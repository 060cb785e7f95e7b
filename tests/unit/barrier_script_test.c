/* SPDX-License-Identifier: MIT */
/*
 * The barrier over a scripted kernel: each row of the table in <ipcwait/barrier.h>, and everything
 * that a futex wait may return.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/gates_word.h"

#define US       INT64_C(1000)
#define DEADLINE (fake.now_ns + 1000 * US)

static struct ipcwait_barrier b;

/* A fresh world with a barrier of three. BLOCK keeps the spin out. */
static void world(uint64_t word, unsigned flags)
{
	fake_reset();
	CHECK_EQ(ipcwait_barrier_init(&b, 3, flags), 0);
	CHECK_EQ(ipcwait_window_set_preset(&b.window, IPCWAIT_BLOCK), 0);
	gate_fabricate(&b.word, word);
	errno = 4711;
}

static void left(uint64_t word, unsigned waits, unsigned wakes)
{
	CHECK_EQ(gate_word(&b.word), word);
	CHECK_EQ(fake.waits, waits);
	CHECK_EQ(fake.wakes, wakes);
	CHECK_EQ(errno, 4711);
}

/* What other threads do while the waiter sleeps. */
static void last_arrives(void)
{
	CHECK_EQ(ipcwait_barrier_wait(&b), IPCWAIT_BARRIER_SERIAL);
}

static void another_gives_up(void)
{
	CHECK_EQ(ipcwait_barrier_wait_until(&b, 0), -ETIMEDOUT);
}

static void rounds_go_on(void)
{
	last_arrives();
	gate_fabricate(&b.word, gate_word(&b.word) + 12345);
}

static void others_leave(void)
{
	gate_fabricate(&b.word, gate_word(&b.word) & UINT32_MAX);
}

static void woken_by_the_last(void)
{
	const struct fake_step script[] = { { .meanwhile = last_arrives } };

	world(BARRIER_WORD(7, 1, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_barrier_wait(&b), 0);
	/* The other party that waited is still inside. */
	left(BARRIER_WORD(8, 0, 1), 1, 1);
	CHECK(fake.wait.word == (const uint32_t *)&b.word);
	CHECK_EQ(fake.wait.value, 7);
	CHECK(fake.wait.deadline_ns < IPCWAIT_FOREVER);
	CHECK(!fake.wait.private_ && !fake.wake.private_);
	CHECK(fake.wake.word == fake.wait.word);
	CHECK_EQ(fake.wake.value, UINT32_MAX);
}

static void private_flag_reaches_the_kernel(void)
{
	const struct fake_step script[] = { { .meanwhile = last_arrives } };

	world(BARRIER_WORD(0, 1, 0), IPCWAIT_PRIVATE);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_barrier_wait_until(&b, DEADLINE), 0);
	left(BARRIER_WORD(1, 0, 1), 1, 1);
	CHECK(fake.wait.private_ && fake.wake.private_);
}

static void no_call_if_nobody_sleeps(void)
{
	world(BARRIER_WORD(UINT32_MAX, 2, 1), 0);
	CHECK_EQ(ipcwait_barrier_wait(&b), IPCWAIT_BARRIER_SERIAL);
	left(BARRIER_WORD(0, 0, 3), 0, 0);
}

/* Also what the kernel has no reason to return; signals; many rounds later. */
static void returns_of_the_kernel(void)
{
	const struct fake_step script[] = {
		{ 0 },
		{ .result = -EAGAIN },
		{ .result = -EINTR },
		{ .result = -EINTR, .sleep_ns = 5000 * US },
		{ .result = -EAGAIN, .meanwhile = rounds_go_on },
	};

	world(BARRIER_WORD(7, 1, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_barrier_wait(&b), 0);
	left(BARRIER_WORD(8 + 12345, 0, 1), 5, 1);
}

static void gives_up(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .sleep_ns = 1000 * US } };

	world(BARRIER_WORD(7, 0, 5), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_barrier_wait_until(&b, DEADLINE), -ETIMEDOUT);
	left(BARRIER_WORD(7, 0, 5), 1, 0);
	/* The other one may sleep. */
	world(BARRIER_WORD(7, 1, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_barrier_wait_until(&b, DEADLINE), -ETIMEDOUT);
	left(BARRIER_SLEEPS | BARRIER_WORD(7, 1, 0), 1, 0);
}

static void another_gives_up_beside_a_sleeper(void)
{
	const struct fake_step script[] = { { .meanwhile = another_gives_up },
					    { .result = -ETIMEDOUT,
					      .sleep_ns = 1000 * US } };

	world(BARRIER_WORD(7, 0, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_barrier_wait_until(&b, DEADLINE), -ETIMEDOUT);
	left(BARRIER_WORD(7, 0, 0), 2, 0);
}

static void the_last_beats_the_deadline(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 1000 * US, .meanwhile = last_arrives }
	};

	world(BARRIER_WORD(7, 1, 0), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_barrier_wait_until(&b, DEADLINE), 0);
	left(BARRIER_WORD(8, 0, 1), 1, 1);
}

static void no_futex(void)
{
	static const int errors[] = { -ENOSYS, -EFAULT, -EINVAL };

	for (unsigned i = 0; i < 3; i++) {
		const struct fake_step script[] = { { .result = errors[i] } };

		world(BARRIER_WORD(7, 0, 0), 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_barrier_wait(&b), errors[i]);
		left(BARRIER_WORD(7, 0, 0), 1, 0);
	}
}

static void the_end_waits_for_leavers(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 1000 * US },
		{ .result = -EINTR },
		{ .result = -ETIMEDOUT, .sleep_ns = 1000 * US, .meanwhile = others_leave }
	};

	world(BARRIER_WORD(7, 0, 2), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_barrier_fini(&b), 0);
	left(BARRIER_WORD(7, 0, 0), 3, 0);
	/* Not on a word of an object that others may be about to free. */
	CHECK(fake.wait.word != (const uint32_t *)&b.word);
	CHECK_EQ(ipcwait_barrier_wait(&b), -EINVAL);
}

static int sleep_until_deadline(const struct fake_call *call)
{
	fake.waits++;
	fake.now_ns = call->deadline_ns;
	return -ETIMEDOUT;
}

/* One was killed on his way out. */
static void the_end_gives_up(void)
{
	int64_t began;

	world(BARRIER_WORD(7, 0, 1), 0);
	fake.on_wait = sleep_until_deadline;
	began = fake.now_ns;
	CHECK_EQ(ipcwait_barrier_fini(&b), -EBUSY);
	CHECK(fake.now_ns - began >= 1000000 * US && fake.now_ns - began < 1100000 * US);
	CHECK_EQ(gate_word(&b.word), BARRIER_WORD(7, 0, 1));
	CHECK_EQ(b.flags, 0);
}

static void the_end_without_a_futex(void)
{
	const struct fake_step script[] = { { .result = -ENOSYS } };

	world(BARRIER_WORD(7, 0, 1), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_barrier_fini(&b), -ENOSYS);
	left(BARRIER_WORD(7, 0, 1), 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(woken_by_the_last),
		CHILD_TEST(private_flag_reaches_the_kernel),
		CHILD_TEST(no_call_if_nobody_sleeps),
		CHILD_TEST(returns_of_the_kernel),
		CHILD_TEST(gives_up),
		CHILD_TEST(another_gives_up_beside_a_sleeper),
		CHILD_TEST(the_last_beats_the_deadline),
		CHILD_TEST(no_futex),
		CHILD_TEST(the_end_waits_for_leavers),
		CHILD_TEST(the_end_gives_up),
		CHILD_TEST(the_end_without_a_futex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
