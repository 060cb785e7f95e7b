/* SPDX-License-Identifier: MIT */
#include "engine/aside.h"
#include "env/facts.h"
#include "os/seam.h"
#include "policy/policy.h"
#include "policy/window.h"

/*
 * In ns. Two to sixteen threads that only read, sections empty, on two CPUs: an operation takes
 * 105 to 115 ns without, 57 with 1000, 48 with 2500 and 43 with 5000 (bench/grid/rwlock_grid.py).
 */
#define FIRST_NS 500
#define MOST_NS  5000

/* Twice as long if the last time is not longer ago than this many times its length, else half. */
#define AGAIN 16

static uint64_t next_ns(const struct iw_thread *self, uint64_t now_ns)
{
	uint64_t ago_ns = now_ns - self->aside_until_ns;

	if (ago_ns > AGAIN * (uint64_t)self->aside_ns)
		return self->aside_ns > 2 * FIRST_NS ? self->aside_ns / 2 : FIRST_NS;
	return self->aside_ns < MOST_NS / 2 ? 2 * self->aside_ns : MOST_NS;
}

static bool may_spin(const struct ipcwait_window *window)
{
	const struct iw_facts *facts = iw_facts();

	return facts && facts->cpus > 1 && !iw_rationed(facts) &&
	       facts->config.spin_budget_percent &&
	       iw_policy_preset(facts, iw_window_state(window)) != IPCWAIT_BLOCK;
}

void iw_stand_aside(const struct ipcwait_window *window)
{
	struct iw_thread *self = iw_self();
	uint64_t begin_ns, now_ns;

	if (!may_spin(window))
		return;
	begin_ns = iw_now_ns();
	self->aside_ns = (uint32_t)next_ns(self, begin_ns);
	do {
		iw_pause();
		now_ns = iw_now_ns();
	} while (now_ns - begin_ns < self->aside_ns);
	self->aside_until_ns = now_ns;
}
