/* SPDX-License-Identifier: MIT */
#include "disturbance.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

double disturbance_seconds(void)
{
	FILE *f = fopen("/proc/stat", "re");
	double user, nice, system, idle, iowait, irq, softirq;
	struct rusage own;
	int n = 0;

	if (f) {
		n = fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system,
			   &idle, &iowait, &irq, &softirq);
		fclose(f);
	}
	if (n != 7 || getrusage(RUSAGE_SELF, &own))
		return -1;
	return (user + nice + system + irq + softirq) / (double)sysconf(_SC_CLK_TCK) -
	       seconds(own.ru_utime) - seconds(own.ru_stime);
}
