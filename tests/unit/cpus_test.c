/* SPDX-License-Identifier: MIT */
/* lib/env/cpus.c over a fake kernel: is there a second CPU for the thread waited for? */
#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "env/cpus.h"
#include "env/quota.h"
#include "os/thread.h"

#define MS UINT64_C(1000000)

/* Ticks are nanoseconds. */
static const struct iw_tick_rate rate = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 };

/* The data of a thread that is not running. */
struct other {
	struct iw_thread self;
	struct iw_cpu_set allowed;
};

/* The next lines run in that other thread, until this is called again. */
static void switch_to(struct other *from, struct other *to)
{
	from->self = iw_thread;
	from->allowed = fake.allowed;
	iw_thread = to->self;
	fake.allowed = to->allowed;
}

static void allow(unsigned count, unsigned first)
{
	fake.allowed = (struct iw_cpu_set){ .count = count, .first = first };
}

static void two_are_several(void)
{
	fake_reset();
	CHECK(iw_cpus_several(&rate, 5000 * MS, 0));
	allow(64, 0);
	iw_thread.cpus = 0;
	CHECK(iw_cpus_several(&rate, 5000 * MS, 0));
	CHECK_EQ(iw_cpus_usable(), 64);
}

static void one_is_not(void)
{
	fake_reset();
	allow(1, 3);
	CHECK(!iw_cpus_several(&rate, 5000 * MS, 0));
	CHECK_EQ(iw_cpus_usable(), 1);
}

static void mask_is_believed_for_100_ms(void)
{
	fake_reset();
	CHECK(iw_cpus_several(&rate, 5000 * MS, 0));
	CHECK_EQ(fake.mask_readings, 2);
	allow(1, 0);
	CHECK(iw_cpus_several(&rate, 5001 * MS, 0));
	CHECK(iw_cpus_several(&rate, 5099 * MS, 0));
	CHECK_EQ(fake.mask_readings, 2);
	CHECK(!iw_cpus_several(&rate, 5101 * MS, 0));
	CHECK_EQ(fake.mask_readings, 4);
	allow(2, 0);
	CHECK(!iw_cpus_several(&rate, 5200 * MS, 0));
	CHECK(iw_cpus_several(&rate, 5202 * MS, 0));
	CHECK_EQ(fake.mask_readings, 6);
}

/* A thread that has not waited for an hour reads the mask again. */
static void old_masks_are_not_believed(void)
{
	fake_reset();
	CHECK(iw_cpus_several(&rate, 5000 * MS, 0));
	allow(1, 0);
	CHECK(!iw_cpus_several(&rate, 5000 * MS + 3600000 * MS, 0));
}

static void pinned_apart_are_several(void)
{
	struct other a = { { 0 }, { 1, 0 } }, b = { { 0 }, { 1, 1 } };

	fake_reset();
	switch_to(&(struct other){ 0 }, &a);
	CHECK(!iw_cpus_several(&rate, 5000 * MS, 0));
	switch_to(&a, &b);
	CHECK(iw_cpus_several(&rate, 5001 * MS, 0));
	switch_to(&b, &a);
	CHECK(iw_cpus_several(&rate, 5002 * MS, 0));
	/* The other has not been seen for two seconds. */
	CHECK(iw_cpus_several(&rate, 6900 * MS, 0));
	CHECK(!iw_cpus_several(&rate, 7002 * MS, 0));
}

static void pinned_together_are_one(void)
{
	struct other a = { { 0 }, { 1, 1 } }, b = { { 0 }, { 1, 1 } };

	fake_reset();
	switch_to(&(struct other){ 0 }, &a);
	CHECK(!iw_cpus_several(&rate, 5000 * MS, 0));
	switch_to(&a, &b);
	CHECK(!iw_cpus_several(&rate, 5001 * MS, 0));
	switch_to(&b, &a);
	CHECK(!iw_cpus_several(&rate, 5002 * MS, 0));
}

static void three_pinned_apart(void)
{
	struct other t[3] = { { { 0 }, { 1, 0 } },
			      { { 0 }, { 1, 5 } },
			      { { 0 }, { 1, 7 } } };
	struct other main_thread;

	fake_reset();
	for (unsigned i = 0; i < 30; i++) {
		switch_to(&main_thread, &t[i % 3]);
		CHECK_EQ(iw_cpus_several(&rate, (5000 + i) * MS, 0), i > 0);
		switch_to(&t[i % 3], &main_thread);
	}
}

