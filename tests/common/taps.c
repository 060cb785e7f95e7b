/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "common/check.h"
#include "common/fake_os.h"
#include "common/taps.h"
#include "engine/plan.h"
#include "os/thread.h"
#include "policy/cost.h"
#include "policy/credit.h"
#include "policy/sites.h"
#include "policy/window.h"

struct taps taps;

/* Further ahead than two bursts and 20 ms is none. */
#define OLDER_TICKS (UINT64_C(4) * 20000000)

void taps_clear(void)
{
	uint64_t process = taps.process_full_at;

	memset(&taps, 0, sizeof(taps));
	taps.process_full_at = process;
}

uint64_t taps_ahead(uint64_t full_at, uint64_t now, uint64_t burst)
{
	return full_at > now && full_at - now <= 2 * burst + OLDER_TICKS ? full_at - now
									 : 0;
}

enum iw_reason __real_iw_plan_admit(const struct iw_waiter *me, uint64_t now);
enum iw_reason __wrap_iw_plan_admit(const struct iw_waiter *me, uint64_t now);
enum iw_reason __wrap_iw_plan_admit(const struct iw_waiter *me, uint64_t now)
{
	struct tap_spin *s = &taps.spin[taps.spins++];

	CHECK(taps.spins <= TAPS_MOST);
	*s = (struct tap_spin){
		.start = now,
		.read_at = fake.now_ns - fake.step_ns,
		.last = now,
		.read = now,
		.unprobed = iw_thread.unprobed,
		.thread_full_at = iw_thread.credit_full_at,
		.process_full_at = taps.process_full_at,
	};
	s->why = __real_iw_plan_admit(me, now);
	s->unprobed_after = iw_thread.unprobed;
	return s->why;
}

bool __real_iw_cost_probe_due(const struct iw_facts *facts, uint64_t now);
bool __wrap_iw_cost_probe_due(const struct iw_facts *facts, uint64_t now);
bool __wrap_iw_cost_probe_due(const struct iw_facts *facts, uint64_t now)
{
	struct tap_spin *s = &taps.spin[taps.spins - 1];

	s->asked_probe = true;
	return s->probe_due = __real_iw_cost_probe_due(facts, now);
}

uint64_t __real_iw_plan_window_ns(const struct iw_waiter *me, uint64_t limit_ns);
uint64_t __wrap_iw_plan_window_ns(const struct iw_waiter *me, uint64_t limit_ns);
uint64_t __wrap_iw_plan_window_ns(const struct iw_waiter *me, uint64_t limit_ns)
{
	struct tap_spin *s = &taps.spin[taps.spins - 1];

	taps.in_spin = true;
	s->begin = fake.now_ns;
	s->limit_ns = limit_ns;
	s->window_ns = __real_iw_plan_window_ns(me, limit_ns);
	return s->window_ns;
}

/* By the definition: so many times what was in vain, and never two bursts ahead. */
static void charge_process(const struct iw_facts *facts, uint64_t now, uint64_t ticks)
{
	int32_t percent = facts->config.spin_budget_percent;
	uint64_t share = percent < 0 ? 5 : (uint64_t)percent, burst = 4000000, sum;

	if (percent == 0 || percent >= 100)
		return;
	ticks = ticks < burst ? ticks : burst;
	burst = burst * 100 / share * 2 / facts->cpus;
	sum = taps_ahead(taps.process_full_at, now, burst) +
	      ticks * 100 / share * 2 / facts->cpus;
	taps.process_full_at = now + (sum < 2 * burst ? sum : 2 * burst);
}

void __real_iw_credit_charge(const struct iw_facts *facts, uint64_t *full_at, uint64_t now,
			     uint64_t ticks);
void __wrap_iw_credit_charge(const struct iw_facts *facts, uint64_t *full_at, uint64_t now,
			     uint64_t ticks);
