/* SPDX-License-Identifier: MIT */
#include "arguments.h"

#include "../../tools/common/complain.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

struct arguments arguments = { nullptr, 0.5, "", 0 };

static const char *value_of(const char *argument, const char *flag)
{
	size_t length = strlen(flag);

	return strncmp(argument, flag, length) ? nullptr : argument + length;
}

/* "TEXT,PERCENT". A slowed result must never be taken for another: it says so. */
static int read_slow(const char *text)
{
	const char *comma = strrchr(text, ',');
	char *end = nullptr;

	if (comma)
		arguments.slow_percent = strtod(comma + 1, &end);
	if (!comma || comma == text || end == comma + 1 || *end ||
	    !(arguments.slow_percent >= 1 && arguments.slow_percent <= 10000))
		return complain(
			"IPCWAIT_BENCH_SLOW: want a part of a name, a comma, and 1 to "
			"10000 percent, not '%s'",
			shown(text, 40));
	arguments.slow_text.assign(text, comma);
	benchmark::AddCustomContext("slowed", text);
	return 0;
}

int arguments_take(int *argc, char **argv)
{
	const char *slow = getenv("IPCWAIT_BENCH_SLOW");
	bool repeated = false;
	int kept = 1;

	for (int i = 1; i < *argc; i++) {
		const char *value = value_of(argv[i], "--histograms=");

		if (value)
			arguments.histograms = value;
		else
			argv[kept++] = argv[i];
		value = value_of(argv[i], "--benchmark_min_time=");
		if (value)
			arguments.min_time_s = atof(value);
		value = value_of(argv[i], "--benchmark_repetitions=");
		repeated = value ? atoi(value) > 1 : repeated;
	}
	argv[kept] = nullptr;
	*argc = kept;
	if (repeated && arguments.histograms)
		return complain("--histograms has no room for --benchmark_repetitions: "
				"start the program again for each");
	return slow ? read_slow(slow) : 0;
}

void arguments_usage(void)
{
	printf("Usage: %s [--histograms=FILE] [FLAG OF GOOGLE BENCHMARK]...\n\n"
	       "  --histograms=FILE  a line of JSON for each histogram\n\n"
	       "Environment: IPCWAIT_BENCH_SLOW=TEXT,PERCENT makes what has TEXT in its "
	       "name\n"
	       "slower, to see whether a comparison notices.\n\n"
	       "Google Benchmark's own:\n",
	       program_name);
	benchmark::PrintDefaultHelp();
}
