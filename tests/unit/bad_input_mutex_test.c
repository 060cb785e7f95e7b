/* SPDX-License-Identifier: MIT */
/* The rows of docs/bad-input.md about mutexes, and condition variables with them. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define SOON   ipcwait_deadline_in_ns(2000000)
#define LATER  ipcwait_deadline_in_ns(INT64_C(10000000000))
#define PLAIN  0u
#define R      IPCWAIT_RECURSIVE
#define E      IPCWAIT_ERRORCHECK
#define ROBUST IPCWAIT_ROBUST

static const struct {
	const char *name;
	unsigned flags;
	int other_unlocks; /* result of an unlock by a thread that is not the owner */
	int relock;        /* of a lock by the owner, with a deadline */
	int retry;         /* of a trylock by the owner */
} rows[] = {
	{ "plain", PLAIN, 0, -ETIMEDOUT, -EBUSY },
	{ "recursive", R, -EPERM, 0, 0 },
	{ "errorcheck", E, -EPERM, -EDEADLK, -EBUSY },
	{ "robust", ROBUST, -EPERM, -EDEADLK, -EBUSY },
	{ "robust, recursive", ROBUST | R, -EPERM, 0, 0 },
	{ "robust, errorcheck", ROBUST | E, -EPERM, -EDEADLK, -EBUSY },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Shared with children. */
static struct ipcwait_mutex *m;

static int setup(void **state)
{
	(void)state;
	check_watchdog(60);
	if (!m)
		m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			 0);
	errno = 4711;
	return m == MAP_FAILED ? -1 : 0;
}

static int errno_is_untouched(void **state)
{
	(void)state;
	return errno == 4711 ? 0 : -1;
}

/* A free mutex for row @i. Both ways to share it in turn. */
static void make(unsigned i)
{
	print_message("%s\n", rows[i].name);
	assert_int_equal(ipcwait_mutex_init(m, rows[i].flags | (i & 1)), 0);
}

static void make_locked(unsigned i)
{
	make(i);
	assert_int_equal(ipcwait_mutex_lock(m), 0);
}

/* A call in another thread. */
struct errand {
	int (*call)(void);
	int result;
};

static void *run_errand(void *arg)
{
	struct errand *e = arg;

	e->result = e->call();
	return NULL;
}

static int elsewhere(int (*call)(void))
{
	struct errand e = { .call = call };
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, run_errand, &e) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	return e.result;
}

static int lock_soon(void)
{
	return ipcwait_mutex_lock_until(m, SOON);
}

static int lock_later(void)
{
	return ipcwait_mutex_lock_until(m, LATER);
}

static int lock(void)
{
	return ipcwait_mutex_lock(m);
}

static int trylock(void)
{
	return ipcwait_mutex_trylock(m);
}

static int unlock(void)
{
	return ipcwait_mutex_unlock(m);
}

static int consistent(void)
{
	return ipcwait_mutex_consistent(m);
}

static void test_unlock_by_another(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROWS; i++) {
		make_locked(i);
		assert_int_equal(elsewhere(unlock), rows[i].other_unlocks);
		assert_int_equal(unlock(), rows[i].other_unlocks ? 0 : -EPERM);
		assert_int_equal(ipcwait_mutex_fini(m), 0);
	}
}

static void test_unlock_of_unlocked(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROWS; i++) {
		make(i);
		assert_int_equal(unlock(), -EPERM);
		assert_int_equal(lock(), 0);
		assert_int_equal(unlock(), 0);
		assert_int_equal(unlock(), -EPERM);
		assert_int_equal(elsewhere(unlock), -EPERM);
		assert_int_equal(ipcwait_mutex_fini(m), 0);
	}
}

static void test_relock(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROWS; i++) {
		make_locked(i);
		assert_int_equal(lock_soon(), rows[i].relock);
		assert_int_equal(trylock(), rows[i].retry);
		if (rows[i].flags & E)
			assert_int_equal(lock(), -EDEADLK);
		if (rows[i].flags & R) {
			assert_int_equal(unlock(), 0);
			assert_int_equal(unlock(), 0);
		}
		assert_int_equal(elsewhere(trylock), -EBUSY);
		assert_int_equal(unlock(), 0);
		assert_int_equal(unlock(), -EPERM);
		assert_int_equal(ipcwait_mutex_fini(m), 0);
	}
}

static void test_recursion_limit(void **state)
{
	(void)state;
	make_locked(1);
	for (int i = 1; i < IPCWAIT_RECURSION_MAX; i++)
		assert_int_equal(lock(), 0);
	assert_int_equal(lock(), -EAGAIN);
	assert_int_equal(trylock(), -EAGAIN);
	assert_int_equal(lock_soon(), -EAGAIN);
	for (int i = 0; i < IPCWAIT_RECURSION_MAX; i++)
		assert_int_equal(unlock(), 0);
	assert_int_equal(unlock(), -EPERM);
	assert_int_equal(elsewhere(trylock), 0);
}

