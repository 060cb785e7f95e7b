/* SPDX-License-Identifier: MIT */
/* The kernel's futex: who sleeps, and which of the sleepers a wake reaches. */
#include <errno.h>

#include "interleave/memory.h"
#include "interleave/world.h"

static void fall_asleep(int64_t deadline_ns)
{
	struct thread *t = &world.threads[world.current];

	t->deadline_ns = deadline_ns;
	t->state = ASLEEP;
	sched_look();
	sched_give_way();
	t->several = t->queued = 0;
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

static void enqueue(struct thread *t, unsigned i, struct model_word word, uint32_t bits)
{
	t->words[i] = word;
	t->queued |= 1u << i;
	t->bits = bits;
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
	enqueue(&world.threads[world.current], 0,
		(struct model_word){ word, expected, private_ }, bits);
	fall_asleep(deadline_ns);
	sched_trace(word, "awake again, result",
		    (uint64_t)-world.threads[world.current].result);
	return world.threads[world.current].result;
}

/*
 * As the kernel does it: the words are looked at one after the other, and a wake may reach the
 * thread from then on until it runs again, whatever else has woken it. False if it will not sleep.
 */
static bool enqueue_all(struct thread *t, const struct model_word *words, unsigned n)
{
	t->several = n;
	t->queued = 0;
	t->woken = -1;
	for (unsigned i = 0; i < n; i++) {
		sched_point();
		if (memory_futex_load(words[i].word) != words[i].expected) {
			sched_trace(words[i].word, "futex waitv: the word has changed",
				    words[i].expected);
			return false;
		}
		enqueue(t, i, words[i], UINT32_MAX);
	}
	return t->woken < 0;
}

int model_futex_waitv(const struct model_word *words, unsigned n, int64_t deadline_ns)
{
	struct thread *t = &world.threads[world.current];
	int r = -EAGAIN;

	if (world.current == HOST || n > MODEL_WORDS_MAX)
		model_fail(MODEL_ASSERTION, "it cannot sleep on these");
	if (enqueue_all(t, words, n)) {
		r = -ETIMEDOUT;
		if (deadline_ns > world.now_ns) {
			sched_trace(words[0].word, "falls asleep on several", n);
			fall_asleep(deadline_ns);
			r = t->result;
		}
	}
	t->several = t->queued = 0;
	if (t->woken >= 0)
		r = t->woken;
	sched_trace(NULL, "out of futex waitv, result", (uint64_t)r);
	return r;
}

unsigned thread_queued_on(const struct thread *t, const uint32_t *word)
{
	unsigned mask = 0;

	for (unsigned i = 0; t->queued >> i; i++)
		if (t->queued >> i & 1 && t->words[i].word == word)
			mask |= 1u << i;
	return mask;
}

static bool same_process(unsigned i)
{
	return world.current != HOST &&
	       world.scenario->process[i] == world.scenario->process[world.current];
}

static bool reaches(unsigned i, const uint32_t *word, bool private_, uint32_t bits)
{
	const struct thread *t = &world.threads[i];
	unsigned mask = thread_queued_on(t, word);

	return mask && (t->state == ASLEEP || (t->state == READY && t->several)) &&
	       t->words[__builtin_ctz(mask)].private_ == private_ && t->bits & bits &&
	       (!private_ || same_process(i));
}

static void wake_one(struct thread *t, const uint32_t *word)
{
	int i = __builtin_ctz(thread_queued_on(t, word));

	t->queued &= ~(1u << i);
	if (t->several && t->woken < i)
		t->woken = i;
	if (t->state == ASLEEP)
		thread_wake_up(t, 0);
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
		wake_one(&world.threads[sleepers[search_value(n)]], word);
		woken++;
	}
	sched_trace(word, "futex wake", (uint64_t)woken);
	return woken;
}
