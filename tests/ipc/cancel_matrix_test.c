/* SPDX-License-Identifier: MIT */
/*
 * The accident matrix's column "cancelled": no function of the library is a cancellation point, and
 * nor is fork(2) beside it. A thread is cancelled before its calls, and at each system call that
 * they make: it returns from them, what they use is in order, and it ends at its own
 * pthread_testcancel().
 *
 *	cancel_matrix_test MAP	MAP: lists the functions of the library
 *
 * The thread is in a child that its parent traces, from system call to system call.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "matrix.h"

/* The first system calls are all tried, of the later ones fewer and fewer. */
#define ALL 64

static struct {
	_Atomic int victim;  /* its id, when it is about to make its calls */
	_Atomic bool go;     /* it makes them */
	_Atomic bool cancel; /* it is to be cancelled, ... */
	_Atomic bool told;   /* ... and has been */
	_Atomic bool returned;
	_Atomic bool over; /* nobody needs help any more */
} * shared;

static const struct matrix_row *row;

/* In the child. */
static void *be_victim(void *unused)
{
	shared->victim = (int)syscall(SYS_gettid);
	while (!shared->go)
		continue;
	row->act();
	shared->returned = true;
	pthread_testcancel();
	return unused;
}

static void *be_helper(void *unused)
{
	while (!shared->over)
		row->help();
	return unused;
}

static void await(const _Atomic bool *what)
{
	while (!*what)
		(void)sched_yield();
}

static void be_child(void)
{
	pthread_t victim, helper;
	void *result;

	CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	check_watchdog(60);
	if (row->begin)
		row->begin();
	CHECK_EQ(pthread_create(&victim, NULL, be_victim, NULL), 0);
	if (row->help)
		CHECK_EQ(pthread_create(&helper, NULL, be_helper, NULL), 0);
	await(&shared->cancel);
	CHECK_EQ(pthread_cancel(victim), 0);
	shared->told = true;
	CHECK_EQ(pthread_join(victim, &result), 0);
	shared->over = true;
	if (row->help)
		CHECK_EQ(pthread_join(helper, NULL), 0);
	/* It was not cancelled in its calls, but afterwards. */
	CHECK(shared->returned);
	CHECK(result == PTHREAD_CANCELED);
	if (row->end)
		row->end();
	_exit(EXIT_SUCCESS);
}

/* In the parent. */
static pid_t begin_child(void)
{
	pid_t child;

	memset(shared, 0, sizeof(*shared));
	(void)fflush(NULL);
	child = fork();
	CHECK(child >= 0);
	if (!child)
		be_child();
	while (!shared->victim)
		(void)sched_yield();
	return child;
}

static void cancel(void)
{
	shared->cancel = true;
	await(&shared->told);
}

static int await_stop(pid_t victim)
{
	int status;

	CHECK(waitpid(victim, &status, __WALL) == victim);
	CHECK(WIFSTOPPED(status));
	return status;
}

static bool seize(pid_t victim)
{
	if (ptrace(PTRACE_SEIZE, victim, NULL, (long)PTRACE_O_TRACESYSGOOD) != 0)
		return false;
	CHECK(ptrace(PTRACE_INTERRUPT, victim, NULL, NULL) == 0);
	(void)await_stop(victim);
	return true;
}

/* It is about to enter its next system call. Signals of others go on to it. */
static void run_to_call(pid_t victim)
{
	struct __ptrace_syscall_info info;
	int status = 0, signal = 0;

	do {
		CHECK(ptrace(PTRACE_SYSCALL, victim, NULL, (long)signal) == 0);
		status = await_stop(victim);
		signal = status >> 16 || WSTOPSIG(status) & 0x80 ? 0 : WSTOPSIG(status);
		if (WSTOPSIG(status) != (SIGTRAP | 0x80))
			continue;
		CHECK(ptrace(PTRACE_GET_SYSCALL_INFO, victim, sizeof(info), &info) > 0);
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
			return;
	} while (true);
}

/* False: its calls have returned before. */
static bool reaches(pid_t victim, unsigned n)
{
	shared->go = true;
	while (n--) {
		run_to_call(victim);
		if (shared->returned)
			return false;
	}
	return true;
}

