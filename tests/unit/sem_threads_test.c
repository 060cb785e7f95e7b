/* SPDX-License-Identifier: MIT */
/* <ipcwait/sem.h> with sleeping threads, each test private and shared: wakes, signals, fini. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/sem_word.h"
#include "common/sleeper.h"

#define LONG_NS INT64_C(3600000000000)

static unsigned flags;

static int shared(void **state)
{
	(void)state;
	flags = 0;
	check_watchdog(60);
	return 0;
}

static int private(void **state)
{
	(void)state;
	flags = IPCWAIT_PRIVATE;
	check_watchdog(60);
	return 0;
}

static void init(struct ipcwait_sem *s)
{
	assert_int_equal(ipcwait_sem_init(s, 0, flags), 0);
}

static void test_post_wakes_a_sleeper(void **state)
{
	struct ipcwait_sem s;
	struct sleeper a;

	(void)state;
	init(&s);
	for (int i = 0; i < 50; i++) {
		sleeper_start(&a, &s,
			      i % 2 ? IPCWAIT_FOREVER : ipcwait_deadline_in_ns(LONG_NS));
		if (i % 3)
			sleeper_await(&s, 1);
		assert_int_equal(ipcwait_sem_post(&s), 0);
		assert_int_equal(sleeper_join(&a), 0);
		assert_int_equal(sem_word(&s), 0);
	}
}

static void test_bulk_post_wakes_as_many(void **state)
{
	struct ipcwait_sem s;
	struct sleeper a[6];

	(void)state;
	init(&s);
	for (int i = 0; i < 6; i++)
		sleeper_start(&a[i], &s, IPCWAIT_FOREVER);
	sleeper_await(&s, 6);
	assert_int_equal(ipcwait_sem_post_n(&s, 4), 0);
	sleeper_await(&s, 2);
	assert_int_equal(ipcwait_sem_value(&s), 0);
	assert_int_equal(ipcwait_sem_post_n(&s, 4), 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(sleeper_join(&a[i]), 0);
	assert_int_equal(sem_word(&s), WORD(2, 0, 0));
}

static void test_fini_of_a_busy_semaphore(void **state)
{
	struct ipcwait_sem s;
	struct sleeper a;

	(void)state;
	init(&s);
	sleeper_start(&a, &s, IPCWAIT_FOREVER);
	sleeper_await(&s, 1);
	assert_int_equal(ipcwait_sem_fini(&s), -EBUSY);
	assert_int_equal(s.flags, flags);
	assert_int_equal(ipcwait_sem_post(&s), 0);
	assert_int_equal(sleeper_join(&a), 0);
	assert_int_equal(ipcwait_sem_fini(&s), 0);
	assert_int_equal(ipcwait_sem_fini(&s), -EINVAL);
}

static void test_sleep_until_the_deadline(void **state)
{
	struct ipcwait_sem s;
	struct sleeper a;
	int64_t deadline = ipcwait_deadline_in_ns(30000000);

	(void)state;
	init(&s);
	sleeper_start(&a, &s, deadline);
	assert_int_equal(sleeper_join(&a), -ETIMEDOUT);
	assert_true(ipcwait_now_ns() >= deadline);
	assert_int_equal(sem_word(&s), 0);
}

static void on_signal(int signal)
{
	(void)signal;
}

static void handle(int signal, void (*handler)(int), int sa_flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = sa_flags };

	assert_int_equal(sigaction(signal, &action, NULL), 0);
}

static void test_signal_interrupts(void **state)
{
	struct ipcwait_sem s;
	struct sleeper a;

	(void)state;
	init(&s);
	s.flags |= IPCWAIT_INTERRUPTIBLE;
	for (int i = 0; i < 4; i++) {
		handle(SIGUSR1, on_signal, i & 2 ? SA_RESTART : 0);
		sleeper_start(&a, &s,
			      i & 1 ? IPCWAIT_FOREVER : ipcwait_deadline_in_ns(LONG_NS));
		sleeper_await(&s, 1);
		sleeper_disturb(&a, SIGUSR1, 10000);
		assert_int_equal(sleeper_join(&a), -EINTR);
		assert_int_equal(sem_word(&s), 0);
	}
}

static void test_signal_does_not_interrupt(void **state)
{
	struct ipcwait_sem s;
	struct sleeper a;

	(void)state;
	init(&s);
	for (int i = 0; i < 4; i++) {
		handle(SIGUSR1, on_signal, i & 2 ? SA_RESTART : 0);
		sleeper_start(&a, &s,
			      i & 1 ? IPCWAIT_FOREVER : ipcwait_deadline_in_ns(LONG_NS));
		sleeper_await(&s, 1);
		sleeper_disturb(&a, SIGUSR1, 20);
		assert_int_equal(sleeper_done(&a), 0);
		assert_int_equal(sem_word(&s), WORD(0, 0, 1));
		assert_int_equal(ipcwait_sem_post(&s), 0);
		assert_int_equal(sleeper_join(&a), 0);
		assert_int_equal(sem_word(&s), 0);
	}
}

static struct ipcwait_sem posted_by_handler;

static void post_in_handler(int signal)
{
	int saved = errno;

	(void)signal;
	errno = 4711;
	CHECK_EQ(ipcwait_sem_post(&posted_by_handler), 0);
	CHECK_EQ(errno, 4711);
	errno = saved;
}

/* The handler runs in the thread that waits for its token. */
static void test_handler_posts_to_its_own_wait(void **state)
{
	(void)state;
	if (CHECK_DEFERS_SIGNALS)
		skip();
	for (int i = 0; i < 20; i++) {
		struct sleeper a;

		init(&posted_by_handler);
		handle(SIGUSR1, post_in_handler, i % 2 ? SA_RESTART : 0);
		sleeper_start(&a, &posted_by_handler, IPCWAIT_FOREVER);
		if (i % 3)
			sleeper_await(&posted_by_handler, 1);
		assert_int_equal(pthread_kill(a.thread, SIGUSR1), 0);
		assert_int_equal(sleeper_join(&a), 0);
		assert_int_equal(sem_word(&posted_by_handler), 0);
	}
}

