/* SPDX-License-Identifier: MIT */
/*
 * Phases, as the C++ barrier has them over an event count: everybody sees what came before each
 * arrival and what the last arriver did at the end of the phase, once, before anybody went on.
 */
#include <ipcwait/eventcount.h>
#include <ipcwait/impl/phase.h>

#include "interleave/engine.h"
#include "interleave/model.h"

#define PHASES 2

/* What a thread does in each phase, or in the first. */
enum role {
	NOTHING,
	MEETS,   /* arrives and waits */
	FOR_TWO, /* the same, for two */
	ARRIVES, /* in the first phase, and does not wait */
	DROPS,   /* in the first phase, and is expected no more */
};

struct script {
	enum role role[MODEL_THREADS_MAX];
	uint32_t expected;
	unsigned phases;
	uint32_t first; /* number of the first phase */
	enum engine_spins spins;
};

static struct barrier {
	struct ipcwait_impl_phase phase;
	struct ipcwait_eventcount ended;
} * barrier;
static struct shared {
	uint32_t data[PHASES][MODEL_THREADS_MAX];
	uint32_t completed[PHASES];
} * shared;

/* The test's own. */
static volatile unsigned completions;

static const struct script *script(void)
{
	return model_script();
}

static void begin(void)
{
	const struct script *s = script();

	engine_spins = s->spins;
	completions = 0;
	barrier = model_alloc(sizeof(*barrier));
	shared = model_alloc(sizeof(*shared));
	model_quiet(&barrier->ended.window, sizeof(barrier->ended.window));
	model_name(&barrier->phase.word, "phase.word");
	model_name(&barrier->phase.expected, "phase.expected");
	model_name(&barrier->ended.word, "eventcount.word");
	model_assert(ipcwait_eventcount_init(&barrier->ended, 0) == 0);
	barrier->phase.expected.v = s->expected;
	barrier->phase.word.v = (uint64_t)s->first << 32 | s->expected;
}

static bool comes(enum role role, unsigned phase)
{
	return role == MEETS || role == FOR_TWO || (role != NOTHING && phase == 0);
}

/* All who came have left something before. */
static void check_data(unsigned phase)
{
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (comes(script()->role[i], phase))
			model_assert(shared->data[phase][i] == 1);
}

/* The completion function. */
static void complete(unsigned phase)
{
	check_data(phase);
	model_assert(completions == phase);
	completions++;
	shared->completed[phase]++;
}

/* As barrier<>::end(), wait() and their callers. */
static void arrive(unsigned phase, enum role role, uint32_t *arrival)
{
	struct ipcwait_impl_phase *p = &barrier->phase;
	int r = role == DROPS
			? ipcwait_impl_phase_drop(p, arrival)
			: ipcwait_impl_phase_arrive(p, role == FOR_TWO ? 2 : 1, arrival);

	model_assert(r == 0 || r == 1);
	model_assert(*arrival == script()->first + phase);
	if (r == 0)
		return;
	complete(phase);
	ipcwait_impl_phase_end(p, *arrival);
	(void)ipcwait_eventcount_notify_all(&barrier->ended);
}

static void wait_for(uint32_t arrival)
{
	for (;;) {
		uint64_t key = ipcwait_eventcount_prepare(&barrier->ended);

		if (ipcwait_impl_phase_is_over(&barrier->phase, arrival))
			return;
		model_assert(ipcwait_eventcount_commit(&barrier->ended, key,
						       IPCWAIT_FOREVER) == 0);
	}
}

static void thread(unsigned i)
{
	enum role role = script()->role[i];
	uint32_t arrival;

	for (unsigned n = 0; n < script()->phases; n++) {
		if (!comes(role, n))
			return;
		shared->data[n][i] = 1;
		arrive(n, role, &arrival);
		if (role != MEETS && role != FOR_TWO)
			return;
		wait_for(arrival);
		check_data(n);
		model_assert(shared->completed[n] == 1);
	}
}

/* Who sleeps does so in a phase that is not over. */
static void at_rest(void)
{
	uint64_t w = model_peek(&barrier->phase.word);

	model_assert(model_sleepers_on(&barrier->ended.word) == 0 ||
		     (uint32_t)(w >> 32) != script()->first + script()->phases);
}

static void end(void)
{
	uint64_t w = model_peek(&barrier->phase.word);

	model_assert(completions == script()->phases);
	model_assert((uint32_t)(w >> 32) == script()->first + script()->phases);
	model_assert((uint32_t)w == barrier->phase.expected.v);
	model_free(barrier);
	model_free(shared);
}

#define COMMON .begin = begin, .thread = thread, .end = end, .at_rest = at_rest
#define SCRIPT .script = &(const struct script)

static const struct model_scenario scenarios[] = {
	{ .name = "phase: two meet",
	  .threads = 2,
	  COMMON,
	  .about = "each sees what the other did, and the completion, in two phases",
	  SCRIPT{ .role = { MEETS, MEETS },
		  .expected = 2,
		  .phases = 2,
		  .first = UINT32_MAX,
		  .spins = ENGINE_EITHER },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 2000 } },
	{ .name = "phase: three meet, one for two",
	  .threads = 3,
	  COMMON,
	  .about = "several arrivals at once count as often",
	  SCRIPT{ .role = { MEETS, FOR_TWO, MEETS }, .expected = 4, .phases = 1 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 2000 } },
	{ .name = "phase: one drops",
	  .threads = 3,
	  COMMON,
	  .about = "the next phase is that of the others, whoever was the last in this one",
	  SCRIPT{ .role = { MEETS, DROPS, MEETS }, .expected = 3, .phases = 2 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 3000 } },
	{ .name = "phase: arrives and does not wait",
	  .threads = 2,
	  COMMON,
	  .about = "an arrival without a wait is one, also as the last",
	  SCRIPT{ .role = { MEETS, ARRIVES }, .expected = 2, .phases = 1 },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 1000 } },
	{ 0 },
};

const struct model_scenario model_scenarios[] = {
	{ .list = scenarios },
	{ 0 },
};
