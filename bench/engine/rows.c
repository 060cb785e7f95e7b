/* SPDX-License-Identifier: MIT */
#include "row.h"
#include "../common/place.h"

#include <ipcwait/stats.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAR_WIDTH 30

#define TO_LINE_START_AND_CLEAR "\r\033[K"

const struct row *const rows[ROW_COUNT] = {
	&row_sweep, &row_pairs, &row_one_cpu, &row_hog,      &row_quota,
	&row_ticks, &row_drift, &row_budget,  &row_overhead,
};

bool row_has_two_cpus(struct report *r)
{
	if (place_cpus(NULL, 0) >= 2)
		return true;
	report_unavailable(r, "it needs two usable CPUs");
	return false;
}

double row_block_cost_ns(void)
{
	struct ipcwait_stats st;

	if (ipcwait_stats_get(&st, sizeof(st)) < 0)
		give_up("ipcwait_stats_get() failed");
	return (double)st.block_cost_ns;
}

void row_progress(const struct options *o, const char *name, unsigned done, unsigned all)
{
	char bar[BAR_WIDTH + 1];

	if (!o->progress || !isatty(STDERR_FILENO))
		return;
	memset(bar, '.', BAR_WIDTH);
	memset(bar, '#', all ? BAR_WIDTH * done / all : 0);
	bar[BAR_WIDTH] = 0;
	if (done < all)
		fprintf(stderr, TO_LINE_START_AND_CLEAR "[%s] %s", bar, name);
	else
		fputs(TO_LINE_START_AND_CLEAR, stderr);
}
