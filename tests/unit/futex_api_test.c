/* SPDX-License-Identifier: MIT */
/* <ipcwait/futex.h>: every documented result, with and without a window. */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define LATER ipcwait_deadline_in_ns(INT64_C(1000000))

static int setup(void **state)
{
	(void)state;
	check_watchdog(60);
	errno = 4711;
	return 0;
}

static int errno_is_untouched(void **state)
{
	(void)state;
	return errno == 4711 ? 0 : -1;
}

static void test_bad_arguments(void **state)
{
	_Alignas(8) char bytes[16] = { 0 };
	uint32_t *word = (uint32_t *)(void *)bytes;
	struct ipcwait_window two[2] = { { { 0 }, { 0 }, { 0 } }, { { 0 }, { 0 }, { 0 } } };
	struct ipcwait_window *crooked = (struct ipcwait_window *)(void *)((char *)two + 4);

	(void)state;
	assert_int_equal(ipcwait_futex_wait(NULL, 0, LATER, NULL, 0), -EINVAL);
	assert_int_equal(ipcwait_futex_wait(NULL, 0, LATER, two, 0), -EINVAL);
	assert_int_equal(ipcwait_futex_wait(word, 0, LATER, NULL, 4), -EINVAL);
	assert_int_equal(ipcwait_futex_wait(word, 0, LATER, two, 5), -EINVAL);
	assert_int_equal(ipcwait_futex_wait(word, 0, LATER, two, UINT32_MAX), -EINVAL);
	assert_int_equal(ipcwait_futex_wait(word, 0, LATER, crooked, 0), -EINVAL);
	assert_int_equal(ipcwait_futex_wake(NULL, 1, 0), -EINVAL);
	assert_int_equal(ipcwait_futex_wake(word, 1, 2), -EINVAL);
	assert_int_equal(ipcwait_futex_wake(word, 1, UINT32_MAX), -EINVAL);
	for (unsigned offset = 1; offset < 4; offset++) {
		uint32_t *misaligned = (uint32_t *)(void *)(bytes + offset);

		assert_int_equal(ipcwait_futex_wait(misaligned, 0, LATER, NULL, 0),
				 -EINVAL);
		assert_int_equal(ipcwait_futex_wait(misaligned, 0, LATER, two, 0), -EINVAL);
		assert_int_equal(ipcwait_futex_wait(misaligned, 0, 0, NULL, 0), -EINVAL);
		assert_int_equal(ipcwait_futex_wake(misaligned, 1, 0), -EINVAL);
	}
}

static void test_word_differs(void **state)
{
	struct ipcwait_window w = { 0 };
	uint32_t word = 5;

	(void)state;
	for (unsigned flags = 0; flags <= IPCWAIT_PRIVATE; flags++) {
		assert_int_equal(ipcwait_futex_wait(&word, 4, IPCWAIT_FOREVER, NULL, flags),
				 -EAGAIN);
		assert_int_equal(ipcwait_futex_wait(&word, 4, IPCWAIT_FOREVER, &w, flags),
				 -EAGAIN);
		/* First the word, then the clock. */
		assert_int_equal(ipcwait_futex_wait(&word, 4, 1, NULL, flags), -EAGAIN);
		assert_int_equal(ipcwait_futex_wait(&word, 4, 0, NULL, flags), -EAGAIN);
		assert_int_equal(ipcwait_futex_wait(&word, 4, INT64_MIN, NULL, flags),
				 -EAGAIN);
		assert_int_equal(ipcwait_futex_wait(&word, 4, 0, &w, flags), -EAGAIN);
		assert_int_equal(ipcwait_futex_wait(&word, 4, INT64_MIN, &w, flags),
				 -EAGAIN);
	}
	assert_int_equal(word, 5);
}

static void test_deadlines(void **state)
{
	const int64_t past[] = { 0, 1, -1, INT64_MIN, ipcwait_now_ns() };
	struct ipcwait_window w = { 0 };
	uint32_t word = 5;

	(void)state;
	for (unsigned i = 0; i < sizeof(past) / sizeof(past[0]); i++) {
		assert_int_equal(ipcwait_futex_wait(&word, 5, past[i], NULL, 0),
				 -ETIMEDOUT);
		assert_int_equal(ipcwait_futex_wait(&word, 5, past[i], &w, 0), -ETIMEDOUT);
	}
	for (int64_t ns = 1; ns <= 10000000; ns *= 10) {
		int64_t deadline = ipcwait_deadline_in_ns(ns);
		struct ipcwait_window *window = ns % 3 ? &w : NULL;

		assert_int_equal(ipcwait_futex_wait(&word, 5, deadline, window, 0),
				 -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline);
	}
}

/* base.h: a deadline in the past makes a call look once, without a system call. */
static void test_past_deadline_makes_no_call(void **state)
{
	struct ipcwait_window w = { 0 };
	struct ipcwait_stats before, after;
	uint32_t word = 5;

	(void)state;
	assert_int_equal(ipcwait_stats_get(&before, sizeof(before)), sizeof(before));
	assert_int_equal(ipcwait_futex_wait(&word, 5, 0, &w, 0), -ETIMEDOUT);
	assert_int_equal(ipcwait_futex_wait(&word, 5, 1, &w, 0), -ETIMEDOUT);
	assert_int_equal(ipcwait_futex_wait(&word, 5, 0, NULL, 0), -ETIMEDOUT);
	assert_int_equal(ipcwait_futex_wait(&word, 5, 1, NULL, 0), -ETIMEDOUT);
	assert_int_equal(ipcwait_stats_get(&after, sizeof(after)), sizeof(after));
	assert_int_equal(after.kind[IPCWAIT_KIND_FUTEX].futex_waits,
			 before.kind[IPCWAIT_KIND_FUTEX].futex_waits);
}

