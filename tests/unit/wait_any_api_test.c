/* SPDX-License-Identifier: MIT */
/* <ipcwait/wait_any.h> and ipcwait_futex_wait_any() with the kernel that there is: every documented
 * result, and threads that wait for the same objects. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define MOST  IPCWAIT_WAIT_ANY_MAX
#define LATER ipcwait_deadline_in_ns(INT64_C(1000000))

static struct ipcwait_sem sems[2];
static uint32_t words[2];
static struct ipcwait_waitable set[3];

static int setup(void **state)
{
	(void)state;
	check_watchdog(60);
	memset(sems, 0, sizeof(sems));
	memset(words, 0, sizeof(words));
	set[0] = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM,
					    .object = &sems[0] };
	set[1] = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM,
					    .object = &sems[1] };
	set[2] = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_FUTEX,
					    .object = &words[0] };
	errno = 4711;
	return 0;
}

static int errno_is_untouched(void **state)
{
	(void)state;
	return errno == 4711 ? 0 : -1;
}

static void refused(struct ipcwait_waitable bad)
{
	set[2] = bad;
	assert_int_equal(ipcwait_wait_any(set, 3, LATER, NULL), -EINVAL);
	assert_int_equal(ipcwait_wait_any(&set[2], 1, 0, NULL), -EINVAL);
	/* Before anything is looked at: the token stays. */
	assert_int_equal(ipcwait_sem_post(&sems[0]), 0);
	assert_int_equal(ipcwait_wait_any(set, 3, LATER, NULL), -EINVAL);
	assert_int_equal(ipcwait_sem_trywait(&sems[0]), 0);
}

static void test_bad_sets(void **state)
{
	_Alignas(8) char bytes[32] = { 0 };
	struct ipcwait_window *crooked = (struct ipcwait_window *)(void *)(bytes + 4);

	(void)state;
	assert_int_equal(ipcwait_wait_any(NULL, 1, LATER, NULL), -EINVAL);
	assert_int_equal(ipcwait_wait_any(set, 0, LATER, NULL), -EINVAL);
	assert_int_equal(ipcwait_wait_any(set, MOST + 1, LATER, NULL), -EINVAL);
	assert_int_equal(ipcwait_wait_any(set, UINT32_MAX, LATER, NULL), -EINVAL);
	assert_int_equal(ipcwait_wait_any(set, 3, LATER, crooked), -EINVAL);
	assert_int_equal(ipcwait_futex_wait_any(NULL, 1, LATER), -EINVAL);
}

static void test_bad_objects(void **state)
{
	static struct ipcwait_sem finished;
	_Alignas(8) char bytes[64] = { 0 };

	(void)state;
	assert_int_equal(ipcwait_sem_fini(&finished), 0);
	for (int type = -1; type <= IPCWAIT_WAITABLE_EVENTCOUNT + 1; type++)
		refused((struct ipcwait_waitable){
			.type = (enum ipcwait_waitable_type)type });
	refused((struct ipcwait_waitable){ .type = (enum ipcwait_waitable_type) - 1,
					   .object = bytes });
	refused((struct ipcwait_waitable){ .type = (enum ipcwait_waitable_type)4,
					   .object = bytes });
	refused((struct ipcwait_waitable){ .object = bytes, .flags = 2 });
	refused((struct ipcwait_waitable){ .object = bytes,
					   .expected = UINT64_C(1) << 32 });
	refused((struct ipcwait_waitable){
		.type = IPCWAIT_WAITABLE_SEM, .object = &sems[0], .flags = 1 });
	refused((struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM,
					   .object = &finished });
	for (unsigned offset = 1; offset < 4; offset++)
		refused((struct ipcwait_waitable){ .object = bytes + offset });
	for (unsigned offset = 1; offset < 8; offset++)
		refused((struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM,
						   .object = bytes + offset });
}

static void test_bad_events(void **state)
{
	static struct ipcwait_event ended;
	static struct ipcwait_eventcount over;
	_Alignas(8) char bytes[64] = { 0 };

	(void)state;
	assert_int_equal(ipcwait_event_fini(&ended), 0);
	assert_int_equal(ipcwait_eventcount_fini(&over), 0);
	refused((struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_EVENT,
					   .object = &ended });
	refused((struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_EVENTCOUNT,
					   .object = &over });
	refused((struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_EVENTCOUNT,
					   .object = bytes,
					   .expected = UINT64_C(1) << 32 });
	for (int type = IPCWAIT_WAITABLE_EVENT; type <= IPCWAIT_WAITABLE_EVENTCOUNT;
	     type++) {
		struct ipcwait_waitable bad = { .type = (enum ipcwait_waitable_type)type,
						.object = bytes + 4 };

		refused(bad);
		bad.object = bytes;
		bad.flags = IPCWAIT_PRIVATE;
		refused(bad);
	}
}

