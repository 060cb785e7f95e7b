/* SPDX-License-Identifier: MIT */
/*
 * lib/engine/admit.c over a fake kernel: threads without a second CPU for whoever they wait for,
 * and how often they ask whether there is one now.
 */
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "os/thread.h"
#include "policy/part.h"

#define US INT64_C(1000)

/* Waits in a row after which one in so many asks. */
#define STREAK 16

/* The last wait asked: who does not reads no clock either. It did so by reading the masks. */
static bool asked, read_masks;

/* One wait that sleeps. Returns why. */
static enum ipcwait_reason wait_once(void)
{
	static const struct fake_step script[] = { { .sleep_ns = 50 * US,
						     .meanwhile = probe_appear } };
	struct ipcwait_stats before = probe_stats(), after;
	enum ipcwait_reason why = IPCWAIT_REASON_NONE;
	unsigned masks;

	probe_again(IPCWAIT_FOREVER);
	FAKE_SCRIPT(script);
	masks = fake.mask_readings;
	CHECK_EQ(iw_wait(&probe.base), 0);
	CHECK_EQ(fake.waits, 1);
	asked = fake.clock_readings > 0;
	read_masks = fake.mask_readings > masks;
	after = probe_stats();
	for (unsigned i = 1; i < IPCWAIT_REASON_COUNT; i++) {
		uint64_t n = after.reasons[i] - before.reasons[i];

		CHECK(n == 0 || (n == 1 && why == IPCWAIT_REASON_NONE));
		if (n)
			why = (enum ipcwait_reason)i;
	}
	return why;
}

static void world(enum ipcwait_preset preset, unsigned cpus)
{
	probe_world(preset, cpus);
	CHECK(iw_facts() != NULL);
}

/* So long that the masks are read again if it asks. */
static void let_masks_age(void)
{
	fake.now_ns += 200000 * US;
}

/* The first wait finds out, 16 more make sure. */
static bool should_ask(unsigned nth)
{
	return nth <= STREAK || nth % STREAK == 0;
}

static void one_in_sixteen_asks(void)
{
	world(IPCWAIT_ADAPTIVE, 1);
	for (unsigned n = 0; n < 200; n++) {
		let_masks_age();
		CHECK_EQ(wait_once(), IPCWAIT_REASON_ONE_CPU);
		CHECK_EQ(asked, should_ask(n));
		CHECK_EQ(read_masks, should_ask(n));
		CHECK(iw_thread.alone);
	}
	CHECK_EQ(probe.window.bins.v, 0);
}

/* Returns how many waits it took to see that there is another CPU now. */
static unsigned until_seen(void)
{
	for (unsigned n = 1; n < 100; n++) {
		let_masks_age();
		if (wait_once() == IPCWAIT_REASON_WINDOW_OVER)
			return n;
		CHECK(!asked);
	}
	return 0;
}

static void second_cpu_ends_it(void)
{
	world(IPCWAIT_ADAPTIVE, 1);
	for (unsigned n = 0; n <= STREAK; n++)
		(void)wait_once();
	fake.allowed.count = 2;
	CHECK_EQ(until_seen(), STREAK);
	CHECK(!iw_thread.alone);
	CHECK(probe.window.bins.v != 0);
	/* Each asks from now on, and begins anew when it is gone. */
	for (unsigned n = 0; n < 2 * STREAK; n++) {
		(void)wait_once();
		CHECK(asked && !iw_thread.alone);
	}
	fake.allowed.count = 1;
	for (unsigned n = 0; n < 4 * STREAK; n++) {
		let_masks_age();
		CHECK_EQ(wait_once(), IPCWAIT_REASON_ONE_CPU);
		CHECK_EQ(asked, should_ask(n));
	}
}

/* One wait with a second CPU is enough to ask again for a while. */
static void short_streaks_do_not_add_up(void)
{
	world(IPCWAIT_ADAPTIVE, 2);
	for (unsigned n = 0; n < 10 * STREAK; n++) {
		fake.allowed.count = n % STREAK ? 1 : 2;
		let_masks_age();
		(void)wait_once();
		CHECK(asked);
		CHECK_EQ(iw_thread.alone, n % STREAK != 0);
	}
}

