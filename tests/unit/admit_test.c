/* SPDX-License-Identifier: MIT */
/*
 * lib/engine/admit.c and spin.c over a fake kernel: who may not spin, what ends a spin before its
 * window does, and what is made of it.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "os/thread.h"
#include "policy/cost.h"
#include "policy/harm.h"
#include "policy/licence.h"
#include "engine/wake.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

/* The window of a new object, with its jitter. */
#define PRIOR_LEAST (PROBE_BLOCK_NS * 54 / 100 * 7 / 8)
#define PRIOR_MOST  (PROBE_BLOCK_NS * 54 / 100 * 9 / 8)

static struct ipcwait_stats before, after;

/* Spun in vain, in useful spins. */
static uint64_t wasted, useful;

static uint64_t reasons(enum ipcwait_reason reason)
{
	return after.reasons[reason] - before.reasons[reason];
}

static const struct ipcwait_kind_stats *of(const struct ipcwait_stats *st)
{
	return &st->kind[IPCWAIT_KIND_SEM];
}

/* A waiter that learns nothing takes no stamp into account. */
static void wake(void)
{
	fake.cpu++;
	(void)iw_stamp(&probe.window);
	fake.cpu--;
	probe_appear();
}

/* As probe_world(), and the facts are there. */
static void world(enum ipcwait_preset preset, unsigned cpus)
{
	probe_world(preset, cpus);
	CHECK(iw_facts() != NULL);
}

/* One wait that ends in a sleep, if it is not taken before. Returns why it slept. */
static enum ipcwait_reason wait_once(void)
{
	static const struct fake_step script[] = {
		{ .sleep_ns = 50 * US, .meanwhile = wake, .late_ns = 20 * US }
	};
	enum ipcwait_reason why = IPCWAIT_REASON_NONE;

	before = probe_stats();
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	after = probe_stats();
	wasted = of(&after)->spun_wasted_ns - of(&before)->spun_wasted_ns;
	useful = of(&after)->spun_useful_ns - of(&before)->spun_useful_ns;
	for (unsigned i = 1; i < IPCWAIT_REASON_COUNT; i++) {
		CHECK(reasons((enum ipcwait_reason)i) <= 1);
		if (reasons((enum ipcwait_reason)i)) {
			CHECK_EQ(why, IPCWAIT_REASON_NONE);
			why = (enum ipcwait_reason)i;
		}
	}
	CHECK_EQ(fake.waits, why != IPCWAIT_REASON_NONE);
	return why;
}

/* All but the one licence that there is on two CPUs. */
static bool licence_is_free(void)
{
	uint32_t licence = iw_licence_take(iw_facts(), (uint64_t)fake.now_ns);

	iw_licence_return(licence);
	return licence == 1;
}

/* What happens once, at the first reading of the clock after so many looks. */
static unsigned after_looks;
static int64_t jump_ns;
static bool switched_out, there_after;

static void lose_cpu(void)
{
	if (probe.looks < after_looks || !after_looks)
		return;
	after_looks = 0;
	fake.now_ns += jump_ns;
	if (switched_out)
		fake.rseq_field = 0;
	if (there_after)
		probe_appear();
}

static void will_lose_cpu(int64_t ns, bool to_the_kernel, bool then_there)
{
	fake_rseq();
	after_looks = 10;
	jump_ns = ns;
	switched_out = to_the_kernel;
	there_after = then_there;
	fake.on_clock = lose_cpu;
}

static void window_over(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	CHECK(wasted >= PRIOR_LEAST && wasted <= PRIOR_MOST + 500);
	CHECK(licence_is_free());
	probe_learned_once((int64_t)wasted + 50 * US);
	/* A failed spin of t moves the budget's time on by 20 t. */
	CHECK(llabs((int64_t)(iw_thread.full_at - (uint64_t)fake.now_ns + 70000) -
		    (int64_t)(20 * wasted)) < 2000);
}