/* What is taken of each kind, and what is not. */
static void test_events(void **state)
{
	struct ipcwait_event automatic, manual;
	struct ipcwait_eventcount count = IPCWAIT_EVENTCOUNT_INIT;
	struct ipcwait_waitable kinds[] = {
		{ .type = IPCWAIT_WAITABLE_EVENT, .object = &automatic },
		{ .type = IPCWAIT_WAITABLE_EVENTCOUNT,
		  .object = &count,
		  .expected = ipcwait_eventcount_prepare(&count) },
		{ .type = IPCWAIT_WAITABLE_EVENT, .object = &manual },
	};

	(void)state;
	assert_int_equal(ipcwait_event_init(&automatic, IPCWAIT_AUTO_RESET), 0);
	assert_int_equal(ipcwait_event_init(&manual, IPCWAIT_PRIVATE), 0);
	assert_int_equal(ipcwait_wait_any(kinds, 3, LATER, NULL), -ETIMEDOUT);
	assert_int_equal(ipcwait_event_set(&manual), 0);
	assert_int_equal(ipcwait_wait_any(kinds, 3, 0, NULL), 2);
	assert_true(ipcwait_event_is_set(&manual));
	assert_int_equal(ipcwait_eventcount_notify(&count, 1), 0);
	assert_int_equal(ipcwait_wait_any(kinds, 3, 0, NULL), 1);
	assert_int_equal(ipcwait_wait_any(kinds, 3, 0, NULL), 1);
	assert_int_equal(ipcwait_event_set(&automatic), 0);
	assert_int_equal(ipcwait_wait_any(kinds, 3, 0, NULL), 0);
	assert_false(ipcwait_event_is_set(&automatic));
	kinds[1].expected = ipcwait_eventcount_prepare(&count);
	assert_int_equal(ipcwait_wait_any(kinds, 2, LATER, NULL), -ETIMEDOUT);
	assert_int_equal(ipcwait_event_fini(&automatic), 0);
	assert_int_equal(ipcwait_event_fini(&manual), 0);
	assert_int_equal(ipcwait_eventcount_fini(&count), 0);
}

static void test_bad_words(void **state)
{
	struct ipcwait_futex_waiter many[MOST + 1];

	(void)state;
	for (unsigned i = 0; i <= MOST; i++)
		many[i] = (struct ipcwait_futex_waiter){ .word = &words[0] };
	assert_int_equal(ipcwait_futex_wait_any(many, 0, LATER), -EINVAL);
	assert_int_equal(ipcwait_futex_wait_any(many, MOST + 1, LATER), -EINVAL);
	assert_int_equal(ipcwait_futex_wait_any(many, MOST, LATER), -ETIMEDOUT);
	many[MOST - 1].flags = 2;
	assert_int_equal(ipcwait_futex_wait_any(many, MOST, LATER), -EINVAL);
	many[MOST - 1] = (struct ipcwait_futex_waiter){ .word = NULL };
	assert_int_equal(ipcwait_futex_wait_any(many, MOST, LATER), -EINVAL);
	many[MOST - 1].word = (uint32_t *)(void *)((char *)words + 1);
	assert_int_equal(ipcwait_futex_wait_any(many, MOST, LATER), -EINVAL);
	many[MOST - 1] = (struct ipcwait_futex_waiter){ .word = &words[1], .expected = 1 };
	assert_int_equal(ipcwait_futex_wait_any(many, MOST, 0), MOST - 1);
}

static void test_order(void **state)
{
	(void)state;
	assert_int_equal(ipcwait_sem_post(&sems[1]), 0);
	words[0] = 1;
	assert_int_equal(ipcwait_wait_any(set, 3, 0, NULL), 1);
	assert_int_equal(ipcwait_wait_any(set, 3, LATER, NULL), 2);
	assert_int_equal(ipcwait_sem_post(&sems[1]), 0);
	assert_int_equal(ipcwait_sem_post(&sems[0]), 0);
	assert_int_equal(ipcwait_wait_any(set, 3, INT64_MIN, NULL), 0);
	assert_int_equal(ipcwait_sem_value(&sems[1]), 1);
}

static void test_deadlines(void **state)
{
	struct ipcwait_window w = { 0 };

	(void)state;
	for (int64_t ns = 1; ns <= 10000000; ns *= 10) {
		int64_t deadline = ipcwait_deadline_in_ns(ns);

		assert_int_equal(ipcwait_wait_any(set, 3, deadline, ns % 3 ? &w : NULL),
				 -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline);
	}
	assert_int_equal(ipcwait_sem_fini(&sems[0]), 0);
	assert_int_equal(ipcwait_sem_fini(&sems[1]), 0);
}

/* One call each, however it ends. */
struct waiter {
	pthread_t thread;
	const struct ipcwait_waitable *set;
	unsigned n;
	int64_t deadline_ns;
	int result;
	bool returned;
};

