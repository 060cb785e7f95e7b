/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include <ipcwait/stats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static int64_t timespec_ns(const struct timespec *t)
{
	return t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
}

int64_t measure_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return timespec_ns(&t);
}

/* The clock, because rusage can be a tick behind for a thread that runs. */
void measure_thread(struct thread_cost *cost)
{
	struct timespec cpu;
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	cost->cpu_ns = timespec_ns(&cpu);
	cost->switches_voluntary = u.ru_nvcsw;
	cost->switches_involuntary = u.ru_nivcsw;
}

void measure_thread_since(struct thread_cost *cost, const struct thread_cost *before)
{
	measure_thread(cost);
	cost->cpu_ns -= before->cpu_ns;
	cost->switches_voluntary -= before->switches_voluntary;
	cost->switches_involuntary -= before->switches_involuntary;
}

void measure_library(struct library_cost *cost)
{
	struct ipcwait_stats st;

	memset(cost, 0, sizeof(*cost));
	if (ipcwait_stats_get(&st, sizeof(st)) < 0)
		return;
	for (int i = 0; i < IPCWAIT_KIND_COUNT; i++) {
		cost->futex_waits += st.kind[i].futex_waits;
		cost->futex_wakes += st.kind[i].futex_wakes;
		cost->spun += st.kind[i].spun;
		cost->slept += st.kind[i].slept;
	}
	cost->same_cpu = st.reasons[IPCWAIT_REASON_SAME_CPU];
	cost->block_cost_ns = st.block_cost_ns;
	cost->block_samples = st.block_samples;
}

void measure_library_since(struct library_cost *cost, const struct library_cost *before)
{
	measure_library(cost);
	cost->futex_waits -= before->futex_waits;
	cost->futex_wakes -= before->futex_wakes;
	cost->spun -= before->spun;
	cost->slept -= before->slept;
	cost->same_cpu -= before->same_cpu;
}

void measure_library_add(struct library_cost *sum, const struct library_cost *more)
{
	sum->futex_waits += more->futex_waits;
	sum->futex_wakes += more->futex_wakes;
	sum->spun += more->spun;
	sum->slept += more->slept;
	sum->same_cpu += more->same_cpu;
	sum->block_cost_ns = more->block_cost_ns;
	sum->block_samples = more->block_samples;
}

/* The numbers between the name and the description: "RES:  4362  5633  Rescheduling ..." */
static int64_t sum_of_cpus(const char *line)
{
	const char *p = strchr(line, ':');
	int64_t sum = 0;
	char *end;

	if (!p)
		return 0;
	for (p++;; p = end) {
		long long n = strtoll(p, &end, 10);

		if (end == p)
			return sum;
		sum += n;
	}
}

/*
 * The descriptions are the same on all CPUs; the names are not: RES and CAL on x86, IPI0
 * and IPI1 on ARM and RISC-V.
 */
void measure_interrupts(struct interrupts *count)
{
	FILE *f = fopen("/proc/interrupts", "re");
	unsigned found = 0;
	char *line = NULL;
	size_t size = 0;

	memset(count, 0, sizeof(*count));
	while (f && getline(&line, &size, f) > 0) {
		if (strstr(line, "Rescheduling interrupts")) {
			count->rescheduling = sum_of_cpus(line);
			found |= 1;
		} else if (strstr(line, "Function call interrupts")) {
			count->function_calls = sum_of_cpus(line);
			found |= 2;
		}
	}
	count->available = found == 3;
	free(line);
	if (f)
		fclose(f);
}

void measure_interrupts_since(struct interrupts *count, const struct interrupts *before)
{
	measure_interrupts(count);
	count->available &= before->available;
	count->rescheduling -= before->rescheduling;
	count->function_calls -= before->function_calls;
}
