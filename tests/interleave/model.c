/* SPDX-License-Identifier: MIT */
/* What scenarios and the other files ask of the scheduler. */
#include "interleave/memory.h"
#include "interleave/trace.h"
#include "interleave/world.h"

/* By how much the clock jumps, in ns: beyond what lib/engine/wake.c takes for a fresh stamp. */
#define JUMP_NS 2000000

/* A reading of the counter is a long time here, in ns, so that a spin is over after few looks. */
#define COUNTER_NS 1000

/* By how much it steps back, in ns. */
#define STEP_NS 1000000000

unsigned sched_current(void)
{
	return world.current;
}

struct view *sched_view_of(unsigned thread)
{
	return thread == HOST ? &world.host_view : &world.threads[thread].view;
}

struct view *sched_view(void)
{
	return sched_view_of(world.current);
}

enum model_memory sched_memory(void)
{
	return world.run.memory;
}

unsigned sched_stale_most(void)
{
	return world.run.memory == MODEL_WEAK ? world.scenario->search.stale : 0;
}

bool sched_observing(void)
{
	return world.observing;
}

void sched_changed(void)
{
	world.changes++;
}

const void *model_script(void)
{
	return world.scenario->script;
}

bool model_patient(void)
{
	return world.scenario->patient;
}

enum model_memory model_memory(void)
{
	return world.run.memory;
}

bool model_tracing(void)
{
	return trace_on();
}

unsigned model_thread(void)
{
	return world.current;
}

bool model_dead(unsigned i)
{
	return i < world.scenario->threads && world.threads[i].state == KILLED;
}

bool model_asleep(unsigned i)
{
	return world.threads[i].state == ASLEEP;
}

int64_t model_sleeps_until(unsigned i)
{
	return model_asleep(i) ? world.threads[i].deadline_ns : INT64_MAX;
}

unsigned model_sleepers(void)
{
	return thread_count(ASLEEP);
}

unsigned model_sleepers_on(const void *word)
{
	unsigned n = 0;

	for (unsigned i = 0; i < world.scenario->threads; i++)
		n += world.threads[i].state == ASLEEP &&
		     thread_queued_on(&world.threads[i], word);
	return n;
}

int64_t model_now(void)
{
	return world.now_ns;
}

void model_elapse(int64_t ns)
{
	world.now_ns += ns;
}

static unsigned chosen(unsigned choice, const char *what)
{
	if (choice)
		trace_step(world.current, NULL, what, choice);
	return choice;
}

unsigned model_choose(unsigned n, const char *what)
{
	return chosen(search_value(n), what);
}

unsigned model_choose_rarely(unsigned n, const char *what)
{
	return chosen(search_rarely(n), what);
}

bool model_timer_left(void)
{
	if (!world.left.timers || !model_choose_rarely(2, "a timer of the engine"))
		return false;
	world.left.timers--;
	return true;
}

bool sched_clock_jumps(void)
{
	if (!world.left.jumps || world.current == HOST ||
	    !model_choose_rarely(2, "the clock jumps"))
		return false;
	world.left.jumps--;
	model_elapse(JUMP_NS);
	return true;
}

uint64_t model_counter(void)
{
	model_elapse(COUNTER_NS);
	if (world.left.steps && world.current != HOST &&
	    model_choose_rarely(2, "the counter steps back")) {
		world.left.steps--;
		world.counter_behind_ns += STEP_NS;
	}
	return (uint64_t)(world.now_ns - world.counter_behind_ns);
}

void sched_trace(const volatile void *p, const char *what, uint64_t value)
{
	if (trace_on())
		trace_step(world.current, p, what, value);
}