static void *wait_once(void *arg)
{
	struct waiter *me = arg;

	errno = 4711;
	me->result = ipcwait_wait_any(me->set, me->n, me->deadline_ns, NULL);
	CHECK_EQ(errno, 4711);
	__atomic_store_n(&me->returned, true, __ATOMIC_RELEASE);
	return NULL;
}

static void start(struct waiter *me)
{
	assert_int_equal(pthread_create(&me->thread, NULL, wait_once, me), 0);
}

static bool returned(const struct waiter *me)
{
	return __atomic_load_n(&me->returned, __ATOMIC_ACQUIRE);
}

static int result(struct waiter *me)
{
	assert_int_equal(pthread_join(me->thread, NULL), 0);
	return me->result;
}

/* Whoever is counted in the low half of the second semaphore is in the call. */
static bool announced(void *arg)
{
	return (__atomic_load_n(&((struct ipcwait_sem *)arg)->word.v, __ATOMIC_RELAXED) &
		0xffff) != 0;
}

static void test_woken_for_each(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct waiter me = { .set = set, .n = 3, .deadline_ns = IPCWAIT_FOREVER };

		words[0] = 0;
		start(&me);
		if (i < 2)
			assert_int_equal(ipcwait_sem_post(&sems[i]), 0);
		else
			__atomic_store_n(&words[0], 1, __ATOMIC_RELEASE);
		while (i == 2 && !returned(&me))
			(void)ipcwait_futex_wake(&words[0], 1, 0);
		assert_int_equal(result(&me), i);
	}
	assert_int_equal(ipcwait_sem_value(&sems[0]) + ipcwait_sem_value(&sems[1]), 0);
}

/* A wake that changes nothing ends the wait for a raw word. */
static void test_a_wake_alone(void **state)
{
	struct waiter me = { .set = set, .n = 3, .deadline_ns = IPCWAIT_FOREVER };

	(void)state;
	start(&me);
	while (!returned(&me))
		(void)ipcwait_futex_wake(&words[0], 1, 0);
	assert_int_equal(result(&me), 2);
}

/* The same object twice is two looks at it. */
static void test_twice(void **state)
{
	struct ipcwait_waitable twice[] = { set[0], set[0] };
	struct waiter me = { .set = twice, .n = 2, .deadline_ns = IPCWAIT_FOREVER };

	(void)state;
	start(&me);
	assert_true(check_eventually(announced, &sems[0]));
	assert_int_equal(ipcwait_sem_post_n(&sems[0], 2), 0);
	assert_in_range(result(&me), 0, 1);
	assert_int_equal(ipcwait_sem_value(&sems[0]), 1);
	assert_int_equal(ipcwait_sem_fini(&sems[0]), 0);
}

/*
 * One waits for the first semaphore, one for the second, two for any of them in either order. Of
 * each there are as many tokens as those three who may take it need: nobody is left asleep.
 */
#define ROUNDS 20000

struct crowd {
	pthread_t thread;
	struct ipcwait_waitable set[2];
	unsigned n;
};

static uint32_t taken_of[2];

static void *take_many(void *arg)
{
	struct crowd *me = arg;

	for (int i = 0; i < ROUNDS; i++) {
		int r = ipcwait_wait_any(me->set, me->n, IPCWAIT_FOREVER, NULL);

		CHECK(r >= 0 && r < (int)me->n);
		__atomic_fetch_add(&taken_of[me->set[r].object == &sems[1]], 1,
				   __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *post_many(void *arg)
{
	for (int i = 0; i < 3 * ROUNDS; i++)
		CHECK_EQ(ipcwait_sem_post(arg), 0);
	return NULL;
}

static void test_crowd(void **state)
{
	struct crowd c[] = {
		{ .set = { set[0], set[1] }, .n = 2 },
		{ .set = { set[1], set[0] }, .n = 2 },
		{ .set = { set[0] }, .n = 1 },
		{ .set = { set[1] }, .n = 1 },
	};
	pthread_t posters[2];

	(void)state;
	taken_of[0] = taken_of[1] = 0;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&c[i].thread, NULL, take_many, &c[i]), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&posters[i], NULL, post_many, &sems[i]), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_join(posters[i], NULL), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_join(c[i].thread, NULL), 0);
	for (unsigned i = 0; i < 2; i++) {
		int left = ipcwait_sem_value(&sems[i]);

		assert_int_equal(taken_of[i] + (unsigned)left, 3 * ROUNDS);
		assert_int_equal(ipcwait_sem_fini(&sems[i]), 0);
	}
}

#define TEST(f)         cmocka_unit_test_setup_teardown(f, setup, errno_is_untouched)
#define THREADS_TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bad_sets),
		TEST(test_bad_objects),
		TEST(test_bad_events),
		TEST(test_bad_words),
		TEST(test_events),
		TEST(test_order),
		TEST(test_deadlines),
		THREADS_TEST(test_woken_for_each),
		THREADS_TEST(test_a_wake_alone),
		THREADS_TEST(test_twice),
		THREADS_TEST(test_crowd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
