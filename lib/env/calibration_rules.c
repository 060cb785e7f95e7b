/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "env/calibration_rules.h"
#include "os/cpu_mask.h"

/*
 * Bounds of what can be measured at all. No judgement of the machine: waking an emulated CPU
 * takes milliseconds, and the ceiling in lib/policy/policy.c bounds every spin.
 */
#define NS_MOST      1000000000
#define PAUSE_MOST   10000000
#define SAMPLES_MOST 1000000000
#define SECONDS_MOST 253402300799 /* the year 9999 */

const uint64_t iw_idle_ages[IPCWAIT_IDLE_AGES] = {
	5000, 20000, 50000, 100000, 200000, 500000, 2000000, 10000000,
};

#define MEMBER(m)                                    \
#m, offsetof(struct ipcwait_calibration, m), \
		sizeof(((struct ipcwait_calibration *)0)->m)

const struct iw_figure iw_figures[IW_FIGURES] = {
	{ MEMBER(measured_at_s), 0, SECONDS_MOST },
	{ MEMBER(pause_ps), 1, PAUSE_MOST },
	{ MEMBER(empty_wake_ns), 1, NS_MOST },
	{ MEMBER(sleeper_cpu_ns), 0, NS_MOST },
	{ MEMBER(timer_ns), 1, NS_MOST },
	{ MEMBER(timer_p90_ns), 1, NS_MOST },
	{ MEMBER(counter_offset_ns), -NS_MOST, NS_MOST },
	{ MEMBER(counter_one_way), 0, 1 },
	{ MEMBER(samples_used), 1, SAMPLES_MOST },
	{ MEMBER(samples_discarded), 0, SAMPLES_MOST },
};

int64_t iw_figure_get(const struct iw_figure *f, const struct ipcwait_calibration *c)
{
	const char *at = (const char *)c + f->offset;
	uint32_t half;
	int64_t whole;

	if (f->bytes == sizeof(half)) {
		memcpy(&half, at, sizeof(half));
		return half;
	}
	memcpy(&whole, at, sizeof(whole));
	return whole;
}

void iw_figure_set(const struct iw_figure *f, struct ipcwait_calibration *c, int64_t v)
{
	uint32_t half = (uint32_t)v;

	memcpy((char *)c + f->offset, f->bytes == sizeof(half) ? (void *)&half : (void *)&v,
	       f->bytes);
}

static bool figures_legal(const struct ipcwait_calibration *c)
{
	for (unsigned i = 0; i < IW_FIGURES; i++) {
		int64_t v = iw_figure_get(&iw_figures[i], c);

		if (v < iw_figures[i].min || v > iw_figures[i].max)
			return false;
	}
	return c->timer_ns <= c->timer_p90_ns;
}

static bool latency_legal(const struct ipcwait_wake_latency *l, uint64_t idle_ns)
{
	if (l->idle_ns != idle_ns || l->used > SAMPLES_MOST || l->discarded > SAMPLES_MOST)
		return false;
	if (!l->used)
		return !l->p10_ns && !l->median_ns && !l->p90_ns && !l->waker_ns;
	return l->p10_ns >= 1 && l->p10_ns <= l->median_ns && l->median_ns <= l->p90_ns &&
	       l->p90_ns <= NS_MOST && l->waker_ns >= 1 && l->waker_ns <= NS_MOST;
}

static bool pair_legal(const struct ipcwait_calibration_pair *pair)
{
	for (unsigned i = 0; i < IPCWAIT_IDLE_AGES; i++)
		if (!latency_legal(&pair->latency[i], iw_idle_ages[i]))
			return false;
	return pair->distance <= IPCWAIT_DISTANCE_OTHER && pair->cpu_a < IW_CPU_MOST &&
	       pair->cpu_b < IW_CPU_MOST && pair->cpu_a != pair->cpu_b &&
	       pair->line_ns >= 1 && pair->line_ns <= NS_MOST;
}

bool iw_calibration_legal(const struct ipcwait_calibration *c)
{
	if (!figures_legal(c) || c->pair_count < 1 ||
	    c->pair_count > IPCWAIT_CALIBRATION_PAIRS)
		return false;
	for (unsigned i = 0; i < c->pair_count; i++)
		if (!pair_legal(&c->pair[i]))
			return false;
	return true;
}

static uint64_t middle(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t low = a < b ? a : b, high = a < b ? b : a;

	return c < low ? low : c > high ? high : c;
}

/*
 * The figures at one idle age, as the median of it and its neighbours where there are both: one
 * age that was disturbed does not decide. Beside other programs 8 us was seen between 20 and 21.
 */
static struct ipcwait_wake_latency smooth(const struct ipcwait_wake_latency *l, unsigned i)
{
	struct ipcwait_wake_latency s = l[i];

	if (i == 0 || i + 1 == IPCWAIT_IDLE_AGES || !l[i - 1].used || !l[i + 1].used)
		return s;
	s.median_ns = middle(s.median_ns, l[i - 1].median_ns, l[i + 1].median_ns);
	s.waker_ns = middle(s.waker_ns, l[i - 1].waker_ns, l[i + 1].waker_ns);
	return s;
}

/*
 * B depends on how long the sleeper has been idle. What the engine decides about are waits of
 * about B: much shorter ones are spun through and much longer ones are slept through whatever
 * B is. So B is taken at the first idle age that is not shorter than the B it gives.
 */
bool iw_calibration_conclude(struct ipcwait_calibration *c)
{
	struct ipcwait_wake_latency found = { .used = 0 };

	for (unsigned i = 0; i < IPCWAIT_IDLE_AGES; i++) {
		if (!c->pair[0].latency[i].used)
			continue;
		found = smooth(c->pair[0].latency, i);
		if (found.idle_ns >= found.median_ns + found.waker_ns)
			break;
	}
	c->line_ns = c->pair[0].line_ns;
	c->latency_ns = found.median_ns;
	c->waker_ns = found.waker_ns;
	return found.used != 0;
}
