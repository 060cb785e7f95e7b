/* SPDX-License-Identifier: MIT */
/*
 * What the small programs of bench/preload share. A program runs for a time, not for a number of
 * operations, so that one that is twenty times as fast is measured as well. It prints a line
 * "begin" when it is warm, and at the end a line of JSON: operations, and seconds since "begin".
 */
#ifndef PRELOAD_METER_H
#define PRELOAD_METER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of the time that is measured, before it. */
#define METER_WARM 0.25

struct meter {
	double seconds, at;  /* length; when this part began */
	uint64_t operations; /* in this part */
	uint64_t look_at;    /* at so many the clock is looked at */
	uint64_t stride;
	bool begun;
};

static inline double meter_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void meter_start(struct meter *m, double seconds, uint64_t stride)
{
	m->seconds = seconds;
	m->operations = 0;
	m->look_at = m->stride = stride;
	m->begun = false;
	m->at = meter_now();
}

static inline void meter_begin(struct meter *m)
{
	puts("begin");
	fflush(stdout);
	m->begun = true;
	m->operations = 0;
	m->at = meter_now();
}

/* The clock, at last: is there more to do? */
static inline bool meter_look(struct meter *m)
{
	double past = meter_now() - m->at;

	m->look_at = m->operations + m->stride;
	if (!m->begun && past >= m->seconds * METER_WARM) {
		meter_begin(m);
		m->look_at = m->stride;
	} else if (m->begun && past >= m->seconds) {
		m->seconds = past;
		return false;
	}
	return true;
}

/* After each operation. */
static inline bool meter_on(struct meter *m)
{
	return ++m->operations < m->look_at || meter_look(m);
}

static inline int meter_show(uint64_t operations, double seconds)
{
	printf("{\"ops\": %llu, \"seconds\": %.9f}\n", (unsigned long long)operations,
	       seconds);
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* PROGRAM WORKLOAD SECONDS. Return: 0 if there is no such time. */
static inline double meter_seconds(int argc, char **argv)
{
	char *end = NULL;
	double seconds = argc == 3 ? strtod(argv[2], &end) : 0;

	return end && !*end && seconds > 0 && seconds <= 3600 ? seconds : 0;
}

static inline int meter_usage(const char *workloads)
{
	fprintf(stderr, "want one of %s; and SECONDS, up to 3600\n", workloads);
	return 2;
}

#endif
