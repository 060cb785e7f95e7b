/* SPDX-License-Identifier: MIT */
/* <ipcwait/sem.h> in one thread: arguments, limits, results, deadlines. */
#include <errno.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/sem_word.h"

#define MAX   IPCWAIT_SEM_VALUE_MAX
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

static struct ipcwait_sem with(uint32_t value)
{
	struct ipcwait_sem s;

	assert_int_equal(ipcwait_sem_init(&s, value, 0), 0);
	return s;
}

static void test_init(void **state)
{
	struct ipcwait_sem s;

	(void)state;
	memset(&s, 0x5a, sizeof(s));
	assert_int_equal(ipcwait_sem_init(&s, 0, 0), 0);
	assert_memory_equal(&s, &(struct ipcwait_sem){ 0 }, sizeof(s));
	memset(&s, 0x5a, sizeof(s));
	assert_int_equal(ipcwait_sem_init(&s, 17, IPCWAIT_PRIVATE), 0);
	assert_int_equal(ipcwait_sem_value(&s), 17);
	assert_int_equal(ipcwait_sem_init(&s, MAX, 0), 0);
	assert_int_equal(ipcwait_sem_value(&s), MAX);
}

static void assert_init_refused(uint32_t value, unsigned flags)
{
	struct ipcwait_sem s, before;

	memset(&s, 0x5a, sizeof(s));
	before = s;
	assert_int_equal(ipcwait_sem_init(&s, value, flags), -EINVAL);
	assert_memory_equal(&s, &before, sizeof(s));
}

static void test_init_errors(void **state)
{
	struct ipcwait_sem two[2], before[2];

	(void)state;
	assert_int_equal(ipcwait_sem_init(NULL, 0, 0), -EINVAL);
	assert_init_refused((uint32_t)MAX + 1, 0);
	assert_init_refused(UINT32_MAX, 0);
	assert_init_refused(0, 4);
	assert_init_refused(0, IPCWAIT_PRIVATE | 4);
	assert_init_refused(0, UINT32_MAX);
	assert_init_refused(0, 1u << 31);
	memset(two, 0x5a, sizeof(two));
	memcpy(before, two, sizeof(two));
	for (unsigned offset = 1; offset < 8; offset++) {
		void *misaligned = (char *)two + offset;

		assert_int_equal(ipcwait_sem_init(misaligned, 1, 0), -EINVAL);
	}
	assert_memory_equal(two, before, sizeof(two));
}

static void test_zero_and_static_objects(void **state)
{
	static struct ipcwait_sem zero;
	static struct ipcwait_sem three = IPCWAIT_SEM_INIT(3);
	struct ipcwait_sem full = IPCWAIT_SEM_INIT(MAX);

	(void)state;
	assert_int_equal(ipcwait_sem_value(&zero), 0);
	assert_int_equal(ipcwait_sem_trywait(&zero), -EAGAIN);
	assert_int_equal(ipcwait_sem_wait_until(&zero, LATER), -ETIMEDOUT);
	assert_int_equal(ipcwait_sem_post(&zero), 0);
	assert_int_equal(ipcwait_sem_wait(&zero), 0);
	assert_int_equal(ipcwait_sem_value(&three), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ipcwait_sem_wait(&three), 0);
	assert_int_equal(ipcwait_sem_trywait(&three), -EAGAIN);
	assert_int_equal(ipcwait_sem_value(&full), MAX);
	assert_int_equal(ipcwait_sem_post(&full), -EOVERFLOW);
}

static void count_up_and_down(unsigned flags)
{
	struct ipcwait_sem s;

	assert_int_equal(ipcwait_sem_init(&s, 2, flags), 0);
	assert_int_equal(ipcwait_sem_post(&s), 0);
	assert_int_equal(ipcwait_sem_post_n(&s, 4), 0);
	assert_int_equal(ipcwait_sem_value(&s), 7);
	assert_int_equal(ipcwait_sem_wait(&s), 0);
	assert_int_equal(ipcwait_sem_trywait(&s), 0);
	assert_int_equal(ipcwait_sem_wait_until(&s, IPCWAIT_FOREVER), 0);
	assert_int_equal(ipcwait_sem_wait_until(&s, LATER), 0);
	assert_int_equal(ipcwait_sem_value(&s), 3);
	for (int i = 3; i > 0; i--)
		assert_int_equal(ipcwait_sem_trywait(&s), 0);
	assert_int_equal(ipcwait_sem_trywait(&s), -EAGAIN);
	assert_int_equal(ipcwait_sem_wait_until(&s, LATER), -ETIMEDOUT);
	/* A wait that failed leaves nothing behind. */
	assert_int_equal(sem_word(&s), 0);
	assert_int_equal(ipcwait_sem_fini(&s), 0);
}

