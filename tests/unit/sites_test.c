/* SPDX-License-Identifier: MIT */
/* lib/policy/sites.c: what call sites and kinds have taught. */
#include <pthread.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "policy/histogram.h"
#include "policy/sites.h"

#define SEM   IPCWAIT_KIND_SEM
#define MUTEX IPCWAIT_KIND_MUTEX

static struct iw_sites table;

static void clear(void)
{
	memset(&table, 0, sizeof(table));
}

static struct iw_site site(uintptr_t address, enum ipcwait_kind kind)
{
	return (struct iw_site){ address, kind };
}

static void record(uintptr_t address, enum ipcwait_kind kind, unsigned bin, unsigned n)
{
	while (n--)
		iw_sites_record(&table, site(address, kind), bin);
}

static uint64_t of(uintptr_t address)
{
	return iw_sites_of(&table, site(address, SEM));
}

static uint64_t before(uintptr_t address, enum ipcwait_kind kind)
{
	return iw_sites_before(&table, site(address, kind));
}

static void test_nothing_is_known_at_first(void **state)
{
	(void)state;
	clear();
	assert_int_equal(of(0x401000), 0);
	assert_int_equal(before(0x401000, SEM), 0);
	assert_int_equal(before(0, SEM), 0);
}

/* A few waits make a site; with fewer its kind is asked. */
static void test_site_then_kind(void **state)
{
	(void)state;
	clear();
	record(0x401000, SEM, IW_BIN_LONG, 3);
	assert_int_equal(iw_histogram_count(of(0x401000), IW_BIN_LONG), 3);
	record(0x402000, SEM, 0, 9);
	assert_int_equal(iw_histogram_total(before(0x401000, SEM)), 12);
	record(0x401000, SEM, IW_BIN_LONG, 1);
	assert_int_equal(iw_histogram_total(before(0x401000, SEM)), 4);
	assert_int_equal(iw_histogram_count(before(0x402000, SEM), 0), 9);
	/* Elsewhere, what semaphores taught; of mutexes nothing is known. */
	assert_int_equal(iw_histogram_total(before(0x403000, SEM)), 13);
	assert_int_equal(before(0x403000, MUTEX), 0);
	/* A caller that is not known teaches the kind only. */
	record(0, MUTEX, 2, 5);
	assert_int_equal(of(0), 0);
	assert_int_equal(iw_histogram_count(before(0, MUTEX), 2), 5);
	assert_int_equal(iw_histogram_count(before(0x403000, MUTEX), 2), 5);
}

/* The last waits of a site decide, however many there were. */
static void test_a_site_whose_waits_change(void **state)
{
	(void)state;
	clear();
	record(0x401000, SEM, IW_BIN_LONG, 500);
	assert_int_equal(iw_histogram_cheapest(before(0x401000, SEM), 0, 0), 0);
	record(0x401000, SEM, 0, 60);
	assert_true(iw_histogram_cheapest(before(0x401000, SEM), 0, 0) > 0);
	assert_true(iw_histogram_cheapest(before(0x409000, SEM), 0, 0) > 0);
}

/* How many of so many sites, as far apart as call instructions are, still have a place. */
static unsigned kept(unsigned sites, unsigned step)
{
	unsigned found = 0;

	clear();
	for (unsigned i = 1; i <= sites; i++)
		record(0x400000 + i * step, SEM, IW_BIN_LONG, 4);
	for (unsigned i = 1; i <= sites; i++)
		found += of(0x400000 + i * step) != 0;
	return found;
}

static void test_sites_spread_over_the_table(void **state)
{
	(void)state;
	for (unsigned step = 1; step <= 4096; step *= 2) {
		assert_true(kept(32, step) >= 24);
		assert_true(kept(IW_SITES / 4, step) >= IW_SITES / 8);
		assert_true(kept(4 * IW_SITES, step) >= IW_SITES / 4);
	}
}

/*
 * Two sites for one place: each finds its own waits there or none, never those of the other,
 * and the kind stands in.
 */
