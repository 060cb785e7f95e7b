/* SPDX-License-Identifier: MIT */
/* What one thread can measure alone: a wake with nobody asleep, and a sleep on a timer. */
#include <errno.h>
#include <stddef.h>

#include "os/usage.h"
#include "calibrate/phases.h"

/* Calls for one sample, so that reading the ticks does not count. */
#define WAKES_PER_SAMPLE 32

#define TIMED_SLEEP_NS (IW_TIMER_SLICE_NS / IW_SLICE)

struct alone_phase {
	struct iw_team team;
	struct iw_series *series;
	struct iw_team_word nobody;
};

static void wake_nobody(void *arg)
{
	struct alone_phase *p = arg;

	for (unsigned i = 0; i < IW_SLICE; i++) {
		uint64_t preempted = iw_usage_preemptions();
		uint64_t start = iw_tick_now(&p->team.rate), ticks;
		int r = 0;

		for (unsigned k = 0; k < WAKES_PER_SAMPLE && r == 0; k++)
			r = iw_futex_wake(&p->nobody.word.v, 1, true);
		ticks = iw_tick_now(&p->team.rate) - start;
		if (r < 0) {
			iw_team_fail(&p->team, -r);
			return;
		}
		iw_series_add(p->series,
			      iw_tick_to_ns(&p->team.rate, ticks) / WAKES_PER_SAMPLE,
			      iw_usage_preemptions() == preempted);
	}
}

int iw_measure_empty_wake(const struct iw_place *at, struct iw_series *ns)
{
	struct alone_phase p = { .team = iw_place_team(at), .series = ns };

	return iw_team_run(&p.team, wake_nobody, NULL, &p);
}

static void sleep_on_timer(void *arg)
{
	struct alone_phase *p = arg;

	for (unsigned i = 0; i < IW_SLICE; i++) {
		uint64_t preempted = iw_usage_preemptions();
		int64_t deadline = iw_clock_ns() + TIMED_SLEEP_NS, late;
		int r = iw_futex_wait(&p->nobody.word.v, 0, deadline, true);

		late = iw_clock_ns() - deadline;
		if (r < 0 && r != -ETIMEDOUT && r != -EINTR) {
			iw_team_fail(&p->team, -r);
			return;
		}
		iw_series_add(p->series, late < 0 ? 0 : (uint64_t)late,
			      r == -ETIMEDOUT && iw_usage_preemptions() == preempted);
	}
}

int iw_measure_timer(const struct iw_place *at, struct iw_series *ns)
{
	struct alone_phase p = { .team = iw_place_team(at), .series = ns };

	return iw_team_run(&p.team, sleep_on_timer, NULL, &p);
}
