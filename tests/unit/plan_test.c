/* SPDX-License-Identifier: MIT */
/*
 * lib/engine/plan.c over a fake kernel: who may not spin, and whose waits say so.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "engine/wake.h"
#include "env/cpus.h"
#include "os/thread.h"
#include "policy/cost.h"
#include "policy/sites.h"
#include "policy/window.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

/* What the last wait has added to the counters. */
static struct ipcwait_kind_stats counted;

/* As probe_world(), and the facts are there. */
static void world(enum ipcwait_preset preset, unsigned cpus)
{
	probe_world(preset, cpus);
	CHECK(iw_facts() != NULL);
}

static enum ipcwait_reason wait_once(void)
{
	return probe_wait(&counted);
}

/* The first wait finds out that there is one CPU; a waker elsewhere says otherwise. */
static void one_cpu(void)
{
	world(IPCWAIT_SPIN, 1);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_ONE_CPU);
	CHECK_EQ(counted.spun_wasted_ns, 0);
	probe_learned_nothing();
	CHECK(iw_thread.alone);
	probe_again(IPCWAIT_FOREVER);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	CHECK(!iw_thread.alone);
	iw_window_put_stamp(&probe.window, 1000, fake.cpu);
	probe_again(IPCWAIT_FOREVER);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_ONE_CPU);
}

/* The last waker ran on this CPU: then there might as well be one only. */
static void same_cpu(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	iw_window_put_stamp(&probe.window, 1000, fake.cpu);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_SAME_CPU);
	CHECK_EQ(counted.spun_wasted_ns, 0);
	probe_learned_nothing();
	CHECK(iw_thread.alone);
	/* It came from the other one this time. */
	probe_again(IPCWAIT_FOREVER);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	CHECK(probe.window.bins.v != 0);
	CHECK(!iw_thread.alone);
}

/* The waker that was here was this thread itself, as the last owner of a mutex often was. */
static void own_stamp_is_no_waker(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	(void)iw_stamp(&probe.window);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
}

/* Where the waker ran is nothing to those who spin by other rules. */
static void same_cpu_by_other_rules(void)
{
	static const struct {
		enum ipcwait_preset preset;
		enum ipcwait_reason why;
	} rows[] = {
		{ IPCWAIT_SPIN, IPCWAIT_REASON_WINDOW_OVER },
		{ IPCWAIT_HALTPOLL, IPCWAIT_REASON_WINDOW_OVER },
		{ IPCWAIT_TICKS, IPCWAIT_REASON_WINDOW_OVER },
		{ IPCWAIT_BLOCK, IPCWAIT_REASON_PRESET_BLOCK },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		world(rows[i].preset, 2);
		iw_window_put_stamp(&probe.window, 1000, fake.cpu);
		CHECK_EQ(wait_once(), rows[i].why);
	}
}

static void give_quota(uint32_t hundredths)
{
	((struct iw_facts *)iw_facts())->quota_hundredths = hundredths;
}

/* It must be enough for a spinner and the thread that it waits for. */
static void rationed(void)
{
	static const struct {
		uint32_t hundredths;
		enum ipcwait_reason why;
	} rows[] = {
		{ 1, IPCWAIT_REASON_RATIONED },      { 149, IPCWAIT_REASON_RATIONED },
		{ 150, IPCWAIT_REASON_WINDOW_OVER }, { 800000, IPCWAIT_REASON_WINDOW_OVER },
		{ 0, IPCWAIT_REASON_WINDOW_OVER },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		world(IPCWAIT_SPIN, 2);
		give_quota(rows[i].hundredths);
		CHECK_EQ(wait_once(), rows[i].why);
		CHECK_EQ(counted.spun_wasted_ns > 0,
			 rows[i].why == IPCWAIT_REASON_WINDOW_OVER);
	}
}

static void empty_budget(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	iw_thread.credit_full_at = (uint64_t)(fake.now_ns + 30 * MS);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_BUDGET_EMPTY);
	CHECK_EQ(counted.spun_wasted_ns, 0);
	/* It learns all the same, from the stamp. */
	probe_learned_once(50 * US);
	world(IPCWAIT_SPIN, 2);
	iw_thread.credit_full_at = (uint64_t)(fake.now_ns + 30 * MS);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
}

/* Where the hypervisor takes no CPUs away, only the user keeps it from spinning. */
static void dedicated(void)
{
	struct iw_facts *facts;

	world(IPCWAIT_ADAPTIVE, 2);
	facts = (struct iw_facts *)iw_facts();
	facts->dedicated = true;
	iw_thread.credit_full_at = (uint64_t)(fake.now_ns + 30 * MS);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	facts->config.spin_budget_percent = 0;
	probe_again(IPCWAIT_FOREVER);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_BUDGET_EMPTY);
}

/* 0: the three that learn never spin. 100: nothing bounds them. */
static void budget_of_the_user(void)
{
	struct iw_facts *facts;

	for (enum ipcwait_preset p = IPCWAIT_ADAPTIVE; p <= IPCWAIT_POWER; p++) {
		world(p, 2);
		facts = (struct iw_facts *)iw_facts();
		facts->config.spin_budget_percent = 0;
		CHECK_EQ(wait_once(), IPCWAIT_REASON_BUDGET_EMPTY);
		CHECK_EQ(counted.spun_wasted_ns, 0);
		facts->config.spin_budget_percent = 100;
		for (int i = 0; i < 500; i++) {
			probe_forget();
			CHECK_EQ(ipcwait_window_set_preset(&probe.window, p), 0);
			CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
		}
	}
}

