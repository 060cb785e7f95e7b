/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "policy/histogram.h"
#include "policy/sites.c"

#define KIND  IPCWAIT_KIND_SEM
#define SHORT 0
#define LONG  IW_BIN_LONG

/* Waits that say nothing yet, but one. */
#define MISSING 1

static struct iw_sites *const table = &iw_sites;

/* Two call sites that share a place; at the first waits are short, at the other long. */
static struct iw_site site[2];

/* Notes of the test's own. */
static volatile unsigned begun[2], recorded;

/* The next address whose place is that of the first, under another name. */
static uintptr_t neighbour_of(uintptr_t first)
{
	uint64_t hash = iw_hash(first), other;
	uintptr_t address = first;

	do
		other = iw_hash(++address);
	while (place_of(other) != place_of(hash) || name_of(other) == name_of(hash));
	return address;
}

static void begin(void)
{
	site[0] = (struct iw_site){ 0x1000, KIND };
	site[1] = (struct iw_site){ neighbour_of(site[0].address), KIND };
	model_share(&table->site[place_of(iw_hash(site[0].address))],
		    sizeof(table->site[0]));
	model_share(&table->kind[KIND], sizeof(table->kind[0]));
	model_name(&table->site[place_of(iw_hash(site[0].address))], "place");
	model_name(&table->kind[KIND], "kind");
	begun[0] = begun[1] = recorded = 0;
}

/* Both know their kind, and the first of them its site. */
static void begin_with_few(void)
{
	uint64_t few = IW_FEW_WAITS - MISSING;

	begin();
	table->site[place_of(iw_hash(site[0].address))].v =
		name_of(iw_hash(site[0].address)) | few;
	table->kind[KIND].v = few;
	begun[0] = (unsigned)few;
}

static void record(unsigned at)
{
	begun[at]++;
	iw_sites_record(table, site[at], at ? LONG : SHORT);
	recorded++;
}

/* Waits may be missing, but what is there happened there. */
static void check(unsigned at)
{
	uint64_t bins = iw_sites_of(table, site[at]);

	model_assert(iw_histogram_count(bins, at ? LONG : SHORT) <= begun[at]);
	model_assert(iw_histogram_total(bins) ==
		     iw_histogram_count(bins, at ? LONG : SHORT));
}

static void check_kind(void)
{
	uint64_t bins = model_peek(&table->kind[KIND]);

	model_assert(iw_histogram_count(bins, SHORT) <= begun[0]);
	model_assert(iw_histogram_count(bins, LONG) <= begun[1]);
	model_assert(iw_histogram_total(bins) ==
		     iw_histogram_count(bins, SHORT) + iw_histogram_count(bins, LONG));
}

static void look(void)
{
	check(0);
	check(1);
	check_kind();
}

/* Threads 0 and 2 at one site, thread 1 at the other. */
static void record_and_look(unsigned i)
{
	record(i % 2);
	check(i % 2);
	record(i % 2);
	check(!(i % 2));
}

/* Whoever recorded last, one of the sites has the place, and the kind knows of somebody. */
static void somebody_is_known(void)
{
	model_assert(!iw_sites_of(table, site[0]) != !iw_sites_of(table, site[1]));
	model_assert(iw_histogram_total(table->kind[KIND].v) > 0);
}

/* From its own waits as soon as they are enough; the kind's are of both. */
static void record_or_begin(unsigned i)
{
	uint64_t before;

	if (i < 2) {
		record(i);
		return;
	}
	for (unsigned n = 0; n < 2; n++) {
		before = iw_sites_before(table, site[0]);
		model_assert(iw_histogram_total(before) >= IW_FEW_WAITS - MISSING);
		model_assert(iw_histogram_count(before, SHORT) >= IW_FEW_WAITS - MISSING);
	}
}

static void both_are_known(void)
{
	for (unsigned i = 0; i < 2; i++)
		model_assert(iw_histogram_total(iw_sites_before(table, site[i])) >=
			     IW_FEW_WAITS);
}

const struct model_scenario engine_sites[] = {
	{ .name = "sites: two in one place",
	  .threads = 3,
	  .about = "waits may be lost, and are never another site's",
	  .begin = begin,
	  .thread = record_and_look,
	  .always = look,
	  .end = somebody_is_known,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "sites: a new object",
	  .threads = 3,
	  .about = "starts from its site, or from its kind if the place was taken over",
	  .begin = begin_with_few,
	  .thread = record_or_begin,
	  .always = look,
	  .end = both_are_known,
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ 0 },
};
