/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "histograms.h"

#include "../common/clock.h"
#include "../common/complain.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

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
	const char *text = getenv("IPCWAIT_BENCH_SLOW");
	const char *comma = text ? strrchr(text, ',') : nullptr;
	int64_t more_ns;

	if (!comma || !strstr(name, std::string(text, comma).c_str()))
		return wall_ns;
	more_ns =
		static_cast<int64_t>(static_cast<double>(wall_ns) * atof(comma + 1) / 100);
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

/* Values of our own flag go to @path; what is left is for Google Benchmark. */
static void take_own_flags(int *argc, char **argv, const char **path)
{
	static const char flag[] = "--histograms=";
	int kept = 1;

	for (int i = 1; i < *argc; i++)
		if (!strncmp(argv[i], flag, sizeof(flag) - 1))
			*path = argv[i] + sizeof(flag) - 1;
		else
			argv[kept++] = argv[i];
	argv[kept] = nullptr;
	*argc = kept;
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

void bench_latency(bench_run *run, const char *name, const histogram *h)
{
	static const struct {
		const char *name;
		double share;
	} points[] = { { "p50", 0.5 },
		       { "p90", 0.9 },
		       { "p99", 0.99 },
		       { "p999", 0.999 },
		       { "max", 1 } };

	if (!h->count)
		return;
	for (const auto &point : points)
		run->state->counters[std::string(name) + "_" + point.name + "_ns"] =
			histogram_quantile(h, point.share);
	run->state->counters[std::string(name) + "_mean_ns"] = histogram_mean(h);
	histograms_keep(run->name, name, h);
}

void bench_skip(bench_run *run, const char *why, ...)
{
	va_list args;

	va_start(args, why);
	run->state->SkipWithError(format(why, args).c_str());
	va_end(args);
}

int bench_main(int argc, char **argv)
{
	const char *histograms = nullptr;

	take_own_flags(&argc, argv, &histograms);
	if (histograms && histograms_open(histograms))
		return 2;
	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv))
		return 2;
	if (!benchmark::RunSpecifiedBenchmarks())
		return 2; /* it has said that nothing matches */
	benchmark::Shutdown();
	return histograms && histograms_complete() ? 1 : 0;
}