static void test_fini_while_locked(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROWS; i++) {
		make_locked(i);
		assert_int_equal(ipcwait_mutex_fini(m), -EBUSY);
		assert_int_equal(unlock(), 0);
		assert_int_equal(ipcwait_mutex_fini(m), 0);
	}
}

static void test_use_after_fini(void **state)
{
	int (*const calls[])(void) = { lock, lock_soon, trylock, unlock, consistent };

	(void)state;
	for (unsigned i = 0; i < ROWS; i++) {
		make(i);
		assert_int_equal(ipcwait_mutex_fini(m), 0);
		for (unsigned k = 0; k < sizeof(calls) / sizeof(calls[0]); k++)
			assert_int_equal(calls[k](), -EINVAL);
	}
}

static void test_flags(void **state)
{
	struct ipcwait_mutex before;

	(void)state;
	memset(m, 0x5a, sizeof(*m));
	before = *m;
	assert_int_equal(ipcwait_mutex_init(m, R | E), -EINVAL);
	assert_int_equal(ipcwait_mutex_init(m, R | E | ROBUST | IPCWAIT_PRIVATE), -EINVAL);
	assert_int_equal(ipcwait_mutex_init(m, ROBUST | 8), -EINVAL);
	assert_int_equal(ipcwait_mutex_init(m, 1u << 16), -EINVAL);
	assert_memory_equal(m, &before, sizeof(before));
}

/* The next one beside it is 32 bytes off: no access crosses a cache line. */
static void test_misaligned(void **state)
{
	static _Alignas(64) char bytes[64];
	struct ipcwait_mutex *crooked = (struct ipcwait_mutex *)(void *)(bytes + 4);

	(void)state;
	if (!IW_TEST_MISALIGNED)
		skip();
	/* What is free can be had; who has to wait or to wake looks at the address. */
	assert_int_equal(ipcwait_mutex_lock(crooked), 0);
	assert_int_equal(ipcwait_mutex_lock_until(crooked, 0), -EINVAL);
	assert_int_equal(ipcwait_mutex_lock_until(crooked, IPCWAIT_FOREVER), -EINVAL);
	assert_int_equal(ipcwait_mutex_trylock(crooked), -EINVAL);
	assert_int_equal(ipcwait_mutex_consistent(crooked), -EINVAL);
	assert_int_equal(ipcwait_mutex_unlock(crooked), 0);
}

static void test_consistent_on_healthy(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROWS; i++) {
		make(i);
		assert_int_equal(consistent(), -EINVAL);
		assert_int_equal(lock(), 0);
		assert_int_equal(consistent(), -EINVAL);
		assert_int_equal(elsewhere(consistent), -EINVAL);
		assert_int_equal(unlock(), 0);
	}
}

/* A robust mutex whose owner, a thread, has ended. */
static void make_orphan(unsigned i)
{
	make(i);
	assert_int_equal(elsewhere(lock), 0);
}

static void test_owner_thread_ends(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROWS; i++) {
		bool robust = rows[i].flags & ROBUST;

		make_orphan(i);
		assert_int_equal(robust ? lock_later() : lock_soon(),
				 robust ? -EOWNERDEAD : -ETIMEDOUT);
		if (!robust)
			assert_int_equal(ipcwait_mutex_fini(m), -EBUSY);
	}
}

static void test_consistent(void **state)
{
	(void)state;
	for (unsigned i = 3; i < ROWS; i++) {
		make_orphan(i);
		assert_int_equal(lock_later(), -EOWNERDEAD);
		assert_int_equal(elsewhere(consistent), -EPERM);
		assert_int_equal(elsewhere(unlock), -EPERM);
		assert_int_equal(consistent(), 0);
		assert_int_equal(consistent(), -EINVAL);
		assert_int_equal(unlock(), 0);
		assert_int_equal(lock(), 0);
		assert_int_equal(unlock(), 0);
		assert_int_equal(ipcwait_mutex_fini(m), 0);
	}
}

static void test_unlock_without_consistent(void **state)
{
	(void)state;
	for (unsigned i = 3; i < ROWS; i++) {
		make_orphan(i);
		assert_int_equal(lock_later(), -EOWNERDEAD);
		assert_int_equal(unlock(), 0);
		assert_int_equal(lock(), -ENOTRECOVERABLE);
		assert_int_equal(trylock(), -ENOTRECOVERABLE);
		assert_int_equal(lock_later(), -ENOTRECOVERABLE);
		assert_int_equal(elsewhere(lock), -ENOTRECOVERABLE);
		assert_int_equal(unlock(), -EPERM);
	}
}