static void test_collisions_are_harmless(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	clear();
	for (int i = 0; i < 200000; i++) {
		uintptr_t address = 0x400000 + check_random(&seed) % (16 * IW_SITES) * 16;
		unsigned bin = address / 16 % IW_BINS, total;
		uint64_t found;

		record(address, SEM, bin, 1);
		found = of(address);
		total = iw_histogram_total(found);
		/* Its last wait is there, and all that are there are its own. */
		assert_true(total > 0);
		assert_int_equal(iw_histogram_count(found, bin), total);
		assert_true(iw_histogram_total(before(address, SEM)) >= 4 || i < 4);
	}
}

/* An address whose name might be 0, which marks a free place. */
static void test_every_address_has_a_place(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uintptr_t address = check_random(&seed) >> (check_random(&seed) % 64);

		clear();
		assert_int_equal(of(address), 0);
		record(address, SEM, 5, 1);
		assert_int_equal(of(address), address ? UINT64_C(1) << 25 : 0);
	}
}

/* Whatever is in the table, a site finds a histogram. */
static void test_any_table(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (unsigned i = 0; i < IW_SITES; i++)
		table.site[i].v = check_random(&seed);
	for (int i = 0; i < 100000; i++) {
		uintptr_t address = check_random(&seed) >> 20;

		assert_int_equal(of(address) & ~IW_HISTOGRAM_MASK, 0);
		record(address, SEM, (unsigned)i % IW_BINS, 1);
		assert_int_equal(before(address, SEM) & ~IW_HISTOGRAM_MASK, 0);
		assert_true(iw_histogram_count(of(address), (unsigned)i % IW_BINS) > 0 ||
			    !address);
	}
}

#define ROUNDS 200000

/* Waits in bin 1 at one site, in bin 6 at another that shares its place and kind. */
struct writer {
	uintptr_t address;
	unsigned bin;
	unsigned wrong;
};

static void *write_always(void *arg)
{
	struct writer *w = arg;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t found;

		iw_sites_record(&table, site(w->address, SEM), w->bin);
		found = iw_sites_of(&table, site(w->address, SEM));
		w->wrong += iw_histogram_total(found) != iw_histogram_count(found, w->bin);
	}
	return NULL;
}

/* Two addresses with one place: the second takes the first one's. */
static uintptr_t with_the_same_place(uintptr_t address)
{
	for (uintptr_t other = address + 16;; other += 16) {
		clear();
		record(address, SEM, 0, 1);
		record(other, SEM, 0, 1);
		if (!of(address))
			return other;
	}
}

/* Two at once may lose a wait, and never find the other's. */
static void two_threads(void)
{
	struct writer w[2] = { { .address = 0x401000, .bin = 1 }, { .bin = 6 } };
	pthread_t thread[2];
	uint64_t kind;

	w[1].address = with_the_same_place(w[0].address);
	clear();
	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, write_always, &w[i]), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK_EQ(w[0].wrong + w[1].wrong, 0);
	kind = iw_sites_before(&table, site(0, SEM));
	CHECK_EQ(iw_histogram_total(kind),
		 iw_histogram_count(kind, 1) + iw_histogram_count(kind, 6));
	CHECK(iw_histogram_total(kind) >= 16);
}

/* The number that takes its hash back. */
static uintptr_t unhashed(uint64_t hash)
{
	const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t inverse = golden;

	for (int i = 0; i < 6; i++)
		inverse *= 2 - golden * inverse;
	return (uintptr_t)(hash * inverse);
}

/* What comes from nowhere is nobody's, and takes nobody's place, whatever the hashes are. */
static void test_no_site(void **state)
{
	const uintptr_t in_first_place = unhashed(1),
			other = unhashed(UINT64_C(1) << 45 | 1);

	(void)state;
	clear();
	record(in_first_place, SEM, 2, 5);
	assert_int_equal(iw_histogram_total(of(in_first_place)), 5);
	assert_int_equal(of(0), 0);
	clear();
	record(other, SEM, 2, 5);
	record(0, SEM, 3, 5);
	assert_int_equal(iw_histogram_total(of(other)), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_known_at_first),
		cmocka_unit_test(test_site_then_kind),
		cmocka_unit_test(test_no_site),
		cmocka_unit_test(test_a_site_whose_waits_change),
		cmocka_unit_test(test_sites_spread_over_the_table),
		cmocka_unit_test(test_collisions_are_harmless),
		cmocka_unit_test(test_every_address_has_a_place),
		cmocka_unit_test(test_any_table),
		CHILD_TEST(two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
