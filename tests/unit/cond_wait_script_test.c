/* SPDX-License-Identifier: MIT */
/*
 * Waits on a condition variable over a scripted kernel: each row of the table in <ipcwait/cond.h>
 * that a waiter takes, and everything a futex wait may return.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/cond_word.h"
#include "common/fake_os.h"

#define US       INT64_C(1000)
#define DEADLINE (fake.now_ns + 1000 * US)

static struct ipcwait_cond c;
static struct ipcwait_mutex m;

/* A fresh world, with the mutex locked. BLOCK keeps the spin out of tests that are not about it. */
static void world(uint64_t word, uint64_t arrivals, enum ipcwait_preset preset)
{
	fake_reset();
	CHECK_EQ(ipcwait_mutex_init(&m, 0), 0);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK_EQ(ipcwait_cond_init(&c, 0), 0);
	CHECK_EQ(ipcwait_window_set_preset(&c.window, preset), 0);
	cond_fabricate(&c, word, arrivals);
	errno = 4711;
}

/* After a wait: the words, the number of sleeps, errno; the mutex is locked. */
static void left(uint64_t word, uint64_t arrivals, unsigned waits)
{
	CHECK(cond_word(&c) == word);
	CHECK(cond_arrivals(&c) == arrivals);
	CHECK_EQ(cond_inside(&c), 0);
	CHECK_EQ(fake.waits, waits);
	CHECK_EQ(ipcwait_mutex_trylock(&m), -EBUSY);
	CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
	CHECK_EQ(errno, 4711);
}

/* What other threads do while the waiter sleeps. */
static void signal_with_wake(void)
{
	unsigned wakes = fake.wakes;

	CHECK_EQ(ipcwait_cond_signal(&c), 0);
	CHECK_EQ(fake.wakes, wakes + 1);
	CHECK(fake.wake.word == (const uint32_t *)&c.word);
	CHECK(fake.wake.bits & fake.wait.bits);
	CHECK(fake.wake.private_ == fake.wait.private_);
}

static void signal_another(void)
{
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
	CHECK(!(fake.wake.bits & fake.wait.bits));
}

static void broadcast(void)
{
	CHECK_EQ(ipcwait_cond_broadcast(&c), 0);
	CHECK(fake.wake.bits & fake.wait.bits);
}

static void use_the_mutex(void)
{
	CHECK_EQ(ipcwait_mutex_trylock(&m), 0);
	CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
}

static void arrive(void)
{
	c.arrivals.v += COND_ARRIVALS(0, 0, 1);
	c.out.v++;
}

static void woken_by_a_signal(void)
{
	const struct fake_step script[] = { { .meanwhile = signal_with_wake } };

	world(0, 0, IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_cond_wait(&c, &m), 0);
	CHECK(fake.wait.word == (const uint32_t *)&c.word);
	CHECK_EQ(fake.wait.value, 0);
	CHECK_EQ(fake.wait.bits, 1);
	CHECK(fake.wait.deadline_ns < IPCWAIT_FOREVER);
	CHECK(!fake.wait.private_);
	left(COND_WORD(1, 0, 0), COND_ARRIVALS(0, 1, 1), 1);
}

static void private_flag_reaches_the_kernel(void)
{
	const struct fake_step script[] = { { .meanwhile = signal_with_wake } };

	world(0, 0, IPCWAIT_BLOCK);
	c.flags = IPCWAIT_PRIVATE;
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_cond_wait_until(&c, &m, DEADLINE), 0);
	CHECK(fake.wait.private_);
	CHECK(fake.wait.deadline_ns < IPCWAIT_FOREVER);
	left(COND_WORD(1, 0, 0), COND_ARRIVALS(0, 1, 1), 1);
}

static void mutex_is_free_meanwhile(void)
{
	const struct fake_step script[] = {
		{ .meanwhile = use_the_mutex },
		{ .meanwhile = signal_with_wake },
	};

	world(0, 0, IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_cond_wait(&c, &m), 0);
	left(COND_WORD(1, 0, 0), COND_ARRIVALS(0, 1, 1), 2);
}