static void preset_block(void)
{
	world(IPCWAIT_BLOCK, 2);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_PRESET_BLOCK);
	CHECK_EQ(counted.spun_wasted_ns, 0);
	probe_learned_nothing();
}

static void learned_long(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	probe_teach(20, IW_BIN_LONG);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_LEARNED_LONG);
	CHECK_EQ(counted.spun_wasted_ns, 0);
	/* Not before it sleeps, and once after it. */
	CHECK_EQ(probe.looks, 1);
	probe_learned_once(50 * US);
}

/* Others have waited long on objects of its kind: it does not begin by finding out. */
static void learned_long_from_others(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	for (int i = 0; i < 4; i++)
		iw_sites_record(&iw_sites, (struct iw_site){ 0, IPCWAIT_KIND_SEM },
				IW_BIN_LONG);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_LEARNED_LONG);
	CHECK_EQ(counted.spun_wasted_ns, 0);
}

/* At its call site waits are short, whatever they are elsewhere. */
static void call_site_before_kind(void)
{
	const struct iw_site here = { 0x401000, IPCWAIT_KIND_SEM };

	world(IPCWAIT_ADAPTIVE, 2);
	for (int i = 0; i < 9; i++)
		iw_sites_record(&iw_sites, here, 0);
	for (int i = 0; i < 90; i++)
		iw_sites_record(&iw_sites, (struct iw_site){ 0, IPCWAIT_KIND_SEM },
				IW_BIN_LONG);
	probe.base.site = here.address;
	CHECK_EQ(wait_once(), IPCWAIT_REASON_WINDOW_OVER);
	CHECK(counted.spun_wasted_ns >= (uint64_t)PROBE_BLOCK_NS * 7 / 8);
	/* It has learned that one of them was long. */
	CHECK_EQ(iw_histogram_count(iw_sites_of(&iw_sites, here), IW_BIN_LONG), 1);
	probe_again(IPCWAIT_FOREVER);
	probe.base.site = 0x402000;
	probe.window.bins.v = probe.window.state.v = 0;
	CHECK_EQ(wait_once(), IPCWAIT_REASON_LEARNED_LONG);
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
			CHECK_EQ(counted.spun_wasted_ns, 0);
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
	/* Less than half of it strays as well. */
	for (int i = 0; i < 3; i++)
		iw_cost_note_latency((uint64_t)PROBE_LATENCY_NS / 2 - 1);
	CHECK(!iw_cost_probe_due(iw_facts(), now += 20 * MS + 1000));
	CHECK(iw_cost_probe_due(iw_facts(), now += 1 * MS + 1000));
	iw_cost_note_latency((uint64_t)PROBE_LATENCY_NS);
	CHECK(!iw_cost_probe_due(iw_facts(), now += 1 * MS + 1000));
	CHECK(!iw_cost_probe_due(iw_facts(), now + 19 * MS));
	CHECK(iw_cost_probe_due(iw_facts(), now += 20 * MS + 1000));
	/* A counter that jumped back. */
	CHECK(iw_cost_probe_due(iw_facts(), 1000));
}

/* A thread that is bound to one CPU waits for others of its process, which may not be. */
static void cpus_of_the_process(void)
{
	static const uint32_t rows[][3] = {
		/* of the thread, of the first one, taken */
		{ 1, 1, 1 }, { 1, 4, 4 }, { 4, 1, 4 }, { 64, 64, 64 }, { 2, 0, 2 },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_reset();
		fake.allowed.count = rows[i][0];
		fake.main_allowed.count = rows[i][1];
		CHECK_EQ(iw_cpus_process(), rows[i][2]);
		CHECK_EQ(iw_cpus_usable(), rows[i][0]);
	}
}

/* After the first wait the kernel is asked nothing but futexes. */
static void nothing_is_asked_again(void)
{
	static const struct fake_step script[] = { { .sleep_ns = 50 * US,
						     .meanwhile = probe_appear } };
	unsigned masks, files;

	for (unsigned p = IPCWAIT_ADAPTIVE; p <= IPCWAIT_TICKS; p++) {
		world((enum ipcwait_preset)p, 2);
		masks = fake.mask_readings;
		files = fake.file_readings;
		for (int i = 0; i < 1000; i++) {
			fake.now_ns += 10 * MS;
			probe_again(IPCWAIT_FOREVER);
			if (i % 3)
				probe.there_at = fake.now_ns + 1 * US;
			FAKE_SCRIPT(script);
			CHECK_EQ(iw_wait(&probe.base), 0);
		}
		CHECK_EQ(fake.mask_readings, masks);
		CHECK_EQ(fake.file_readings, files);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(one_cpu),
		CHILD_TEST(same_cpu),
		CHILD_TEST(own_stamp_is_no_waker),
		CHILD_TEST(same_cpu_by_other_rules),
		CHILD_TEST(rationed),
		CHILD_TEST(empty_budget),
		CHILD_TEST(dedicated),
		CHILD_TEST(budget_of_the_user),
		CHILD_TEST(preset_block),
		CHILD_TEST(learned_long),
		CHILD_TEST(learned_long_from_others),
		CHILD_TEST(call_site_before_kind),
		CHILD_TEST(cpus_of_the_process),
		CHILD_TEST(nothing_is_asked_again),
		CHILD_TEST(probes),
		CHILD_TEST(probes_sooner_after_strays),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
