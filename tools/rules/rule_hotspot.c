/* SPDX-License-Identifier: MIT */
/*
 * HotSpot's monitor: ObjectMonitor::TrySpin in
 * src/hotspot/share/runtime/objectMonitor.cpp, openjdk/jdk 009970c98 (2021).
 *
 *	11 probes with a pause each, always
 *	then _SpinDuration probes, at first 5000, with a pause every 256
 *	success		if below 5000: at least 1000, and 100 more
 *	failure		200 less, not below 0; at 0 only the first 11
 *
 * A probe reads the owner, its thread's state and two words of it through stubs that
 * survive a fault: 4 ns, so that the limit is 20 us; its authors' words for it are
 * "approximately length of a round-trip context switch".
 */
#include "rule.h"

#define PRE_SPINS   11
#define PROBE_NS    4
#define SPIN_LIMIT  5000
#define POVERTY     1000
#define BONUS       100
#define PENALTY     200
#define PAUSE_EVERY 256

struct hotspot {
	int duration;
};

static void hotspot_init(void *state, uint64_t block_ns)
{
	(void)block_ns;
	((struct hotspot *)state)->duration = SPIN_LIMIT;
}

static uint64_t hotspot_spin_ns(void *state, struct random *r)
{
	uint64_t duration = (uint64_t)((const struct hotspot *)state)->duration;

	(void)r;
	return PRE_SPINS * (PAUSE_NS + PROBE_NS) + duration * PROBE_NS +
	       duration / PAUSE_EVERY * PAUSE_NS;
}

static void hotspot_learn(void *state, const struct outcome *o)
{
	struct hotspot *h = state;

	if (!o->spun) {
		h->duration = h->duration > PENALTY ? h->duration - PENALTY : 0;
	} else if (h->duration < SPIN_LIMIT) {
		h->duration = h->duration > POVERTY ? h->duration : POVERTY;
		h->duration += BONUS;
	}
}

const struct rule rule_hotspot = {
	.name = "hotspot",
	.what = "ObjectMonitor: up to 5000 probes, +100 / -200",
	.init = hotspot_init,
	.spin_ns = hotspot_spin_ns,
	.learn = hotspot_learn,
};
