/* SPDX-License-Identifier: MIT */
#include "row.h"
#include "../../tools/common/bar.h"
#include "../../tools/common/place.h"

#include <ipcwait/stats.h>

#include <stdio.h>

const struct row *const rows[ROW_COUNT] = {
	&row_sweep,         &row_pairs,  &row_one_cpu,  &row_hog,   &row_quota,  &row_ticks,
	&row_drift,         &row_budget, &row_overhead, &row_cold,  &row_sleep,  &row_short,
	&row_pairs_at_once, &row_start,  &row_together, &row_again, &row_beside,
};

bool row_has_two_cpus(struct report *r)
{
	if (place_cpus(NULL, 0) >= 2)
		return true;
	report_unavailable(r, "it needs two usable CPUs");
	return false;
}

void row_name_wait(char name[24], double us)
{
	if (us >= 1000)
		snprintf(name, 24, "%g ms", us / 1000);
	else
		snprintf(name, 24, us < 10 ? "%.1f us" : "%.0f us", us);
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
	if (o->no_progress)
		return;
	if (done < all)
		bar_draw((double)done / all, "%s", name);
	else
		bar_clear();
}