static void no_reason(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	probe.there_at = fake.now_ns + 5 * US;
	CHECK_EQ(wait_once(), IPCWAIT_REASON_NONE);
	CHECK(useful > 4500 && useful < 6000);
	CHECK_EQ(wasted, 0);
	CHECK_EQ(iw_thread.full_at, 0);
	CHECK(licence_is_free());
}

/*
 * The thread was off its CPU for 20 us, and the sentinel tells. The time until then is charged,
 * the other is not; what it spins from now on is halved.
 */
static void preempted(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	will_lose_cpu(20 * US, true, false);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_PREEMPTED);
	CHECK_EQ(of(&after)->preempted - of(&before)->preempted, 1);
	CHECK_EQ(of(&after)->stolen - of(&before)->stolen, 0);
	CHECK_EQ(iw_harm_level(iw_facts(), (uint64_t)fake.now_ns), 1);
	CHECK(iw_thread.full_at + 70000 - (uint64_t)fake.now_ns < UINT64_C(20) * 5000);
	CHECK(licence_is_free());
	/* Nor was it spun; the wait lasted that long all the same. */
	CHECK(wasted < 5000);
	probe_learned_once((int64_t)wasted + 20 * US + 50 * US);
}

/* A switch that took no time worth mentioning. */
static void switched_out_and_back(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	will_lose_cpu(5 * US, true, false);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	CHECK_EQ(iw_harm_level(iw_facts(), (uint64_t)fake.now_ns), 0);
}

/* An interrupt of 12 us: the sentinel stands. */
static void interrupted(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	will_lose_cpu(12 * US, false, false);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	CHECK_EQ(of(&after)->preempted - of(&before)->preempted, 0);
	CHECK_EQ(iw_harm_level(iw_facts(), (uint64_t)fake.now_ns), 0);
}

static void stolen(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	will_lose_cpu(500 * US, false, false);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_STOLEN);
	CHECK_EQ(of(&after)->preempted - of(&before)->preempted, 0);
	CHECK_EQ(of(&after)->stolen - of(&before)->stolen, 1);
	CHECK_EQ(iw_harm_level(iw_facts(), (uint64_t)fake.now_ns), 1);
	CHECK(iw_thread.full_at + 70000 - (uint64_t)fake.now_ns < UINT64_C(20) * 5000);
}

/* It was there when the thread ran again, for how long nobody knows. */
static void dirty_length_is_not_learned(void)
{
	for (int kernel = 0; kernel < 2; kernel++) {
		world(IPCWAIT_ADAPTIVE, 2);
		will_lose_cpu(kernel ? 20 * US : 500 * US, kernel, true);
		CHECK_EQ(wait_once(), IPCWAIT_REASON_NONE);
		CHECK_EQ(of(&after)->spun - of(&before)->spun, 1);
		CHECK_EQ(probe.window.bins.v, 0);
		/* Nothing is left in the field when nobody spins. */
		CHECK_EQ(fake.rseq_field, 0);
	}
	/* So is one after an interrupt. */
	world(IPCWAIT_ADAPTIVE, 2);
	will_lose_cpu(12 * US, false, true);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_NONE);
	CHECK(probe.window.bins.v != 0);
}

static void lose_cpu_soon(void)
{
	will_lose_cpu(500 * US, false, true);
	after_looks += probe.looks;
}

/* The same in a spin after a sleep that was in vain. */
static void dirty_length_after_a_sleep(void)
{
	static const struct fake_step script[] = { { .sleep_ns = 50 * US,
						     .meanwhile = lose_cpu_soon } };

	world(IPCWAIT_ADAPTIVE, 2);
	FAKE_SCRIPT(script);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.settles, 1);
	CHECK_EQ(probe.window.bins.v, 0);
}

