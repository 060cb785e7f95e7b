/* SPDX-License-Identifier: MIT */
/*
 * Signals, broadcasts and the end of a condition variable over a scripted kernel: what they wake,
 * and that they make no system call where nobody needs one.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/cond_word.h"
#include "common/fake_os.h"
#include "sync/cond_word.h"

#define MS INT64_C(1000000)

static struct ipcwait_cond c;

static void world(uint64_t word, uint64_t arrivals, unsigned flags)
{
	fake_reset();
	CHECK_EQ(ipcwait_cond_init(&c, flags), 0);
	cond_fabricate(&c, word, arrivals);
	errno = 4711;
}

static void left(uint64_t word, uint64_t arrivals, unsigned wakes)
{
	CHECK(cond_word(&c) == word);
	CHECK(cond_arrivals(&c) == arrivals);
	CHECK_EQ(fake.wakes, wakes);
	CHECK_EQ(fake.waits, 0);
	CHECK_EQ(errno, 4711);
}

/* Neither system calls nor the clock. */
static void nobody_waits(void)
{
	static const uint64_t words[] = { 0, 7, SERVED_MASK };

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		uint64_t a = COND_ARRIVALS(0, 5, (uint32_t)words[i]);

		world(words[i], a, 0);
		CHECK_EQ(ipcwait_cond_signal(&c), 0);
		CHECK_EQ(ipcwait_cond_broadcast(&c), 0);
		left(words[i], a, 0);
		CHECK_EQ(fake.clock_readings, 0);
	}
}

static void the_oldest_is_signalled(void)
{
	world(40, COND_ARRIVALS(0, 0, 43), 0);
	for (uint32_t i = 40; i < 43; i++) {
		CHECK_EQ(ipcwait_cond_signal(&c), 0);
		CHECK(fake.wake.word == (const uint32_t *)&c.word);
		CHECK_EQ(fake.wake.bits, 1u << i % 32);
		CHECK(!fake.wake.private_);
	}
	left(43, COND_ARRIVALS(0, 0, 43), 3);
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
	left(43, COND_ARRIVALS(0, 0, 43), 3);
}

static void the_spinner_is_signalled_first(void)
{
	world(3, COND_ARRIVALS(1, 8, 5), 0);
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
	left(3, COND_ARRIVALS(0, 8, 5), 0);
	CHECK_EQ(fake.clock_readings, 0);
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
	left(4, COND_ARRIVALS(0, 8, 5), 1);
}

static void broadcast_reaches_all(void)
{
	world(COND_WORD(3, 0xf0, 9), COND_ARRIVALS(1, 8, 300), IPCWAIT_PRIVATE);
	CHECK_EQ(ipcwait_cond_broadcast(&c), 0);
	left(300, COND_ARRIVALS(0, 8, 300), 1);
	CHECK_EQ(fake.wake.bits, UINT32_MAX);
	CHECK(fake.wake.private_);
	world(3, COND_ARRIVALS(1, 8, 3), 0);
	CHECK_EQ(ipcwait_cond_broadcast(&c), 0);
	left(3, COND_ARRIVALS(0, 8, 3), 0);
}

static void convert(void)
{
	fake.on_clock = NULL;
	c.arrivals.v = COND_ARRIVALS(0, 8, 6);
}

static void arrive(void)
{
	fake.on_clock = NULL;
	c.arrivals.v += COND_ARRIVALS(0, 0, 1);
	c.word.v |= COND_WORD(0, 1u << 2, 0);
}

/* The words change between a look and the CAS. */
static void others_are_faster(void)
{
	world(3, COND_ARRIVALS(1, 8, 5), 0);
	fake.on_clock = convert;
	CHECK_EQ(ipcwait_cond_broadcast(&c), 0);
	left(6, COND_ARRIVALS(0, 8, 6), 1);
	world(3, COND_ARRIVALS(0, 8, 5), 0);
	fake.on_clock = arrive;
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
	left(COND_WORD(4, 1u << 1, 0), COND_ARRIVALS(0, 8, 6), 1);
	world(3, COND_ARRIVALS(0, 8, 5), 0);
	fake.on_clock = arrive;
	CHECK_EQ(ipcwait_cond_broadcast(&c), 0);
	left(6, COND_ARRIVALS(0, 8, 6), 1);
}

