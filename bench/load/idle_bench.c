/* SPDX-License-Identifier: MIT */
/*
 * idle_bench [--sleepers N] [--after S] [--seconds S]: what threads cost that wait for nothing to
 * come, on a semaphore each: private ones, which sleep for good, and such as processes may share,
 * which look after their wakers now and then. And all of them as receivers of one channel, where
 * those beyond 1023 are not woken, and look. CPU time of the process; that of the timer's
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

#include <ipcwait/channel.h>
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

/* What is measured, one in a process. */
struct arm {
	const char *name;
	enum ipcwait_kind kind;
	unsigned flags; /* of semaphores */
};

static const struct arm arms[] = {
	{ "private", IPCWAIT_KIND_SEM, IPCWAIT_PRIVATE },
	{ "shared", IPCWAIT_KIND_SEM, 0 },
	{ "channel", IPCWAIT_KIND_CHANNEL, 0 },
};

#define ARMS (sizeof(arms) / sizeof(arms[0]))

static struct ipcwait_sem sem[SLEEPERS_MOST];
static struct ipcwait_channel *channel;

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
	      "semaphores, on such as can be shared, and for one channel, from this many "
	      "seconds\n"
	      "after all have gone to sleep (0) for this many seconds (10).\n",
	      stdout);
}

static void *wait_for_ever(void *s)
{
	ipcwait_sem_wait(s);
	return NULL;
}

static void *receive_for_ever(void *elem)
{
	(void)!ipcwait_channel_recv(channel, elem);
	return NULL;
}

static double cpu_seconds(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static uint64_t sleeps(enum ipcwait_kind kind)
{
	struct ipcwait_stats st;

	return ipcwait_stats_get(&st, sizeof(st)) > 0 ? st.kind[kind].futex_waits : 0;
}

static void rest(uint64_t ms)
{
	const struct timespec t = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	(void)nanosleep(&t, NULL);
}

static void measure(const struct options *o, const struct arm *arm)
{
	uint64_t sleeps_before, n;
	double before, used;

	while (sleeps(arm->kind) < o->sleepers)
		rest(1);
	rest(o->after * 1000);
	sleeps_before = sleeps(arm->kind);
	before = cpu_seconds();
	rest(o->seconds * 1000);
	used = cpu_seconds() - before;
	n = sleeps(arm->kind) - sleeps_before;
	printf("%-8s %8.2f ms, %.4f %% of a CPU, %llu looks, %.1f us each\n", arm->name,
	       used * 1e3, used / (double)o->seconds * 100, (unsigned long long)n,
	       n ? used * 1e6 / (double)n : 0);
}

static int start(const pthread_attr_t *attr, const struct arm *arm, struct ipcwait_sem *s)
{
	static long elem;
	pthread_t thread;
	int r;

	if (arm->kind == IPCWAIT_KIND_CHANNEL)
		return pthread_create(&thread, attr, receive_for_ever, &elem);
	r = -ipcwait_sem_init(s, 0, arm->flags);
	return r ? r : pthread_create(&thread, attr, wait_for_ever, s);
}

/* In a process of its own, which leaves its threads where they are. */
static int run(const struct options *o, const struct arm *arm)
{
	struct ipcwait_channel_params params = { .elem_size = sizeof(long),
						 .capacity = 16 };
	pthread_attr_t attr;
	int r = pthread_attr_init(&attr);

	channel = ipcwait_channel_create(&params);
	r = channel ? r : ENOMEM;
	r = r ? r : pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (uint64_t i = 0; r == 0 && i < o->sleepers; i++)
		r = start(&attr, arm, &sem[i]);
	if (r) {
		complain("%llu threads: %d", (unsigned long long)o->sleepers, r);
		return 1;
	}
	measure(o, arm);
	return fflush(stdout) ? 1 : 0;
}

static int run_apart(const struct options *o, const struct arm *arm)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(run(o, arm));
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
	for (size_t i = 0; i < ARMS; i++)
		if (run_apart(&o, &arms[i]))
			give_up("cannot measure");
	return EXIT_DONE;
}
