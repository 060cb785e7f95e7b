/* SPDX-License-Identifier: MIT */
/*
 * What the engine is told, told by the checker: whether waits are long as a rule, whether there is
 * credit for a spin, how long it may last, whether a timer ends a sleep; with ENGINE_ANY also that
 * there are no facts or no second CPU, that the process has a preset, that it is time to measure a
 * sleep or to get away from the waker's CPU. In place of cost.c, credit.c, place.c and policy.c of
 * lib/policy, of lib/env and of lib/watch. The engine itself is the library's, and so is what it
 * learns from waits. A spinner that loses its CPU is not among all this.
 */
#include "engine/aside.h"
#include "env/facts.h"
#include "interleave/model.h"
#include "os/sharing.h"
#include "policy/cost.h"
#include "policy/credit.h"
#include "policy/policy.h"
#include "watch/observe.h"
#include "watch/stats.h"
#include "interleave/engine.h"

/* The plan is the library's own. Of the window it asks two things that the checker answers. */
#define iw_window_young_share model_young_share
#define iw_window_timed       model_timed
#include "engine/plan.c"

#define BLOCK_NS   20000
#define LATENCY_NS 1000

/* Lengths of the spin: four looks, and six. A reading of the counter takes 1000. */
#define SHORT_NS 500
#define LONG_NS  1500

/* Between two looks of a sleeper that nobody wakes. */
#define LOOK_NS 1000000

enum engine_spins engine_spins;

/* With one CPU and with two. Ticks are ns, nothing is configured. */
static const struct iw_facts facts_of[] = {
	{ .rate = { true, UINT64_C(1) << 32, UINT64_C(1) << 32 },
	  .config = { .spin_budget_percent = -1 },
	  .cpus = 1 },
	{ .rate = { true, UINT64_C(1) << 32, UINT64_C(1) << 32 },
	  .config = { .spin_budget_percent = -1 },
	  .cpus = 2 },
};

/* LATENCY does all that ADAPTIVE does, and sleeps on timers. */
static const enum ipcwait_preset presets[] = { IPCWAIT_LATENCY, IPCWAIT_BLOCK,
					       IPCWAIT_SPIN };

/* Of the process, for the current wait of each thread. */
static volatile enum ipcwait_preset preset_of[MODEL_THREADS_MAX + 1];

static unsigned any(unsigned n, const char *what)
{
	return engine_spins == ENGINE_ANY ? model_choose_rarely(n, what) : 0;
}

/* The first that a wait asks. What it finds in its thread's data is chosen too. */
const struct iw_facts *iw_facts(void)
{
	struct iw_thread *self = iw_self();

	self->alone = !any(2, "looks at first");
	preset_of[model_thread()] = presets[any(3, "has a preset")];
	if (any(2, "is to measure a sleep"))
		self->unprobed = SPINS_PER_PROBE;
	if (any(2, "no facts"))
		return NULL;
	return &facts_of[!any(2, "has no second CPU")];
}

enum ipcwait_preset iw_policy_preset(const struct iw_facts *facts, uint32_t state)
{
	(void)facts;
	(void)state;
	return preset_of[model_thread()];
}

uint64_t iw_policy_ceiling_ns(const struct iw_facts *facts)
{
	static const uint64_t lengths[] = { SHORT_NS, LONG_NS };

	(void)facts;
	return lengths[model_choose(2, "spins on")];
}

struct iw_timer_cost iw_policy_timer(const struct iw_facts *facts, uint64_t block_ns)
{
	(void)facts;
	(void)block_ns;
	return (struct iw_timer_cost){ 0 };
}

/* Without a timer to set there is no alarm, and who sleeps beside what it waits for is found. */
int64_t iw_policy_alarm_ns(int64_t before_ns)
{
	(void)before_ns;
	return model_timer_left() ? SHORT_NS : ENGINE_NEVER_NS;
}

int64_t iw_policy_look_ns(int64_t before_ns, uint32_t n)
{
	(void)before_ns;
	(void)n;
	return LOOK_NS;
}

/* Waits at the call site were long, or all short. */
unsigned model_young_share(const struct ipcwait_window *w, uint64_t before)
{
	(void)w;
	(void)before;
	if (engine_spins < ENGINE_EITHER)
		return engine_spins == ENGINE_SPINS ? IW_SHARES : 0;
	return model_choose(2, "does not spin") ? 0 : IW_SHARES;
}

bool model_timed(const struct ipcwait_window *w, uint64_t spin_ns, uint64_t block_ns,
		 const struct iw_timer_cost *timer, struct iw_timed_plan *plan)
{
	(void)w;
	(void)spin_ns;
	(void)block_ns;
	(void)timer;
	if (!model_timer_left())
		return false;
	*plan = (struct iw_timed_plan){
		.sleep = { .wake_ns = 1000000, .until_ns = 2000000 },
		.spin_ns = SHORT_NS,
	};
	return true;
}

bool iw_credit_allows(const struct iw_facts *facts, uint64_t full_at, uint64_t now)
{
	(void)facts;
	(void)full_at;
	(void)now;
	return !any(2, "has no credit");
}

void iw_credit_charge(const struct iw_facts *facts, uint64_t *full_at, uint64_t now,
		      uint64_t ticks)
{
	(void)facts;
	(void)full_at;
	(void)now;
	(void)ticks;
}

uint64_t iw_cost_block_ns(const struct iw_facts *facts, enum ipcwait_preset preset)
{
	(void)facts;
	(void)preset;
	return BLOCK_NS;
}

enum iw_cost_source iw_cost_source(const struct iw_facts *facts)
{
	(void)facts;
	return IW_COST_LEARNED;
}

uint64_t iw_cost_latency_ns(const struct iw_facts *facts)
{
	(void)facts;
	return LATENCY_NS;
}

uint64_t iw_cost_lateness_ns(const struct iw_facts *facts)
{
	(void)facts;
	return LATENCY_NS;
}

uint64_t iw_cost_combine_ns(uint64_t latency_ns, uint64_t paid_ns,
			    enum ipcwait_preset preset)
{
	(void)preset;
	return latency_ns + paid_ns;
}

bool iw_cost_probe_due(const struct iw_facts *facts, uint64_t now)
{
	(void)facts;
	(void)now;
	return true;
}

void iw_cost_note_latency(uint64_t ns)
{
	(void)ns;
}

void iw_cost_note_waker(uint64_t ns)
{
	(void)ns;
}

void iw_cost_note_timer(uint64_t ns)
{
	(void)ns;
}

struct ipcwait_word32 iw_observed;

void iw_observe_now(const struct iw_facts *facts, const struct iw_outcome *o)
{
	(void)facts;
	(void)o;
}

void iw_count(enum ipcwait_kind kind, enum iw_event event, uint64_t n)
{
	(void)kind;
	(void)event;
	(void)n;
}

/* Where a thread runs changes no word of an object except the window's. */
bool iw_policy_moves(const struct iw_facts *facts)
{
	(void)facts;
	return false;
}

void iw_count_move(enum iw_moves move)
{
	(void)move;
}

void iw_count_reason(enum iw_reason reason)
{
	(void)reason;
}

/* Time is the checker's. */
void iw_stand_aside(const struct ipcwait_window *window)
{
	(void)window;
	model_pause();
}

/* Objects with a note are private. */
bool iw_memory_is_shared(const void *address)
{
	(void)address;
	return false;
}
