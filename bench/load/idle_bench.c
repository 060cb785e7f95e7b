/* SPDX-License-Identifier: MIT */
/*
 * idle_bench [--sleepers N] [--after S] [--seconds S]: what threads cost that wait for nothing to
 * come, on a semaphore each: private ones, which sleep for good, and such as processes may share,
 * which look after their wakers now and then. CPU time of the process; that of the timer's
 * interrupts is not in it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ipcwait/sem.h>
#include <ipcwait/stats.h>

#include "../../tools/common/arguments.h"
#include "../../tools/common/complain.h"

#define SLEEPERS_MOST 10000
#define SECONDS_MOST  3600
#define STACK_BYTES   65536

const char program_name[] = "idle_bench";

struct options {
	uint64_t sleepers, after, seconds;
};

static struct ipcwait_sem sem[SLEEPERS_MOST];

static int set_sleepers(struct options *o, const char *text)
{
	return argument_number("--sleepers", text, 1, SLEEPERS_MOST, &o->sleepers);
}

static int set_after(struct options *o, const char *text)
{
	return argument_number("--after", text, 0, SECONDS_MOST, &o->after);
}

static int set_seconds(struct options *o, const char *text)
{
	return argument_number("--seconds", text, 1, SECONDS_MOST, &o->seconds);
}

static void help(void)
{
	fputs("Usage: idle_bench [--sleepers N] [--after S] [--seconds S]\n\n"
	      "Prints the CPU time that so many threads (1000) take while they wait on "
	      "private\n"
	      "semaphores, and on such as can be shared, from so many seconds after all "
	      "have\n"
	      "gone to sleep (0) for so many seconds (10).\n",
	      stdout);
}

static void *wait_for_ever(void *s)
{
	ipcwait_sem_wait(s);
	return NULL;
}

static double cpu_seconds(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static uint64_t sleeps(void)
{
	struct ipcwait_stats st;

	return ipcwait_stats_get(&st, sizeof(st)) > 0
		       ? st.kind[IPCWAIT_KIND_SEM].futex_waits
		       : 0;
}

static void rest(uint64_t ms)
{
	const struct timespec t = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	(void)nanosleep(&t, NULL);
}

static void measure(const struct options *o, const char *what)
{
	uint64_t sleeps_before, n;
	double before, used;

	while (sleeps() < o->sleepers)
		rest(1);
	rest(o->after * 1000);
	sleeps_before = sleeps();
	before = cpu_seconds();
	rest(o->seconds * 1000);
	used = cpu_seconds() - before;
	n = sleeps() - sleeps_before;
	printf("%-8s %8.2f ms, %.4f %% of a CPU, %llu looks, %.1f us each\n", what,
	       used * 1e3, used / (double)o->seconds * 100, (unsigned long long)n,
	       n ? used * 1e6 / (double)n : 0);
}

/* In a process of its own, which leaves its threads where they are. */
static int run(const struct options *o, const char *what, unsigned flags)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r = pthread_attr_init(&attr);

	r = r ? r : pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (uint64_t i = 0; r == 0 && i < o->sleepers; i++) {
		r = -ipcwait_sem_init(&sem[i], 0, flags);
		r = r ? r : pthread_create(&thread, &attr, wait_for_ever, &sem[i]);
	}
	if (r) {
		complain("%llu threads: %d", (unsigned long long)o->sleepers, r);
		return 1;
	}
	measure(o, what);
	return fflush(stdout) ? 1 : 0;
}

static int run_apart(const struct options *o, const char *what, unsigned flags)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(run(o, what, flags));
	while (child > 0 && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return child < 0 || status;
}

int main(int argc, char **argv)
{
	static const struct argument known[] = {
		{ "--sleepers", ARGUMENT_VALUE, .set = set_sleepers },
		{ "--after", ARGUMENT_VALUE, .set = set_after },
		{ "--seconds", ARGUMENT_VALUE, .set = set_seconds },
		{ "--help", ARGUMENT_PRINT, .print = help },
	};
	static const struct arguments arguments = { known, 4, NULL };
	struct options o = { .sleepers = 1000, .seconds = 10 };
	int r = arguments_parse(&o, &arguments, argc, argv);

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	if (run_apart(&o, "private", IPCWAIT_PRIVATE) || run_apart(&o, "shared", 0))
		give_up("cannot measure");
	return EXIT_DONE;
}