/* Half as long for each spin that went wrong, and in full again later. */
static void harm_shortens_spins(void)
{
	for (unsigned level = 0; level <= 4; level++) {
		int64_t most = 2 * PROBE_BLOCK_NS >> level;

		world(IPCWAIT_ADAPTIVE, 2);
		for (unsigned i = 0; i < level; i++)
			iw_harm_note(iw_facts(), (uint64_t)fake.now_ns);
		CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
		CHECK(wasted <= (uint64_t)most + 500);
		CHECK(wasted >= (uint64_t)(most < PRIOR_LEAST ? most : PRIOR_LEAST));
		probe_again(IPCWAIT_FOREVER);
		probe.window.bins.v = probe.window.state.v = 0;
		fake.now_ns += 5000 * MS;
		CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
		CHECK(wasted >= PRIOR_LEAST);
	}
	/* SPIN was asked for. */
	world(IPCWAIT_SPIN, 2);
	for (unsigned i = 0; i < 4; i++)
		iw_harm_note(iw_facts(), (uint64_t)fake.now_ns);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	CHECK(wasted >= 2 * PROBE_BLOCK_NS);
}

/* The only licence of two CPUs is taken: it spins for as long as needs none. */
static void crowded(void)
{
	uint32_t licence;

	world(IPCWAIT_ADAPTIVE, 2);
	licence = iw_licence_take(iw_facts(), (uint64_t)fake.now_ns);
	CHECK_EQ(licence, 1);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_CROWDED);
	CHECK(wasted >= 2000 && wasted < 3000);
	/* Short waits are still caught. */
	probe_again(IPCWAIT_FOREVER);
	probe.there_at = fake.now_ns + 1 * US;
	CHECK_EQ(wait_once(), IPCWAIT_REASON_NONE);
	/* SPIN needs none, and takes none from others. */
	CHECK_EQ(ipcwait_window_set_preset(&probe.window, IPCWAIT_SPIN), 0);
	probe_again(IPCWAIT_FOREVER);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	CHECK(!licence_is_free());
	iw_licence_return(licence);
	CHECK(licence_is_free());
}

/* Whatever ended the spin, the licence is back. */
static void licence_is_returned(void)
{
	for (int i = 0; i < 4; i++) {
		world(IPCWAIT_ADAPTIVE, 2);
		if (i == 0)
			probe.there_at = fake.now_ns + 8 * US;
		else if (i < 3)
			will_lose_cpu(i == 1 ? 20 * US : 500 * US, i == 1, false);
		else
			probe_again(fake.now_ns + 10 * US);
		after_looks *= 3;
		(void)wait_once();
		CHECK(wasted + useful > 2000);
		CHECK(licence_is_free());
	}
}

static void one_cpu(void)
{
	world(IPCWAIT_SPIN, 1);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_ONE_CPU);
	CHECK_EQ(wasted, 0);
	CHECK_EQ(probe.window.bins.v, 0);
}

/* The last waker ran on this CPU: then there might as well be one only. */
static void same_cpu(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	iw_window_put_stamp(&probe.window, 1000, fake.cpu);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_SAME_CPU);
	CHECK_EQ(wasted, 0);
	CHECK_EQ(probe.window.bins.v, 0);
	/* It came from the other one this time. */
	probe_again(IPCWAIT_FOREVER);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	CHECK(probe.window.bins.v != 0);
}

static void realtime(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	fake.realtime = true;
	CHECK_EQ(wait_once(), IPCWAIT_REASON_REALTIME);
	CHECK_EQ(wasted, 0);
	/* Whatever its preset: it would starve the waker. */
	world(IPCWAIT_SPIN, 2);
	fake.realtime = true;
	CHECK_EQ(wait_once(), IPCWAIT_REASON_REALTIME);
}

static void empty_budget(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	iw_thread.full_at = (uint64_t)(fake.now_ns + 30 * MS);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_BUDGET_EMPTY);
	CHECK_EQ(wasted, 0);
	world(IPCWAIT_SPIN, 2);
	iw_thread.full_at = (uint64_t)(fake.now_ns + 30 * MS);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
}

static void preset_block(void)
{
	world(IPCWAIT_BLOCK, 2);
	fake.realtime = true;
	CHECK_EQ(wait_once(), IPCWAIT_REASON_PRESET_BLOCK);
	CHECK_EQ(wasted, 0);
}

