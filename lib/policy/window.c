/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "os/seam.h"
#include "policy/window.h"

#define RHYTHM_MASK (((UINT64_C(1) << IW_RHYTHM_BITS) - 1) << IW_HISTOGRAM_BITS)

#define PRESET_MASK   0x7u
#define LEARNED_SHIFT 3
#define LEARNED_ONE   (1u << LEARNED_SHIFT)
#define LEARNED_MASK  (0x3fu << LEARNED_SHIFT)
#define SHARE_SHIFT   9
#define SHARE_MASK    (0x7fu << SHARE_SHIFT)
#define CPU_SHIFT     16
#define CPU_MASK      0xffffu

#define STAMP_SHIFT 3

_Static_assert(IPCWAIT_TICKS <= PRESET_MASK, "three bits for the preset");

/*
 * From so many waits on an object is judged by these alone. It needs no spinning to find out when
 * its waits become short: the waker's stamp tells the true length of a wait that was slept
 * through. A lasting probe of B/16 cost 9 % of the CPU time of waits of 1 ms
 * (sem_test --idle-us 1000).
 */
#define KNOWN_WAITS 8

/*
 * Until then each of its waits counts for so many of those at its call site. By policy_sim:
 * 4 and 16 cost 0.01 to 0.03 more over the members of young objects.
 */
#define OWN_WEIGHT 8

/*
 * After a few waits only: the window is 0.54 B, the fixed threshold with the best guarantee for
 * exponential waits of unknown rate (B ln(e-1); docs/design/window.md). If the first is in vain
 * there is a second, and both together are below B.
 */
#define PRIOR_SHARE  34
#define SECOND_SHARE 22

uint32_t iw_window_state(const struct ipcwait_window *w)
{
	/* ORD window.X1: relaxed, statistic. */
	return ipcwait_impl_load32_relaxed(&w->state);
}

enum ipcwait_preset iw_state_preset(uint32_t state)
{
	return (enum ipcwait_preset)(state & PRESET_MASK);
}

uint32_t iw_state_waker_cpu(uint32_t state)
{
	return state >> CPU_SHIFT;
}

static unsigned learned(uint32_t state)
{
	return (state & LEARNED_MASK) >> LEARNED_SHIFT;
}

bool iw_state_known(uint32_t state)
{
	return learned(state) >= KNOWN_WAITS;
}

unsigned iw_state_share(uint32_t state)
{
	unsigned share = (state & SHARE_MASK) >> SHARE_SHIFT;

	return share < IW_LONGEST_SHARE ? share : IW_LONGEST_SHARE;
}

static uint64_t load_bins(const struct ipcwait_window *w)
{
	/* ORD window.X2: relaxed, statistic: a stale histogram gives a legal window, and an
	 * update lost to another waiter is harmless. */
	return ipcwait_impl_load64_relaxed(&w->bins);
}

unsigned iw_window_young_share(const struct ipcwait_window *w, uint64_t before)
{
	uint64_t own = load_bins(w) & IW_HISTOGRAM_MASK, few = own ? own : before;
	unsigned waits = iw_histogram_total(few), best;

	if (iw_histogram_total(before) >= IW_FEW_WAITS)
		return iw_histogram_cheapest(before, own, OWN_WEIGHT);
	best = iw_histogram_cheapest(few, 0, 0);
	if (waits == 0 || (best && waits < IW_FEW_WAITS && (best < PRIOR_SHARE || !own)))
		return PRIOR_SHARE;
	return best || waits > 1 || iw_histogram_total(before) > 1 ? best : SECOND_SHARE;
}

uint64_t iw_window_spin_ns(unsigned share, uint64_t block_ns, uint64_t delay_ns)
{
	uint64_t most = iw_of_block(block_ns, IW_LONGEST_SHARE);
	uint64_t ns = iw_of_block(block_ns, share);

	if (share)
		ns += delay_ns < most ? delay_ns : most;
	return ns < most ? ns : most;
}

static uint32_t rhythm_in(uint64_t bins)
{
	return (uint32_t)(bins >> IW_HISTOGRAM_BITS);
}

bool iw_window_timed(const struct ipcwait_window *w, uint64_t spin_ns, uint64_t block_ns,
		     const struct iw_timer_cost *timer, struct iw_timed_plan *plan)
{
	uint64_t bins = load_bins(w), most = iw_of_block(block_ns, IW_LONGEST_SHARE);
	uint64_t used_ns = spin_ns + timer->cpu_ns;

	if (!iw_histogram_count(bins, IW_BIN_LONG) ||
	    !iw_rhythm_plan(rhythm_in(bins), block_ns, timer, &plan->sleep))
		return false;
	plan->spin_ns = most > used_ns ? most - used_ns : 0;
	return plan->sleep.span_ns <= plan->spin_ns && plan->sleep.wake_ns > 2 * spin_ns;
}

