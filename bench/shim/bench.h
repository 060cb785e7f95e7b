/* SPDX-License-Identifier: MIT */
/*
 * Benchmarks in C over Google Benchmark: names, filters, numbers of operations, JSON and
 * compare.py are its; threads, percentiles and what is measured are ours.
 *
 * A benchmark is a function that is asked for a number of operations and does them once, with
 * threads of its own if it needs some:
 *
 *	static void post_and_wait(struct bench_run *run, const void *arg)
 *	{
 *		uint64_t n = bench_operations(run);
 *		... set up ...
 *		bench_begin(run);
 *		... n operations ...
 *		bench_end(run);
 *	}
 *
 *	void add_post_and_wait(void)
 *	{
 *		bench_add(post_and_wait, NULL, "uncontended/op:%s/impl:%s", "sem", "glibc");
 *	}
 *
 * It is called several times with growing numbers until the measured part is long enough
 * (--benchmark_min_time); the last call counts. The result is the time between begin and end
 * per operation (real_time), and the CPU time of the whole process meanwhile (cpu_time).
 *
 * Names: a question, then dimensions "key:value" between slashes, in the order in which a
 * table would have them. Units are part of the value: wait:5us. Google Benchmark appends
 * "/process_time/manual_time".
 *
 * Environment: IPCWAIT_BENCH_SLOW=TEXT,PERCENT makes every benchmark whose name contains TEXT
 * slower by PERCENT, so that it can be seen whether a comparison notices.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "../common/histogram.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bench_run; /* one call of a benchmark */

typedef void bench_fn(struct bench_run *run, const void *arg);

/* Before bench_main(). @arg must live as long as the program. A name twice ends the program. */
__attribute__((format(printf, 3, 4))) void bench_add(bench_fn *fn, const void *arg,
						     const char *name, ...);

/* How many are to be done, at least 1. */
uint64_t bench_operations(const struct bench_run *run);

/*
 * The measured part, once in every call unless it is skipped. Any thread may call them, one after
 * the other; what it saw before must be visible to the thread of the benchmark when that returns.
 */
void bench_begin(struct bench_run *run);
void bench_end(struct bench_run *run);

/*
 * The same for a part that other threads measure: how long they took, and the process' CPU
 * time is what was used between begin and this call.
 */
void bench_end_after(struct bench_run *run, int64_t wall_ns);

/* A figure beside the time. One that is not finite is left out: it was not available. */
void bench_counter(struct bench_run *run, const char *name, double value);

/*
 * NAME_p50_ns, _p90_, _p99_, _p999_, _max_ and _mean_ns as counters, NAME_count, and the whole
 * for --histograms. A percentile with fewer than five values beyond it is left out; nothing if
 * it is empty.
 */
void bench_latency(struct bench_run *run, const char *name, const struct histogram *h);

/*
 * Instead of a measurement: "not built: ...", "not available: ...", "not yet in ...". And
 * "failed: ..." where something is wrong, which the exit status tells too.
 */
__attribute__((format(printf, 2, 3))) void bench_skip(struct bench_run *run,
						      const char *why, ...);

/* --benchmark_min_time in seconds, for those who limit how long a run may take. */
double bench_min_time_s(void);

/* A line in the context of the JSON: what was measured, before bench_main(). */
void bench_context(const char *key, const char *value);

/*
 * The flags of Google Benchmark, and --histograms=FILE: a line of JSON for each histogram.
 *
 * Return: an exit status: 0, 1 after a failure, 2 if the arguments were wrong.
 */
int bench_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