static void learned_long(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	for (int i = 0; i < 20; i++)
		iw_window_record(&probe.window, (uint64_t)(i * i * MS), 0,
				 (uint64_t)PROBE_BLOCK_NS);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_LEARNED_LONG);
	/* The first looks come before the window is worked out. */
	CHECK(wasted >= 160 && wasted < 600);
}

/* Waits that end in the spin, until one does not. Returns how many. */
static unsigned until_probe(unsigned most)
{
	for (unsigned n = 0; n < most; n++) {
		enum ipcwait_reason why;

		probe_again(IPCWAIT_FOREVER);
		probe.there_at = fake.now_ns + 1 * US;
		why = wait_once();
		if (why) {
			CHECK_EQ(why, IPCWAIT_REASON_PROBE);
			CHECK_EQ(wasted, 0);
			return n;
		}
	}
	return most;
}

/*
 * Spins alone do not tell what a sleep costs: one in at least 64 is given up for that, after 20
 * ms without a sample.
 */
static void probes(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	CHECK_EQ(iw_cost_probe_due(iw_facts(), (uint64_t)fake.now_ns), 0);
	/* In the first 20 ms there is a sample. */
	iw_cost_note_latency((uint64_t)PROBE_LATENCY_NS);
	fake.now_ns += 21 * MS;
	CHECK_EQ(until_probe(200), 200);
	fake.now_ns += 21 * MS;
	CHECK(until_probe(200) < 64);
	CHECK_EQ(iw_thread.unprobed, 0);
	/* It was a sample itself. */
	fake.now_ns += 21 * MS;
	CHECK_EQ(until_probe(200), 200);
	iw_thread.unprobed = 0;
	fake.now_ns += 21 * MS;
	CHECK_EQ(until_probe(200), 63);
}

/* Samples that stray from what was believed: the next probes come soon after one another. */
static void probes_sooner_after_strays(void)
{
	uint64_t now = 100 * MS;

	world(IPCWAIT_ADAPTIVE, 2);
	(void)iw_cost_probe_due(iw_facts(), now);
	for (int i = 0; i < 3; i++)
		iw_cost_note_latency((uint64_t)PROBE_LATENCY_NS * 2 + 1);
	CHECK(!iw_cost_probe_due(iw_facts(), now += 20 * MS));
	CHECK(!iw_cost_probe_due(iw_facts(), now += 20 * MS));
	CHECK(!iw_cost_probe_due(iw_facts(), now + 1 * MS / 2));
	CHECK(iw_cost_probe_due(iw_facts(), now += 1 * MS + 1000));
	/* As believed: there is time again. */
	iw_cost_note_latency((uint64_t)PROBE_LATENCY_NS);
	CHECK(!iw_cost_probe_due(iw_facts(), now += 1 * MS + 1000));
	CHECK(!iw_cost_probe_due(iw_facts(), now + 19 * MS));
	CHECK(iw_cost_probe_due(iw_facts(), now += 20 * MS + 1000));
	/* A counter that jumped back. */
	CHECK(iw_cost_probe_due(iw_facts(), 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(window_over),
		CHILD_TEST(no_reason),
		CHILD_TEST(preempted),
		CHILD_TEST(switched_out_and_back),
		CHILD_TEST(interrupted),
		CHILD_TEST(stolen),
		CHILD_TEST(dirty_length_is_not_learned),
		CHILD_TEST(dirty_length_after_a_sleep),
		CHILD_TEST(harm_shortens_spins),
		CHILD_TEST(crowded),
		CHILD_TEST(licence_is_returned),
		CHILD_TEST(one_cpu),
		CHILD_TEST(same_cpu),
		CHILD_TEST(realtime),
		CHILD_TEST(empty_budget),
		CHILD_TEST(preset_block),
		CHILD_TEST(learned_long),
		CHILD_TEST(probes),
		CHILD_TEST(probes_sooner_after_strays),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
