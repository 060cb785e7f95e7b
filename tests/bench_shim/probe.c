/* SPDX-License-Identifier: MIT */
/* Benchmarks whose figures are known, for the tests of the shim. */
#include "../../bench/common/clock.h"
#include "../../bench/shim/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "shim_probe";

#define OPERATION_NS 20000

static void busy(uint64_t operations)
{
	clock_burn_until(clock_now_ns() + (int64_t)operations * OPERATION_NS);
}

/* What is outside of begin and end must not count: three times as much. */
static void measured_part(struct bench_run *run, const void *arg)
{
	uint64_t n = bench_operations(run);

	(void)arg;
	busy(n);
	bench_begin(run);
	busy(n);
	bench_end(run);
	busy(2 * n);
}

static void given_time(struct bench_run *run, const void *arg)
{
	(void)arg;
	bench_begin(run);
	bench_end_after(run, (int64_t)bench_operations(run) * 1000000);
}

static void counters(struct bench_run *run, const void *arg)
{
	struct histogram *h = calloc(1, sizeof(*h));

	(void)arg;
	bench_begin(run);
	busy(bench_operations(run));
	bench_end(run);
	for (unsigned v = 0; v < 1000; v++)
		histogram_add(h, v % 100 + 1);
	bench_latency(run, "latency", h);
	bench_counter(run, "share", 0.25);
	bench_counter(run, "nowhere", NAN);
	bench_latency(run, "nothing", &(struct histogram){ 0 });
	free(h);
}

static void nothing(struct bench_run *run, const void *arg)
{
	(void)run;
	(void)arg;
}

static void missing(struct bench_run *run, const void *arg)
{
	bench_skip(run, "not built: %s", (const char *)arg);
}

int main(int argc, char **argv)
{
	bench_add(measured_part, NULL, "time/impl:%s", "part");
	bench_add(given_time, NULL, "time/impl:given");
	bench_add(counters, NULL, "counters/impl:some");
	bench_add(nothing, NULL, "errors/impl:nothing");
	bench_add(missing, "libnone-dev", "errors/impl:missing");
	if (argc > 1 && !strcmp(argv[1], "--twice"))
		bench_add(nothing, NULL, "time/impl:part");
	return bench_main(argc, argv);
}
