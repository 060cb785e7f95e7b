/* SPDX-License-Identifier: MIT */
/*
 * Waits that come regularly: a thread posts a semaphore at every tick of a clock, another
 * waits for it and notes how long after the post it runs. Ends with what the library has learned.
 *
 *	ticks [PERIOD_US [COUNT]]
 *
 * IPCWAIT_POLICY=latency makes it early, IPCWAIT_POLICY=block shows what sleeping alone does.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#define COUNT_MOST     100000
#define PERIOD_US_MOST 1000000

static struct ipcwait_sem tick;
static int64_t begin_ns, period_ns = 1000000;
static unsigned long count = 2000;
static int64_t posted_ns[COUNT_MOST], late_ns[COUNT_MOST];

static int64_t time_of_tick(unsigned long i)
{
	return begin_ns + (int64_t)(i + 1) * period_ns;
}

static void *post_at_every_tick(void *arg)
{
	(void)arg;
	for (unsigned long i = 0; i < count; i++) {
		struct timespec at = { .tv_sec = time_of_tick(i) / 1000000000,
				       .tv_nsec = time_of_tick(i) % 1000000000 };

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
			continue;
		posted_ns[i] = ipcwait_now_ns();
		if (ipcwait_sem_post(&tick))
			abort();
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void report(void)
{
	char text[IPCWAIT_EXPLAIN_BYTES];

	qsort(late_ns, count, sizeof(late_ns[0]), compare);
	printf("%lu ticks of %" PRId64 " us; after the post it ran within %" PRId64
	       " us for one half, within %" PRId64 " us for 99 of 100\n",
	       count, period_ns / 1000, late_ns[count / 2] / 1000,
	       late_ns[count - 1 - count / 100] / 1000);
	if (ipcwait_explain(&tick.window, text, sizeof(text)) > 0)
		fputs(text, stdout);
}

static _Noreturn void usage(int status)
{
	fprintf(status ? stderr : stdout,
		"usage: ticks [PERIOD_US [COUNT]], up to %d and %d\n", PERIOD_US_MOST,
		COUNT_MOST);
	exit(status);
}

static unsigned long number(const char *text, unsigned long most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text >= '0' && *text <= '9' && !*end && n >= 1 && n <= most)
		return n;
	usage(2);
}

int main(int argc, char **argv)
{
	pthread_t clock;

	if (argc == 2 && !strcmp(argv[1], "--help"))
		usage(0);
	if (argc > 1)
		period_ns = (int64_t)number(argv[1], PERIOD_US_MOST) * 1000;
	if (argc > 2)
		count = number(argv[2], COUNT_MOST);
	if (ipcwait_object_set_name(&tick.window, "tick"))
		return 1;
	begin_ns = ipcwait_now_ns();
	if (pthread_create(&clock, NULL, post_at_every_tick, NULL))
		return 1;
	for (unsigned long i = 0; i < count; i++) {
		ipcwait_sem_wait(&tick);
		late_ns[i] = ipcwait_now_ns() - posted_ns[i];
	}
	pthread_join(clock, NULL);
	report();
	return 0;
}
