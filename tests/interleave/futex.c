/* SPDX-License-Identifier: MIT */
/* The kernel's futex: who sleeps, and which of the sleepers a wake reaches. */
#include <errno.h>

#include "interleave/memory.h"
#include "interleave/world.h"

static void fall_asleep(const uint32_t *word, int64_t deadline_ns, bool private_,
			uint32_t bits)
{
	struct thread *t = &world.threads[world.current];

	t->word = word;
	t->deadline_ns = deadline_ns;
	t->private_ = private_;
	t->bits = bits;
	t->state = ASLEEP;
	sched_look();
	sched_give_way();
	if (t->cancelled) {
		t->cancelled = false;
		world.scenario->cancelled(world.current);
		sched_end_thread();
	}
	if (t->interrupted) {
		t->interrupted = false;
		sched_run_handler(t);
	}
}

int model_futex_wait(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		     bool private_, uint32_t bits)
{
	if (world.current == HOST)
		model_fail(MODEL_ASSERTION, "begin(), end() and at_rest() cannot sleep");
	sched_point();
	if (memory_futex_load(word) != expected) {
		sched_trace(word, "futex wait: the word has changed", expected);
		return -EAGAIN;
	}
	if (deadline_ns <= world.now_ns)
		return -ETIMEDOUT;
	sched_trace(word, "falls asleep on", expected);
	fall_asleep(word, deadline_ns, private_, bits);
	sched_trace(word, "awake again, result",
		    (uint64_t)-world.threads[world.current].result);
	return world.threads[world.current].result;
}

static bool same_process(unsigned i)
{
	return world.current != HOST &&
	       world.scenario->process[i] == world.scenario->process[world.current];
}

static bool reaches(unsigned i, const uint32_t *word, bool private_, uint32_t bits)
{
	const struct thread *t = &world.threads[i];

	return t->state == ASLEEP && t->word == word && t->private_ == private_ &&
	       t->bits & bits && (!private_ || same_process(i));
}

static unsigned list_sleepers(const uint32_t *word, bool private_, uint32_t bits,
			      unsigned *sleepers)
{
	unsigned n = 0;

	for (unsigned i = 0; i < world.scenario->threads; i++)
		if (reaches(i, word, private_, bits))
			sleepers[n++] = i;
	return n;
}

int model_futex_wake(const uint32_t *word, uint32_t count, bool private_, uint32_t bits)
{
	unsigned sleepers[MODEL_THREADS_MAX], n;
	int woken = 0;

	sched_point();
	memory_futex_wake(word);
	while ((uint32_t)woken < count &&
	       (n = list_sleepers(word, private_, bits, sleepers))) {
		thread_wake_up(&world.threads[sleepers[search_value(n)]], 0);
		woken++;
	}
	sched_trace(word, "futex wake", (uint64_t)woken);
	return woken;
}