static void a_waker_elsewhere_counts(void)
{
	fake_reset();
	allow(1, 3);
	CHECK(!iw_cpus_several(&rate, 5000 * MS, 0));
	CHECK(!iw_cpus_several(&rate, 5000 * MS, 3 + 1));
	CHECK(iw_cpus_several(&rate, 5000 * MS, 2 + 1));
	CHECK(iw_cpus_several(&rate, 5000 * MS, 4 + 1));
}

static void class_is_read_with_the_mask(void)
{
	fake_reset();
	CHECK(iw_cpus_several(&rate, 5000 * MS, 0));
	CHECK(!iw_thread.realtime);
	fake.realtime = true;
	CHECK(iw_cpus_several(&rate, 5099 * MS, 0));
	CHECK(!iw_thread.realtime);
	CHECK(iw_cpus_several(&rate, 5101 * MS, 0));
	CHECK(iw_thread.realtime);
	fake.realtime = false;
	CHECK(iw_cpus_several(&rate, 5202 * MS, 0));
	CHECK(!iw_thread.realtime);
}

static void give_quota(uint32_t hundredths)
{
	ipcwait_impl_store32_relaxed(&iw_quota_word, hundredths);
}

/* A spinner and the thread it waits for; and not while groups are stopped now and then. */
static void quota_must_be_enough_for_two(void)
{
	static const struct {
		uint32_t hundredths;
		bool enough;
	} cases[] = { { 1, false },
		      { 149, false },
		      { 149 | IW_QUOTA_THROTTLED, false },
		      { 150, true },
		      { 150 | IW_QUOTA_THROTTLED, false },
		      { 800000, true },
		      { 0, true } };

	fake_reset();
	CHECK(iw_cpus_several(&rate, 5000 * MS, 0));
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		give_quota(cases[i].hundredths);
		CHECK_EQ(!iw_cpus_rationed(), cases[i].enough);
	}
	/* It is read with the mask: here there is none. */
	give_quota(50);
	CHECK(iw_cpus_several(&rate, 5102 * MS, 0));
	CHECK(!iw_cpus_rationed());
}

static uint32_t spinners(unsigned cpus, uint32_t hundredths)
{
	fake_reset();
	allow(cpus, 0);
	(void)iw_cpus_several(&rate, 5000 * MS, 0);
	give_quota(hundredths);
	return iw_cpus_spinners();
}

static void one_cpu_is_left_for_others(void)
{
	CHECK_EQ(iw_cpus_spinners(), 1);
	CHECK_EQ(spinners(1, 0), 1);
	CHECK_EQ(spinners(2, 0), 1);
	CHECK_EQ(spinners(3, 0), 2);
	CHECK_EQ(spinners(64, 0), 63);
	CHECK_EQ(spinners(64, 400), 3);
	CHECK_EQ(spinners(64, 499), 3);
	CHECK_EQ(spinners(64, 250), 1);
	CHECK_EQ(spinners(64, 50), 1);
	CHECK_EQ(spinners(4, 800), 3);
	CHECK_EQ(spinners(64, 400 | IW_QUOTA_THROTTLED), 3);
}

/* The highest CPU number that Linux allows, and a clock that began long ago. */
static void large_numbers(void)
{
	struct other a = { { 0 }, { 1, 8191 } }, b = { { 0 }, { 1, 0 } };
	uint64_t late = UINT64_MAX - 3000 * MS;

	fake_reset();
	switch_to(&(struct other){ 0 }, &a);
	CHECK(!iw_cpus_several(&rate, late, 0));
	switch_to(&a, &b);
	CHECK(iw_cpus_several(&rate, late + MS, 0));
	CHECK(!iw_cpus_several(&rate, late + 2500 * MS, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(two_are_several),
		CHILD_TEST(one_is_not),
		CHILD_TEST(mask_is_believed_for_100_ms),
		CHILD_TEST(old_masks_are_not_believed),
		CHILD_TEST(pinned_apart_are_several),
		CHILD_TEST(pinned_together_are_one),
		CHILD_TEST(three_pinned_apart),
		CHILD_TEST(a_waker_elsewhere_counts),
		CHILD_TEST(class_is_read_with_the_mask),
		CHILD_TEST(quota_must_be_enough_for_two),
		CHILD_TEST(one_cpu_is_left_for_others),
		CHILD_TEST(large_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