static void test_unmapped(void **state)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_equal(munmap(page, 4096), 0);
	assert_int_equal(ipcwait_futex_wait(page, 0, LATER, NULL, 0), -EFAULT);
	assert_int_equal(ipcwait_futex_wait(page, 0, LATER, NULL, IPCWAIT_PRIVATE),
			 -EFAULT);
	assert_int_equal(ipcwait_futex_wake(page, 1, 0), -EFAULT);
	assert_int_equal(ipcwait_futex_wake(page, 1, IPCWAIT_PRIVATE), 0);
}

static void test_nobody_to_wake(void **state)
{
	static const unsigned counts[] = { 0, 1, 2, INT32_MAX, 1u << 31, UINT32_MAX };
	uint32_t word = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		assert_int_equal(ipcwait_futex_wake(&word, counts[i], 0), 0);
		assert_int_equal(ipcwait_futex_wake(&word, counts[i], IPCWAIT_PRIVATE), 0);
	}
}

/* Threads that wait once; `asleep` counts those about to. */
struct crowd {
	uint32_t word;
	uint32_t asleep;
	uint32_t returned;
	unsigned flags;
	struct ipcwait_window *window;
	int64_t deadline_ns;
	int result;
};

static void *wait_in_crowd(void *arg)
{
	struct crowd *c = arg;
	int result;

	__atomic_fetch_add(&c->asleep, 1, __ATOMIC_RELAXED);
	errno = 4711;
	result = ipcwait_futex_wait(&c->word, 0, c->deadline_ns, c->window, c->flags);
	CHECK_EQ(errno, 4711);
	__atomic_store_n(&c->result, result, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->returned, 1, __ATOMIC_RELEASE);
	return NULL;
}

static uint32_t returned(const struct crowd *c)
{
	return __atomic_load_n(&c->returned, __ATOMIC_ACQUIRE);
}

static void start(struct crowd *c, pthread_t *threads, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_in_crowd, c), 0);
	while (__atomic_load_n(&c->asleep, __ATOMIC_RELAXED) < n)
		continue;
}

static void join(pthread_t *threads, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* Wake until @n were woken in all. Nobody sleeps twice, so the counts must add up. */
static void wake_until(struct crowd *c, unsigned count, int n)
{
	for (int woken = 0; woken < n;) {
		int r = ipcwait_futex_wake(&c->word, count, c->flags);

		assert_in_range(r, 0, count > (unsigned)n ? (unsigned)n : count);
		woken += r;
		assert_in_range(woken, 0, n);
	}
}

static void wake_a_crowd(unsigned flags, struct ipcwait_window *w, unsigned count)
{
	struct crowd c = { .flags = flags, .window = w, .deadline_ns = IPCWAIT_FOREVER };
	pthread_t threads[5];

	start(&c, threads, 5);
	wake_until(&c, count, 5);
	join(threads, 5);
	assert_int_equal(c.result, 0);
	assert_int_equal(ipcwait_futex_wake(&c.word, UINT32_MAX, flags), 0);
}

static void test_wake_counts(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	/* A spinner cannot be counted by a wake, so only sleepers here. */
	assert_int_equal(ipcwait_window_set_preset(&w, IPCWAIT_BLOCK), 0);
	for (unsigned flags = 0; flags <= IPCWAIT_PRIVATE; flags++) {
		wake_a_crowd(flags, NULL, 1);
		wake_a_crowd(flags, NULL, 2);
		wake_a_crowd(flags, NULL, UINT32_MAX);
		wake_a_crowd(flags, &w, 1);
		wake_a_crowd(flags, &w, 1u << 31);
	}
}

/* "How many to wake at most": none. The kernel's own FUTEX_WAKE of 0 wakes one. */
static void test_wake_of_nobody(void **state)
{
	struct crowd c = { .deadline_ns = ipcwait_deadline_in_ns(50000000) };
	pthread_t thread;

	(void)state;
	start(&c, &thread, 1);
	while (!returned(&c))
		assert_int_equal(ipcwait_futex_wake(&c.word, 0, 0), 0);
	join(&thread, 1);
	assert_int_equal(c.result, -ETIMEDOUT);
}

/* With a window a change of the word is enough, if the waiter still spins; or a wake. */
static void test_change_of_the_word(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	assert_int_equal(ipcwait_window_set_preset(&w, IPCWAIT_SPIN), 0);
	for (int i = 0; i < 100; i++) {
		struct crowd c = { .window = &w, .deadline_ns = IPCWAIT_FOREVER };
		pthread_t thread;

		start(&c, &thread, 1);
		ipcwait_window_stamp(&w);
		__atomic_store_n(&c.word, 1, __ATOMIC_RELEASE);
		while (!returned(&c))
			(void)ipcwait_futex_wake(&c.word, 1, 0);
		join(&thread, 1);
		/* Changed before the call began, or while it waited. */
		assert_true(c.result == 0 || c.result == -EAGAIN);
	}
}

#define TEST(f)         cmocka_unit_test_setup_teardown(f, setup, errno_is_untouched)
#define THREADS_TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bad_arguments),
		TEST(test_word_differs),
		TEST(test_deadlines),
		TEST(test_past_deadline_makes_no_call),
		TEST(test_unmapped),
		TEST(test_nobody_to_wake),
		THREADS_TEST(test_wake_counts),
		THREADS_TEST(test_wake_of_nobody),
		THREADS_TEST(test_change_of_the_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
