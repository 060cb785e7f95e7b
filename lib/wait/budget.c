/* SPDX-License-Identifier: MIT */
#include "os/seam.h"
#include "wait/budget.h"

/*
 * Failed spinning may take this share of a thread's time, as the inverse: 1/20 is 5 %.
 */
#define THREAD_SHARE 20

/*
 * And this share of every usable CPU over all threads of the process: 1/40 is 2.5 %, so that
 * a crowd of threads, each within its own share, does not take the machine from itself.
 */
#define PROCESS_SHARE 40

/* What may be overspent in a burst, in ns of failed spinning: about 32 sleeps' worth. */
#define BURST_NS 1000000

/*
 * A token bucket, kept as the time at which it will be full again. A failed spin of t ticks
 * moves that time on by t times the inverse share; there is credit as long as it lies less
 * than a burst ahead.
 */
static struct ipcwait_word64 process_full_at;

static bool credit(const struct iw_facts *facts, uint64_t full_at, uint64_t now,
		   uint64_t share)
{
	return full_at <= now ||
	       full_at - now < iw_tick_from_ns(&facts->rate, BURST_NS) * share;
}

static uint64_t charged(uint64_t full_at, uint64_t now, uint64_t ticks, uint64_t share)
{
	return (full_at > now ? full_at : now) + ticks * share;
}

static uint64_t process_share(void)
{
	uint32_t cpus = iw_self()->cpus;

	return cpus < PROCESS_SHARE ? PROCESS_SHARE / (cpus ? cpus : 1) : 1;
}

bool iw_budget_allows(const struct iw_facts *facts, uint64_t now)
{
	/* ORD budget.X1: relaxed, statistic: a charge seen late allows one more spin. */
	uint64_t process = ipcwait_impl_load64_relaxed(&process_full_at);

	return credit(facts, iw_self()->full_at, now, THREAD_SHARE) &&
	       credit(facts, process, now, process_share());
}

void iw_budget_charge(uint64_t now, uint64_t ticks)
{
	struct iw_thread *self = iw_self();
	uint64_t process;

	self->full_at = charged(self->full_at, now, ticks, THREAD_SHARE);
	/* ORD budget.X2: relaxed, statistic: a charge lost to another thread is harmless. */
	process = ipcwait_impl_load64_relaxed(&process_full_at);
	ipcwait_impl_store64_relaxed(&process_full_at,
				     charged(process, now, ticks, process_share()));
}
