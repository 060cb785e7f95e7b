/* SPDX-License-Identifier: MIT */
/* The rows of docs/bad-input.md about arguments that only some kinds of objects have. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define SOON     ipcwait_deadline_in_ns(2000000)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

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

static void test_sem_values(void **state)
{
	static const uint32_t above[] = { IPCWAIT_SEM_VALUE_MAX + 1u, UINT32_MAX };
	struct ipcwait_sem s = { 0 };

	(void)state;
	for (unsigned i = 0; i < COUNT(above); i++)
		assert_int_equal(ipcwait_sem_init(&s, above[i], 0), -EINVAL);
	assert_int_equal(ipcwait_sem_init(&s, IPCWAIT_SEM_VALUE_MAX, 0), 0);
	assert_int_equal(ipcwait_sem_post(&s), -EOVERFLOW);
	assert_int_equal(ipcwait_sem_post_n(&s, UINT32_MAX), -EOVERFLOW);
	assert_int_equal(ipcwait_sem_value(&s), IPCWAIT_SEM_VALUE_MAX);
}

static void test_barrier_parties(void **state)
{
	static const uint32_t wrong[] = { 0, IPCWAIT_BARRIER_PARTIES_MAX + 1, 1 << 16,
					  UINT32_MAX };
	struct ipcwait_barrier b = { 0 };

	(void)state;
	for (unsigned i = 0; i < COUNT(wrong); i++)
		assert_int_equal(ipcwait_barrier_init(&b, wrong[i], 0), -EINVAL);
	/* All zero: of no parties. */
	assert_int_equal(ipcwait_barrier_wait(&b), -EINVAL);
	assert_int_equal(ipcwait_barrier_wait_until(&b, 0), -EINVAL);
	assert_int_equal(ipcwait_barrier_init(&b, IPCWAIT_BARRIER_PARTIES_MAX, 0), 0);
	assert_int_equal(ipcwait_barrier_wait_until(&b, 0), -ETIMEDOUT);
}

static void test_latch_counts(void **state)
{
	struct ipcwait_latch l = { 0 };

	(void)state;
	assert_int_equal(ipcwait_latch_init(&l, IPCWAIT_LATCH_COUNT_MAX + 1u, 0), -EINVAL);
	assert_int_equal(ipcwait_latch_init(&l, UINT32_MAX, 0), -EINVAL);
	assert_int_equal(ipcwait_latch_init(&l, 2, 0), 0);
	assert_int_equal(ipcwait_latch_count_down(&l, 3), -EOVERFLOW);
	assert_int_equal(ipcwait_latch_count_down(&l, UINT32_MAX), -EOVERFLOW);
	assert_int_equal(ipcwait_latch_count(&l), 2);
	assert_int_equal(ipcwait_latch_count_down(&l, 2), 0);
	assert_int_equal(ipcwait_latch_count_down(&l, 1), -EOVERFLOW);
	assert_int_equal(ipcwait_latch_arrive_and_wait(&l), -EOVERFLOW);
	assert_int_equal(ipcwait_latch_wait(&l), 0);
}

/* An unlock knows how the lock is held, not by whom. */
static void test_rwlock_unlocks(void **state)
{
	struct ipcwait_rwlock l = { 0 };

	(void)state;
	assert_int_equal(ipcwait_rwlock_unlock(&l), -EPERM);
	assert_int_equal(ipcwait_rwlock_rdunlock(&l), -EPERM);
	assert_int_equal(ipcwait_rwlock_wrunlock(&l), -EPERM);
	assert_int_equal(ipcwait_rwlock_rdlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_wrunlock(&l), -EPERM);
	assert_int_equal(ipcwait_rwlock_fini(&l), -EBUSY);
	assert_int_equal(ipcwait_rwlock_rdunlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_rdunlock(&l), -EPERM);
	assert_int_equal(ipcwait_rwlock_wrlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_rdunlock(&l), -EPERM);
	assert_int_equal(ipcwait_rwlock_fini(&l), -EBUSY);
	assert_int_equal(ipcwait_rwlock_unlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_wrunlock(&l), -EPERM);
	assert_int_equal(ipcwait_rwlock_fini(&l), 0);
}

/* Who holds it and locks again waits for itself. */
static void test_rwlock_relocks(void **state)
{
	struct ipcwait_rwlock l = { 0 };

	(void)state;
	assert_int_equal(ipcwait_rwlock_wrlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_wrlock_until(&l, SOON), -ETIMEDOUT);
	assert_int_equal(ipcwait_rwlock_rdlock_until(&l, SOON), -ETIMEDOUT);
	assert_int_equal(ipcwait_rwlock_trywrlock(&l), -EBUSY);
	assert_int_equal(ipcwait_rwlock_tryrdlock(&l), -EBUSY);
	assert_int_equal(ipcwait_rwlock_unlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_rdlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_wrlock_until(&l, SOON), -ETIMEDOUT);
	assert_int_equal(ipcwait_rwlock_trywrlock(&l), -EBUSY);
	assert_int_equal(ipcwait_rwlock_unlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_fini(&l), 0);
}

