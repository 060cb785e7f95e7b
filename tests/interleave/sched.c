/* SPDX-License-Identifier: MIT */
/* Who is next: the loop of decisions, and the course of an execution. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interleave/memory.h"
#include "interleave/shadow.h"
#include "interleave/trace.h"
#include "interleave/world.h"

#define OPTIONS_MAX 48

/*
 * How often in an execution a deadline may pass while somebody can run; when nobody can it is
 * not counted. Without a limit, waits that are begun again for ever would never let others run.
 */
#define EARLY_EXPIRIES_MAX 4

struct world world = { .current = HOST };

_Noreturn void model_fail(enum model_verdict verdict, const char *text)
{
	world.outcome.verdict = verdict;
	(void)snprintf(world.outcome.text, sizeof(world.outcome.text), "%s", text);
	trace_step(world.current, NULL, text, 0);
	_longjmp(world.out, 1);
}

static bool waits_for_others(const struct thread *t)
{
	return t->pauses && t->paused_at == world.changes;
}

/* Threads that can go on, the running one first; last if it yields. */
static unsigned list_ready(struct option *o)
{
	const struct thread *me =
		world.current < NOBODY ? &world.threads[world.current] : NULL;
	unsigned n = 0, mine = 0;

	if (world.current != HOST && me->state == READY && !waits_for_others(me))
		mine = 1;
	if (mine && !me->yields)
		o[n++] = (struct option){ RUN, (uint8_t)world.current };
	for (unsigned i = 0; i < world.scenario->threads; i++)
		if (i != world.current && world.threads[i].state == READY &&
		    !waits_for_others(&world.threads[i]))
			o[n++] = (struct option){ RUN, (uint8_t)i };
	if (mine && me->yields)
		o[n++] = (struct option){ RUN, (uint8_t)world.current };
	return n;
}

/* Everybody who could run has paused: in turn, for in which order they look in vain is nothing. */
static unsigned list_idle(struct option *o)
{
	for (unsigned k = 1; k <= world.scenario->threads; k++) {
		unsigned i = (world.current + k) % world.scenario->threads;

		if (world.threads[i].state == READY) {
			*o = (struct option){ RUN, (uint8_t)i };
			return 1;
		}
	}
	return 0;
}

/* Only the running one, if the others would have to preempt it and may not. */
static unsigned within_bound(const struct option *o, unsigned n)
{
	return world.preemptions >= world.run.bound && n && o[0].thread == world.current &&
			       !world.threads[world.current].yields
		       ? 1
		       : n;
}

static void look_at_rest(void)
{
	unsigned was = world.current;

	for (unsigned i = 0; i < world.scenario->threads; i++)
		view_join(&world.host_view, &world.threads[i].view, true);
	world.host_view.past[HOST]++;
	world.current = HOST;
	world.scenario->at_rest();
	world.current = was;
}

static int64_t first_deadline(void)
{
	int64_t first = INT64_MAX;

	for (unsigned i = 0; i < world.scenario->threads; i++)
		if (world.threads[i].state == ASLEEP &&
		    world.threads[i].deadline_ns < first)
			first = world.threads[i].deadline_ns;
	return first;
}

static void expire_one(void)
{
	int64_t most = world.scenario->patient ? first_deadline() : INT64_MAX;
	unsigned timed[MODEL_THREADS_MAX], n = 0;

	for (unsigned i = 0; i < world.scenario->threads; i++)
		if (world.threads[i].state == ASLEEP &&
		    world.threads[i].deadline_ns != INT64_MAX &&
		    world.threads[i].deadline_ns <= most)
			timed[n++] = i;
	if (!n)
		model_fail(MODEL_DEADLOCK, "somebody sleeps for good");
	n = timed[search_value(n)];
	trace_event(n, EXPIRE);
	thread_expire(&world.threads[n]);
}

/* What threads have left in their buffers, in whatever order between them. True if any. */
static bool flush_buffers(void)
{
	unsigned left[MODEL_THREADS_MAX], n;
	bool any = false;

	for (;;) {
		n = 0;
		for (unsigned i = 0; i < world.scenario->threads; i++)
			if (memory_buffered(i))
				left[n++] = i;
		if (!n)
			return any;
		any = true;
		n = left[search_value(n)];
		trace_event(n, FLUSH);
		memory_flush_one(n);
	}
}

/* Nobody can run. Returns false if that is because all have ended. */
static bool go_on_from_rest(void)
{
	if (!thread_count(ASLEEP))
		return false;
	if (world.scenario->at_rest)
		look_at_rest();
	if (!thread_count(READY))
		expire_one();
	return true;
}