void __wrap_iw_credit_charge(const struct iw_facts *facts, uint64_t *full_at, uint64_t now,
			     uint64_t ticks)
{
	struct tap_charge *c = &taps.charge[taps.charges++];

	CHECK(taps.charges <= TAPS_MOST && taps.spins > 0);
	*c = (struct tap_charge){
		.full_at = *full_at, .now = now, .ticks = ticks, .spin = taps.spins - 1
	};
	charge_process(facts, now, ticks);
	__real_iw_credit_charge(facts, full_at, now, ticks);
	c->after = *full_at;
}

void __real_iw_plan_learn_slept(struct iw_waiter *me, uint64_t wait_ns, uint64_t spun_ns,
				bool ended);
void __wrap_iw_plan_learn_slept(struct iw_waiter *me, uint64_t wait_ns, uint64_t spun_ns,
				bool ended);
void __wrap_iw_plan_learn_slept(struct iw_waiter *me, uint64_t wait_ns, uint64_t spun_ns,
				bool ended)
{
	taps.learn[taps.learned++ % TAPS_MOST] =
		(struct tap_learned){ true, ended, wait_ns, spun_ns };
	__real_iw_plan_learn_slept(me, wait_ns, spun_ns, ended);
}

void __real_iw_plan_learn_spun(struct iw_waiter *me, uint64_t wait_ns);
void __wrap_iw_plan_learn_spun(struct iw_waiter *me, uint64_t wait_ns);
void __wrap_iw_plan_learn_spun(struct iw_waiter *me, uint64_t wait_ns)
{
	taps.learn[taps.learned++ % TAPS_MOST] = (struct tap_learned){ .wait_ns = wait_ns };
	__real_iw_plan_learn_spun(me, wait_ns);
}

void __real_iw_window_record(struct ipcwait_window *w, unsigned bin, unsigned n,
			     uint64_t interval_ns);
void __wrap_iw_window_record(struct ipcwait_window *w, unsigned bin, unsigned n,
			     uint64_t interval_ns);
void __wrap_iw_window_record(struct ipcwait_window *w, unsigned bin, unsigned n,
			     uint64_t interval_ns)
{
	taps.record[taps.records++ % TAPS_MOST] =
		(struct tap_record){ bin, n, interval_ns };
	__real_iw_window_record(w, bin, n, interval_ns);
}

void __real_iw_sites_record(struct iw_sites *t, struct iw_site site, unsigned bin);
void __wrap_iw_sites_record(struct iw_sites *t, struct iw_site site, unsigned bin);
void __wrap_iw_sites_record(struct iw_sites *t, struct iw_site site, unsigned bin)
{
	taps.sites++;
	taps.site_bin = bin;
	__real_iw_sites_record(t, site, bin);
}

void __real_iw_cost_note_latency(uint64_t ns);
void __wrap_iw_cost_note_latency(uint64_t ns);
void __wrap_iw_cost_note_latency(uint64_t ns)
{
	taps.latency_ns[taps.latencies++ % TAPS_MOST] = ns;
	__real_iw_cost_note_latency(ns);
}

void __real_iw_cost_note_waker(uint64_t ns);
void __wrap_iw_cost_note_waker(uint64_t ns);
void __wrap_iw_cost_note_waker(uint64_t ns)
{
	taps.waker_ns[taps.wakers++ % TAPS_MOST] = ns;
	__real_iw_cost_note_waker(ns);
}

void __real_iw_cost_note_timer(uint64_t ns);
void __wrap_iw_cost_note_timer(uint64_t ns);
void __wrap_iw_cost_note_timer(uint64_t ns)
{
	taps.timer_ns[taps.timers++ % TAPS_MOST] = ns;
	__real_iw_cost_note_timer(ns);
}

void __wrap_iw_observe_now(const struct iw_facts *facts, const struct iw_outcome *o);
void __wrap_iw_observe_now(const struct iw_facts *facts, const struct iw_outcome *o)
{
	(void)facts;
	taps.observed++;
	taps.outcome = *o;
}