/*
 * The threshold that the histogram says now, and that the object is known a little better. Where
 * nobody spins a long wait more changes neither, and the waiter has just been woken.
 */
static void learn_from(struct ipcwait_window *w, uint64_t bins, unsigned bin)
{
	uint32_t state = iw_window_state(w), next = state & ~SHARE_MASK;

	if (bin == IW_BIN_LONG && iw_state_known(state) && !iw_state_share(state))
		return;
	if (learned(state) < LEARNED_MASK >> LEARNED_SHIFT)
		next += LEARNED_ONE;
	next |= iw_histogram_cheapest(bins, 0, 0) << SHARE_SHIFT;
	/* ORD window.X3: relaxed, statistic; a CAS, so as not to undo a change of preset. */
	if (next != state)
		(void)ipcwait_impl_cas32_relaxed(&w->state, &state, next);
}

void iw_window_record(struct ipcwait_window *w, unsigned bin, unsigned n,
		      uint64_t interval_ns)
{
	uint64_t bins = load_bins(w), rhythm = rhythm_in(bins);

	if (bin == IW_BIN_LONG && interval_ns)
		rhythm = iw_rhythm_learn((uint32_t)rhythm, interval_ns);
	bins = iw_histogram_add(bins & IW_HISTOGRAM_MASK, bin, n);
	/* ORD window.X4: relaxed, statistic as window.X2. */
	ipcwait_impl_store64_relaxed(&w->bins, bins | rhythm << IW_HISTOGRAM_BITS);
	learn_from(w, bins, bin);
}

uint64_t iw_window_limit_ns(const struct ipcwait_window *w)
{
	return load_bins(w);
}

void iw_window_set_limit_ns(struct ipcwait_window *w, uint64_t ns)
{
	/* ORD window.X10: relaxed, statistic as window.X2. */
	ipcwait_impl_store64_relaxed(&w->bins, ns);
}

unsigned iw_window_count(const struct ipcwait_window *w, unsigned bin)
{
	return iw_histogram_count(load_bins(w), bin);
}

int ipcwait_window_set_preset(struct ipcwait_window *w, enum ipcwait_preset preset)
{
	if (!w || (uintptr_t)w % 8 || (unsigned)preset > IPCWAIT_TICKS)
		return -EINVAL;
	/* ORD window.X5: relaxed, re-checked by the CAS. */
	uint32_t state = ipcwait_impl_load32_relaxed(&w->state);

	/* ORD window.X6: relaxed, no order promised with waits that have begun. */
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

/* @cpu plus 1; 0: not known. */
static void put_cpu(struct ipcwait_window *w, uint32_t cpu)
{
	uint32_t state = iw_window_state(w);
	uint32_t with_cpu = (state & ~(CPU_MASK << CPU_SHIFT)) | cpu << CPU_SHIFT;

	/* ORD window.X8: relaxed, statistic as window.X3. */
	if (with_cpu != state)
		(void)ipcwait_impl_cas32_relaxed(&w->state, &state, with_cpu);
}

void iw_window_put_stamp(struct ipcwait_window *w, uint64_t now_ns, uint32_t cpu)
{
	/* ORD window.X7: relaxed, statistic: two wakers may overwrite each other's stamp. */
	ipcwait_impl_store32_relaxed(&w->stamp, stamp_at(now_ns));
	put_cpu(w, cpu + 1 > CPU_MASK ? 0 : cpu + 1);
}

void iw_window_forget_cpu(struct ipcwait_window *w)
{
	put_cpu(w, 0);
}

bool iw_window_stamp_age(const struct ipcwait_window *w, uint64_t now_ns, uint64_t since_ns,
			 uint64_t *age_ns)
{
	/* ORD window.X9: relaxed, statistic: a stamp that does not fit is ignored. */
	uint32_t stamp = ipcwait_impl_load32_relaxed(&w->stamp);
	uint32_t age = stamp_at(now_ns) - stamp;

	*age_ns = (uint64_t)age << STAMP_SHIFT;
	return stamp && *age_ns <= since_ns;
}

bool iw_window_stamp_before(const struct ipcwait_window *w, uint64_t at_ns)
{
	/* ORD window.X11: relaxed, statistic as window.X9. */
	return (int32_t)(ipcwait_impl_load32_relaxed(&w->stamp) - stamp_at(at_ns)) < 0;
}
