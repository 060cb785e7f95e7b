/* SPDX-License-Identifier: MIT */
/*
 * lib/engine over a fake kernel and a fake counter, which steps back while a thread spins, as after
 * a migration to another machine or a resume. The clock goes on as ever.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "policy/credit.h"
#include "policy/sites.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

/* So that no test takes ticks for nanoseconds. */
#define TICKS_PER_NS 3

/* An uptime to step back within. */
#define BOOT_NS (100000 * MS)

static int64_t stepped_ns; /* by which the counter is behind */
static int64_t step_back;  /* the next step, after so many looks */
static unsigned after_looks;
static bool there_after;

uint64_t fake_ticks(void)
{
	fake.now_ns += fake.step_ns;
	if (after_looks && probe.looks >= after_looks) {
		after_looks = 0;
		stepped_ns += step_back;
		if (there_after)
			probe_appear();
	}
	return (uint64_t)(BOOT_NS + fake.now_ns - stepped_ns) * TICKS_PER_NS;
}

static void world(enum ipcwait_preset preset)
{
	fake_reset();
	fake.counter_trusted = true;
	CHECK(iw_facts()->rate.counter);
	probe_world(preset, 2);
	fake.counter_trusted = true;
	stepped_ns = 0;
	after_looks = 0;
}

static void will_step_back(int64_t ns, unsigned looks)
{
	after_looks = probe.looks + looks;
	step_back = ns;
}

static void expire(void)
{
	CHECK_EQ(fake.wait.deadline_ns, probe.base.deadline_ns);
	fake.now_ns = fake.wait.deadline_ns + 50 * US;
}

static const int64_t steps[] = { 1, 1 * US, 50 * US, 1 * MS, 3000 * MS, BOOT_NS };

/* A wait of 50 ms at most ends in time, by however much and whenever the counter steps back. */
static void deadlines_hold(void)
{
	static const struct fake_step script[] = { { .result = -ETIMEDOUT,
						     .meanwhile = expire } };

	for (unsigned preset = IPCWAIT_ADAPTIVE; preset <= IPCWAIT_TICKS; preset++) {
		for (unsigned i = 0; i < 6 * 20; i++) {
			world((enum ipcwait_preset)preset);
			probe_again(fake.now_ns + 50 * MS);
			will_step_back(steps[i / 20], 1 + i % 20);
			FAKE_SCRIPT(script);
			CHECK_EQ(iw_wait(&probe.base), -ETIMEDOUT);
			CHECK(fake.now_ns >= probe.base.deadline_ns);
			CHECK(fake.now_ns < probe.base.deadline_ns + 1 * MS);
			/* At most three ticks of the kernel, and what the test adds. */
			CHECK(probe.looks < 2 * 3 * MS / 100);
		}
	}
}

/* The spin ends at once, for what it must look like. */
static void ends_the_spin(void)
{
	struct ipcwait_kind_stats counted;
	unsigned looks;

	for (unsigned i = 0; i < 6; i++) {
		world(IPCWAIT_SPIN);
		will_step_back(steps[i], 20);
		looks = after_looks;
		if (steps[i] < 1 * US) {
			CHECK_EQ(probe_wait(&counted), IPCWAIT_REASON_WINDOW_OVER);
			continue;
		}
		CHECK_EQ(probe_wait(&counted), IPCWAIT_REASON_STOLEN);
		CHECK_EQ(counted.stolen, 1);
		/* The rest of that look, and one after the sleep. */
		CHECK(probe.looks <= looks + 3);
		CHECK(counted.spun_wasted_ns > 500 && counted.spun_wasted_ns < 2000);
	}
}

/* What is learned of such a wait is what the clock says, and the accounts are as good as before. */
static void leaves_no_trace(void)
{
	struct ipcwait_kind_stats counted;

	for (unsigned i = 1; i < 6; i++) {
		world(IPCWAIT_ADAPTIVE);
		will_step_back(steps[i], 20);
		CHECK_EQ(probe_wait(&counted), IPCWAIT_REASON_STOLEN);
		CHECK(counted.slept_ns < (uint64_t)(75 * US));
		probe_learned_once(51 * US);
		CHECK(iw_credit_allows(iw_facts(), iw_thread.credit_full_at, fake_ticks()));
		probe_again(IPCWAIT_FOREVER);
		CHECK_EQ(probe_wait(&counted), IPCWAIT_REASON_WINDOW_OVER);
	}
}

/* It is there when the counter has stepped back: how long that took nobody knows. */
static void length_is_not_learned(void)
{
	world(IPCWAIT_ADAPTIVE);
	there_after = true;
	will_step_back(3000 * MS, 20);
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(probe.settles, 0);
	probe_learned_nothing();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(deadlines_hold),
		CHILD_TEST(ends_the_spin),
		CHILD_TEST(leaves_no_trace),
		CHILD_TEST(length_is_not_learned),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
