/* SPDX-License-Identifier: MIT */
#include "usage.h"
#include "row.h"

#include <ipcwait/base.h>

#include <stdio.h>

static const char before_rows[] =
	"Usage: wait_bench ROW... [OPTION]...\n"
	"       wait_bench --all [OPTION]...\n"
	"\n"
	"Does the waiting engine keep its promises on this machine? Each row asks one\n"
	"question and is measured in a process of its own; docs/benchmarks/wait_bench.md\n"
	"explains them.\n"
	"\n"
	"Rows:\n";

static const char after_rows[] =
	"\n"
	"  --all           all rows\n"
	"  --repeat N      rounds, in each of which every variant runs once (default 5); "
	"from\n"
	"                  3 on the first and the last are dropped; the table shows "
	"medians\n"
	"  --scale PERCENT of the default lengths (default 100); below 100 to try things "
	"out\n"
	"  --wakes WHICH   as the machine has them (found, the default); cheap, while\n"
	"                  " WAKES_DEVICE " is held at 0; or both: each row twice\n"
	"  --tick HOW      ticks are made by a busy thread (busy, the default) or by a "
	"timer\n"
	"                  (timer)\n"
	"  --json FILE     also write all rounds, medians, bars and the machine to FILE\n"
	"  --no-progress   no progress bar (there is none either if stderr is no "
	"terminal)\n"
	"  --check         exit with 3 if a bar is not reached\n"
	"  --help, --version\n"
	"\n"
	"A saved calibration is not used unless IPCWAIT_CALIBRATION says so.\n"
	"\n"
	"Exit status: 0 done; 1 a row failed; 2 bad arguments, nothing was run; 3 see\n"
	"--check.\n";

void usage_print_help(void)
{
	fputs(before_rows, stdout);
	for (unsigned i = 0; i < ROW_COUNT; i++)
		printf("  %-13s %3.0f s  %s\n", rows[i]->name, rows[i]->seconds,
		       rows[i]->what);
	fputs(after_rows, stdout);
}

void usage_print_version(void)
{
	printf("wait_bench, libipcwait %s\n", ipcwait_version());
}
