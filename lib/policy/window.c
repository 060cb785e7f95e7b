/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "os/seam.h"
#include "policy/window.h"

#define BIN_BITS  5
#define BIN_MAX   31u
#define LAST_BIN  (IW_WINDOW_BINS - 1)
#define BIN_HALVE UINT64_C(0x7bdef7bdef) /* what stays of each count when all are shifted */

#define RHYTHM_SHIFT 40
#define RHYTHM_MASK  (((UINT64_C(1) << IW_RHYTHM_BITS) - 1) << RHYTHM_SHIFT)

#define PRESET_MASK  0xffu
#define LEARNED_ONE  (1u << 8)
#define LEARNED_MASK (0xffu << 8)
#define CPU_SHIFT    16
#define CPU_MASK     0xffffu

#define STAMP_SHIFT 3

/*
 * Fewer waits than this say nothing yet: the window is 0.54 B, the fixed threshold with the
 * best guarantee for exponential waits of unknown rate (B ln(e-1); docs/design/window.md).
 */
#define FEW_WAITS 4
#define PRIOR_NUM 54
#define PRIOR_DEN 100

/*
 * Waits after which an object whose waits are long sleeps at once. Until then it spins for
 * at least B/8: with the prior 2.7 B in all, before it knows that it should not. It needs no
 * spinning to find out when its waits become short: the waker's stamp tells the true length
 * of a wait that was slept through. A lasting probe of B/16 cost 9 % of the CPU time of
 * waits of 1 ms (sem_test --idle-us 1000).
 */
#define CONFIDENT_WAITS 8
#define UNSURE_SHARE    8

/*
 * The bins but the last, in 64ths of B, so that every B is served alike. A threshold lies
 * 1/7 beyond the edge that it serves: less an eighth of jitter, it still covers the bin. The
 * last may not, because 9/8 of it have to stay below 2B. Edges by policy_sim: twelve bins
 * or sixteen gain less than 0.005 of the suite mean, octaves in ns lose as much.
 */
#define SHARES        64
#define LONGEST_SHARE 112

static const struct bin {
	uint8_t edge;      /* waits below this */
	uint8_t threshold; /* the spin that covers them */
	uint8_t typical;   /* what one of them lasts */
} bins_below[LAST_BIN] = {
	{ 4, 5, 2 },
	{ 8, 10, 6 },
	{ 16, 19, 12 },
	{ 32, 37, 24 },
	{ 48, 55, 40 },
	{ 64, 74, 56 },
	{ 112, LONGEST_SHARE, 88 },
};

static uint64_t of_block(uint64_t block_ns, unsigned share)
{
	return block_ns * share / SHARES;
}

static unsigned bin_of(uint64_t wait_ns, uint64_t block_ns)
{
	unsigned i = 0;

	while (i < LAST_BIN && wait_ns >= of_block(block_ns, bins_below[i].edge))
		i++;
	return i;
}

static unsigned count_in(uint64_t bins, unsigned bin)
{
	return (unsigned)(bins >> (BIN_BITS * bin)) & BIN_MAX;
}

static uint64_t clamp(uint64_t ns, uint64_t low, uint64_t high)
{
	return ns < low ? low : ns > high ? high : ns;
}

static uint32_t rhythm_in(uint64_t bins)
{
	return (uint32_t)(bins >> RHYTHM_SHIFT);
}

/*
 * In 64ths of B: the threshold whose expected cost, times the number of waits, is least.
 * Waits in the bins that it covers cost their length, longer ones the threshold and a sleep.
 * Threshold zero costs one sleep per wait. (That those of the last bin sleep for less if they
 * can be timed does not matter here: they sleep whatever the threshold is.)
 *
 * A threshold that all remembered waits stay below is raised to B: nothing is known about
 * the waits beyond it, and B is the best threshold for those. Without this the one wait in
 * a thousand that an interrupt lengthens by 5 us slept, and cost 7 % of sem_test's time.
 */
