/* SPDX-License-Identifier: MIT */
/* <ipcwait/event.h> in one thread: arguments, results, deadlines, the word. */
#include <errno.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/event_word.h"

#define LATER ipcwait_deadline_in_ns(INT64_C(1000000))

/* Every call of every test leaves errno alone. */
static int set_errno(void **state)
{
	(void)state;
	errno = 4711;
	return 0;
}

static int errno_is_untouched(void **state)
{
	(void)state;
	return errno == 4711 ? 0 : -1;
}

static struct ipcwait_event with(unsigned flags)
{
	struct ipcwait_event e;

	memset(&e, 0x5a, sizeof(e));
	assert_int_equal(ipcwait_event_init(&e, flags), 0);
	assert_int_equal(e.flags, flags);
	assert_int_equal(event_word(&e), 0);
	return e;
}

static void assert_init_refused(unsigned flags)
{
	struct ipcwait_event e, before;

	memset(&e, 0x5a, sizeof(e));
	before = e;
	assert_int_equal(ipcwait_event_init(&e, flags), -EINVAL);
	assert_memory_equal(&e, &before, sizeof(e));
}

static void test_init(void **state)
{
	struct ipcwait_event two[2], zero = { 0 }, init = IPCWAIT_EVENT_INIT;

	(void)state;
	assert_memory_equal(&init, &zero, sizeof(zero));
	two[0] = with(0);
	assert_memory_equal(&two[0], &zero, sizeof(zero));
	(void)with(IPCWAIT_PRIVATE | IPCWAIT_AUTO_RESET);
	(void)with(IPCWAIT_INTERRUPTIBLE);
	assert_init_refused(4);
	assert_init_refused(IPCWAIT_AUTO_RESET << 1);
	assert_init_refused(UINT32_MAX);
	assert_int_equal(ipcwait_event_init(NULL, 0), -EINVAL);
	for (unsigned offset = 1; offset < 8; offset++)
		assert_int_equal(ipcwait_event_init((void *)((char *)two + offset), 0),
				 -EINVAL);
}

static void assert_waits(struct ipcwait_event *e, int result)
{
	assert_int_equal(ipcwait_event_trywait(e), result ? -EAGAIN : 0);
	if (result)
		assert_int_equal(ipcwait_event_wait_until(e, LATER), -ETIMEDOUT);
}

static void test_manual(void **state)
{
	struct ipcwait_event e = with(0);

	(void)state;
	assert_waits(&e, -EAGAIN);
	assert_false(ipcwait_event_is_set(&e));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ipcwait_event_set(&e), 0);
		assert_true(ipcwait_event_is_set(&e));
		assert_int_equal(ipcwait_event_wait(&e), 0);
		assert_int_equal(ipcwait_event_trywait(&e), 0);
		assert_int_equal(ipcwait_event_wait_until(&e, IPCWAIT_FOREVER), 0);
		assert_int_equal(ipcwait_event_wait_until(&e, 0), 0);
	}
	/* It was set once. */
	assert_int_equal(event_word(&e), EVENT_SET | EVENT_EPOCH(1));
	assert_int_equal(ipcwait_event_reset(&e), 0);
	assert_int_equal(ipcwait_event_reset(&e), 0);
	assert_false(ipcwait_event_is_set(&e));
	assert_waits(&e, -EAGAIN);
	assert_int_equal(event_word(&e), EVENT_EPOCH(1));
	assert_int_equal(ipcwait_event_fini(&e), 0);
}

static void test_auto(void **state)
{
	struct ipcwait_event e = with(IPCWAIT_AUTO_RESET);

	(void)state;
	assert_waits(&e, -EAGAIN);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ipcwait_event_set(&e), 0);
		assert_int_equal(ipcwait_event_set(&e), 0);
		assert_true(ipcwait_event_is_set(&e));
		if (i == 0)
			assert_int_equal(ipcwait_event_wait(&e), 0);
		else if (i == 1)
			assert_int_equal(ipcwait_event_trywait(&e), 0);
		else
			assert_int_equal(ipcwait_event_wait_until(&e, 0), 0);
		assert_false(ipcwait_event_is_set(&e));
		assert_waits(&e, -EAGAIN);
	}
	assert_int_equal(ipcwait_event_set(&e), 0);
	assert_int_equal(ipcwait_event_reset(&e), 0);
	assert_waits(&e, -EAGAIN);
	assert_int_equal(event_state(event_word(&e)), 0);
	assert_int_equal(ipcwait_event_fini(&e), 0);
}

