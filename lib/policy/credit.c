/* SPDX-License-Identifier: MIT */
#include "os/seam.h"
#include "policy/credit.h"

/*
 * Failed spinning may take this share of a thread's time, in percent. IPCWAIT_SPIN_BUDGET
 * overrides it.
 */
#define PERCENT 5
#define ALL     100

/*
 * And half of that share of every usable CPU over all threads of the process, so that a crowd
 * of threads, each within its own share, does not take the machine from itself.
 */
#define PROCESS_PART 2

/* What may be overspent in a burst, in ns of failed spinning: about 32 sleeps' worth. */
#define BURST_NS 1000000

/*
 * A token bucket, kept as the time at which it will be full again. A failed spin of t ticks
 * moves that time on by t times the inverse share; there is credit as long as it lies less
 * than a burst ahead. It never lies more than two bursts ahead: a spin that was stopped in
 * the middle, by a signal or with the whole machine, looks long and is no reason to stop
 * spinning for a minute.
 */
static struct ipcwait_word64 process_full_at;

static uint64_t burst_ticks(const struct iw_facts *facts)
{
	return iw_tick_from_ns(&facts->rate, BURST_NS);
}

/*
 * What lies two bursts and so many ns ahead comes from a counter that stepped back, or from that of
 * another CPU, and counts as none: it would stop the spinning for as long as that was. The time is
 * for threads whose @now is older than that of the last one that was charged.
 */
#define OLDER_NS 20000000

static uint64_t ahead(const struct iw_facts *facts, uint64_t full_at, uint64_t now,
		      uint64_t burst)
{
	uint64_t ticks = full_at > now ? full_at - now : 0;

	return ticks <= 2 * burst + iw_tick_from_ns(&facts->rate, OLDER_NS) ? ticks : 0;
}

static bool has_credit(const struct iw_facts *facts, uint64_t full_at, uint64_t now,
		       uint64_t burst)
{
	return ahead(facts, full_at, now, burst) < burst;
}

static uint64_t charged(const struct iw_facts *facts, uint64_t full_at, uint64_t now,
			uint64_t debt, uint64_t burst)
{
	uint64_t sum = ahead(facts, full_at, now, burst) + debt;

	return now + (sum < 2 * burst ? sum : 2 * burst);
}

/* By how much @ticks of failed spinning move the thread's or the process's time on. */
static uint64_t thread_debt(const struct iw_facts *facts, uint64_t ticks)
{
	int32_t percent = facts->config.spin_budget_percent;

	return ticks * ALL / (uint64_t)(percent < 0 ? PERCENT : percent);
}

static uint64_t process_debt(const struct iw_facts *facts, uint64_t ticks)
{
	return thread_debt(facts, ticks) * PROCESS_PART / facts->cpus;
}

/* At 0 and at 100 percent there is nothing to keep account of. */
static bool fixed(const struct iw_facts *facts)
{
	int32_t percent = facts->config.spin_budget_percent;

	return percent == 0 || percent >= ALL;
}

bool iw_credit_allows(const struct iw_facts *facts, uint64_t full_at, uint64_t now)
{
	uint64_t burst = burst_ticks(facts), process;

	if (fixed(facts))
		return facts->config.spin_budget_percent != 0;
	/* ORD credit.X1: relaxed, statistic: a charge seen late allows one more spin. */
	process = ipcwait_impl_load64_relaxed(&process_full_at);
	return has_credit(facts, full_at, now, thread_debt(facts, burst)) &&
	       has_credit(facts, process, now, process_debt(facts, burst));
}

void iw_credit_charge(const struct iw_facts *facts, uint64_t *full_at, uint64_t now,
		      uint64_t ticks)
{
	uint64_t burst = burst_ticks(facts), process;

	if (fixed(facts))
		return;
	if (ticks > burst)
		ticks = burst;
	*full_at = charged(facts, *full_at, now, thread_debt(facts, ticks),
			   thread_debt(facts, burst));
	/* ORD credit.X2: relaxed, re-checked by the CAS. */
	process = ipcwait_impl_load64_relaxed(&process_full_at);
	/* ORD credit.X3: relaxed, no order needed: an account that guards no data. */
	while (!ipcwait_impl_cas64_relaxed(&process_full_at, &process,
					   charged(facts, process, now,
						   process_debt(facts, ticks),
						   process_debt(facts, burst))))
		continue;
}