/* Other threads of the process ask for themselves. */
static void of_one_thread(void)
{
	world(IPCWAIT_ADAPTIVE, 1);
	for (unsigned n = 0; n < 20; n++)
		(void)wait_once();
	CHECK(!asked);
	iw_thread = (struct iw_thread){ 0 };
	CHECK_EQ(wait_once(), IPCWAIT_REASON_ONE_CPU);
	CHECK(asked);
}

static void reason_is_kept(void)
{
	unsigned silent = 0;

	/* The waker's CPU, where it has tried in vain to get away a moment ago. */
	world(IPCWAIT_ADAPTIVE, 2);
	iw_window_put_stamp(&probe.window, 1000, fake.cpu);
	while (!iw_part_beside(iw_facts(), (uint64_t)fake.now_ns))
		continue;
	fake.now_ns += 10000 * US;
	for (unsigned n = 0; n < 3 * STREAK; n++) {
		CHECK_EQ(wait_once(), IPCWAIT_REASON_SAME_CPU);
		CHECK_EQ(asked, should_ask(n));
		silent += !asked;
	}
	CHECK_EQ(silent, 30);
	/* The preset is a reason before any other. */
	world(IPCWAIT_BLOCK, 1);
	for (unsigned n = 0; n < 3 * STREAK; n++) {
		CHECK_EQ(wait_once(), IPCWAIT_REASON_PRESET_BLOCK);
		CHECK_EQ(asked, should_ask(n));
	}
}

/* To get away from the waker's CPU is nothing that these would do: they are not beside it. */
static void never_beside(void)
{
	static const struct {
		enum ipcwait_preset preset;
		bool realtime;
		enum ipcwait_reason why;
	} rows[] = {
		{ IPCWAIT_SPIN, false, IPCWAIT_REASON_WINDOW_OVER },
		{ IPCWAIT_BLOCK, false, IPCWAIT_REASON_PRESET_BLOCK },
		{ IPCWAIT_ADAPTIVE, true, IPCWAIT_REASON_REALTIME },
		{ IPCWAIT_SPIN, true, IPCWAIT_REASON_REALTIME },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		world(rows[i].preset, 2);
		fake.realtime = rows[i].realtime;
		iw_window_put_stamp(&probe.window, 1000, fake.cpu);
		for (unsigned n = 0; n < 3 * STREAK; n++) {
			CHECK_EQ(wait_once(), rows[i].why);
			CHECK(asked && !iw_thread.alone && !iw_thread.beside);
		}
		/* They learn, since they might spin. */
		CHECK(probe.window.bins.v != 0);
	}
	/* The same with any other preset is. */
	world(IPCWAIT_ADAPTIVE, 2);
	iw_window_put_stamp(&probe.window, 1000, fake.cpu);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_SAME_CPU);
	CHECK(iw_thread.alone && iw_thread.beside == 1);
}

/* What holds for one object says nothing about another. */
static void another_object_asks(void)
{
	struct ipcwait_window other = { { 0 }, { 0 }, { 0 } };

	world(IPCWAIT_ADAPTIVE, 1);
	for (unsigned n = 0; n < STREAK + 1; n++)
		CHECK_EQ(wait_once(), IPCWAIT_REASON_ONE_CPU);
	CHECK_EQ(wait_once(), IPCWAIT_REASON_ONE_CPU);
	CHECK(!asked);
	iw_thread.late_on = &other;
	CHECK_EQ(wait_once(), IPCWAIT_REASON_ONE_CPU);
	CHECK(asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(one_in_sixteen_asks),
		CHILD_TEST(second_cpu_ends_it),
		CHILD_TEST(short_streaks_do_not_add_up),
		CHILD_TEST(of_one_thread),
		CHILD_TEST(reason_is_kept),
		CHILD_TEST(never_beside),
		CHILD_TEST(another_object_asks),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
