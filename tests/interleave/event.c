/* SPDX-License-Identifier: MIT */
/* What happens to threads that is nobody's doing. */
#include <errno.h>

#include "interleave/memory.h"
#include "interleave/trace.h"
#include "interleave/world.h"

unsigned thread_count(enum state state)
{
	unsigned n = 0;

	for (unsigned i = 0; i < world.scenario->threads; i++)
		n += world.threads[i].state == state;
	return n;
}

/* Of a patient scenario: when it is time. Of others: at any time, but not often. */
static bool may_expire(const struct thread *t)
{
	if (t->deadline_ns == INT64_MAX)
		return false;
	return world.scenario->patient ? t->deadline_ns <= world.now_ns
				       : world.early_expiries > 0;
}

static unsigned list_events_of(unsigned i, struct option *o)
{
	const struct thread *t = &world.threads[i];
	unsigned n = 0;
	bool asleep = t->state == ASLEEP;

	if (asleep && world.left.spurious)
		o[n++] = (struct option){ SPURIOUS, (uint8_t)i };
	if (asleep && world.left.signals && !t->in_handler)
		o[n++] = (struct option){ INTERRUPT, (uint8_t)i };
	if (asleep && may_expire(t))
		o[n++] = (struct option){ EXPIRE, (uint8_t)i };
	if (asleep && world.left.cancels && world.scenario->cancelled)
		o[n++] = (struct option){ CANCEL, (uint8_t)i };
	if (world.left.kills && t->state <= ASLEEP &&
	    (asleep || i == world.current || world.scenario->died) &&
	    world.scenario->mortal >> world.scenario->process[i] & 1)
		o[n++] = (struct option){ KILL, (uint8_t)i };
	if (memory_buffered(i))
		o[n++] = (struct option){ FLUSH, (uint8_t)i };
	return n;
}

unsigned event_list(struct option *o)
{
	unsigned n = 0;

	for (unsigned i = 0; i < world.scenario->threads; i++)
		n += list_events_of(i, o + n);
	return n;
}

void thread_wake_up(struct thread *t, int result)
{
	t->state = READY;
	t->result = result;
	world.changes++;
}

void thread_expire(struct thread *t)
{
	if (world.now_ns < t->deadline_ns)
		world.now_ns = t->deadline_ns;
	thread_wake_up(t, -ETIMEDOUT);
}

/* The kernel does, which has seen all that the dead have done; nothing comes in between. */
static void tidy_up_after(unsigned process)
{
	unsigned was = world.current;

	world.host_view.past[HOST]++;
	world.current = HOST;
	world.scenario->died(process);
	world.current = was;
}

void process_kill(unsigned process)
{
	for (unsigned i = 0; i < world.scenario->threads; i++) {
		if (world.scenario->process[i] != process ||
		    world.threads[i].state > ASLEEP)
			continue;
		memory_flush_all(i);
		view_join(&world.host_view, &world.threads[i].view, true);
		world.threads[i].state = KILLED;
	}
	world.changes++;
	if (world.scenario->died)
		tidy_up_after(process);
}

void event_happen(struct option event)
{
	struct thread *t = &world.threads[event.thread];

	trace_event(event.thread, event.kind);
	switch (event.kind) {
	case SPURIOUS:
		world.left.spurious--;
		thread_wake_up(t, 0);
		break;
	case INTERRUPT:
		world.left.signals--;
		t->interrupted = true;
		thread_wake_up(t, -EINTR);
		break;
	case EXPIRE:
		world.early_expiries -= !world.scenario->patient;
		thread_expire(t);
		break;
	case CANCEL:
		world.left.cancels--;
		t->cancelled = true;
		thread_wake_up(t, -EINTR);
		break;
	case KILL:
		world.left.kills--;
		process_kill(world.scenario->process[event.thread]);
		break;
	default:
		memory_flush_one(event.thread);
	}
}
