/* SPDX-License-Identifier: MIT */
/*
 * The measurements that make up a calibration, one function each. They add one slice of
 * samples to a series and return 0 or the negative errno of lib/calibrate/team.h. That
 * samples had to be discarded is no error.
 */
#ifndef IW_CALIBRATE_PHASES_H
#define IW_CALIBRATE_PHASES_H

#include <stdint.h>

#include "calibrate/samples.h"
#include "calibrate/team.h"

/* Where, and by which ticks. */
struct iw_place {
	struct iw_tick_rate rate; /* ticks that both CPUs agree on */
	unsigned cpu_a, cpu_b;
};

struct iw_team iw_place_team(const struct iw_place *at);

/* One pause, in picoseconds. */
int iw_measure_pause(const struct iw_place *at, struct iw_series *ps);

/* A cache line there and back. */
int iw_measure_line(const struct iw_place *at, struct iw_series *ns);

/* How far the second CPU's ticks are ahead, wrong by half a round trip at worst. */
int iw_measure_offset(const struct iw_place *at, int64_t *ns);

/* A wake with nobody asleep. */
int iw_measure_empty_wake(const struct iw_place *at, struct iw_series *ns);

/* How late a timed sleep ends. */
int iw_measure_timer(const struct iw_place *at, struct iw_series *ns);

/* Wakes after a sleep of @idle_ns: how late the sleeper runs, and what the waker pays. */
int iw_measure_wakes(const struct iw_place *at, uint64_t idle_ns, struct iw_series *late,
		     struct iw_series *waker);

/* CPU time of the sleeper for one sleep. */
int iw_measure_sleeper(const struct iw_place *at, struct iw_series *ns);

/* What a slice of the last three takes by plan, in ns. */
#define IW_TIMER_SLICE_NS   8000000
#define IW_SLEEPER_SLICE_NS 3000000
uint64_t iw_measure_wakes_planned_ns(uint64_t idle_ns);

#endif