static void test_shared_and_private(void **state)
{
	(void)state;
	count_up_and_down(0);
	count_up_and_down(IPCWAIT_PRIVATE);
}

static void test_overflow(void **state)
{
	struct ipcwait_sem s = with(MAX);

	(void)state;
	assert_int_equal(ipcwait_sem_post(&s), -EOVERFLOW);
	assert_int_equal(ipcwait_sem_post_n(&s, 1), -EOVERFLOW);
	assert_int_equal(ipcwait_sem_post_n(&s, MAX), -EOVERFLOW);
	assert_int_equal(ipcwait_sem_post_n(&s, (uint32_t)MAX + 1), -EOVERFLOW);
	assert_int_equal(ipcwait_sem_post_n(&s, UINT32_MAX), -EOVERFLOW);
	assert_int_equal(sem_word(&s), WORD(MAX, 0, 0));
	assert_int_equal(ipcwait_sem_wait(&s), 0);
	assert_int_equal(ipcwait_sem_post_n(&s, 2), -EOVERFLOW);
	assert_int_equal(ipcwait_sem_value(&s), MAX - 1);
	assert_int_equal(ipcwait_sem_post(&s), 0);
	s = with(1);
	assert_int_equal(ipcwait_sem_post_n(&s, MAX), -EOVERFLOW);
	assert_int_equal(ipcwait_sem_post_n(&s, UINT32_MAX), -EOVERFLOW);
	assert_int_equal(sem_word(&s), WORD(1, 0, 0));
	assert_int_equal(ipcwait_sem_post_n(&s, MAX - 1), 0);
	assert_int_equal(sem_word(&s), WORD(MAX, 0, 0));
	s = with(0);
	assert_int_equal(ipcwait_sem_post_n(&s, (uint32_t)MAX + 1), -EOVERFLOW);
	assert_int_equal(sem_word(&s), 0);
	assert_int_equal(ipcwait_sem_post_n(&s, MAX), 0);
	assert_int_equal(sem_word(&s), WORD(MAX, 0, 0));
}

/* With sleepers the slow path has to find out. */
static void test_overflow_with_sleepers(void **state)
{
	struct ipcwait_sem s = with(0);

	(void)state;
	sem_fabricate(&s, WORD(MAX, 2, 2));
	assert_int_equal(ipcwait_sem_post(&s), -EOVERFLOW);
	assert_int_equal(ipcwait_sem_post_n(&s, UINT32_MAX), -EOVERFLOW);
	assert_int_equal(sem_word(&s), WORD(MAX, 2, 2));
	sem_fabricate(&s, WORD(MAX - 1, 2, 2));
	assert_int_equal(ipcwait_sem_post_n(&s, 2), -EOVERFLOW);
	assert_int_equal(sem_word(&s), WORD(MAX - 1, 2, 2));
	sem_fabricate(&s, WORD_SPINNER | WORD(MAX, 0, 0));
	assert_int_equal(ipcwait_sem_post(&s), -EOVERFLOW);
	assert_int_equal(ipcwait_sem_value(&s), MAX);
	assert_int_equal(ipcwait_sem_trywait(&s), 0);
	assert_int_equal(ipcwait_sem_post(&s), 0);
	assert_int_equal(ipcwait_sem_value(&s), MAX);
}

static void test_post_nothing(void **state)
{
	struct ipcwait_sem s = with(0);

	(void)state;
	assert_int_equal(ipcwait_sem_post_n(&s, 0), 0);
	assert_int_equal(sem_word(&s), 0);
	s = with(MAX);
	assert_int_equal(ipcwait_sem_post_n(&s, 0), 0);
	assert_int_equal(sem_word(&s), WORD(MAX, 0, 0));
}

static void test_past_deadlines(void **state)
{
	const int64_t past[] = { 0,
				 1,
				 -1,
				 INT64_MIN,
				 INT64_MIN + 1,
				 ipcwait_now_ns(),
				 ipcwait_deadline_in_ns(0),
				 ipcwait_deadline_in_ns(INT64_MIN) };

	(void)state;
	for (unsigned i = 0; i < sizeof(past) / sizeof(past[0]); i++) {
		struct ipcwait_sem s = with(1);

		/* A token that is there is taken all the same. */
		assert_int_equal(ipcwait_sem_wait_until(&s, past[i]), 0);
		assert_int_equal(ipcwait_sem_wait_until(&s, past[i]), -ETIMEDOUT);
		assert_int_equal(sem_word(&s), 0);
	}
}