/* Whoever released it was killed before the system call: once in a millisecond others try. */
static void somebody_does_not_leave(void)
{
	world(3, COND_ARRIVALS(0, 0, 3), 0);
	c.out.v--;
	for (unsigned i = 1; i < 4; i++) {
		fake.now_ns += 3 * MS;
		CHECK_EQ(i % 2 ? ipcwait_cond_signal(&c) : ipcwait_cond_broadcast(&c), 0);
		left(3, COND_ARRIVALS(0, 0, 3), i);
		CHECK_EQ(fake.wake.bits, UINT32_MAX);
		CHECK_EQ(ipcwait_cond_signal(&c), 0);
		CHECK_EQ(ipcwait_cond_broadcast(&c), 0);
		left(3, COND_ARRIVALS(0, 0, 3), i);
	}
	world(3, COND_ARRIVALS(1, 1, 3), 0);
	c.out.v--;
	fake.now_ns += 3 * MS;
	CHECK_EQ(ipcwait_cond_broadcast(&c), 0);
	left(3, COND_ARRIVALS(0, 1, 3), 1);
	CHECK_EQ(fake.wake.bits, UINT32_MAX);
	world(3, COND_ARRIVALS(0, 0, 3), IPCWAIT_PRIVATE);
	c.out.v--;
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
	CHECK_EQ(ipcwait_cond_broadcast(&c), 0);
	left(3, COND_ARRIVALS(0, 0, 3), 0);
}

static int look_in_vain(const struct fake_call *call)
{
	CHECK(call->word != (const uint32_t *)&c.word);
	fake.now_ns = call->deadline_ns;
	return -ETIMEDOUT;
}

static int look_until_it_is_out(const struct fake_call *call)
{
	c.out.v++;
	return look_in_vain(call);
}

static void fini_waits_for_the_released(void)
{
	int64_t began;

	world(4, COND_ARRIVALS(0, 6, 4), 0);
	c.out.v--;
	fake.on_wait = look_until_it_is_out;
	CHECK_EQ(ipcwait_cond_fini(&c), 0);
	/* It may have been asleep for want of a wake. */
	CHECK_EQ(fake.wakes, 1);
	CHECK_EQ(fake.wake.bits, UINT32_MAX);
	world(4, COND_ARRIVALS(0, 6, 4), 0);
	c.out.v--;
	fake.on_wait = look_in_vain;
	began = fake.now_ns;
	CHECK_EQ(ipcwait_cond_fini(&c), -EBUSY);
	CHECK(fake.now_ns - began >= 1000 * MS && fake.now_ns - began < 1100 * MS);
	CHECK_EQ(c.flags, 0);
}

static void fini_beside_waiters(void)
{
	world(3, COND_ARRIVALS(1, 8, 3), 0);
	CHECK_EQ(ipcwait_cond_fini(&c), -EBUSY);
	world(3, COND_ARRIVALS(0, 8, 4), 0);
	CHECK_EQ(ipcwait_cond_fini(&c), -EBUSY);
	world(COND_WORD(3, 0xfffe, 1), COND_ARRIVALS(0, 8, 40), 0);
	CHECK_EQ(ipcwait_cond_fini(&c), -EBUSY);
	/* Nobody may wait where all are known to be out. */
	world(COND_WORD(3, 0xffff, 1), COND_ARRIVALS(0, 8, 40), 0);
	CHECK_EQ(ipcwait_cond_fini(&c), 0);
	CHECK_EQ(fake.waits + fake.wakes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(nobody_waits),
		CHILD_TEST(the_oldest_is_signalled),
		CHILD_TEST(the_spinner_is_signalled_first),
		CHILD_TEST(broadcast_reaches_all),
		CHILD_TEST(others_are_faster),
		CHILD_TEST(somebody_does_not_leave),
		CHILD_TEST(fini_waits_for_the_released),
		CHILD_TEST(fini_beside_waiters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