/* The epoch never reaches its neighbours, in either path. */
static void test_epochs_come_round(void **state)
{
	struct ipcwait_event e = with(0);

	(void)state;
	event_fabricate(&e, EVENT_EPOCHS);
	assert_int_equal(ipcwait_event_set(&e), 0);
	assert_int_equal(event_word(&e), EVENT_SET);
	event_fabricate(&e, EVENT_EPOCHS | EVENT_SLEEPERS(7));
	assert_int_equal(ipcwait_event_set(&e), 0);
	assert_int_equal(event_word(&e), EVENT_SLEEPERS(7) | EVENT_WAKE | EVENT_SET);
}

static void test_deadlines(void **state)
{
	const int64_t past[] = { 0, 1, -1, INT64_MIN, INT64_MIN + 1, ipcwait_now_ns() };

	(void)state;
	for (unsigned i = 0; i < sizeof(past) / sizeof(past[0]); i++) {
		struct ipcwait_event e = with(i % 2 ? IPCWAIT_AUTO_RESET : 0);

		assert_int_equal(ipcwait_event_wait_until(&e, past[i]), -ETIMEDOUT);
		assert_int_equal(ipcwait_event_set(&e), 0);
		/* An event that is set lets through all the same. */
		assert_int_equal(ipcwait_event_wait_until(&e, past[i]), 0);
	}
	for (int64_t ns = 1; ns <= 10000000; ns *= 10) {
		struct ipcwait_event e = with(IPCWAIT_PRIVATE);
		int64_t deadline = ipcwait_deadline_in_ns(ns);

		assert_int_equal(ipcwait_event_wait_until(&e, deadline), -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline);
		assert_int_equal(event_word(&e), 0);
	}
}

static void test_fini(void **state)
{
	struct ipcwait_event e = with(0);

	(void)state;
	assert_int_equal(ipcwait_event_set(&e), 0);
	assert_int_equal(ipcwait_event_fini(&e), 0);
	assert_int_equal(ipcwait_event_fini(&e), -EINVAL);
	assert_int_equal(ipcwait_event_fini(NULL), -EINVAL);
	/* Calls that would have to wait or wake say so; the others find it not set. */
	assert_int_equal(ipcwait_event_wait(&e), -EINVAL);
	assert_int_equal(ipcwait_event_wait_until(&e, LATER), -EINVAL);
	assert_int_equal(ipcwait_event_wait_until(&e, 0), -EINVAL);
	assert_int_equal(ipcwait_event_set(&e), -EINVAL);
	assert_int_equal(ipcwait_event_trywait(&e), -EAGAIN);
	assert_int_equal(ipcwait_event_reset(&e), 0);
	assert_false(ipcwait_event_is_set(&e));
	assert_int_equal(ipcwait_event_fini(&e), -EINVAL);
	assert_int_equal(ipcwait_event_init(&e, IPCWAIT_AUTO_RESET), 0);
	assert_int_equal(ipcwait_event_set(&e), 0);
	assert_int_equal(ipcwait_event_wait(&e), 0);
	for (unsigned i = 0; i < 2; i++) {
		event_fabricate(&e, i ? EVENT_SPINNER : EVENT_SLEEPERS(1));
		assert_int_equal(ipcwait_event_fini(&e), -EBUSY);
	}
}

/* Within one line, so that no CPU refuses the access. */
static void test_misaligned(void **state)
{
	_Alignas(64) char bytes[128] = { 0 };
	struct ipcwait_event *e = (struct ipcwait_event *)(void *)(bytes + 4);

	(void)state;
	assert_int_equal(ipcwait_event_fini(e), -EINVAL);
#if IW_TEST_MISALIGNED
	assert_int_equal(ipcwait_event_wait(e), -EINVAL);
	assert_int_equal(ipcwait_event_wait_until(e, 0), -EINVAL);
	assert_int_equal(ipcwait_event_trywait(e), -EAGAIN);
	bytes[4 + 6] = 1; /* a sleeper */
	assert_int_equal(ipcwait_event_set(e), -EINVAL);
	bytes[4 + 6] = 0;
#endif
	for (unsigned i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_errno, errno_is_untouched)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_init),       TEST(test_manual),
		TEST(test_auto),       TEST(test_epochs_come_round),
		TEST(test_deadlines),  TEST(test_fini),
		TEST(test_misaligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
