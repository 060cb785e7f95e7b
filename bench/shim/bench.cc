/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "arguments.h"
#include "histograms.h"

#include "../common/clock.h"
#include "../../tools/common/complain.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

/* A benchmark has found that something is wrong, rather than not there. */
static bool failed;

struct bench_run {
	benchmark::State *state;
	const char *name;
	int64_t begin_ns;
	bool measured;
};

static std::string format(const char *text, va_list args)
{
	char line[256];

	vsnprintf(line, sizeof(line), text, args);
	return line;
}

/* What IPCWAIT_BENCH_SLOW asks for: be busy for a share of the measured time. */
static int64_t slow_down(const char *name, int64_t wall_ns)
{
	const std::string &text = arguments.slow_text;
	double share = arguments.slow_percent / 100;
	int64_t more_ns = static_cast<int64_t>(static_cast<double>(wall_ns) * share);

	if (text.empty() || !strstr(name, text.c_str()))
		return wall_ns;
	clock_burn_until(clock_now_ns() + more_ns);
	return wall_ns + more_ns;
}

/*
 * One batch of as many iterations as Google Benchmark wants. Its timer, which is there for
 * the CPU time, stands until bench_begin().
 */
static void run_once(benchmark::State &state, bench_fn *fn, const void *arg,
		     const char *name)
{
	bench_run run = { &state, name, 0, false };

	while (state.KeepRunningBatch(state.max_iterations)) {
		state.PauseTiming();
		fn(&run, arg);
		if (!run.measured && !state.error_occurred())
			bench_skip(&run, "failed: it measured nothing");
		if (!state.error_occurred())
			state.ResumeTiming();
	}
}

void bench_add(bench_fn *fn, const void *arg, const char *name, ...)
{
	/* Never shrinks: the names must live as long as the program. */
	static std::set<std::string> *names = new std::set<std::string>;
	va_list args;

	va_start(args, name);
	auto added = names->insert(format(name, args));
	va_end(args);
	if (!added.second)
		give_up("two benchmarks are called %s", added.first->c_str());
	const char *own = added.first->c_str();
	benchmark::RegisterBenchmark(
		own,
		[fn, arg, own](benchmark::State &state) { run_once(state, fn, arg, own); })
		->UseManualTime()
		->MeasureProcessCPUTime()
		->Unit(benchmark::kNanosecond);
}

uint64_t bench_operations(const bench_run *run)
{
	return static_cast<uint64_t>(run->state->max_iterations);
}

void bench_begin(bench_run *run)
{
	run->state->ResumeTiming();
	run->begin_ns = clock_now_ns();
}

void bench_end(bench_run *run)
{
	bench_end_after(run, clock_now_ns() - run->begin_ns);
}

void bench_end_after(bench_run *run, int64_t wall_ns)
{
	wall_ns = slow_down(run->name, wall_ns);
	run->state->PauseTiming();
	run->state->SetIterationTime(static_cast<double>(wall_ns) / 1e9);
	run->measured = true;
}

void bench_counter(bench_run *run, const char *name, double value)
{
	if (std::isfinite(value))
		run->state->counters[name] = value;
}

/*
 * The share @q is told apart from the greatest value only if some values lie beyond it: five,
 * or a percentile would be the chance of one hand-off.
 */
static bool has_quantile(const histogram *h, double q)
{
	return static_cast<double>(h->count) * (1 - q) >= 5;
}

void bench_latency(bench_run *run, const char *name, const histogram *h)
{
	static const struct {
		const char *name;
		double share;
	} points[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p999", 0.999 } };
	auto &counters = run->state->counters;
	std::string prefix = std::string(name) + "_";

	if (!h->count)
		return;
	for (const auto &point : points)
		if (point.share <= 0.5 || has_quantile(h, point.share))
			counters[prefix + point.name + "_ns"] =
				histogram_quantile(h, point.share);
	counters[prefix + "max_ns"] = static_cast<double>(h->max);
	counters[prefix + "mean_ns"] = histogram_mean(h);
	counters[prefix + "count"] = static_cast<double>(h->count);
	if (arguments.histograms)
		histograms_keep(run->name, name, h);
}

void bench_skip(bench_run *run, const char *why, ...)
{
	va_list args;

	va_start(args, why);
	std::string text = format(why, args);
	va_end(args);
	failed = failed || !text.compare(0, 6, "failed");
	histograms_drop(run->name);
	run->state->SkipWithError(text.c_str());
}

double bench_min_time_s(void)
{
	return arguments.min_time_s;
}

void bench_context(const char *key, const char *value)
{
	benchmark::AddCustomContext(key, value);
}

/* Google Benchmark's JSON says how Debian built Google Benchmark, and nothing about us. */
static void add_build(void)
{
	bench_context("measured_by", "bench/shim: CLOCK_MONOTONIC between begin and end");
	bench_context("compiler", BUILD_COMPILER);
	bench_context("compiler_options", BUILD_OPTIONS);
}

static int run_all(int argc, char **argv)
{
	if (benchmark::ReportUnrecognizedArguments(argc, argv))
		return 2;
	if (arguments.histograms && histograms_open(arguments.histograms))
		return 2;
	add_build();
	if (!benchmark::RunSpecifiedBenchmarks()) {
		histograms_abandon();
		return 2; /* it has said that nothing matches */
	}
	benchmark::Shutdown();
	return (arguments.histograms && histograms_complete()) || failed ? 1 : 0;
}

int bench_main(int argc, char **argv)
{
	if (arguments_take(&argc, argv))
		return 2;
	benchmark::Initialize(&argc, argv, arguments_usage);
	return run_all(argc, argv);
}
