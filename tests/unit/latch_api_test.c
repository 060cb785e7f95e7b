/* SPDX-License-Identifier: MIT */
/* <ipcwait/latch.h> in one thread: arguments, limits, results, deadlines. */
#include <errno.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/gates_word.h"

#define MAX   IPCWAIT_LATCH_COUNT_MAX
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

static struct ipcwait_latch of(uint32_t count)
{
	struct ipcwait_latch l;

	assert_int_equal(ipcwait_latch_init(&l, count, 0), 0);
	return l;
}

static void assert_open(struct ipcwait_latch *l)
{
	assert_int_equal(ipcwait_latch_count(l), 0);
	assert_int_equal(ipcwait_latch_trywait(l), 0);
	assert_int_equal(ipcwait_latch_wait(l), 0);
	assert_int_equal(ipcwait_latch_wait_until(l, INT64_MIN), 0);
	assert_int_equal(ipcwait_latch_wait_until(l, IPCWAIT_FOREVER), 0);
	assert_int_equal(ipcwait_latch_count_down(l, 0), 0);
	assert_int_equal(ipcwait_latch_count_down(l, 1), -EOVERFLOW);
	assert_int_equal(ipcwait_latch_count_down(l, UINT32_MAX), -EOVERFLOW);
	assert_int_equal(ipcwait_latch_arrive_and_wait(l), -EOVERFLOW);
	assert_int_equal(gate_word(&l->word), 0);
}

static void assert_closed(struct ipcwait_latch *l, int count)
{
	assert_int_equal(ipcwait_latch_count(l), count);
	assert_int_equal(ipcwait_latch_trywait(l), -EAGAIN);
	assert_int_equal(ipcwait_latch_wait_until(l, 0), -ETIMEDOUT);
	assert_int_equal(ipcwait_latch_wait_until(l, LATER), -ETIMEDOUT);
	assert_int_equal(ipcwait_latch_count_down(l, 0), 0);
	assert_int_equal(ipcwait_latch_count_down(l, (uint32_t)count + 1), -EOVERFLOW);
	/* A wait that failed leaves nothing behind. */
	assert_int_equal(gate_word(&l->word), LATCH_WORD(count, 0));
}

static void test_init(void **state)
{
	static struct ipcwait_latch zero, three = IPCWAIT_LATCH_INIT(3);
	struct ipcwait_latch l;

	(void)state;
	memset(&l, 0x5a, sizeof(l));
	assert_int_equal(ipcwait_latch_init(&l, 0, 0), 0);
	assert_memory_equal(&l, &zero, sizeof(l));
	assert_open(&zero);
	assert_int_equal(ipcwait_latch_init(&l, 3, 0), 0);
	assert_memory_equal(&l, &three, sizeof(l));
	assert_closed(&three, 3);
	assert_int_equal(ipcwait_latch_init(&l, MAX, IPCWAIT_PRIVATE), 0);
	assert_closed(&l, MAX);
}

static void assert_init_refused(uint32_t count, unsigned flags)
{
	struct ipcwait_latch l, before;

	memset(&l, 0x5a, sizeof(l));
	before = l;
	assert_int_equal(ipcwait_latch_init(&l, count, flags), -EINVAL);
	assert_memory_equal(&l, &before, sizeof(l));
}

static void test_init_errors(void **state)
{
	struct ipcwait_latch two[2], before[2];

	(void)state;
	assert_int_equal(ipcwait_latch_init(NULL, 1, 0), -EINVAL);
	assert_init_refused((uint32_t)MAX + 1, 0);
	assert_init_refused(UINT32_MAX, 0);
	assert_init_refused(0, 2);
	assert_init_refused(0, 1u << 31);
	memset(two, 0x5a, sizeof(two));
	memcpy(before, two, sizeof(two));
	for (unsigned offset = 1; offset < 8; offset++) {
		void *misaligned = (char *)two + offset;

		assert_int_equal(ipcwait_latch_init(misaligned, 1, 0), -EINVAL);
		assert_int_equal(ipcwait_latch_wait_until(misaligned, 0), -EINVAL);
		assert_int_equal(ipcwait_latch_arrive_and_wait(misaligned), -EINVAL);
		assert_int_equal(ipcwait_latch_fini(misaligned), -EINVAL);
	}
	assert_memory_equal(two, before, sizeof(two));
	assert_int_equal(ipcwait_latch_wait_until(NULL, 0), -EINVAL);
	assert_int_equal(ipcwait_latch_arrive_and_wait(NULL), -EINVAL);
	assert_int_equal(ipcwait_latch_fini(NULL), -EINVAL);
}

