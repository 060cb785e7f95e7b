/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "policy/cost.c"

/* Samples are from this range, in ns. */
#define LEAST 1000
#define MOST  9000

/* Before the threads there are all samples of a batch but so many. */
#define MISSING 2

#define THREADS 3

static struct samples *const waker = &samples[WAKERS];
static struct ipcwait_word32 *const result = &believed.result[WAKER];

/* Notes of the test's own. */
static volatile unsigned notes, probes;

static void begin_batch(void)
{
	model_share(waker, sizeof(*waker));
	model_share(quantiles[WAKER], sizeof(quantiles[WAKER]));
	model_share(result, sizeof(*result));
	model_name(&waker->count, "samples");
	model_name(result, "result");
	for (unsigned i = 0; i < BATCH - MISSING; i++)
		waker->batch[i].v = LEAST;
	waker->count.v = BATCH - MISSING;
	notes = 0;
}

static void note(uint64_t ns)
{
	notes++;
	iw_cost_note_waker(ns);
}

static void note_sample(unsigned i)
{
	uint64_t usual;

	note(LEAST + i * (MOST - LEAST) / (THREADS - 1));
	usual = learned(WAKER, LEAST);
	model_assert(usual >= LEAST && usual <= MOST);
}

static void note_in_handler(unsigned i)
{
	(void)i;
	note(MOST);
}

static void is_plausible(void)
{
	uint32_t ns = (uint32_t)model_peek(result);

	model_assert(!ns || (ns >= LEAST && ns <= MOST));
}

/* The quartile of a batch, and one batch is full. */
static void all_are_counted(void)
{
	model_assert(waker->count.v == BATCH - MISSING + notes);
	model_assert(result->v == LEAST);
}

static void begin_probe(void)
{
	model_share(&probe_at, sizeof(probe_at));
	model_share(&fresh_samples, sizeof(fresh_samples));
	model_share(&strays, sizeof(strays));
	model_name(&probe_at, "probe_at");
	model_name(&fresh_samples, "fresh_samples");
	model_name(&strays, "strays");
	probe_at.v = ENGINE_NOW - 1;
	probes = 0;
}

static void begin_suspicious(void)
{
	begin_probe();
	strays.v = STRAYS_SUSPECTED;
}

/* They have read the time one after the other. */
static void ask_twice(unsigned i)
{
	for (unsigned n = 0; n < 2; n++)
		if (iw_cost_probe_due(&engine_usual_facts, ENGINE_NOW + 10 * i + n))
			probes++;
}

static void one_probe(void)
{
	model_assert(probes == 1);
	model_assert(iw_cost_probe_due(&engine_usual_facts, ENGINE_NOW + PROBE_NS + 100));
}

static void one_probe_soon(void)
{
	model_assert(probes == 1);
	model_assert(
		iw_cost_probe_due(&engine_usual_facts, ENGINE_NOW + PROBE_SOON_NS + 100));
}

const struct model_scenario engine_cost[] = {
	{ .name = "cost: a batch is full",
	  .threads = THREADS,
	  .about = "the estimate is a sample, and every sample has a place of its own",
	  .begin = begin_batch,
	  .thread = note_sample,
	  .always = is_plausible,
	  .end = all_are_counted,
	  .handler = note_in_handler,
	  .faults = { .signals = 1 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 4000,
		      .runs_most = 20000 } },
	{ .name = "cost: one probe a period",
	  .threads = 3,
	  .about = "of several waiters one is the probe, though each read its own time",
	  .begin = begin_probe,
	  .thread = ask_twice,
	  .end = one_probe,
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "cost: probes after strays",
	  .threads = 3,
	  .about = "likewise, where the periods are short",
	  .begin = begin_suspicious,
	  .thread = ask_twice,
	  .end = one_probe_soon,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ 0 },
};