static unsigned cheapest_threshold(uint64_t bins, unsigned total)
{
	unsigned best = 0, best_cost = total * SHARES;
	unsigned short_cost = 0, longer = total;

	for (unsigned i = 0; i < LAST_BIN; i++) {
		const struct bin *b = &bins_below[i];
		unsigned n = count_in(bins, i), cost;

		longer -= n;
		short_cost += n * b->typical;
		cost = short_cost + longer * (b->threshold + SHARES);
		if (cost < best_cost) {
			best_cost = cost;
			best = longer || b->threshold > SHARES ? b->threshold : SHARES;
		}
	}
	return best;
}

static uint64_t first_spin_ns(const struct ipcwait_window *w, uint64_t bins,
			      uint64_t block_ns, uint64_t delay_ns)
{
	/* ORD window.X1: relaxed, statistic. */
	uint32_t state = ipcwait_impl_load32_relaxed(&w->state);
	unsigned learned = (state & LEARNED_MASK) / LEARNED_ONE, total = 0;
	uint64_t best;

	for (unsigned i = 0; i < IW_WINDOW_BINS; i++)
		total += count_in(bins, i);
	best = total < FEW_WAITS ? block_ns * PRIOR_NUM / PRIOR_DEN
				 : of_block(block_ns, cheapest_threshold(bins, total));
	if (best)
		best += delay_ns;
	return clamp(best, learned < CONFIDENT_WAITS ? block_ns / UNSURE_SHARE : 0,
		     of_block(block_ns, LONGEST_SHARE));
}

void iw_window_plan(const struct ipcwait_window *w, uint64_t block_ns, uint64_t delay_ns,
		    const struct iw_timer_cost *timer, struct iw_plan *plan)
{
	/* ORD window.X12: relaxed, statistic: a torn or stale histogram gives a legal window. */
	uint64_t bins = ipcwait_impl_load64_relaxed(&w->bins);
	uint64_t used_ns;

	plan->spin_ns = first_spin_ns(w, bins, block_ns, delay_ns);
	plan->timed = timer && count_in(bins, LAST_BIN) &&
		      iw_rhythm_plan(rhythm_in(bins), block_ns, timer, &plan->sleep);
	if (!plan->timed)
		return;
	used_ns = plan->spin_ns + timer->cpu_ns;
	plan->spin_again_ns =
		clamp(of_block(block_ns, LONGEST_SHARE), used_ns, UINT64_MAX) - used_ns;
	plan->timed = plan->sleep.span_ns <= plan->spin_again_ns &&
		      plan->sleep.wake_ns > 2 * plan->spin_ns;
}

static uint64_t with_rhythm(uint64_t bins, uint64_t interval_ns)
{
	uint64_t rhythm = iw_rhythm_learn(rhythm_in(bins), interval_ns);

	return (bins & ~RHYTHM_MASK) | rhythm << RHYTHM_SHIFT;
}

/* One wait more in @bin of @bins, which then become those of the window. */
static void add(struct ipcwait_window *w, uint64_t bins, unsigned bin)
{
	/* ORD window.X14: relaxed, statistic. */
	uint32_t state = ipcwait_impl_load32_relaxed(&w->state);

	/* Halving on saturation makes the memory fade: the last 31 to 62 waits count. */
	if (count_in(bins, bin) == BIN_MAX)
		bins = ((bins >> 1) & BIN_HALVE) | (bins & RHYTHM_MASK);
	/* ORD window.X3: relaxed, statistic as window.X2. */
	ipcwait_impl_store64_relaxed(&w->bins, bins + (UINT64_C(1) << (BIN_BITS * bin)));

	/* ORD window.X4: relaxed, statistic; a CAS, so as not to undo a change of preset. */
	if ((state & LEARNED_MASK) != LEARNED_MASK)
		(void)ipcwait_impl_cas32_relaxed(&w->state, &state, state + LEARNED_ONE);
}