static void test_counting(void **state)
{
	struct ipcwait_latch l = of(10);

	(void)state;
	assert_int_equal(ipcwait_latch_count_down(&l, 1), 0);
	assert_closed(&l, 9);
	assert_int_equal(ipcwait_latch_count_down(&l, 7), 0);
	assert_closed(&l, 2);
	assert_int_equal(ipcwait_latch_count_down(&l, 2), 0);
	assert_open(&l);
	l = of(1);
	assert_int_equal(ipcwait_latch_arrive_and_wait(&l), 0);
	assert_open(&l);
	l = of(MAX);
	assert_int_equal(ipcwait_latch_count_down(&l, MAX), 0);
	assert_open(&l);
}

/* The same where strangers sleep, so that the fast path is not taken. */
static void test_counting_with_sleepers(void **state)
{
	struct ipcwait_latch l = of(3);

	(void)state;
	gate_fabricate(&l.word, LATCH_WORD(3, 2));
	assert_int_equal(ipcwait_latch_count_down(&l, 4), -EOVERFLOW);
	assert_int_equal(ipcwait_latch_count_down(&l, 0), 0);
	assert_int_equal(ipcwait_latch_count_down(&l, 2), 0);
	assert_int_equal(ipcwait_latch_wait_until(&l, LATER), -ETIMEDOUT);
	assert_int_equal(gate_word(&l.word), LATCH_WORD(1, 2));
	assert_int_equal(ipcwait_latch_fini(&l), -EBUSY);
	assert_int_equal(ipcwait_latch_count_down(&l, 1), 0);
	assert_open(&l);
	assert_int_equal(ipcwait_latch_fini(&l), 0);
}

static void test_deadline_is_kept(void **state)
{
	struct ipcwait_latch l = of(1);

	(void)state;
	for (int64_t ns = 1; ns <= 10000000; ns *= 10) {
		int64_t deadline = ipcwait_deadline_in_ns(ns);

		assert_int_equal(ipcwait_latch_wait_until(&l, deadline), -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline);
	}
	assert_int_equal(gate_word(&l.word), LATCH_WORD(1, 0));
}

static void test_fini(void **state)
{
	struct ipcwait_latch l = of(3);

	(void)state;
	assert_int_equal(ipcwait_latch_fini(&l), 0);
	assert_int_equal(ipcwait_latch_fini(&l), -EINVAL);
	assert_int_equal(ipcwait_latch_wait(&l), -EINVAL);
	assert_int_equal(ipcwait_latch_wait_until(&l, 0), -EINVAL);
	assert_int_equal(ipcwait_latch_wait_until(&l, IPCWAIT_FOREVER), -EINVAL);
	assert_int_equal(ipcwait_latch_count_down(&l, 0), -EINVAL);
	assert_int_equal(ipcwait_latch_count_down(&l, 1), -EINVAL);
	assert_int_equal(ipcwait_latch_arrive_and_wait(&l), -EINVAL);
	assert_int_equal(ipcwait_latch_trywait(&l), -EAGAIN);
	assert_int_equal(ipcwait_latch_count(&l), MAX);
	assert_int_equal(ipcwait_latch_init(&l, 1, IPCWAIT_PRIVATE), 0);
	assert_int_equal(ipcwait_latch_arrive_and_wait(&l), 0);
	assert_int_equal(ipcwait_latch_fini(&l), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_errno, errno_is_untouched)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_init),
		TEST(test_init_errors),
		TEST(test_counting),
		TEST(test_counting_with_sleepers),
		TEST(test_deadline_is_kept),
		TEST(test_fini),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