/* No room to announce another sleeper: it finds its token within a millisecond or so. */
static void test_beyond_65535_sleepers(void **state)
{
	struct ipcwait_sem s;
	struct sleeper a[3];

	(void)state;
	init(&s);
	/* It has waited in this process: what is left is no copy of another's. */
	assert_int_equal(ipcwait_sem_wait_until(&s, ipcwait_deadline_in_ns(5000000)),
			 -ETIMEDOUT);
	sem_fabricate(&s, WORD(0, 0, 65535));
	for (int i = 0; i < 3; i++)
		sleeper_start(&a[i], &s,
			      i ? IPCWAIT_FOREVER : ipcwait_deadline_in_ns(5000000));
	assert_int_equal(sleeper_join(&a[0]), -ETIMEDOUT);
	for (int i = 1; i < 3; i++)
		assert_int_equal(ipcwait_sem_post(&s), 0);
	for (int i = 1; i < 3; i++)
		assert_int_equal(sleeper_join(&a[i]), 0);
	assert_int_equal(ipcwait_sem_value(&s), 0);
	assert_int_equal(word_sleepers(sem_word(&s)), 65535);
}

struct errno_row {
	struct ipcwait_sem *s;
	int64_t deadline_ns;
};

static void *wait_and_keep_errno(void *arg)
{
	const struct errno_row *row = arg;
	int result;

	errno = 4711;
	result = ipcwait_sem_wait_until(row->s, row->deadline_ns);
	CHECK_EQ(errno, 4711);
	CHECK(result == 0 || result == -ETIMEDOUT);
	return NULL;
}

static void test_sleeping_leaves_errno_alone(void **state)
{
	struct ipcwait_sem s;
	struct errno_row forever = { &s, IPCWAIT_FOREVER };
	struct errno_row briefly = { &s, ipcwait_deadline_in_ns(3000000) };
	pthread_t a, b;

	(void)state;
	init(&s);
	assert_int_equal(pthread_create(&a, NULL, wait_and_keep_errno, &forever), 0);
	assert_int_equal(pthread_create(&b, NULL, wait_and_keep_errno, &briefly), 0);
	assert_int_equal(pthread_join(b, NULL), 0);
	sleeper_await(&s, 1);
	errno = 4711;
	assert_int_equal(ipcwait_sem_post(&s), 0);
	assert_int_equal(errno, 4711);
	assert_int_equal(pthread_join(a, NULL), 0);
}

#define BOTH(f)                                         \
	cmocka_unit_test_setup(f, shared),              \
	{                                               \
#f " (private)", f, private, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_post_wakes_a_sleeper),
		BOTH(test_bulk_post_wakes_as_many),
		BOTH(test_fini_of_a_busy_semaphore),
		BOTH(test_sleep_until_the_deadline),
		BOTH(test_signal_interrupts),
		BOTH(test_signal_does_not_interrupt),
		BOTH(test_handler_posts_to_its_own_wait),
		BOTH(test_beyond_65535_sleepers),
		BOTH(test_sleeping_leaves_errno_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
