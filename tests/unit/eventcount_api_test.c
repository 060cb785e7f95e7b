/* SPDX-License-Identifier: MIT */
/* <ipcwait/eventcount.h> in one thread: arguments, results, deadlines, the word. */
#include <errno.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/eventcount_word.h"

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

static struct ipcwait_eventcount with(unsigned flags)
{
	struct ipcwait_eventcount ec;

	memset(&ec, 0x5a, sizeof(ec));
	assert_int_equal(ipcwait_eventcount_init(&ec, flags), 0);
	assert_int_equal(ec.flags, flags);
	assert_int_equal(ec_word(&ec), 0);
	return ec;
}

static void assert_init_refused(unsigned flags)
{
	struct ipcwait_eventcount ec, before;

	memset(&ec, 0x5a, sizeof(ec));
	before = ec;
	assert_int_equal(ipcwait_eventcount_init(&ec, flags), -EINVAL);
	assert_memory_equal(&ec, &before, sizeof(ec));
}

static void test_init(void **state)
{
	struct ipcwait_eventcount two[2], zero = { 0 }, init = IPCWAIT_EVENTCOUNT_INIT;

	(void)state;
	assert_memory_equal(&init, &zero, sizeof(zero));
	two[0] = with(0);
	assert_memory_equal(&two[0], &zero, sizeof(zero));
	(void)with(IPCWAIT_PRIVATE);
	(void)with(IPCWAIT_INTERRUPTIBLE);
	assert_init_refused(4);
	assert_init_refused(IPCWAIT_AUTO_RESET);
	assert_init_refused(UINT32_MAX);
	assert_int_equal(ipcwait_eventcount_init(NULL, 0), -EINVAL);
	for (unsigned offset = 1; offset < 8; offset++)
		assert_int_equal(ipcwait_eventcount_init((void *)((char *)two + offset), 0),
				 -EINVAL);
}

static void notified_since(struct ipcwait_eventcount *ec, uint64_t key)
{
	const int64_t deadlines[] = { IPCWAIT_FOREVER, 0, INT64_MIN, INT64_MAX - 1 };

	for (unsigned i = 0; i < sizeof(deadlines) / sizeof(deadlines[0]); i++)
		assert_int_equal(ipcwait_eventcount_commit(ec, key, deadlines[i]), 0);
}

static void test_keys(void **state)
{
	struct ipcwait_eventcount ec = with(0);
	uint64_t key = ipcwait_eventcount_prepare(&ec);

	(void)state;
	assert_int_equal(ipcwait_eventcount_commit(&ec, key, LATER), -ETIMEDOUT);
	ipcwait_eventcount_cancel(&ec);
	assert_int_equal(ipcwait_eventcount_notify(&ec, 1), 0);
	notified_since(&ec, key);
	key = ipcwait_eventcount_prepare(&ec);
	assert_int_equal(ipcwait_eventcount_commit(&ec, key, LATER), -ETIMEDOUT);
	assert_int_equal(ipcwait_eventcount_notify(&ec, 0), 0);
	notified_since(&ec, key);
	key = ipcwait_eventcount_prepare(&ec);
	assert_int_equal(ipcwait_eventcount_notify_all(&ec), 0);
	notified_since(&ec, key);
	/* What nobody has returned is no key. */
	notified_since(&ec, key + (UINT64_C(1) << 32));
	notified_since(&ec, UINT64_MAX);
	assert_int_equal(ec_word(&ec), 3);
	assert_int_equal(ipcwait_eventcount_fini(&ec), 0);
}

static void test_epochs_come_round(void **state)
{
	struct ipcwait_eventcount ec = with(0);
	uint64_t key;

	(void)state;
	ec_fabricate(&ec, EC_WORD(UINT32_MAX, 0x7ff, 0, 0, 0));
	key = ipcwait_eventcount_prepare(&ec);
	assert_int_equal(key, UINT32_MAX);
	assert_int_equal(ipcwait_eventcount_notify(&ec, 1), 0);
	assert_int_equal(ec_word(&ec), EC_WORD(0, 0x7ff, 0, 0, 0));
	notified_since(&ec, key);
}

static void test_deadlines(void **state)
{
	const int64_t past[] = { 0, 1, -1, INT64_MIN, INT64_MIN + 1, ipcwait_now_ns() };
	struct ipcwait_eventcount ec = with(IPCWAIT_PRIVATE);
	uint64_t key = ipcwait_eventcount_prepare(&ec);

	(void)state;
	for (unsigned i = 0; i < sizeof(past) / sizeof(past[0]); i++)
		assert_int_equal(ipcwait_eventcount_commit(&ec, key, past[i]), -ETIMEDOUT);
	for (int64_t ns = 1; ns <= 10000000; ns *= 10) {
		int64_t deadline = ipcwait_deadline_in_ns(ns);

		assert_int_equal(ipcwait_eventcount_commit(&ec, key, deadline), -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline);
	}
	assert_int_equal(ec_word(&ec), 0);
}

static void test_fini(void **state)
{
	struct ipcwait_eventcount ec = with(0);
	uint64_t key;

	(void)state;
	assert_int_equal(ipcwait_eventcount_fini(&ec), 0);
	assert_int_equal(ipcwait_eventcount_fini(&ec), -EINVAL);
	assert_int_equal(ipcwait_eventcount_fini(NULL), -EINVAL);
	key = ipcwait_eventcount_prepare(&ec);
	ipcwait_eventcount_cancel(&ec);
	assert_int_equal(ipcwait_eventcount_commit(&ec, key, LATER), -EINVAL);
	assert_int_equal(ipcwait_eventcount_commit(&ec, key, 0), -EINVAL);
	assert_int_equal(ipcwait_eventcount_notify(&ec, 1), -EINVAL);
	assert_int_equal(ipcwait_eventcount_notify_all(&ec), -EINVAL);
	assert_int_equal(ipcwait_eventcount_init(&ec, IPCWAIT_PRIVATE), 0);
	assert_int_equal(ipcwait_eventcount_notify(&ec, 1), 0);
	assert_int_equal(ipcwait_eventcount_fini(&ec), 0);
	ec = with(0);
	for (unsigned i = 0; i < 2; i++) {
		ec_fabricate(&ec, i ? EC_WORD(5, 1, 0, 0, 1) : EC_WORD(5, 1, 3, 2, 0));
		assert_int_equal(ipcwait_eventcount_fini(&ec), -EBUSY);
	}
	/* Nobody is left in line. */
	ec_fabricate(&ec, EC_WORD(5, 1, 3, 3, 0));
	assert_int_equal(ipcwait_eventcount_fini(&ec), 0);
}

/* Within one line, so that no CPU refuses the access. */
static void test_misaligned(void **state)
{
	_Alignas(64) char bytes[128] = { 0 };
	struct ipcwait_eventcount *ec = (struct ipcwait_eventcount *)(void *)(bytes + 4);

	(void)state;
	assert_int_equal(ipcwait_eventcount_fini(ec), -EINVAL);
#if IW_TEST_MISALIGNED
	assert_int_equal(ipcwait_eventcount_commit(ec, 0, LATER), -EINVAL);
	assert_int_equal(ipcwait_eventcount_commit(ec, 0, 0), -EINVAL);
	bytes[4 + 6] = 1; /* a sleeper */
	assert_int_equal(ipcwait_eventcount_notify(ec, 1), -EINVAL);
	bytes[4 + 6] = 0;
#endif
	for (unsigned i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_errno, errno_is_untouched)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_init),      TEST(test_keys), TEST(test_epochs_come_round),
		TEST(test_deadlines), TEST(test_fini), TEST(test_misaligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
