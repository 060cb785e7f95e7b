/* SPDX-License-Identifier: MIT */
#include "os/seam.h"
#include "policy/call_cost.h"

/* The median is of so many; it is known when the first are there. */
#define SAMPLES       16u
#define FIRST_SAMPLES 4u

/* How long it is known, and how often a new sample is taken, in ns. */
#define KNOWN_NS 100000000
#define PROBE_NS 20000000

/* Less is a failed measurement, in ns: no sleep costs less than a switch and back. */
#define LEAST_NS 5000
#define MOST_NS  500000

/* Filled by all threads of the process. Any number is a legal sample. */
static struct {
	struct ipcwait_word64 last_at; /* ticks; 0: never */
	struct ipcwait_word32 count;
	struct ipcwait_word32 median; /* ns; 0: not known */
	struct ipcwait_word32 sample[SAMPLES];
} calls __attribute__((aligned(IW_ARCH_LINE_BYTES)));

static bool is_within(const struct iw_facts *facts, uint64_t now, uint64_t ns)
{
	/* ORD call_cost.X1: relaxed, statistic. */
	uint64_t last_at = ipcwait_impl_load64_relaxed(&calls.last_at);

	/* A time ahead of @now is another thread's, or far ahead: then the counter stepped back. */
	uint64_t apart = now < last_at ? last_at - now : now - last_at;

	return last_at && apart < iw_tick_from_ns(&facts->rate, ns);
}

/* Of the last, after @n; 0 if those are too few. */
static uint32_t median(unsigned n)
{
	uint32_t sorted[SAMPLES];

	if (n < FIRST_SAMPLES)
		return 0;
	n = n < SAMPLES ? n : SAMPLES;
	for (unsigned i = 0; i < n; i++) {
		/* ORD call_cost.X2: relaxed, statistic. */
		uint32_t v = ipcwait_impl_load32_relaxed(&calls.sample[i]);
		unsigned at = i;

		for (; at > 0 && sorted[at - 1] > v; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = v;
	}
	return sorted[n / 2];
}

static uint32_t sample_of(uint64_t slept_ns, uint64_t spun_ns)
{
	uint64_t ns = slept_ns > spun_ns ? slept_ns - spun_ns : 0;

	if (ns < LEAST_NS)
		return LEAST_NS;
	return ns < MOST_NS ? (uint32_t)ns : MOST_NS;
}

void iw_call_cost_note(const struct iw_facts *facts, uint64_t now, uint64_t slept_ns,
		       uint64_t spun_ns)
{
	uint32_t n;

	if (!is_within(facts, now, KNOWN_NS))
		/* ORD call_cost.X3: relaxed, statistic: two that begin anew both count. */
		ipcwait_impl_store32_relaxed(&calls.count, 0);
	/* ORD call_cost.X4: relaxed, statistic: the median of whatever is there. */
	n = ipcwait_impl_add32_relaxed(&calls.count, 1);
	ipcwait_impl_store32_relaxed(&calls.sample[n % SAMPLES],
				     sample_of(slept_ns, spun_ns));
	ipcwait_impl_store64_relaxed(&calls.last_at, now);
	ipcwait_impl_store32_relaxed(&calls.median, median(n + 1));
}

uint64_t iw_call_cost_ns(const struct iw_facts *facts, uint64_t now)
{
	/* ORD call_cost.X5: relaxed, statistic. */
	return is_within(facts, now, KNOWN_NS) ? ipcwait_impl_load32_relaxed(&calls.median)
					       : 0;
}

bool iw_call_cost_probe_due(const struct iw_facts *facts, uint64_t now)
{
	return !iw_call_cost_ns(facts, now) || !is_within(facts, now, PROBE_NS);
}
