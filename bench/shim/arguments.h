/* SPDX-License-Identifier: MIT */
/* What bench_main() is told besides the flags of Google Benchmark. */
#ifndef BENCH_ARGUMENTS_H
#define BENCH_ARGUMENTS_H

#include <string>

struct arguments {
	const char *histograms; /* path, NULL: none wanted */
	double min_time_s;
	/* IPCWAIT_BENCH_SLOW: benchmarks with @slow_text in their name, if it is not empty */
	std::string slow_text;
	double slow_percent;
};

extern struct arguments arguments;

/*
 * Take our own flag out of @argv and look at the others and at the environment.
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int arguments_take(int *argc, char **argv);

void arguments_usage(void);

#endif
