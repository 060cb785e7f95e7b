/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "policy/credit.c"

/* A failed spin, in ticks, and how many of them are a burst. */
#define BURST_SPINS 4
#define SPIN        (BURST_NS / BURST_SPINS)

/* By how much a burst moves the process's time on. */
#define BURST process_debt(&engine_usual_facts, BURST_NS)

/* Notes of the test's own. */
static volatile unsigned granted;

static void begin(void)
{
	model_share(&process_full_at, sizeof(process_full_at));
	model_name(&process_full_at, "full_at");
	granted = 0;
}

static void charge(uint64_t now, uint64_t ticks)
{
	iw_credit_charge(&engine_usual_facts, &iw_self()->credit_full_at, now, ticks);
}

static bool allows(uint64_t now)
{
	return iw_credit_allows(&engine_usual_facts, iw_self()->credit_full_at, now);
}

static void charge_twice(unsigned i)
{
	(void)i;
	charge(ENGINE_NOW, SPIN / 5);
	charge(ENGINE_NOW, SPIN / 5);
	model_assert(iw_self()->credit_full_at ==
		     ENGINE_NOW + 2 * thread_debt(&engine_usual_facts, SPIN / 5));
}

static void all_is_counted(void)
{
	model_assert(process_full_at.v ==
		     ENGINE_NOW + 6 * process_debt(&engine_usual_facts, SPIN / 5));
}

/* As long as they may, all at the same time. */
static void spin_while_allowed(unsigned i)
{
	(void)i;
	iw_self()->credit_full_at = 0;
	while (allows(ENGINE_NOW)) {
		granted++;
		charge(ENGINE_NOW, SPIN);
		iw_self()->credit_full_at = 0;
	}
}

/* Each thread may have looked before the last of another's was charged. */
static void little_is_overspent(void)
{
	model_assert(granted >= BURST_SPINS && granted < BURST_SPINS + 3);
}

/* Thread 0 has read the time a little earlier than the others, and spent little. */
static void overcharge(unsigned i)
{
	if (i == 0)
		charge(ENGINE_NOW, SPIN);
	for (unsigned n = 0; i && n < 2; n++)
		charge(ENGINE_NOW + 10 * i, BURST_NS);
}

static void two_bursts_at_most(void)
{
	model_assert(process_full_at.v <= ENGINE_NOW + 20 + 2 * BURST);
}

static void nothing_is_left(void)
{
	iw_self()->credit_full_at = 0;
	model_assert(!allows(ENGINE_NOW) && !allows(ENGINE_NOW + 20));
	model_assert(!allows(ENGINE_NOW + BURST - 1));
	model_assert(allows(ENGINE_NOW + 20 + 2 * BURST));
}

const struct model_scenario engine_credit[] = {
	{ .name = "credit: every charge counts",
	  .threads = 3,
	  .about = "what all threads are charged moves the process's time on, to the tick",
	  .begin = begin,
	  .thread = charge_twice,
	  .end = all_is_counted,
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "credit: a crowd spends a burst",
	  .threads = 3,
	  .about = "and less than one spin of each thread beyond it",
	  .begin = begin,
	  .thread = spin_while_allowed,
	  .end = little_is_overspent,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "credit: overspent",
	  .threads = 3,
	  .about = "two bursts are remembered, no more, whoever read the time a little "
		   "earlier",
	  .begin = begin,
	  .thread = overcharge,
	  .always = two_bursts_at_most,
	  .end = nothing_is_left,
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ 0 },
};
