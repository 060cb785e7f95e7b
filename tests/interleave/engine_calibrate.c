/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "calibrate/calibrate.c"

/* Of the figures, the first so many words. */
#define WATCHED 8

/* Notes of the test's own. */
static volatile unsigned inside, measured, succeeded;

void iw_cpu_mask_of_thread(struct iw_cpu_mask *mask)
{
	memset(mask, 0, sizeof(*mask));
}

unsigned iw_topology_pairs(const struct iw_cpu_mask *may,
			   struct iw_cpu_pair pairs[IPCWAIT_CALIBRATION_PAIRS])
{
	(void)may;
	pairs[0] = (struct iw_cpu_pair){ 0 };
	return 1;
}

enum ipcwait_distance iw_topology_distance(unsigned cpu_a, unsigned cpu_b)
{
	(void)cpu_a;
	(void)cpu_b;
	return (enum ipcwait_distance)0;
}

uint64_t iw_clock_wall_s(void)
{
	return 1;
}

int iw_cancel_off(void)
{
	return 0;
}

void iw_cancel_restore(int saved)
{
	(void)saved;
}

int iw_calibration_store(const struct ipcwait_calibration *c)
{
	(void)c;
	return -ENOENT;
}

bool iw_calibration_path(char path[IW_CONFIG_PATH_BYTES])
{
	(void)path;
	return false;
}

/* Every measurement gives other figures, or none. */
int iw_calibrate(struct iw_calibrating *how, struct ipcwait_calibration *c)
{
	(void)how;
	inside++;
	model_assert(inside == 1);
	model_point();
	inside--;
	if (model_choose(2, "the machine is too busy"))
		return -EAGAIN;
	measured++;
	c->pause_ps = c->line_ns = c->latency_ns = c->waker_ns = measured;
	return 0;
}

static void begin(void)
{
	engine_know_facts();
	engine_process = 1;
	for (unsigned i = 0; i < 2; i++)
		model_share(results[i], WATCHED * sizeof(results[i][0]));
	model_share(&results_count, sizeof(results_count));
	model_share(&claimed_by, sizeof(claimed_by));
	model_name(&results_count, "count");
	model_name(&claimed_by, "claim");
	inside = measured = succeeded = 0;
}

static void calibrate_once(void)
{
	struct ipcwait_calibration c;
	int r = ipcwait_calibrate(NULL, &c);

	model_assert(r == 0 || r == -EBUSY || r == -EAGAIN);
	if (r)
		return;
	succeeded++;
	model_assert(c.pause_ps && c.pause_ps <= measured && c.latency_ns == c.pause_ps);
}

/* All of one calibration, or the table. Returns its number. */
static uint64_t get(void)
{
	struct ipcwait_calibration c;

	model_assert(ipcwait_calibration_get(&c) == 0);
	model_assert(c.latency_ns && c.waker_ns && c.pause_ps == c.line_ns);
	model_assert(!c.pause_ps ||
		     (c.latency_ns == c.pause_ps && c.waker_ns == c.pause_ps));
	return c.pause_ps;
}

static void get_while_measured(unsigned i)
{
	if (i == 2) {
		uint64_t first = get();

		model_assert(get() >= first);
	} else {
		calibrate_once();
	}
}

static void last_one_counts(void)
{
	model_assert(results_count.v == succeeded && measured == succeeded);
	model_assert(get() == measured);
	calibrate_once();
	model_assert(!claimed_by.v);
}

/* A child of fork(), of a parent that was measuring or not. */
static void child_may_calibrate(void)
{
	struct ipcwait_calibration c;

	inside = 0;
	engine_process = 2;
	model_assert(ipcwait_calibrate(NULL, &c) != -EBUSY);
}

const struct model_scenario engine_calibrate[] = {
	{ .name = "calibrate: results",
	  .threads = 3,
	  .about = "one measures at a time; whoever asks gets all of one calibration",
	  .begin = begin,
	  .thread = get_while_measured,
	  .end = last_one_counts,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 2000,
		      .runs_most = 10000 } },
	{ .name = "calibrate: the process is gone",
	  .threads = 3,
	  .process = { 0, 1, 1 },
	  .about = "its claim holds for its threads, and not for a child",
	  .begin = begin,
	  .thread = get_while_measured,
	  .end = child_may_calibrate,
	  .mortal = 1,
	  .faults = { .kills = 1 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 2000,
		      .runs_most = 10000 } },
	{ 0 },
};
