/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "env/calibration_rules.h"
#include "calibrate/calibrate.h"
#include "calibrate/phases.h"

/*
 * How far two CPUs' counters may be apart, in ns, to be compared: 1 % of the latencies that
 * matter. Otherwise the kernel's clock is taken, on which all CPUs agree.
 */
#define OFFSET_NS_MOST 200

/* With one batch the pairs after the first are measured up to this idle age, in ns. */
#define SHORT_AGES_NS 200000

#define NS_PER_US 1000

/* The figures of a pair. The first group only of the first pair. */
struct series {
	struct iw_series pause, empty_wake, sleeper, timer;
	struct iw_series line, late[IPCWAIT_IDLE_AGES], waker[IPCWAIT_IDLE_AGES];
};

struct iw_team iw_place_team(const struct iw_place *at)
{
	return (struct iw_team){ .rate = at->rate, .cpu = { at->cpu_a, at->cpu_b } };
}

static bool age_wanted(const struct iw_calibrating *how, unsigned pair, unsigned age)
{
	return pair == 0 || how->batches > 1 || iw_idle_ages[age] <= SHORT_AGES_NS;
}

static void plan(struct iw_calibrating *how)
{
	uint64_t ns = IW_SLEEPER_SLICE_NS + IW_TIMER_SLICE_NS;

	for (unsigned i = 0; i < how->pairs; i++)
		for (unsigned age = 0; age < IPCWAIT_IDLE_AGES; age++)
			if (age_wanted(how, i, age))
				ns += iw_measure_wakes_planned_ns(iw_idle_ages[age]);
	how->planned_ns = ns * how->batches * IW_SLICES;
}

/* Something is done that was planned to take @ns. Told in microseconds. */
static void advance(struct iw_calibrating *how, uint64_t ns)
{
	how->done_ns += ns;
	if (how->progress)
		how->progress(how->progress_arg, (uint32_t)(how->done_ns / NS_PER_US),
			      (uint32_t)(how->planned_ns / NS_PER_US));
}

/* One direction of a way between two CPUs is measured by comparing their counters. */
static int agree_on_ticks(struct iw_place *at, struct ipcwait_calibration *c)
{
	const struct iw_tick_rate clock = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 };
	int64_t offset = 0;
	int r = iw_measure_offset(at, &offset);

	if (llabs(offset) > llabs(c->counter_offset_ns))
		c->counter_offset_ns = offset;
	if (!at->rate.counter || llabs(offset) > OFFSET_NS_MOST) {
		c->counter_one_way = 0;
		at->rate = clock;
	}
	return r;
}

static int first_pair_slice(struct iw_calibrating *how, const struct iw_place *at,
			    struct series *s)
{
	int r = iw_measure_pause(at, &s->pause);

	if (!r)
		r = iw_measure_empty_wake(at, &s->empty_wake);
	if (!r)
		r = iw_measure_sleeper(at, &s->sleeper);
	if (!r)
		r = iw_measure_timer(at, &s->timer);
	advance(how, IW_SLEEPER_SLICE_NS + IW_TIMER_SLICE_NS);
	return r;
}

static int slice(struct iw_calibrating *how, unsigned pair, const struct iw_place *at,
		 struct series *s)
{
	int r = pair == 0 ? first_pair_slice(how, at, s) : 0;

	if (!r)
		r = iw_measure_line(at, &s->line);
	for (unsigned age = 0; age < IPCWAIT_IDLE_AGES && !r; age++) {
		if (!age_wanted(how, pair, age))
			continue;
		r = iw_measure_wakes(at, iw_idle_ages[age], &s->late[age], &s->waker[age]);
		advance(how, iw_measure_wakes_planned_ns(iw_idle_ages[age]));
	}
	return r;
}

static int batch(struct iw_calibrating *how, unsigned pair, const struct iw_place *at,
		 struct series *s)
{
	int r = 0;

	for (unsigned i = 0; i < IW_SLICES && !r; i++)
		r = slice(how, pair, at, s);
	iw_series_close(&s->pause);
	iw_series_close(&s->empty_wake);
	iw_series_close(&s->sleeper);
	iw_series_close(&s->timer);
	iw_series_close(&s->line);
	for (unsigned age = 0; age < IPCWAIT_IDLE_AGES; age++) {
		iw_series_close(&s->late[age]);
		iw_series_close(&s->waker[age]);
	}
	return r;
}

static struct iw_summary counted(struct ipcwait_calibration *c, const struct iw_series *s)
{
	struct iw_summary sum = iw_series_sum(s);

	c->samples_used += sum.used;
	c->samples_discarded += sum.discarded;
	return sum;
}

static void conclude_single_figures(struct ipcwait_calibration *c, const struct series *s)
{
	struct iw_summary timer = counted(c, &s->timer);

	c->pause_ps = counted(c, &s->pause).median_ns;
	c->empty_wake_ns = counted(c, &s->empty_wake).median_ns;
	c->sleeper_cpu_ns = counted(c, &s->sleeper).median_ns;
	c->timer_ns = timer.median_ns;
	c->timer_p90_ns = timer.p90_ns;
}

/* What the waker pays is what its wake takes longer than one with nobody asleep. */
static void conclude_age(struct ipcwait_calibration *c, struct ipcwait_wake_latency *l,
			 const struct iw_series *late, const struct iw_series *waker)
{
	struct iw_summary sum = counted(c, late);
	uint64_t paid = iw_series_sum(waker).median_ns;

	l->discarded = sum.discarded;
	if (!sum.used)
		return;
	l->used = sum.used;
	l->p10_ns = sum.p10_ns;
	l->median_ns = sum.median_ns;
	l->p90_ns = sum.p90_ns;
	l->waker_ns = paid > c->empty_wake_ns ? paid - c->empty_wake_ns : 1;
}

static void conclude_pair(struct ipcwait_calibration *c, unsigned i, const struct series *s)
{
	struct ipcwait_calibration_pair *pair = &c->pair[i];

	if (i == 0)
		conclude_single_figures(c, s);
	pair->line_ns = counted(c, &s->line).median_ns;
	for (unsigned age = 0; age < IPCWAIT_IDLE_AGES; age++) {
		pair->latency[age].idle_ns = iw_idle_ages[age];
		conclude_age(c, &pair->latency[age], &s->late[age], &s->waker[age]);
	}
}

static int measure_pair(struct iw_calibrating *how, unsigned i,
			struct ipcwait_calibration *c)
{
	const struct iw_cpu_pair *pair = &how->pair[i];
	struct iw_place at = {
		.rate = how->rate,
		.cpu_a = pair->cpu_a,
		.cpu_b = pair->cpu_b,
	};
	struct series s = { .pause.used = 0 };
	int r = agree_on_ticks(&at, c);

	for (unsigned k = 0; k < how->batches && !r; k++)
		r = batch(how, i, &at, &s);
	c->pair[i].cpu_a = pair->cpu_a;
	c->pair[i].cpu_b = pair->cpu_b;
	c->pair[i].distance = (uint32_t)pair->distance;
	conclude_pair(c, i, &s);
	return r;
}

int iw_calibrate(struct iw_calibrating *how, struct ipcwait_calibration *c)
{
	int r = 0;

	plan(how);
	c->counter_one_way = 1;
	for (unsigned i = 0; i < how->pairs && !r; i++)
		r = measure_pair(how, i, c);
	c->pair_count = how->pairs;
	if (!r && !(iw_calibration_legal(c) && iw_calibration_conclude(c)))
		r = -EAGAIN;
	return r;
}
