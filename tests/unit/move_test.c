/* SPDX-License-Identifier: MIT */
/* lib/os/move.c: the thread is elsewhere, and may go where it could before. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "os/calls.h"
#include "os/cpu.h"
#include "os/move.h"

#define MOVES 200

static cpu_set_t mask(pid_t id)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(id, sizeof(set), &set), 0);
	return set;
}

static void set_mask(pid_t id, const cpu_set_t *set)
{
	assert_int_equal(sched_setaffinity(id, sizeof(*set), set), 0);
}

static bool has_mask(const cpu_set_t *set)
{
	cpu_set_t now = mask(0);

	return CPU_EQUAL(&now, set);
}

/* The number of CPUs that there are; the first two of them. */
static int usable(int two[2])
{
	cpu_set_t all = mask(0);
	int n = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && n++ < 2)
			two[n - 1] = cpu;
	return n;
}

static bool are_two(int two[2])
{
	return usable(two) >= 2;
}

static cpu_set_t only(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return set;
}

/* The scheduler may move the thread on at once, but not each time. */
static void goes_away(void **state)
{
	cpu_set_t before = mask(0);
	int two[2], gone = 0;

	(void)state;
	if (!are_two(two))
		skip();
	for (int i = 0; i < MOVES; i++) {
		unsigned from = iw_cpu_current();

		errno = 4711;
		assert_true(iw_move_away());
		assert_int_equal(errno, 4711);
		gone += iw_cpu_current() != from;
		assert_true(has_mask(&before));
	}
	assert_true(gone > 0);
}

static void goes_where_it_is_told(void **state)
{
	cpu_set_t before = mask(0);
	int two[2], there = 0;

	(void)state;
	if (!are_two(two))
		skip();
	for (int i = 0; i < MOVES; i++) {
		assert_true(iw_move_to((unsigned)two[i % 2]));
		there += iw_cpu_current() == (unsigned)two[i % 2];
		assert_true(has_mask(&before));
	}
	assert_true(there > 0);
}

static void not_to_what_is_none(void **state)
{
	cpu_set_t before = mask(0);
	static const unsigned none[] = { 8191, 8192, IW_CPU_UNKNOWN };

	(void)state;
	for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_true(!iw_move_to(none[i]));
	assert_true(has_mask(&before));
}

/* A mask that was set by hand stays, with one CPU or more. */
static void a_mask_of_one_cpu(void **state)
{
	cpu_set_t all = mask(0), one;
	int two[2];

	(void)state;
	if (!are_two(two))
		skip();
	one = only(two[1]);
	set_mask(0, &one);
	assert_true(!iw_move_away());
	assert_true(!iw_move_to((unsigned)two[0]));
	assert_true(has_mask(&one));
	set_mask(0, &all);
}

static void a_mask_of_some_cpus(void **state)
{
	cpu_set_t all = mask(0), some = all;
	int two[2];

	(void)state;
	if (usable(two) < 3)
		skip();
	CPU_CLR(two[0], &some);
	set_mask(0, &some);
	for (int i = 0; i < MOVES; i++)
		assert_true(iw_move_away());
	assert_true(has_mask(&some));
	set_mask(0, &all);
}

/* Who sets a real-time class has placed the thread too. */
static void other_classes_are_left_alone(void **state)
{
	struct sched_param param = { .sched_priority = 1 };
	int two[2];

	(void)state;
	if (!are_two(two))
		skip();
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		skip();
	assert_true(!iw_move_away());
	param.sched_priority = 0;
	assert_int_equal(sched_setscheduler(0, SCHED_IDLE, &param), 0);
	assert_true(iw_move_away());
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &param),
			 0);
	assert_true(iw_move_away());
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &param), 0);
}

static void forbidden(void **state)
{
	(void)state;
	iw_calls_forbid(IW_CALL_MOVE);
	assert_true(!iw_move_away());
	assert_true(!iw_move_to(iw_cpu_current()));
	assert_true(!iw_move_into_crowd());
	iw_calls_forbid(0);
}

static volatile sig_atomic_t handled, narrow;

/* What a child of fork() in this handler would inherit. */
static void look_at_mask(int number)
{
	cpu_set_t set;

	(void)number;
	handled++;
	if (!sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) < 2)
		narrow++;
}

static bool over;

static bool is_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_RELAXED);
}

static void set_over(bool value)
{
	__atomic_store_n(&over, value, __ATOMIC_RELAXED);
}

static void *send_signals(void *arg)
{
	while (!is_over())
		(void)pthread_kill(*(pthread_t *)arg, SIGUSR1);
	return NULL;
}