/* The kernel may return for no reason, or for a handler, or because the word has changed. */
static void returns_without_a_signal(void)
{
	const struct fake_step script[] = {
		{ 0 },
		{ .result = -EINTR },
		{ .result = -EAGAIN, .meanwhile = arrive },
		{ .sleep_ns = 5000 * US },
		{ .result = -EINTR, .meanwhile = signal_another },
		{ .result = -EAGAIN, .meanwhile = signal_another },
		{ .meanwhile = signal_with_wake },
	};

	for (enum ipcwait_preset p = IPCWAIT_INHERIT; p <= IPCWAIT_BLOCK; p++) {
		world(0, COND_ARRIVALS(0, 0, 2), p);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_cond_wait(&c, &m), 0);
		left(COND_WORD(3, 0, 0), COND_ARRIVALS(0, 1, 4), 7);
	}
}

static void signal_at_the_spin(void)
{
	fake.on_clock = NULL;
	CHECK(arrivals_spinner(cond_arrivals(&c)));
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
}

static void broadcast_at_the_spin(void)
{
	fake.on_clock = NULL;
	CHECK_EQ(ipcwait_cond_broadcast(&c), 0);
}

/* The spinner is signalled without a system call, whoever else waits. */
static void signalled_while_spinning(void)
{
	for (uint32_t others = 0; others < 3; others++) {
		world(0, COND_ARRIVALS(0, 0, others), IPCWAIT_SPIN);
		FAKE_SCRIPT(((const struct fake_step[]){ { 0 } }));
		fake.on_clock = signal_at_the_spin;
		CHECK_EQ(ipcwait_cond_wait(&c, &m), 0);
		CHECK_EQ(fake.wakes, 0);
		left(0, COND_ARRIVALS(0, 1, others), 0);
	}
}

static void broadcast_while_spinning(void)
{
	world(0, COND_ARRIVALS(0, 0, 2), IPCWAIT_SPIN);
	FAKE_SCRIPT(((const struct fake_step[]){ { 0 } }));
	fake.on_clock = broadcast_at_the_spin;
	CHECK_EQ(ipcwait_cond_wait(&c, &m), 0);
	CHECK_EQ(fake.wakes, 1);
	CHECK_EQ(fake.wake.bits, UINT32_MAX);
	left(COND_WORD(2, 0, 0), COND_ARRIVALS(0, 1, 2), 0);
}

/* Beside a spinner a waiter takes a ticket at once, and does not spin. */
static void beside_a_spinner(void)
{
	const struct fake_step script[] = { { .meanwhile = broadcast } };

	world(COND_WORD(37, 0, 0), COND_ARRIVALS(1, 9, 37), IPCWAIT_SPIN);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_cond_wait(&c, &m), 0);
	CHECK_EQ(fake.wait.bits, 1u << 5);
	CHECK_EQ(fake.wait.value, 37);
	CHECK(cond_arrivals(&c) == COND_ARRIVALS(0, 9, 38));
	CHECK_EQ(cond_inside(&c), 1); /* that spinner */
}

static void deadline(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .sleep_ns = 2000 * US } };

	for (enum ipcwait_preset p = IPCWAIT_INHERIT; p <= IPCWAIT_BLOCK; p++) {
		world(0, 0, p);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_cond_wait_until(&c, &m, DEADLINE), -ETIMEDOUT);
		CHECK_EQ(fake.wakes, 0);
		left(COND_WORD(1, 0, 0), COND_ARRIVALS(0, 1, 1), 1);
	}
}

static void signal_at_the_last_moment(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .sleep_ns = 2000 * US,
					      .meanwhile = signal_with_wake } };

	world(0, 0, IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_cond_wait_until(&c, &m, DEADLINE), 0);
	left(COND_WORD(1, 0, 0), COND_ARRIVALS(0, 1, 1), 1);
}

