/* SPDX-License-Identifier: MIT */
/*
 * lib/engine over a fake kernel: what new objects cost before they have learned, and what they
 * know from others.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "policy/sites.h"

#define US   INT64_C(1000)
#define MS   INT64_C(1000000)
#define HERE 0x401000

/* One wait of this length on the object; what it has spun in vain. */
static uint64_t wait_for(int64_t ns)
{
	uint64_t wasted = probe_counters().spun_wasted_ns;
	int64_t begin = fake.now_ns;

	probe.there_at = begin + ns;
	fake_script(
		&(struct fake_step){ .sleep_ns = ns, .meanwhile = probe_stamp_and_appear },
		1);
	CHECK_EQ(iw_wait(&probe.base), 0);
	return probe_counters().spun_wasted_ns - wasted;
}

/* A new object at this call site. */
static void renew(uintptr_t site)
{
	probe.window = (struct ipcwait_window){ 0 };
	probe_again(IPCWAIT_FOREVER);
	probe.base.site = site;
}

/* The next wait on the same object. */
static void again(void)
{
	probe_again(IPCWAIT_FOREVER);
	probe.base.site = HERE;
}

struct vain {
	unsigned spins;
	uint64_t ns;
};

static void add_wait(struct vain *v, int64_t ns)
{
	uint64_t wasted = wait_for(ns);

	v->spins += wasted > 0;
	v->ns += wasted;
}

/* The first object of a process: two spins in vain at most, and B of them in all. */
static void first_object(void)
{
	for (int64_t ms = 1; ms <= 1000; ms *= 10) {
		struct vain v = { 0 };

		probe_world(IPCWAIT_ADAPTIVE, 2);
		for (int i = 0; i < 100; i++) {
			again();
			add_wait(&v, ms * MS);
		}
		CHECK(v.spins >= 1 && v.spins <= 2);
		CHECK(v.ns < (uint64_t)PROBE_BLOCK_NS);
	}
}

/* Each object lives for one wait, or two, or eight: after the first few waits there none spins. */
static void objects_that_do_not_live_long(void)
{
	static const unsigned lives[] = { 1, 2, 8 };

	for (unsigned i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
		struct vain v = { 0 };

		probe_world(IPCWAIT_ADAPTIVE, 2);
		for (unsigned n = 0; n < 200; n++) {
			if (n % lives[i] == 0)
				renew(HERE);
			else
				again();
			add_wait(&v, 10 * MS);
		}
		CHECK(v.spins <= 2);
		CHECK(v.ns < (uint64_t)PROBE_BLOCK_NS);
	}
}

/* Where waits end within B, an object's first one does too, though those elsewhere are long. */
static void short_waits_of_new_objects(void)
{
	struct vain v = { 0 };

	probe_world(IPCWAIT_ADAPTIVE, 2);
	for (int i = 0; i < 30; i++) {
		renew(HERE);
		add_wait(&v, 12 * US);
		renew(0x402000);
		(void)wait_for(10 * MS);
	}
	CHECK_EQ(v.spins, 0);
	CHECK_EQ(fake.waits, 1);
	/* Not a sleep more once the site is known. */
	for (int i = 0; i < 30; i++) {
		fake.waits = 0;
		renew(HERE);
		add_wait(&v, 24 * US);
		CHECK_EQ(fake.waits, 0);
	}
	CHECK_EQ(v.spins, 0);
}

/* A site whose waits have been long, and are short from now on: no spin finds out, stamps do. */
static void a_site_changes(void)
{
	unsigned sleeps = 0;

	probe_world(IPCWAIT_ADAPTIVE, 2);
	for (int i = 0; i < 100; i++) {
		renew(HERE);
		(void)wait_for(10 * MS);
	}
	for (int i = 0; i < 100; i++) {
		renew(HERE);
		fake.waits = 0;
		(void)wait_for(1 * US);
		sleeps += fake.waits;
	}
	CHECK(sleeps >= 1 && sleeps <= 40);
	/* And back: for a while B/13 is spun, which two short waits in fifteen would be worth. */
	for (int i = 0; i < 150; i++) {
		struct vain v = { 0 };

		renew(HERE);
		add_wait(&v, 10 * MS);
		CHECK(i < 2 || v.ns < (uint64_t)PROBE_BLOCK_NS / 8);
		CHECK(i < 100 || v.spins == 0);
	}
}

/* Eight waits of its own, and it goes its own way, whatever its site says. */
static void own_way(void)
{
	struct vain v = { 0 };

	probe_world(IPCWAIT_ADAPTIVE, 2);
	for (int i = 0; i < 200; i++)
		iw_sites_record(&iw_sites, (struct iw_site){ HERE, IPCWAIT_KIND_SEM }, 0);
	renew(HERE);
	for (int i = 0; i < 100; i++) {
		again();
		add_wait(&v, 10 * MS);
	}
	CHECK(v.spins >= 1 && v.spins <= 8);
	CHECK(v.ns < 10 * (uint64_t)PROBE_BLOCK_NS);
}

/* Of the waits of known objects each sixteenth that is remembered reaches the site. */
static void known_objects_go_on_teaching(void)
{
	const struct iw_site here = { HERE, IPCWAIT_KIND_SEM };

	probe_world(IPCWAIT_ADAPTIVE, 2);
	for (int i = 0; i < 8 + 160; i++) {
		again();
		(void)wait_for(10 * MS);
	}
	CHECK_EQ(iw_histogram_count(iw_sites_of(&iw_sites, here), IW_BIN_LONG), 8 + 10);
	for (int i = 0; i < 32; i++) {
		again();
		(void)wait_for(1 * US);
	}
	CHECK(iw_histogram_count(iw_sites_of(&iw_sites, here), 0) >= 1);
}

/* Long waits that nobody ended teach too; deadlines within 2B say nothing. */
static void expiring(void)
{
	static const struct fake_step expire[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 1 * US },
		{ .result = -ETIMEDOUT, .sleep_ns = 2 * MS },
	};
	const struct iw_site here = { HERE, IPCWAIT_KIND_SEM };

	probe_world(IPCWAIT_ADAPTIVE, 2);
	for (unsigned i = 0; i < 2; i++) {
		renew(HERE);
		probe.base.deadline_ns = fake.now_ns + (i ? 2000 : 5) * US;
		fake_script(&expire[i], 1);
		CHECK_EQ(iw_wait(&probe.base), -ETIMEDOUT);
		CHECK_EQ(iw_histogram_total(iw_sites_of(&iw_sites, here)), i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(first_object),
		CHILD_TEST(objects_that_do_not_live_long),
		CHILD_TEST(short_waits_of_new_objects),
		CHILD_TEST(a_site_changes),
		CHILD_TEST(own_way),
		CHILD_TEST(known_objects_go_on_teaching),
		CHILD_TEST(expiring),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	unsetenv("IPCWAIT_SPIN_BUDGET");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
