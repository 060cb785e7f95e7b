/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"

/*
 * Limits for a test that is stuck. They are long because a machine may compute for others, and stop
 * a test for most of the time (tests/common/disturb.py). A test that works never waits for them.
 */
#define EVENTUALLY_NS   INT64_C(100000000000)
#define WATCHDOG_FACTOR 5

void (*check_watchdog_report)(void);

void check_failed(const char *file, int line, const char *what)
{
	dprintf(STDERR_FILENO, "%s:%d: failed: %s\n", file, line, what);
	_exit(EXIT_FAILURE);
}

void check_equal(const char *file, int line, const char *what, long long is, long long want)
{
	if (is == want)
		return;
	dprintf(STDERR_FILENO, "%s:%d: %s is %lld, not %lld\n", file, line, what, is, want);
	_exit(EXIT_FAILURE);
}

static void on_alarm(int signal)
{
	static const char text[] = "watchdog: the test is stuck\n";

	(void)signal;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	if (check_watchdog_report)
		check_watchdog_report();
	_exit(EXIT_FAILURE);
}

void check_watchdog(unsigned seconds)
{
	struct sigaction action = { .sa_handler = on_alarm };

	CHECK(sigaction(SIGALRM, &action, NULL) == 0);
	(void)alarm(seconds * WATCHDOG_FACTOR);
}

int check_reap(pid_t child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0)
		CHECK(errno == EINTR);
	return status;
}

void check_environment(char **argv, const char *name, const char *value)
{
	const char *now = getenv(name);

	if (now && strcmp(now, value) == 0)
		return;
	CHECK_EQ(setenv(name, value, 1), 0);
	(void)execv("/proc/self/exe", argv);
	CHECK(!"execv() failed");
}

/* To ThreadSanitizer a child of fork(2) has leaked the threads of its parent. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "report_thread_leaks=0";
}

int check_in_child(void (*body)(void))
{
	pid_t child;

	(void)fflush(NULL);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		check_watchdog(60);
		body();
		(void)fflush(NULL);
		_exit(EXIT_SUCCESS);
	}
	return check_reap(child);
}

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool check_eventually(bool (*condition)(void *arg), void *arg)
{
	const struct timespec pause = { 0, 20000 };
	int64_t end = now_ns() + EVENTUALLY_NS;

	while (!condition(arg)) {
		if (now_ns() > end)
			return false;
		(void)nanosleep(&pause, NULL);
	}
	return true;
}

uint64_t check_seed(void)
{
	const char *text = getenv("IW_TEST_SEED");
	uint64_t seed =
		text ? strtoull(text, NULL, 0) : (uint64_t)now_ns() ^ (uint64_t)getpid();

	printf("# IW_TEST_SEED=%" PRIu64 "\n", seed);
	(void)fflush(stdout);
	return seed | 1;
}

/* Splitmix64, Steele, Lea, Flood 2014. */
uint64_t check_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}
