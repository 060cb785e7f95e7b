/* SPDX-License-Identifier: MIT */
#include <ipcwait/base.h>

#include "env/cpus.h"
#include "env/quota.h"
#include "os/cpu.h"
#include "os/realtime.h"

/*
 * How long affinity masks and the scheduling class are believed. Reading them costs 1.0 us,
 * so this is 0.001 % of a CPU per waiting thread, and taskset takes effect within a tenth of
 * a second.
 */
#define MASK_VALID_NS UINT64_C(100000000)

/*
 * With a smaller quota, in hundredths of a CPU, a spinner and the thread it waits for would
 * use it up together, and then both stop for tens of milliseconds.
 */
#define QUOTA_LEAST 150

/* How long a pinned thread is remembered after its last wait. */
#define PIN_VALID_NS UINT64_C(2000000000)

/*
 * The two CPUs on which pinned threads of this process waited last: CPU + 1 in the top 16
 * bits, below them the time in units of 2^16 ticks. Two suffice to answer "another one?".
 */
static struct ipcwait_word64 pins[2] __attribute__((aligned(IW_ARCH_LINE_BYTES)));

/* CPUs that the process may use, as a thread found them last; 0: not read yet. */
static struct ipcwait_word32 process_cpus;

#define PIN_TIME_BITS  48
#define PIN_TIME_SHIFT 16

static bool pin_younger(const struct iw_tick_rate *rate, uint64_t pin, uint64_t now,
			uint64_t ns)
{
	uint64_t noted = (pin & ((UINT64_C(1) << PIN_TIME_BITS) - 1)) << PIN_TIME_SHIFT;

	return pin && now - noted < iw_tick_from_ns(rate, ns);
}

/* True if a thread is pinned to another CPU than @cpu. Notes this one, once in a while. */
static bool pinned_elsewhere(const struct iw_tick_rate *rate, uint32_t cpu, uint64_t now)
{
	uint64_t mine = ((uint64_t)(cpu + 1) << PIN_TIME_BITS) | (now >> PIN_TIME_SHIFT);
	bool elsewhere = false, noted = false;

	for (int i = 0; i < 2; i++) {
		/* ORD cpus.X1: relaxed, hint: a stale pin costs or saves one spin. */
		uint64_t pin = ipcwait_impl_load64_relaxed(&pins[i]);
		bool same = pin >> PIN_TIME_BITS == cpu + 1;

		if (!same && pin_younger(rate, pin, now, PIN_VALID_NS)) {
			elsewhere = true;
		} else if (!noted) {
			noted = true;
			/* ORD cpus.X2: relaxed, hint as cpus.X1. */
			if (!same || !pin_younger(rate, pin, now, PIN_VALID_NS / 4))
				ipcwait_impl_store64_relaxed(&pins[i], mine);
		} else if (same) {
			/* ORD cpus.X5: relaxed, hint as cpus.X1: threads of one CPU that noted it
			 * at the same time may have taken both places. A CAS, so as not to undo
			 * what another has noted since. */
			(void)ipcwait_impl_cas64_relaxed(&pins[i], &pin, 0);
		}
	}
	return elsewhere;
}

static uint32_t larger_mask(uint32_t own)
{
	uint32_t main = iw_cpu_allowed(true).count;

	return own > main ? own : main ? main : 1;
}

static void read_masks(struct iw_thread *self, uint64_t now)
{
	struct iw_cpu_set set = iw_cpu_allowed(false);

	self->cpus = set.count;
	self->cpu_first = set.first;
	self->realtime = iw_realtime();
	self->cpus_read_at = now;
	/* ORD cpus.X3: relaxed, hint: the last reading, whichever thread's it is. */
	ipcwait_impl_store32_relaxed(&process_cpus, larger_mask(set.count));
}

bool iw_cpus_several(const struct iw_tick_rate *rate, uint64_t now, uint32_t waker_cpu)
{
	struct iw_thread *self = iw_self();

	if (!self->cpus ||
	    now - self->cpus_read_at > iw_tick_from_ns(rate, MASK_VALID_NS)) {
		read_masks(self, now);
		iw_quota_refresh(rate, now);
	}
	if (IPCWAIT_LIKELY(self->cpus >= 2))
		return true;
	return pinned_elsewhere(rate, self->cpu_first, now) ||
	       (waker_cpu && waker_cpu != self->cpu_first + 1);
}

bool iw_cpus_rationed(void)
{
	struct iw_quota quota = iw_quota();

	return (quota.hundredths && quota.hundredths < QUOTA_LEAST) || quota.throttled;
}

uint32_t iw_cpus_spinners(void)
{
	/* ORD cpus.X4: relaxed, hint as cpus.X3. */
	uint32_t cpus = ipcwait_impl_load32_relaxed(&process_cpus);
	uint32_t hundredths = iw_quota().hundredths;

	if (hundredths && hundredths / 100 < cpus)
		cpus = hundredths / 100;
	return cpus > 2 ? cpus - 1 : 1;
}

uint32_t iw_cpus_usable(void)
{
	return iw_cpu_allowed(false).count;
}

uint32_t iw_cpus_process(void)
{
	return larger_mask(iw_cpu_allowed(false).count);
}
