/* SPDX-License-Identifier: MIT */
#include "common/ticking.h"
#include "common/check.h"
#include "common/fake_os.h"
#include "policy/cost.h"

struct ticking ticking;

void ticking_teach(struct ipcwait_window *w, unsigned n)
{
	while (n--)
		iw_window_record(w, IW_BIN_LONG, 1, (uint64_t)TICK_NS);
}

void ticking_next(int64_t deadline_ns)
{
	struct iw_timer_cost timer = iw_cost_timer(iw_facts());

	timer.worth_ns = (uint64_t)(TICKING_BLOCK_NS - PROBE_LATENCY_NS);
	probe_again(deadline_ns);
	ticking.begin = fake.now_ns;
	ticking.spin_ns = iw_of_block((uint64_t)TICKING_BLOCK_NS,
				      iw_state_share(iw_window_state(&probe.window)));
	ticking.timed = iw_window_timed(&probe.window, ticking.spin_ns,
					(uint64_t)TICKING_BLOCK_NS, &timer, &ticking.plan);
}

void ticking_world(int64_t after_ns)
{
	const struct iw_timed_sleep *sleep = &ticking.plan.sleep;

	probe_world(IPCWAIT_LATENCY, 2);
	ticking_teach(&probe.window, 40);
	ticking_next(after_ns ? fake.now_ns + after_ns : IPCWAIT_FOREVER);
	CHECK(ticking.timed);
	CHECK_EQ(ticking.spin_ns, 0);
	CHECK(sleep->wake_ns > 800 * US && sleep->until_ns > (uint64_t)TICK_NS);
}

bool ticking_soon_after(int64_t is, int64_t want)
{
	return is >= want && is <= want + 2 * US;
}

bool ticking_on_timer(int64_t deadline_ns)
{
	return ticking_soon_after(deadline_ns,
				  ticking.begin + (int64_t)ticking.plan.sleep.wake_ns);
}

void ticking_expire(void)
{
	CHECK(ticking_on_timer(fake.wait.deadline_ns));
	CHECK_EQ(probe.settles, 1);
	fake.now_ns = fake.wait.deadline_ns + LATE_NS;
}