void iw_window_record(struct ipcwait_window *w, uint64_t wait_ns, uint64_t behind_ns,
		      uint64_t block_ns)
{
	unsigned bin = bin_of(wait_ns, block_ns);
	/* ORD window.X2: relaxed, statistic: an update lost to another waiter is harmless. */
	uint64_t bins = ipcwait_impl_load64_relaxed(&w->bins);

	add(w, bin == LAST_BIN ? with_rhythm(bins, wait_ns + behind_ns) : bins, bin);
}

void iw_window_record_unended(struct ipcwait_window *w)
{
	/* ORD window.X15: relaxed, statistic as window.X2. */
	add(w, ipcwait_impl_load64_relaxed(&w->bins), LAST_BIN);
}

enum ipcwait_preset iw_window_preset(const struct ipcwait_window *w)
{
	/* ORD window.X5: relaxed, hint: either preset is legal while it changes. */
	uint32_t preset = ipcwait_impl_load32_relaxed(&w->state) & PRESET_MASK;

	return preset <= IPCWAIT_BLOCK ? (enum ipcwait_preset)preset : IPCWAIT_INHERIT;
}

unsigned iw_window_count(const struct ipcwait_window *w, unsigned bin)
{
	/* ORD window.X13: relaxed, statistic. */
	return count_in(ipcwait_impl_load64_relaxed(&w->bins), bin);
}

uint64_t iw_window_edge_ns(unsigned bin, uint64_t block_ns)
{
	return bin < LAST_BIN ? of_block(block_ns, bins_below[bin].edge) : UINT64_MAX;
}

uint32_t iw_window_waker_cpu(const struct ipcwait_window *w)
{
	/* ORD window.X6: relaxed, hint: where the waker ran, not where it runs. */
	return ipcwait_impl_load32_relaxed(&w->state) >> CPU_SHIFT;
}

int ipcwait_window_set_preset(struct ipcwait_window *w, enum ipcwait_preset preset)
{
	if (!w || (uintptr_t)w % 8 || (unsigned)preset > IPCWAIT_BLOCK)
		return -EINVAL;
	/* ORD window.X7: relaxed, re-checked by the CAS. */
	uint32_t state = ipcwait_impl_load32_relaxed(&w->state);

	/* ORD window.X8: relaxed, no order promised with waits that have begun. */
	while (!ipcwait_impl_cas32_relaxed(&w->state, &state,
					   (state & ~PRESET_MASK) | (uint32_t)preset))
		continue;
	return 0;
}

/* Never 0, which means none. */
static uint32_t stamp_at(uint64_t now_ns)
{
	return (uint32_t)(now_ns >> STAMP_SHIFT) | 1;
}

void iw_window_put_stamp(struct ipcwait_window *w, uint64_t now_ns, uint32_t cpu)
{
	/* ORD window.X9: relaxed, statistic. */
	uint32_t state = ipcwait_impl_load32_relaxed(&w->state);
	uint32_t with_cpu = (state & ~(CPU_MASK << CPU_SHIFT)) |
			    ((cpu + 1 > CPU_MASK ? 0 : cpu + 1) << CPU_SHIFT);

	/* ORD window.X10: relaxed, statistic: two wakers may overwrite each other's stamp. */
	ipcwait_impl_store32_relaxed(&w->stamp, stamp_at(now_ns));
	if (with_cpu != state)
		(void)ipcwait_impl_cas32_relaxed(&w->state, &state, with_cpu);
}

bool iw_window_stamp_age(const struct ipcwait_window *w, uint64_t now_ns, uint64_t since_ns,
			 uint64_t *age_ns)
{
	/* ORD window.X11: relaxed, statistic: a stamp that does not fit is ignored. */
	uint32_t stamp = ipcwait_impl_load32_relaxed(&w->stamp);
	uint32_t age = stamp_at(now_ns) - stamp;

	*age_ns = (uint64_t)age << STAMP_SHIFT;
	return stamp && *age_ns <= since_ns;
}