/* Cancelled at system call @n, from 1 on; 0: before all. False: there are fewer. */
static bool cancel_at(unsigned n)
{
	pid_t child = begin_child(), victim = shared->victim;
	bool reached = true;

	if (n) {
		CHECK(seize(victim));
		reached = reaches(victim, n);
	}
	if (!reached)
		CHECK(kill(child, SIGKILL) == 0);
	else
		cancel();
	if (n && reached)
		CHECK(ptrace(PTRACE_DETACH, victim, NULL, NULL) == 0);
	shared->go = true;
	if (!reached) {
		/* A traced thread that was killed is waited for first. */
		while (waitpid(victim, NULL, __WALL) == victim)
			continue;
		(void)check_reap(child);
		return false;
	}
	if (check_reap(child))
		fail_msg("cancelled at system call %u of: %s", n, row->functions);
	return true;
}

static unsigned after(unsigned n)
{
	if (row->slow)
		return n ? 3 * n : 1;
	return n < ALL ? n + 1 : n + n / 4;
}

static void try_row(void)
{
	unsigned tried = 0;

	for (unsigned n = 0; cancel_at(n); n = after(n))
		tried++;
	printf("# %u times: %s\n", tried, row->functions);
	(void)fflush(stdout);
}

/*
 * The first cancellation loads libgcc_s. That has to wait for a thread that has the loader's lock,
 * and is stopped.
 */
static void *sleep_for_ever(void *unused)
{
	for (;;)
		(void)pause();
	return unused;
}

static void cancel_first(void)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, sleep_for_ever, NULL), 0);
	CHECK_EQ(pthread_cancel(thread), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void try_rows(const struct matrix_row *rows)
{
	for (row = rows; row->functions; row++)
		try_row();
}

static void test_rows(void **state)
{
	(void)state;
	try_rows(matrix_rows);
}

static void test_queue_rows(void **state)
{
	(void)state;
	try_rows(matrix_queue_rows);
}

/* A test that cannot find a cancellation point would find none in the library. */
static int ends[2];

static void make_pipe(void)
{
	CHECK(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
}

static void read_plainly(void)
{
	char byte;

	CHECK_EQ(read(ends[0], &byte, 1), 1);
}

static void test_can_fail(void **state)
{
	static const struct matrix_row bad = { "read", .begin = make_pipe,
					       .act = read_plainly };

	(void)state;
	row = &bad;
	for (unsigned n = 0; n < 2; n++) {
		pid_t child = begin_child(), victim = shared->victim;

		if (n) {
			assert_true(seize(victim));
			assert_true(reaches(victim, 1));
		}
		cancel();
		if (n)
			assert_int_equal(ptrace(PTRACE_DETACH, victim, NULL, NULL), 0);
		shared->go = true;
		assert_int_not_equal(check_reap(child), 0);
	}
}

static bool is_in(const struct matrix_row *rows, const char *name, size_t length)
{
	for (; rows->functions; rows++) {
		const char *at = rows->functions;

		for (; (at = strstr(at, name)); at += length)
			if (at[length] == ' ' || at[length] == '\0')
				return true;
	}
	return false;
}

static const char *map;

static void test_every_function_has_a_row(void **state)
{
	FILE *f = fopen(map, "re");
	char line[256], name[256];
	unsigned found = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %255[a-z0-9_];", name) != 1 ||
		    strncmp(name, "ipcwait_", 8) != 0 ||
		    strncmp(name, "ipcwait_impl_", 13) == 0)
			continue;
		found++;
		if (!is_in(matrix_rows, name, strlen(name)) &&
		    !is_in(matrix_queue_rows, name, strlen(name)))
			fail_msg("%s has no row in tests/ipc/matrix_rows.c", name);
	}
	(void)fclose(f);
	assert_in_range(found, 100, 10000);
}

static bool may_trace(void)
{
	static const struct matrix_row none = { "none", .act = matrix_pause };
	pid_t child;
	bool may;

	row = &none;
	child = begin_child();
	may = ptrace(PTRACE_SEIZE, shared->victim, NULL, NULL) == 0;
	CHECK(kill(child, SIGKILL) == 0);
	if (may)
		while (waitpid(shared->victim, NULL, __WALL) == shared->victim)
			continue;
	(void)check_reap(child);
	return may;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_function_has_a_row),
		cmocka_unit_test(test_can_fail),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_queue_rows),
	};

	char calibration[64];
	int failed;

	CHECK_EQ(argc, 2);
	map = argv[1];
	/* Where one is saved. */
	(void)snprintf(calibration, sizeof(calibration), "/tmp/cancel_matrix_test.%d",
		       (int)getpid());
	check_environment(argv, "IPCWAIT_CALIBRATION", calibration);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	cancel_first();
	if (!may_trace()) {
		print_message("skipped: no thread can be traced here\n");
		return 77;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(calibration);
	return failed;
}
