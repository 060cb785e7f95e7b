/* SPDX-License-Identifier: MIT */
#include "machine.h"
#include "../common/clock.h"
#include "../common/place.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#define NOT_AVAILABLE "not available"
#define CPU_SYS       "/sys/devices/system/cpu/"

/* The first line of a file without its end. */
static void read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");

	if (f && fgets(line, size, f))
		line[strcspn(line, "\n")] = 0;
	else
		snprintf(line, (size_t)size, "%s", NOT_AVAILABLE);
	if (f)
		fclose(f);
}

/* The first CPU's model; some architectures do not tell. */
static void read_model(char *model, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[4096];
	bool found = false;

	snprintf(model, size, "%s", NOT_AVAILABLE);
	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');

		found = colon && colon[1] && !strncmp(line, "model name", 10);
		if (found)
			snprintf(model, size, "%.*s", (int)strcspn(colon + 2, "\n"),
				 colon + 2);
	}
	if (f)
		fclose(f);
}

static void read_kernel(char *kernel, size_t size)
{
	struct utsname u;

	if (uname(&u))
		snprintf(kernel, size, "%s", NOT_AVAILABLE);
	else
		snprintf(kernel, size, "%.20s %.50s %.20s", u.sysname, u.release,
			 u.machine);
}

void machine_read(struct machine *m)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	read_model(m->cpu, sizeof(m->cpu));
	read_kernel(m->kernel, sizeof(m->kernel));
	read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		  m->clock_source, sizeof(m->clock_source));
	read_line(CPU_SYS "cpuidle/current_driver", m->idle_driver, sizeof(m->idle_driver));
	read_line(CPU_SYS "cpuidle/current_governor_ro", m->idle_governor,
		  sizeof(m->idle_governor));
	read_line("/sys/module/haltpoll/parameters/guest_halt_poll_ns",
		  m->guest_halt_poll_ns, sizeof(m->guest_halt_poll_ns));
	read_line("/proc/loadavg", m->load_average, sizeof(m->load_average));
	m->load_average[strcspn(m->load_average, " ")] = 0;
	m->cpus_usable = place_cpus(NULL, 0);
	m->cpus_online = online > 0 ? (unsigned)online : 1;
	m->clock_cost_ns = (unsigned)clock_cost_ns();
}

/*
 * The first line of /proc/stat, in ticks: user nice system idle iowait irq softirq steal;
 * guest times are part of user and nice.
 */
double machine_cpu_seconds(void)
{
	FILE *f = fopen("/proc/stat", "re");
	long long t[8] = { 0 };
	int n = f ? fscanf(f, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &t[0], &t[1],
			   &t[2], &t[3], &t[4], &t[5], &t[6], &t[7])
		  : 0;

	if (f)
		fclose(f);
	if (n < 7)
		return -1;
	return (double)(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) /
	       (double)sysconf(_SC_CLK_TCK);
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

double machine_own_cpu_seconds(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_CHILDREN, &u))
		return 0;
	return seconds(&u.ru_utime) + seconds(&u.ru_stime);
}
