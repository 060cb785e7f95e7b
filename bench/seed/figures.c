/* SPDX-License-Identifier: MIT */
#include "figures.h"

#include "../common/clock.h"

#include <stdio.h>

void figures_begin(struct figures *f)
{
	getrusage(RUSAGE_SELF, &f->before);
	f->began_ns = clock_now_ns();
}

/* The peak of this program alone: getrusage() also counts who started it. 0: unknown. */
static uint64_t peak_rss_kb(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long kb = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %lu", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static double seconds_between(const struct timeval *a, const struct timeval *b)
{
	return (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_usec - a->tv_usec) * 1e-6;
}

void figures_end(struct figures *f, struct json *j)
{
	int64_t ended_ns = clock_now_ns();
	uint64_t peak = peak_rss_kb();
	struct rusage now;

	getrusage(RUSAGE_SELF, &now);
	json_number(j, "seconds", (double)(ended_ns - f->began_ns) * 1e-9);
	json_number(j, "user_seconds", seconds_between(&f->before.ru_utime, &now.ru_utime));
	json_number(j, "system_seconds",
		    seconds_between(&f->before.ru_stime, &now.ru_stime));
	json_whole(j, "voluntary_switches", (uint64_t)(now.ru_nvcsw - f->before.ru_nvcsw));
	json_whole(j, "involuntary_switches",
		   (uint64_t)(now.ru_nivcsw - f->before.ru_nivcsw));
	json_whole(j, "page_faults", (uint64_t)(now.ru_minflt - f->before.ru_minflt));
	if (peak)
		json_whole(j, "max_rss_kb", peak);
	else
		json_text(j, "max_rss_kb_missing", "not available: no VmHWM in /proc");
}