/* Who is next, after whatever happens in between. NOBODY: the execution is over. */
static unsigned decide(void)
{
	struct option o[OPTIONS_MAX];
	unsigned threads_ready, n;

	for (;;) {
		if (++world.outcome.steps > world.run.steps)
			model_fail(MODEL_LIVELOCK, "it does not end");
		threads_ready = list_ready(o);
		/* Buffers empty themselves in time, also while threads wait for that. */
		if (!threads_ready && flush_buffers())
			continue;
		if (!threads_ready)
			threads_ready = list_idle(o);
		if (!threads_ready) {
			if (!go_on_from_rest())
				return NOBODY;
			continue;
		}
		n = within_bound(o, threads_ready);
		n += event_list(o + n);
		n = search_pick(o, n);
		if (o[n].kind == RUN)
			return o[n].thread;
		event_happen(o[n]);
	}
}

/* The current thread waits for its turn, or for good. */
void sched_give_way(void)
{
	struct thread *t = &world.threads[world.current];
	unsigned was = world.current, next;

	t->place = trace_place_now();
	next = decide();
	trace_place(t->place);

	if (next == was && t->state == READY)
		return;
	if (t->state == READY && !t->yields)
		world.preemptions++;
	t->own = iw_thread;
	if (_setjmp(t->here) == 0)
		coroutine_enter(next);
	trace_place(world.threads[world.current].place);
}

void sched_look(void)
{
	const void *place = trace_place_now();

	if (!world.scenario->always)
		return;
	world.observing = true;
	world.scenario->always();
	world.observing = false;
	trace_place(place);
}

void sched_run_handler(struct thread *t)
{
	t->in_handler = true;
	if (world.scenario->handler)
		world.scenario->handler(world.current);
	t->in_handler = false;
}

void sched_point(void)
{
	struct thread *t;

	if (world.current == HOST)
		return;
	sched_look();
	t = &world.threads[world.current];
	sched_give_way();
	t->yields = t->pauses = false;
	if (world.left.signals && world.scenario->handler && !t->in_handler &&
	    search_rarely(2)) {
		world.left.signals--;
		trace_event(world.current, INTERRUPT);
		sched_run_handler(t);
	}
}

void model_point(void)
{
	sched_point();
}

void model_yield(void)
{
	if (world.current == HOST)
		return;
	world.threads[world.current].yields = true;
	sched_point();
}

void model_pause(void)
{
	if (world.current == HOST)
		return;
	world.threads[world.current].pauses = true;
	world.threads[world.current].paused_at = world.changes;
	model_yield();
}

/* Ends the calling thread. */
_Noreturn void sched_end_thread(void)
{
	sched_look();
	world.threads[world.current].state = ENDED;
	world.changes++;
	coroutine_enter(decide());
	abort();
}

_Noreturn void model_die(void)
{
	sched_look();
	trace_event(world.current, KILL);
	process_kill(world.scenario->process[world.current]);
	coroutine_enter(decide());
	abort();
}

static void reset(const struct run_params *params)
{
	world.run = *params;
	world.scenario = world.run.scenario;
	world.left = world.scenario->faults;
	world.outcome = (struct outcome){ MODEL_PASS, "", 0 };
	world.current = HOST;
	world.observing = false;
	world.preemptions = world.changes = 0;
	world.early_expiries = EARLY_EXPIRIES_MAX;
	world.now_ns = 1000000000;
	world.counter_behind_ns = 0;
	memset(&world.host_view, 0, sizeof(world.host_view));
	world.host_view.past[HOST] = 1;
	memset(&iw_thread, 0, sizeof(iw_thread));
	memory_reset();
	shadow_reset();
}

/* The threads know what was done before them. */
static void set_up_threads(void)
{
	for (unsigned i = 0; i < world.scenario->threads; i++) {
		struct thread *t = &world.threads[i];

		t->state = READY;
		t->yields = t->pauses = t->in_handler = t->cancelled = t->interrupted =
			false;
		t->several = t->queued = 0;
		t->view = world.host_view;
		t->view.past[i] = 1;
		memset(&t->own, 0, sizeof(t->own));
		memcpy(t->here, t->top, sizeof(t->top));
	}
	world.host_view.past[HOST]++;
}

static void finish(void)
{
	for (unsigned i = 0; i < world.scenario->threads; i++)
		view_join(&world.host_view, &world.threads[i].view, true);
	if (world.scenario->end)
		world.scenario->end();
	shadow_check_leaks();
}

struct outcome sched_run(const struct run_params *params)
{
	reset(params);
	if (_setjmp(world.out) == 0) {
		world.scenario->begin();
		set_up_threads();
		coroutine_enter(decide());
	}
	if (world.outcome.verdict == MODEL_PASS && _setjmp(world.out) == 0)
		finish();
	world.current = HOST;
	return world.outcome;
}