/* A deadline that has passed needs neither spin nor sleep. The turn is over, no ticket taken. */
static void deadline_in_the_past(void)
{
	static const int64_t past[] = { INT64_MIN, -1, 0, 1 };

	for (unsigned i = 0; i < sizeof(past) / sizeof(past[0]); i++) {
		world(0, 0, IPCWAIT_SPIN);
		CHECK_EQ(ipcwait_cond_wait_until(&c, &m, past[i]), -ETIMEDOUT);
		left(0, COND_ARRIVALS(0, 1, 0), 0);
	}
}

static void deadline_in_the_spin(void)
{
	world(0, 0, IPCWAIT_SPIN);
	FAKE_SCRIPT(((const struct fake_step[]){ { .result = -ETIMEDOUT } }));
	CHECK_EQ(ipcwait_cond_wait_until(&c, &m, fake.now_ns + 5 * US), -ETIMEDOUT);
	CHECK(fake.waits <= 1);
	CHECK_EQ(cond_tickets(&c), 0);
}

/* Errors that mean the object cannot be slept on: nobody is registered any more. */
static void kernel_errors(void)
{
	static const int errors[] = { -EINVAL, -EFAULT, -ENOSYS };

	for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		const struct fake_step script[] = { { .result = errors[i] } };

		world(0, 0, IPCWAIT_INHERIT);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_cond_wait(&c, &m), errors[i]);
		left(COND_WORD(1, 0, 0), COND_ARRIVALS(0, 1, 1), 1);
	}
}

/* One that gives up in the middle is skipped by the signal that comes to it. */
static void gone_from_the_middle(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT } };

	world(0, COND_ARRIVALS(0, 0, 2), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_cond_wait_until(&c, &m, DEADLINE), -ETIMEDOUT);
	CHECK(cond_word(&c) == COND_WORD(0, 1u << 2, 0));
	arrive();
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
	CHECK(cond_word(&c) == COND_WORD(1, 1u << 1, 0));
	CHECK_EQ(fake.wake.bits, 1u << 0);
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
	CHECK(cond_word(&c) == COND_WORD(3, 0, 0));
	CHECK_EQ(fake.wake.bits, 1u << 1);
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
	CHECK(cond_word(&c) == COND_WORD(4, 0, 0));
	CHECK_EQ(fake.wake.bits, 1u << 3);
	CHECK_EQ(fake.wakes, 3);
}

/* The oldest leaves behind it others that are gone: all of them are skipped at once. */
static void gone_with_those_behind(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT } };

	world(COND_WORD(0, 0xfffe, 0), COND_ARRIVALS(0, 0, 16), IPCWAIT_BLOCK);
	c.arrivals.v = 0;
	FAKE_SCRIPT(script);
	c.out.v = 0;
	CHECK_EQ(ipcwait_cond_wait_until(&c, &m, DEADLINE), -ETIMEDOUT);
	CHECK(cond_word(&c) == COND_WORD(16, 0, 0));
}

/* Sixteen signals are exact, then the gone one may be anywhere: one releases everybody. */
static void gone_from_far_behind(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT } };

	world(0, COND_ARRIVALS(0, 0, 20), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_cond_wait_until(&c, &m, DEADLINE), -ETIMEDOUT);
	CHECK(cond_word(&c) == COND_WORD(0, 0, 1));
	for (uint32_t i = 0; i < 16; i++) {
		CHECK_EQ(ipcwait_cond_signal(&c), 0);
		CHECK_EQ(fake.wake.bits, 1u << i);
	}
	CHECK(cond_word(&c) == COND_WORD(16, 0xffff, 1));
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
	CHECK_EQ(fake.wake.bits, UINT32_MAX);
	left(COND_WORD(21, 0, 0), COND_ARRIVALS(0, 1, 21), 1);
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
	CHECK_EQ(fake.wakes, 17);
}

