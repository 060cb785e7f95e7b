/* SPDX-License-Identifier: MIT */
/* What spinning costs: a pause, and a cache line between two CPUs. */
#include <stdbool.h>
#include <stddef.h>

#include "os/usage.h"
#include "calibrate/phases.h"

/* 7 us for one sample of pauses and 28 us for one of round trips: shorter than a time slice. */
#define PAUSES_PER_SAMPLE 256
#define TRIPS_PER_SAMPLE  256

#define PS_PER_NS 1000

/* Nothing disturbs the tightest of so many exchanges. */
#define EXCHANGES 1024

struct line_phase {
	struct iw_team team;
	struct iw_series *series;
	bool returner_clean[IW_SLICE];
	struct ipcwait_word64 stamp; /* the returner's ticks */
	uint64_t out, back;          /* the shortest ways, in ticks, modulo 2^64 */
	struct iw_team_word ball;    /* odd: on its way out */
};

static void pause_often(void *arg)
{
	struct line_phase *p = arg;

	for (unsigned i = 0; i < IW_SLICE; i++) {
		uint64_t preempted = iw_usage_preemptions();
		uint64_t start = iw_tick_now(&p->team.rate), ps;

		for (unsigned k = 0; k < PAUSES_PER_SAMPLE; k++)
			iw_pause();
		ps = PS_PER_NS * (iw_tick_now(&p->team.rate) - start);
		iw_series_add(p->series,
			      iw_tick_to_ns(&p->team.rate, ps) / PAUSES_PER_SAMPLE,
			      iw_usage_preemptions() == preempted);
	}
}

int iw_measure_pause(const struct iw_place *at, struct iw_series *ps)
{
	struct line_phase p = { .team = iw_place_team(at), .series = ps };

	return iw_team_run(&p.team, pause_often, NULL, &p);
}

static void send_ball(void *arg)
{
	struct line_phase *p = arg;
	uint32_t ball = 0;

	for (unsigned i = 0; i < IW_SLICE; i++) {
		uint64_t preempted = iw_usage_preemptions();
		uint64_t start = iw_tick_now(&p->team.rate), ticks;

		for (unsigned k = 0; k < TRIPS_PER_SAMPLE; k++) {
			iw_team_tell(&p->ball, ++ball);
			if (!iw_team_await(&p->team, &p->ball, ++ball))
				return;
		}
		ticks = iw_tick_now(&p->team.rate) - start;
		iw_series_add(p->series,
			      iw_tick_to_ns(&p->team.rate, ticks) / TRIPS_PER_SAMPLE,
			      p->returner_clean[i] && iw_usage_preemptions() == preempted);
	}
}

/* True if this thread has not been preempted since the last call. */
static bool undisturbed(uint64_t *preempted)
{
	uint64_t before = *preempted;

	*preempted = iw_usage_preemptions();
	return *preempted == before;
}

/* Notes that a sample was clean before it returns the sample's last ball. */
static void return_ball(void *arg)
{
	struct line_phase *p = arg;
	uint64_t preempted = iw_usage_preemptions();

	for (uint32_t ball = 0; ball < 2 * TRIPS_PER_SAMPLE * IW_SLICE; ball += 2) {
		unsigned trip = ball / 2;

		if (!iw_team_await(&p->team, &p->ball, ball + 1))
			return;
		if (trip % TRIPS_PER_SAMPLE == TRIPS_PER_SAMPLE - 1)
			p->returner_clean[trip / TRIPS_PER_SAMPLE] =
				undisturbed(&preempted);
		iw_team_tell(&p->ball, ball + 2);
	}
}

int iw_measure_line(const struct iw_place *at, struct iw_series *ns)
{
	struct line_phase p = { .team = iw_place_team(at), .series = ns };

	return iw_team_run(&p.team, send_ball, return_ball, &p);
}

static void send_stamps(void *arg)
{
	struct line_phase *p = arg;

	p->out = p->back = INT64_MAX;
	for (uint32_t ball = 0; ball < 2 * EXCHANGES; ball += 2) {
		uint64_t sent = iw_tick_now(&p->team.rate), received, stamp;

		iw_team_tell(&p->ball, ball + 1);
		if (!iw_team_await(&p->team, &p->ball, ball + 2))
			return;
		received = iw_tick_now(&p->team.rate);
		/* ORD line.X1: relaxed, protected by the ball's release. */
		stamp = ipcwait_impl_load64_relaxed(&p->stamp);
		if ((int64_t)(stamp - sent) < (int64_t)p->out)
			p->out = stamp - sent;
		if ((int64_t)(received - stamp) < (int64_t)p->back)
			p->back = received - stamp;
	}
}

static void return_stamps(void *arg)
{
	struct line_phase *p = arg;

	for (uint32_t ball = 0; ball < 2 * EXCHANGES; ball += 2) {
		if (!iw_team_await(&p->team, &p->ball, ball + 1))
			return;
		/* ORD line.X2: relaxed, protected by the ball's release. */
		ipcwait_impl_store64_relaxed(&p->stamp, iw_tick_now(&p->team.rate));
		iw_team_tell(&p->ball, ball + 2);
	}
}

int iw_measure_offset(const struct iw_place *at, int64_t *ns)
{
	struct line_phase p = { .team = iw_place_team(at) };
	int r = iw_team_run(&p.team, send_stamps, return_stamps, &p);
	int64_t ticks = ((int64_t)p.out - (int64_t)p.back) / 2;
	uint64_t size = iw_tick_to_ns(&at->rate, (uint64_t)(ticks < 0 ? -ticks : ticks));

	*ns = ticks < 0 ? -(int64_t)size : (int64_t)size;
	return r;
}