/* What a child that has not locked it, or whose parent has, may do with it. */
static int in_child(int (*call)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(-call() & 0xff);
	status = check_reap(child);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static void test_fork_while_held(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROWS; i++) {
		make(i);
		assert_int_equal(ipcwait_mutex_init(m, rows[i].flags), 0);
		assert_int_equal(lock(), 0);
		assert_int_equal(in_child(trylock), -EBUSY);
		assert_int_equal(in_child(lock_soon), -ETIMEDOUT);
		assert_int_equal(in_child(unlock), rows[i].other_unlocks);
		assert_int_equal(unlock(), rows[i].other_unlocks ? 0 : -EPERM);
	}
}

static int lock_and_die(void)
{
	CHECK_EQ(lock(), 0);
	(void)raise(SIGKILL);
	return 0;
}

static void test_owner_process_dies(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROWS; i++) {
		bool robust = rows[i].flags & ROBUST;
		pid_t child;

		make(i);
		assert_int_equal(ipcwait_mutex_init(m, rows[i].flags), 0);
		child = fork();
		assert_true(child >= 0);
		if (child == 0)
			_exit(lock_and_die());
		(void)check_reap(child);
		assert_int_equal(robust ? lock_later() : lock_soon(),
				 robust ? -EOWNERDEAD : -ETIMEDOUT);
	}
}

static struct ipcwait_cond cond;

static int wait_for_cond(void)
{
	return ipcwait_cond_wait_until(&cond, m, SOON);
}

static void test_cond_wait_unlocked(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROWS; i++) {
		make(i);
		assert_int_equal(wait_for_cond(), -EPERM);
		assert_int_equal(ipcwait_cond_wait(&cond, m), -EPERM);
		/* The wait was taken back. */
		assert_int_equal(ipcwait_cond_fini(&cond), 0);
		assert_int_equal(ipcwait_cond_init(&cond, 0), 0);
		assert_int_equal(ipcwait_mutex_fini(m), 0);
	}
}

/* A plain mutex does not know: it is unlocked, and locked for the caller. */
static void test_cond_wait_not_owner(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROWS; i++) {
		int want = rows[i].other_unlocks;

		make_locked(i);
		assert_int_equal(elsewhere(wait_for_cond), want ? want : -ETIMEDOUT);
		assert_int_equal(elsewhere(trylock), -EBUSY);
		assert_int_equal(unlock(), 0);
	}
}

static void test_cond_bad_mutexes(void **state)
{
	static _Alignas(64) char bytes[64];

	(void)state;
	make(0);
	assert_int_equal(ipcwait_mutex_fini(m), 0);
	assert_int_equal(wait_for_cond(), -EINVAL);
	assert_int_equal(ipcwait_cond_wait(&cond, NULL), -EINVAL);
	assert_int_equal(ipcwait_cond_wait(&cond, (void *)(bytes + 4)), -EINVAL);
	assert_int_equal(ipcwait_cond_wait(NULL, m), -EINVAL);
	assert_int_equal(ipcwait_cond_signal(NULL), -EINVAL);
	assert_int_equal(ipcwait_cond_broadcast(NULL), -EINVAL);
	assert_int_equal(ipcwait_cond_fini(&cond), 0);
	make_locked(0);
	assert_int_equal(wait_for_cond(), -EINVAL);
	assert_int_equal(ipcwait_cond_signal(&cond), -EINVAL);
	assert_int_equal(ipcwait_cond_broadcast(&cond), -EINVAL);
	assert_int_equal(unlock(), 0);
	assert_int_equal(ipcwait_cond_init(&cond, 0), 0);
}

/* A wait that fails has the mutex locked, as often as it was. */
static void test_cond_deadlines(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROWS; i++) {
		make_locked(i);
		if (rows[i].flags & R)
			assert_int_equal(lock(), 0);
		assert_int_equal(wait_for_cond(), -ETIMEDOUT);
		assert_int_equal(ipcwait_cond_wait_until(&cond, m, -1), -ETIMEDOUT);
		assert_int_equal(elsewhere(trylock), -EBUSY);
		if (rows[i].flags & R)
			assert_int_equal(unlock(), 0);
		assert_int_equal(elsewhere(trylock), -EBUSY);
		assert_int_equal(unlock(), 0);
		assert_int_equal(unlock(), -EPERM);
	}
}

#define TEST(f)  cmocka_unit_test_setup_teardown(f, setup, errno_is_untouched)
#define CHILD(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_unlock_by_another),
		TEST(test_unlock_of_unlocked),
		TEST(test_relock),
		TEST(test_recursion_limit),
		TEST(test_fini_while_locked),
		TEST(test_use_after_fini),
		TEST(test_flags),
		TEST(test_misaligned),
		TEST(test_consistent_on_healthy),
		TEST(test_owner_thread_ends),
		TEST(test_consistent),
		TEST(test_unlock_without_consistent),
		TEST(test_cond_wait_unlocked),
		TEST(test_cond_wait_not_owner),
		TEST(test_cond_bad_mutexes),
		TEST(test_cond_deadlines),
		CHILD(test_fork_while_held),
		CHILD(test_owner_process_dies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