/* Within the last sixteen it is known again who is gone. */
static void nobody_is_left_to_be_unsure_of(void)
{
	world(COND_WORD(5, 0xfffe, 1), COND_ARRIVALS(0, 0, 6), IPCWAIT_BLOCK);
	CHECK_EQ(ipcwait_cond_signal(&c), 0);
	CHECK_EQ(fake.wake.bits, 1u << 5);
	left(COND_WORD(6, 0, 0), COND_ARRIVALS(0, 0, 6), 0);
}

/* One whose bit is set already, because it might be gone, goes. */
static void gone_unseen(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT } };

	world(COND_WORD(7, 0xffff, 3), COND_ARRIVALS(0, 0, 12), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_cond_wait_until(&c, &m, DEADLINE), -ETIMEDOUT);
	left(COND_WORD(7, 0xffff, 4), COND_ARRIVALS(0, 1, 13), 1);
	CHECK_EQ(ipcwait_cond_fini(&c), 0);
}

/* DEEP is full: everybody is released, the one that gives up too. */
static void too_many_gone_from_far_behind(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT } };

	world(COND_WORD(0, 0, 254), COND_ARRIVALS(0, 0, 20), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_cond_wait_until(&c, &m, DEADLINE), -ETIMEDOUT);
	CHECK(cond_word(&c) == COND_WORD(0, 0, 255));
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_cond_wait_until(&c, &m, DEADLINE), 0);
	CHECK_EQ(fake.wakes, 1);
	CHECK_EQ(fake.wake.bits, UINT32_MAX);
	left(COND_WORD(22, 0, 0), COND_ARRIVALS(0, 2, 22), 1);
}

/* Counters of 31, 32 and 40 bits come round. */
static void wrap(void)
{
	const struct fake_step script[] = { { .result = -EAGAIN },
					    { .meanwhile = signal_with_wake } };
	const struct fake_step expire[] = { { .result = -ETIMEDOUT } };

	world(SERVED_MASK, COND_ARRIVALS(0, 0x7fffffff, UINT32_MAX), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_cond_wait(&c, &m), 0);
	CHECK_EQ(fake.wait.bits, 1u << 31);
	left(0, COND_ARRIVALS(0, 0, 0), 2);
	world(COND_WORD(UINT64_C(0xfeffffffff), 0, 0), COND_ARRIVALS(0, 0, 1),
	      IPCWAIT_BLOCK);
	FAKE_SCRIPT(expire);
	CHECK_EQ(ipcwait_cond_wait_until(&c, &m, DEADLINE), -ETIMEDOUT);
	CHECK(cond_word(&c) == COND_WORD(UINT64_C(0xfeffffffff), 1u << 2, 0));
	CHECK_EQ(ipcwait_cond_broadcast(&c), 0);
	left(COND_WORD(UINT64_C(0xff00000002), 0, 0), COND_ARRIVALS(0, 1, 2), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(woken_by_a_signal),
		CHILD_TEST(private_flag_reaches_the_kernel),
		CHILD_TEST(mutex_is_free_meanwhile),
		CHILD_TEST(returns_without_a_signal),
		CHILD_TEST(signalled_while_spinning),
		CHILD_TEST(broadcast_while_spinning),
		CHILD_TEST(beside_a_spinner),
		CHILD_TEST(deadline),
		CHILD_TEST(signal_at_the_last_moment),
		CHILD_TEST(deadline_in_the_past),
		CHILD_TEST(deadline_in_the_spin),
		CHILD_TEST(kernel_errors),
		CHILD_TEST(gone_from_the_middle),
		CHILD_TEST(gone_with_those_behind),
		CHILD_TEST(gone_from_far_behind),
		CHILD_TEST(nobody_is_left_to_be_unsure_of),
		CHILD_TEST(gone_unseen),
		CHILD_TEST(too_many_gone_from_far_behind),
		CHILD_TEST(wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
