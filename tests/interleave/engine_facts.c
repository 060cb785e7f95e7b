/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "interleave/engine_modules.h"
#include "env/facts.c"

#define QUOTA 150

/* Others run while one completes the facts, and it may be gone in the middle. */
struct iw_tick_rate iw_tick_measure(void)
{
	model_point();
	return engine_usual_facts.rate;
}

void iw_config_read(struct iw_config *c)
{
	*c = engine_usual_facts.config;
	model_point();
}

uint32_t iw_cpus_usable(void)
{
	return engine_usual_facts.cpus;
}

uint32_t iw_cpus_process(void)
{
	model_point();
	return engine_usual_facts.cpus;
}

uint32_t iw_quota_hundredths(const char *root)
{
	model_assert(!*root);
	return QUOTA;
}

bool iw_machine_said_virtual(void)
{
	return false;
}

bool iw_machine_virtual(void)
{
	return true;
}

bool iw_machine_dedicated(void)
{
	return true;
}

bool iw_cpu_can_monitor(void)
{
	return true;
}

bool iw_calibration_load(struct ipcwait_calibration *c)
{
	c->latency_ns = 1;
	model_point();
	c->waker_ns = 2;
	return true;
}

/* Slots that are watched, the last ones. */
#define LEFT_MOST 3

/* Notes of the test's own. */
static const struct iw_facts *volatile agreed;

/* There are so many slots left. */
static void share(unsigned left)
{
	model_share(&slots[SLOTS - LEFT_MOST], LEFT_MOST * sizeof(slots[0]));
	model_share(&slots_used, sizeof(slots_used));
	model_share(&published, sizeof(published));
	model_name(&slots_used, "slots_used");
	model_name(&published, "published");
	slots_used.v = SLOTS - left;
	agreed = NULL;
	model_share(&loaded, sizeof(loaded));
	model_share(&is_loaded, sizeof(is_loaded));
	model_name(&is_loaded, "is_loaded");
	memset(&loaded, 0, sizeof(loaded));
	is_loaded.v = 0;
}

static void begin(void)
{
	share(LEFT_MOST);
}

void engine_know_facts(void)
{
	model_share(&published, sizeof(published));
	slots[0] = engine_usual_facts;
	published.v = 1;
}

static void begin_with_two_slots(void)
{
	share(2);
}

/* The checker sees whether what it reads was written before. */
static void check(const struct iw_facts *f)
{
	if (!f)
		return;
	if (!agreed)
		agreed = f;
	model_assert(f == agreed);
	model_assert(f >= slots && f < slots + SLOTS);
	model_assert(f->rate.ticks_per_ns_q32 == engine_usual_facts.rate.ticks_per_ns_q32);
	model_assert(f->config.spin_budget_percent == -1);
	model_assert(f->cpus == engine_usual_facts.cpus && f->quota_hundredths == QUOTA);
	model_assert(f->virtual_machine && f->dedicated && f->calibrated);
	model_assert(f->calibration.latency_ns == 1 && f->calibration.waker_ns == 2);
}

static void ask(unsigned i)
{
	const struct iw_facts *first = iw_facts();

	(void)i;
	model_assert(first);
	check(first);
	model_assert(iw_facts() == first);
}

static void look_or_ask(unsigned i)
{
	if (i == 0)
		check(iw_facts_known());
	ask(i);
}

static void load_or_ask(unsigned i)
{
	if (i == 0)
		load();
	else
		ask(i);
}

/* Once it has them a thread keeps them; until then it does without. */
static void ask_in_a_crowd(unsigned i)
{
	const struct iw_facts *first = iw_facts(), *again = iw_facts();

	(void)i;
	check(first);
	check(again);
	model_assert(!first || again == first);
}

static void known_at_last(void)
{
	model_assert(iw_facts() && iw_facts() == agreed);
	model_assert(slots_used.v <= SLOTS + MODEL_THREADS_MAX);
}

static void complete_or_none(void)
{
	check(iw_facts());
	check(iw_facts_known());
}

const struct model_scenario engine_facts[] = {
	{ .name = "facts: gathered by several",
	  .threads = 3,
	  .about = "all get the same, and all of it was written before they get it",
	  .begin = begin,
	  .thread = look_or_ask,
	  .end = known_at_last,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "facts: asked for while the library is loaded",
	  .threads = 3,
	  .about = "what has been gathered is taken whole, or gathered once more",
	  .begin = begin,
	  .thread = load_or_ask,
	  .end = known_at_last,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "facts: more gatherers than slots",
	  .threads = 4,
	  .about = "those beyond the last slot do without, or get what others have "
		   "published",
	  .begin = begin_with_two_slots,
	  .thread = ask_in_a_crowd,
	  .end = known_at_last,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "facts: a gatherer is gone",
	  .threads = 3,
	  .process = { 0, 1, 1 },
	  .about = "what it left behind is not published",
	  .begin = begin_with_two_slots,
	  .thread = ask_in_a_crowd,
	  .end = complete_or_none,
	  .mortal = 1,
	  .faults = { .kills = 1 },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ 0 },
};
