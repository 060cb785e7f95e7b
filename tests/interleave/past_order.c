/* SPDX-License-Identifier: MIT */
/* Wakes lost by the order of accesses to memory, and one that was none. */
#include "interleave/past.h"

/*
 * JDK 6822370 (D. Dice, "A race in LockSupport park() arising from weak memory models", 2009). Who
 * finds a permit takes it by a plain store and looks at the condition again. If the store waits
 * in its buffer meanwhile, the permit that comes with the condition is found to be there already,
 * nobody is woken, and then the store takes it away.
 */
struct permit {
	_Atomic uint32_t word;
	_Atomic uint32_t condition;
};

static struct permit *permit;

static void permit_begin(void)
{
	permit = model_alloc(sizeof(*permit));
	model_name(&permit->word, "permit");
	model_name(&permit->condition, "condition");
	atomic_init(&permit->word, 1);
}

static void park(void)
{
	if (atomic_load_explicit(&permit->word, memory_order_acquire)) {
		atomic_store_explicit(&permit->word, 0, memory_order_relaxed);
		if (repaired())
			atomic_thread_fence(memory_order_seq_cst);
		return;
	}
	while (!atomic_exchange(&permit->word, 0))
		sleep_while(&permit->word, 0);
}

static void unpark(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_exchange(&permit->word, 1))
		wake(&permit->word, 1);
}

static void permit_thread(unsigned i)
{
	if (i == 0) {
		while (!atomic_load_explicit(&permit->condition, memory_order_acquire))
			park();
		return;
	}
	atomic_store_explicit(&permit->condition, 1, memory_order_release);
	unpark();
}

static void permit_end(void)
{
	model_free(permit);
}

/*
 * QEMU 1805256. A poller says by a read-modify-write that it is about to sleep, and looks for work.
 * That is in order on x86-64, whose locked instructions are barriers, and not on arm64.
 */
struct poller {
	_Atomic uint32_t about_to_sleep;
	_Atomic uint32_t work;
	_Atomic uint32_t notified;
};

static struct poller *poller;

static void notify_begin(void)
{
	poller = model_alloc(sizeof(*poller));
	model_name(&poller->about_to_sleep, "about to sleep");
	model_name(&poller->work, "work");
	model_name(&poller->notified, "notified");
}

static void poll_once(void)
{
	atomic_fetch_add(&poller->about_to_sleep, 1);
	if (repaired())
		atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&poller->work, memory_order_acquire))
		while (!atomic_load_explicit(&poller->notified, memory_order_acquire))
			sleep_while(&poller->notified, 0);
	atomic_fetch_sub(&poller->about_to_sleep, 1);
}

static void notify(void)
{
	atomic_store_explicit(&poller->work, 1, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&poller->about_to_sleep, memory_order_relaxed)) {
		atomic_store_explicit(&poller->notified, 1, memory_order_release);
		wake(&poller->notified, 1);
	}
}

static void notify_thread(unsigned i)
{
	if (i == 0)
		poll_once();
	else
		notify();
}

static void notify_end(void)
{
	model_free(poller);
}

/*
 * QEMU 2025, "futex: Check value after qemu_futex_wait()". The result 0 of a futex wait was taken
 * for the event; futex(2) says that it may come for no reason.
 */
enum { SET, CLEAR, BUSY };

static _Atomic uint32_t *event;

static void event_begin(void)
{
	event = model_alloc(sizeof(*event));
	model_name((void *)event, "event");
	atomic_init(event, CLEAR);
}

static void event_wait(void)
{
	uint32_t seen = CLEAR;

	do {
		if (atomic_load(event) == SET)
			return;
		seen = CLEAR;
		(void)atomic_compare_exchange_strong(event, &seen, BUSY);
		if (seen != SET)
			sleep_while(event, BUSY);
	} while (repaired());
}

static void event_thread(unsigned i)
{
	if (i == 0) {
		event_wait();
		model_assert(atomic_load(event) == SET);
		model_free((void *)event);
		return;
	}
	if (atomic_exchange(event, SET) == BUSY)
		wake(event, 1);
}

const struct model_scenario past_order[] = {
	{ .name = "JDK 6822370",
	  .threads = 2,
	  .about = "a permit is taken by a store that is late",
	  .begin = permit_begin,
	  .thread = permit_thread,
	  .end = permit_end,
	  .search = { .bound = 3, .weak_bound = 3, .stale = 3 },
	  .expect = { MODEL_PASS, MODEL_DEADLOCK, MODEL_DEADLOCK } },
	{ .name = "JDK 6822370, repaired",
	  .threads = 2,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = permit_begin,
	  .thread = permit_thread,
	  .end = permit_end,
	  .search = { .bound = 3, .weak_bound = 3, .stale = 3 } },
	{ .name = "QEMU 1805256",
	  .threads = 2,
	  .about = "a read-modify-write is taken for a barrier",
	  .begin = notify_begin,
	  .thread = notify_thread,
	  .end = notify_end,
	  .search = { .bound = 3, .weak_bound = 3, .stale = 3 },
	  .expect = { MODEL_PASS, MODEL_PASS, MODEL_DEADLOCK } },
	{ .name = "QEMU 1805256, repaired",
	  .threads = 2,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = notify_begin,
	  .thread = notify_thread,
	  .end = notify_end,
	  .search = { .bound = 3, .weak_bound = 3, .stale = 3 } },
	{ .name = "QEMU event",
	  .threads = 2,
	  .about = "result 0 of a futex wait is taken for the event",
	  .begin = event_begin,
	  .thread = event_thread,
	  .faults = { .spurious = 1 },
	  .search = { .bound = 2, .weak_bound = 2 },
	  .expect = { MODEL_ASSERTION, MODEL_ASSERTION, MODEL_ASSERTION } },
	{ .name = "QEMU event, repaired",
	  .threads = 2,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = event_begin,
	  .thread = event_thread,
	  .faults = { .spurious = 1 },
	  .search = { .bound = 2, .weak_bound = 2 } },
	{ 0 },
};
