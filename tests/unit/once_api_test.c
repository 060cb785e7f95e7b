/* SPDX-License-Identifier: MIT */
/* <ipcwait/once.h> in one thread: arguments, results, nesting, the dead. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/gates_word.h"

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

/* Counts its runs, and fails as often as it is told to. */
struct job {
	struct ipcwait_once *once;
	int runs, failures;
};

static int run(void *arg)
{
	struct job *j = arg;

	return j->runs++ < j->failures ? j->runs : 0;
}

static int run_within(void *arg)
{
	struct job *j = arg;

	j->runs++;
	return ipcwait_once_run(j->once, run, j);
}

static void test_init(void **state)
{
	static struct ipcwait_once zero, fixed = IPCWAIT_ONCE_INIT;
	struct ipcwait_once o;

	(void)state;
	memset(&o, 0x5a, sizeof(o));
	assert_int_equal(ipcwait_once_init(&o, 0), 0);
	assert_memory_equal(&o, &zero, sizeof(o));
	assert_int_equal(ipcwait_once_init(&o, IPCWAIT_PRIVATE), 0);
	o.reserved = 0;
	assert_memory_equal(&o, &fixed, sizeof(o));
	assert_int_equal(ipcwait_once_init(NULL, 0), -EINVAL);
	memset(&o, 0x5a, sizeof(o));
	zero = o;
	assert_int_equal(ipcwait_once_init(&o, 2), -EINVAL);
	assert_int_equal(ipcwait_once_init(&o, UINT32_MAX), -EINVAL);
	assert_memory_equal(&o, &zero, sizeof(o));
}

static void test_misaligned(void **state)
{
	_Alignas(64) char bytes[128];
	struct job j = { 0 };

	(void)state;
	memset(bytes, 0, sizeof(bytes));
	for (unsigned offset = 1; offset < 8; offset++) {
		struct ipcwait_once *o = (struct ipcwait_once *)(void *)(bytes + offset);

		assert_int_equal(ipcwait_once_init(o, 0), -EINVAL);
		assert_int_equal(ipcwait_once_fini(o), -EINVAL);
#if IW_TEST_MISALIGNED
		assert_int_equal(ipcwait_once_run(o, run, &j), -EINVAL);
#endif
	}
	assert_int_equal(j.runs, 0);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0);
}

static void runs_once(struct ipcwait_once *o)
{
	struct job j = { 0 };

	for (int i = 0; i < 5; i++)
		assert_int_equal(ipcwait_once_run(o, run, &j), 0);
	assert_int_equal(j.runs, 1);
	assert_int_equal(gate_word(&o->word), ONCE_DONE);
}

static void test_runs_once(void **state)
{
	static struct ipcwait_once zero, fixed = IPCWAIT_ONCE_INIT;

	(void)state;
	runs_once(&zero);
	runs_once(&fixed);
}

static void test_failures(void **state)
{
	struct ipcwait_once o = IPCWAIT_ONCE_INIT;
	struct job j = { .failures = 3 };

	(void)state;
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(ipcwait_once_run(&o, run, &j), i);
		assert_int_equal(gate_word(&o.word), 0);
	}
	assert_int_equal(ipcwait_once_run(&o, run, &j), 0);
	assert_int_equal(ipcwait_once_run(&o, run, &j), 0);
	assert_int_equal(j.runs, 4);
}

static void test_nesting(void **state)
{
	struct ipcwait_once inner = IPCWAIT_ONCE_INIT, outer = { 0 };
	struct job j = { .once = &outer }, other = { .once = &inner };

	(void)state;
	/* The function of one may use another. */
	assert_int_equal(ipcwait_once_run(&outer, run_within, &other), 0);
	assert_int_equal(other.runs, 2);
	assert_int_equal(ipcwait_once_init(&outer, 0), 0);
	assert_int_equal(ipcwait_once_run(&outer, run_within, &j), -EDEADLK);
	assert_int_equal(j.runs, 1);
	j.once = &inner;
	assert_int_equal(ipcwait_once_init(&inner, IPCWAIT_PRIVATE), 0);
	assert_int_equal(ipcwait_once_run(&inner, run_within, &j), -EDEADLK);
	assert_int_equal(gate_word(&inner.word), 0);
}

static void test_fini(void **state)
{
	struct ipcwait_once o = IPCWAIT_ONCE_INIT;
	struct job j = { 0 };

	(void)state;
	assert_int_equal(ipcwait_once_run(&o, NULL, NULL), -EINVAL);
	assert_int_equal(ipcwait_once_fini(NULL), -EINVAL);
	assert_int_equal(ipcwait_once_fini(&o), 0);
	assert_int_equal(ipcwait_once_fini(&o), -EINVAL);
	assert_int_equal(ipcwait_once_run(&o, run, &j), -EINVAL);
	assert_int_equal(ipcwait_once_init(&o, 0), 0);
	gate_fabricate(&o.word, ONCE_WORD(77, 0));
	assert_int_equal(ipcwait_once_fini(&o), -EBUSY);
	assert_int_equal(ipcwait_once_init(&o, 0), 0);
	runs_once(&o);
	assert_int_equal(ipcwait_once_fini(&o), 0);
	assert_int_equal(ipcwait_once_run(&o, run, &j), -EINVAL);
	assert_int_equal(j.runs, 0);
}

/* A copy of a private once, in a child: its runner is in another process. */
static void test_runner_of_another_process(void **state)
{
	struct ipcwait_once o = IPCWAIT_ONCE_INIT;

	(void)state;
	gate_fabricate(&o.word, ONCE_WORD(getpid(), (uint32_t)getpid() + 1));
	runs_once(&o);
}

static jmp_buf caller;

static int jump_out(void *arg)
{
	(void)arg;
	longjmp(caller, 1);
}

/* A jump is not seen; the end of the thread is, as a death. */
static void *leave_it_open(void *once)
{
	if (setjmp(caller) == 0)
		(void)ipcwait_once_run(once, jump_out, NULL);
	CHECK_EQ(ipcwait_once_run(once, jump_out, NULL), -EDEADLK);
	return NULL;
}

static void test_thread_that_has_ended(void **state)
{
	struct ipcwait_once shared = { 0 }, private_ = IPCWAIT_ONCE_INIT;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, leave_it_open, &shared), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	runs_once(&shared);
	assert_int_equal(pthread_create(&thread, NULL, leave_it_open, &private_), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	runs_once(&private_);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_errno, errno_is_untouched)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_init),
		TEST(test_misaligned),
		TEST(test_runs_once),
		TEST(test_failures),
		TEST(test_nesting),
		TEST(test_fini),
		TEST(test_runner_of_another_process),
		TEST(test_thread_that_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
