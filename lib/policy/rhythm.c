/* SPDX-License-Identifier: MIT */
#include "policy/rhythm.h"

/* A small floating-point format: 16 octaves from 2^first, @bits of mantissa. */
struct format {
	unsigned first, bits;
};

#define EXPONENT_BITS 4

static const struct format length_format = { 13, 10 };  /* 8 us .. 0.5 s, within 0.1 % */
static const struct format deviation_format = { 8, 3 }; /* 0.25 us .. 16 ms, within 12 % */

#define DEVIATION_SHIFT 14
#define TRUST_SHIFT     21
#define TRUST_MOST      7

/* From so much trust on the rhythm is acted upon. One miss in three does not reach it. */
#define TRUST_ENOUGH 4

struct rhythm {
	uint64_t length_ns, deviation_ns;
	unsigned trust;
};

/*
 * Rounded up as often as @noise says, so that changes which are smaller than a step are not
 * lost but made now and then. What does not fit becomes the nearest that does. The carry out
 * of the mantissa goes to the exponent, as it should.
 */
static uint32_t packed(const struct format *f, uint64_t ns, uint64_t noise)
{
	uint64_t least = UINT64_C(1) << f->first;
	uint32_t most = (1u << (EXPONENT_BITS + f->bits)) - 1, exponent = 0, code;
	unsigned step;

	if (ns < least)
		return 0;
	if (ns >> (f->first + (1u << EXPONENT_BITS)))
		return most;
	while (ns >> (f->first + exponent + 1))
		exponent++;
	step = f->first + exponent - f->bits;
	ns += noise & ((UINT64_C(1) << step) - 1);
	code = (exponent << f->bits) + (uint32_t)((ns - (least << exponent)) >> step);
	return code < most ? code : most;
}

static uint64_t unpacked(const struct format *f, uint32_t code)
{
	uint64_t mantissa = code & ((1u << f->bits) - 1);
	uint32_t exponent = code >> f->bits & ((1u << EXPONENT_BITS) - 1);

	return ((UINT64_C(1) << f->first) + (mantissa << (f->first - f->bits))) << exponent;
}

uint64_t iw_rhythm_length_ns(uint32_t rhythm)
{
	return unpacked(&length_format, rhythm);
}

uint64_t iw_rhythm_deviation_ns(uint32_t rhythm)
{
	return unpacked(&deviation_format, rhythm >> DEVIATION_SHIFT);
}

static uint32_t rhythm_of(const struct rhythm *r, uint64_t noise)
{
	return packed(&length_format, r->length_ns, noise) |
	       packed(&deviation_format, r->deviation_ns, noise) << DEVIATION_SHIFT |
	       r->trust << TRUST_SHIFT;
}

/* Scatters the low bits of a time, which are noise, over all. Knuth's multiplier, TAOCP 6.4. */
static uint64_t noise_of(uint64_t ns)
{
	return ns * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

/*
 * Mean and mean deviation with gains of 1/8 and 1/4, as TCP follows its round trips
 * (Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988). A wait that is more than
 * three deviations off counts as three: one missed tick widens the deviation by half and no
 * more, a lasting change to twice the length is followed, and trusted, in ten to thirty waits.
 */
uint32_t iw_rhythm_learn(uint32_t rhythm, uint64_t wait_ns)
{
	struct rhythm r = { iw_rhythm_length_ns(rhythm), iw_rhythm_deviation_ns(rhythm),
			    rhythm >> TRUST_SHIFT & TRUST_MOST };
	bool longer = wait_ns > r.length_ns;
	uint64_t off_ns = longer ? wait_ns - r.length_ns : r.length_ns - wait_ns;
	bool near = off_ns <= 2 * r.deviation_ns;

	if (!rhythm) {
		r = (struct rhythm){ wait_ns, wait_ns / 8, 0 };
		return rhythm_of(&r, noise_of(wait_ns));
	}
	if (off_ns > 3 * r.deviation_ns)
		off_ns = 3 * r.deviation_ns;
	r.length_ns = longer ? r.length_ns + off_ns / 8 : r.length_ns - off_ns / 8;
	r.deviation_ns = r.deviation_ns - r.deviation_ns / 4 + off_ns / 4;
	if (near)
		r.trust += r.trust < TRUST_MOST;
	else
		r.trust -= r.trust < 2 ? r.trust : 2;
	return rhythm_of(&r, noise_of(wait_ns));
}

/*
 * How many waits in 64 end more than 1, 2, 3, 4 deviations before their usual length, and as
 * many after it: Laplace's distribution, e^-k / 2. Of the usual ones it has the longest tails.
 */
#define WIDEST 4
#define OF     64
static const uint8_t beyond[WIDEST + 1] = { 0, 12, 4, 2, 1 };

/*
 * What to expect of spinning from @before deviations before the usual length until @after
 * behind it: some waits end during the sleep and cost a wake, B; most end in the spin, about
 * when expected; some after it, and cost the spin and a wake.
 */
static uint64_t expected_ns(uint64_t deviation_ns, unsigned before, unsigned after,
			    uint64_t block_ns, const struct iw_timer_cost *timer)
{
	uint64_t early = beyond[before], late = beyond[after];
	uint64_t timer_ns = timer->cpu_ns + timer->spread_ns;
	uint64_t in_time_ns = timer_ns + before * deviation_ns;
	uint64_t late_ns = timer_ns + (before + after) * deviation_ns + block_ns;

	return (early * block_ns + (OF - early - late) * in_time_ns + late * late_ns) / OF;
}

bool iw_rhythm_plan(uint32_t rhythm, uint64_t block_ns, const struct iw_timer_cost *timer,
		    struct iw_timed_sleep *plan)
{
	uint64_t length_ns = iw_rhythm_length_ns(rhythm);
	uint64_t deviation_ns = iw_rhythm_deviation_ns(rhythm);

	plan->cost_ns = block_ns;
	if (rhythm >> TRUST_SHIFT < TRUST_ENOUGH || deviation_ns > block_ns)
		return false;
	for (unsigned before = 1; before <= WIDEST; before++) {
		for (unsigned after = 1; after <= WIDEST; after++) {
			uint64_t cost_ns =
				expected_ns(deviation_ns, before, after, block_ns, timer);
			uint64_t lead_ns = before * deviation_ns + timer->late_ns;

			if (cost_ns >= plan->cost_ns || lead_ns >= length_ns)
				continue;
			*plan = (struct iw_timed_sleep){
				.wake_ns = length_ns - lead_ns,
				.until_ns = length_ns + after * deviation_ns,
				.span_ns =
					(before + after) * deviation_ns + timer->spread_ns,
				.cost_ns = cost_ns,
			};
		}
	}
	return plan->cost_ns < timer->worth_ns;
}