static void test_far_deadlines(void **state)
{
	const int64_t far[] = { IPCWAIT_FOREVER, IPCWAIT_FOREVER - 1, INT64_MAX / 2,
				ipcwait_deadline_in_ns(INT64_MAX) };

	(void)state;
	for (unsigned i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		struct ipcwait_sem s = with(1);

		assert_int_equal(ipcwait_sem_wait_until(&s, far[i]), 0);
	}
}

static void test_deadline_is_kept(void **state)
{
	struct ipcwait_sem s = with(0);

	(void)state;
	for (int64_t ns = 1; ns <= 10000000; ns *= 10) {
		int64_t deadline = ipcwait_deadline_in_ns(ns);

		assert_int_equal(ipcwait_sem_wait_until(&s, deadline), -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline);
	}
	assert_int_equal(sem_word(&s), 0);
}

static void test_fini(void **state)
{
	struct ipcwait_sem s = with(3);

	(void)state;
	assert_int_equal(ipcwait_sem_fini(&s), 0);
	assert_int_equal(ipcwait_sem_fini(&s), -EINVAL);
	assert_int_equal(ipcwait_sem_fini(NULL), -EINVAL);
	/* Calls that would have to wait or wake say so; the others find no token. */
	assert_int_equal(ipcwait_sem_wait(&s), -EINVAL);
	assert_int_equal(ipcwait_sem_wait_until(&s, LATER), -EINVAL);
	assert_int_equal(ipcwait_sem_wait_until(&s, 0), -EINVAL);
	assert_int_equal(ipcwait_sem_wait_until(&s, IPCWAIT_FOREVER), -EINVAL);
	assert_int_equal(ipcwait_sem_post(&s), -EINVAL);
	assert_int_equal(ipcwait_sem_post_n(&s, 5), -EINVAL);
	assert_int_equal(ipcwait_sem_trywait(&s), -EAGAIN);
	assert_int_equal(ipcwait_sem_value(&s), 0);
	assert_int_equal(ipcwait_sem_fini(&s), -EINVAL);
	assert_int_equal(ipcwait_sem_init(&s, 1, IPCWAIT_PRIVATE), 0);
	assert_int_equal(ipcwait_sem_wait(&s), 0);
	assert_int_equal(ipcwait_sem_fini(&s), 0);
}

static void test_fini_of_zero_object(void **state)
{
	struct ipcwait_sem s = { 0 };

	(void)state;
	assert_int_equal(ipcwait_sem_fini(&s), 0);
	assert_int_equal(ipcwait_sem_post(&s), -EINVAL);
}

/* sem.h: "-EINVAL @s is misaligned". Within one line, so that no CPU refuses the access. */
static void test_misaligned(void **state)
{
	_Alignas(64) char bytes[128] = { 0 };
	struct ipcwait_sem *s = (struct ipcwait_sem *)(void *)(bytes + 4);

	(void)state;
	assert_int_equal(ipcwait_sem_fini(s), -EINVAL);
#if IW_TEST_MISALIGNED
	assert_int_equal(ipcwait_sem_wait(s), -EINVAL);
	assert_int_equal(ipcwait_sem_wait_until(s, LATER), -EINVAL);
	assert_int_equal(ipcwait_sem_wait_until(s, 0), -EINVAL);
	assert_int_equal(ipcwait_sem_trywait(s), -EAGAIN);
	bytes[4] = 1; /* a sleeper */
	assert_int_equal(ipcwait_sem_post(s), -EINVAL);
	assert_int_equal(ipcwait_sem_post_n(s, 7), -EINVAL);
	bytes[4] = 0;
#endif
	for (unsigned i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0);
}

static void test_layout(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct ipcwait_sem), 32);
	assert_int_equal(offsetof(struct ipcwait_sem, word), 0);
	assert_int_equal(sizeof(struct ipcwait_window), 16);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_errno, errno_is_untouched)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_init),
		TEST(test_init_errors),
		TEST(test_zero_and_static_objects),
		TEST(test_shared_and_private),
		TEST(test_overflow),
		TEST(test_overflow_with_sleepers),
		TEST(test_post_nothing),
		TEST(test_past_deadlines),
		TEST(test_far_deadlines),
		TEST(test_deadline_is_kept),
		TEST(test_fini),
		TEST(test_fini_of_zero_object),
		TEST(test_misaligned),
		TEST(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