static void no_handler_sees_it(void **state)
{
	struct sigaction action = { .sa_handler = look_at_mask };
	pthread_t self = pthread_self(), sender;
	sigset_t before, after;
	int two[2];

	(void)state;
	if (!are_two(two))
		skip();
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &before), 0);
	assert_int_equal(pthread_create(&sender, NULL, send_signals, &self), 0);
	for (int i = 0; i < 10 * MOVES || handled < MOVES; i++)
		(void)iw_move_away();
	set_over(true);
	assert_int_equal(pthread_join(sender, NULL), 0);
	set_over(false);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &after), 0);
	for (int number = 1; number < SIGRTMAX; number++)
		assert_int_equal(sigismember(&before, number), sigismember(&after, number));
	assert_int_equal(narrow, 0);
}

static void *move_about(void *unused)
{
	(void)unused;
	while (!is_over())
		(void)iw_move_away();
	return NULL;
}

/* A child of another thread has that thread's mask. */
static void fork_beside_it(void **state)
{
	cpu_set_t before = mask(0);
	pthread_t mover;
	int two[2], status;

	(void)state;
	if (!are_two(two))
		skip();
	assert_int_equal(pthread_create(&mover, NULL, move_about, NULL), 0);
	for (int i = 0; i < MOVES; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(has_mask(&before) ? 0 : 1);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	set_over(true);
	assert_int_equal(pthread_join(mover, NULL), 0);
	set_over(false);
}

/* Another thread replaces the program: it has that thread's mask, wherever the mover was. */
static void exec_beside_it(void **state)
{
	cpu_set_t before = mask(0);
	int two[2], status;

	(void)state;
	if (!are_two(two))
		skip();
	for (int i = 0; i < MOVES; i++) {
		pid_t pid = fork();

		if (!pid) {
			pthread_t mover;

			if (pthread_create(&mover, NULL, move_about, NULL))
				_exit(2);
			(void)usleep((useconds_t)(i % 10 * 100));
			(void)execl("/proc/self/exe", "move_test", "mask", (char *)NULL);
			_exit(2);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), CPU_COUNT(&before) % 256);
	}
}

/* As taskset(1) does: the thread stays where it is put, in the end. */
static void a_mask_from_outside(void **state)
{
	int two[2], left, kept = 0;

	(void)state;
	if (!are_two(two))
		skip();
	for (int i = 0; i < MOVES; i++) {
		cpu_set_t one = only(two[i % 2]), now;
		int ready[2];
		pid_t pid;
		char c;

		assert_int_equal(pipe(ready), 0);
		pid = fork();
		if (!pid) {
			(void)write(ready[1], "", 1);
			for (;;)
				(void)iw_move_away();
		}
		assert_int_equal(read(ready[0], &c, 1), 1);
		set_mask(pid, &one);
		/* Time for some moves; those that find one CPU make none. */
		for (left = 20; left; left--)
			(void)sched_yield();
		(void)usleep(1000);
		now = mask(pid);
		kept += CPU_EQUAL(&now, &one);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		(void)close(ready[0]);
		(void)close(ready[1]);
	}
	/* Most of such a loop is a move, in which one may be lost. */
	assert_true(kept > 0);
}

/* The kernel's count has this thread in it. */
static void knows_a_crowd(void **state)
{
	pid_t pids[64];
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	bool crowded = false;

	(void)state;
	if (online > 62 || access("/proc/loadavg", R_OK))
		skip();
	for (long i = 0; i <= online; i++) {
		pids[i] = fork();
		if (!pids[i])
			for (;;)
				;
	}
	for (int i = 0; i < 100000 && !crowded; i++)
		crowded = iw_move_into_crowd();
	for (long i = 0; i <= online; i++) {
		assert_int_equal(kill(pids[i], SIGKILL), 0);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	}
	assert_true(crowded);
}

/* With an argument: the program of exec_beside_it(), whose status is the number of its CPUs. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_away),
		cmocka_unit_test(goes_where_it_is_told),
		cmocka_unit_test(not_to_what_is_none),
		cmocka_unit_test(a_mask_of_one_cpu),
		cmocka_unit_test(a_mask_of_some_cpus),
		cmocka_unit_test(other_classes_are_left_alone),
		cmocka_unit_test(forbidden),
		cmocka_unit_test(no_handler_sees_it),
		cmocka_unit_test(fork_beside_it),
		cmocka_unit_test(exec_beside_it),
		cmocka_unit_test(a_mask_from_outside),
		cmocka_unit_test(knows_a_crowd),
	};
	cpu_set_t set;

	(void)argv;
	if (argc > 1)
		return sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set) % 256;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
