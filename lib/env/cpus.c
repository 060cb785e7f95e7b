/* SPDX-License-Identifier: MIT */
#include <ipcwait/base.h>

#include "env/cpus.h"
#include "os/cpu.h"

/*
 * How long an affinity mask is believed. Reading it costs 0.3 us, so this is 0.0003 % of a
 * CPU per waiting thread, and taskset takes effect within a tenth of a second.
 */
#define MASK_VALID_NS UINT64_C(100000000)

/* How long a pinned thread is remembered after its last wait. */
#define PIN_VALID_NS UINT64_C(2000000000)

/*
 * The two CPUs on which pinned threads of this process waited last: CPU + 1 in the top 16
 * bits, below them the time in units of 2^16 ticks. Two suffice to answer "another one?".
 */
static struct ipcwait_word64 pins[2] __attribute__((aligned(IW_ARCH_LINE_BYTES)));

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
		}
	}
	return elsewhere;
}

static void read_mask(struct iw_thread *self, uint64_t now)
{
	struct iw_cpu_set set = iw_cpu_allowed(false);

	self->cpus = set.count;
	self->cpu_first = set.first;
	self->cpus_read_at = now;
}

bool iw_cpus_several(const struct iw_tick_rate *rate, uint64_t now, uint32_t waker_cpu)
{
	struct iw_thread *self = iw_self();

	if (!self->cpus || now - self->cpus_read_at > iw_tick_from_ns(rate, MASK_VALID_NS))
		read_mask(self, now);
	if (IPCWAIT_LIKELY(self->cpus >= 2))
		return true;
	return pinned_elsewhere(rate, self->cpu_first, now) ||
	       (waker_cpu && waker_cpu != self->cpu_first + 1);
}

uint32_t iw_cpus_usable(void)
{
	return iw_cpu_allowed(false).count;
}

uint32_t iw_cpus_process(void)
{
	uint32_t own = iw_cpu_allowed(false).count, main = iw_cpu_allowed(true).count;

	return own > main ? own : main ? main : 1;
}
