/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "os/file.h"
#include "os/usage.h"

/* Room for the lines of about 200 CPUs. */
#define STAT_BYTES 16384

/* user nice system idle iowait irq softirq steal */
#define STEAL_FIELD 8

uint32_t iw_usage_process(void)
{
	return (uint32_t)getpid();
}

uint64_t iw_usage_preemptions(void)
{
	struct rusage usage;
	int saved_errno = errno;
	int failed = getrusage(RUSAGE_THREAD, &usage);

	errno = saved_errno;
	return failed ? 0 : (uint64_t)usage.ru_nivcsw;
}

uint64_t iw_usage_cpu_ns(void)
{
	struct timespec now = { 0, 0 };

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The steal time in the line that begins with @name and a blank. */
static int steal_in_line(const char *text, const char *name, uint64_t *steal)
{
	const char *at = text;
	size_t length = strlen(name);

	while (at && (strncmp(at, name, length) != 0 || at[length] != ' ')) {
		at = strchr(at, '\n');
		at += at ? 1 : 0;
	}
	if (!at)
		return -1;
	at += length;
	for (int field = 0; field < STEAL_FIELD; field++) {
		char *end;

		*steal = strtoull(at, &end, 10);
		if (end == at)
			return -1;
		at = end;
	}
	return 0;
}

static int steal_of_cpu(const char *text, unsigned cpu, uint64_t *steal)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "cpu%u", cpu);
	return steal_in_line(text, name, steal);
}

static uint64_t steal_in(const char *text, unsigned cpu_a, unsigned cpu_b)
{
	uint64_t a, b, all;

	if (!steal_of_cpu(text, cpu_a, &a) && !steal_of_cpu(text, cpu_b, &b))
		return a + b;
	return steal_in_line(text, "cpu", &all) ? 0 : all;
}

uint64_t iw_usage_steal(unsigned cpu_a, unsigned cpu_b)
{
	char text[STAT_BYTES];
	int saved_errno = errno;
	uint64_t steal = 0;

	if (iw_file_read("/proc/stat", text, sizeof(text)) > 0)
		steal = steal_in(text, cpu_a, cpu_b);
	errno = saved_errno;
	return steal;
}