static void test_rwlock_readers(void **state)
{
	struct ipcwait_rwlock l = { 0 };

	(void)state;
	l.word.v = (uint64_t)IPCWAIT_RWLOCK_READERS_MAX << 32;
	assert_int_equal(ipcwait_rwlock_rdlock(&l), -EAGAIN);
	assert_int_equal(ipcwait_rwlock_tryrdlock(&l), -EAGAIN);
	assert_int_equal(ipcwait_rwlock_rdlock_until(&l, SOON), -EAGAIN);
	assert_int_equal(ipcwait_rwlock_rdunlock(&l), 0);
	assert_int_equal(ipcwait_rwlock_rdlock(&l), 0);
}

static int call_again(void *once)
{
	assert_int_equal(ipcwait_once_run(once, call_again, once), -EDEADLK);
	return -1234;
}

static void test_once_functions(void **state)
{
	struct ipcwait_once o = IPCWAIT_ONCE_INIT;

	(void)state;
	assert_int_equal(ipcwait_once_run(&o, NULL, NULL), -EINVAL);
	/* From inside; and a run that fails leaves it open. */
	assert_int_equal(ipcwait_once_run(&o, call_again, &o), -1234);
	assert_int_equal(ipcwait_once_fini(&o), 0);
	assert_int_equal(ipcwait_once_run(&o, call_again, &o), -EINVAL);
}

/* Each is refused though the semaphore before it has a token, which stays. */
static void test_sets(void **state)
{
	static _Alignas(64) char bytes[64];
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(1), finished = IPCWAIT_SEM_INIT(1);
	const struct ipcwait_waitable wrong[] = {
		{ .type = IPCWAIT_WAITABLE_SEM, .object = NULL },
		{ .type = IPCWAIT_WAITABLE_FUTEX, .object = NULL },
		{ .type = IPCWAIT_WAITABLE_SEM, .object = bytes + 4 },
		{ .type = IPCWAIT_WAITABLE_FUTEX, .object = bytes + 2 },
		{ .type = IPCWAIT_WAITABLE_SEM, .object = &finished },
		{ .type = IPCWAIT_WAITABLE_SEM, .object = bytes, .flags = 1 },
		{ .type = IPCWAIT_WAITABLE_FUTEX, .object = bytes, .flags = 2 },
		{ .type = IPCWAIT_WAITABLE_FUTEX, .object = bytes, .expected = 1ull << 32 },
		{ .type = (enum ipcwait_waitable_type)99, .object = bytes },
		{ .type = (enum ipcwait_waitable_type) - 1, .object = bytes },
	};

	(void)state;
	assert_int_equal(ipcwait_sem_fini(&finished), 0);
	for (unsigned i = 0; i < COUNT(wrong); i++) {
		struct ipcwait_waitable set[] = {
			{ .type = IPCWAIT_WAITABLE_SEM, .object = &s }, wrong[i]
		};

		assert_int_equal(ipcwait_wait_any(set, 2, 0, NULL), -EINVAL);
		assert_int_equal(ipcwait_wait_any(set + 1, 1, IPCWAIT_FOREVER, NULL),
				 -EINVAL);
	}
	assert_int_equal(ipcwait_sem_value(&s), 1);
}

static void test_sizes_of_sets(void **state)
{
	static struct ipcwait_waitable set[IPCWAIT_WAIT_ANY_MAX + 1];
	static struct ipcwait_futex_waiter words[IPCWAIT_WAIT_ANY_MAX + 1];
	static const unsigned sizes[] = { 0, IPCWAIT_WAIT_ANY_MAX + 1, UINT32_MAX };
	struct ipcwait_window two[2] = { 0 };
	void *crooked = (char *)two + 4;
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(1);
	uint32_t word = 0;

	(void)state;
	for (unsigned i = 0; i <= IPCWAIT_WAIT_ANY_MAX; i++) {
		set[i] = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM,
						    .object = &s };
		words[i].word = &word;
	}
	for (unsigned i = 0; i < COUNT(sizes); i++) {
		assert_int_equal(ipcwait_wait_any(set, sizes[i], 0, NULL), -EINVAL);
		assert_int_equal(ipcwait_futex_wait_any(words, sizes[i], 0), -EINVAL);
	}
	assert_int_equal(ipcwait_wait_any(NULL, 1, 0, NULL), -EINVAL);
	assert_int_equal(ipcwait_futex_wait_any(NULL, 1, 0), -EINVAL);
	assert_int_equal(ipcwait_wait_any(set, 1, 0, crooked), -EINVAL);
	assert_int_equal(ipcwait_sem_value(&s), 1);
	assert_int_equal(ipcwait_wait_any(set, IPCWAIT_WAIT_ANY_MAX, 0, NULL), 0);
}

static void test_unmapped_words(void **state)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	int64_t soon = ipcwait_deadline_in_ns(1000000);

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_equal(munmap(page, 4096), 0);
	assert_int_equal(ipcwait_futex_wait(page, 0, soon, NULL, 0), -EFAULT);
	assert_int_equal(ipcwait_futex_wake(page, 1, 0), -EFAULT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, errno_is_untouched)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sem_values),     TEST(test_barrier_parties),
		TEST(test_latch_counts),   TEST(test_rwlock_unlocks),
		TEST(test_rwlock_relocks), TEST(test_rwlock_readers),
		TEST(test_once_functions), TEST(test_sets),
		TEST(test_sizes_of_sets),  TEST(test_unmapped_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
