/* SPDX-License-Identifier: MIT */
/* Sleepers in a list, each on a word of its own, and what those forget who leave early. */
#include <errno.h>

#include "interleave/past.h"

#define WAITERS 3

/* Numbers of those who wait, in the order in which they came. The lock spins. */
struct queue {
	_Atomic uint32_t lock;
	unsigned n;
	unsigned waiter[WAITERS];
	_Atomic uint32_t called[WAITERS];
};

static void enter(struct queue *q)
{
	while (atomic_load(&q->lock) || atomic_exchange(&q->lock, 1))
		model_pause();
}

static void leave(struct queue *q)
{
	atomic_store(&q->lock, 0);
}

static void append(struct queue *q, unsigned i)
{
	atomic_store(&q->called[i], 0);
	q->waiter[q->n++] = i;
}

/* False if it is not there: somebody has called it already. */
static bool withdraw(struct queue *q, unsigned i)
{
	unsigned at = 0;

	while (at < q->n && q->waiter[at] != i)
		at++;
	if (at == q->n)
		return false;
	for (q->n--; at < q->n; at++)
		q->waiter[at] = q->waiter[at + 1];
	return true;
}

/* Needs somebody in the queue, and the lock, which it returns. */
static void call_first(struct queue *q)
{
	_Atomic uint32_t *word = &q->called[q->waiter[0]];

	(void)withdraw(q, q->waiter[0]);
	atomic_store(word, 1);
	leave(q);
	wake(word, 1);
}

static void sleep_until_called(struct queue *q, unsigned i)
{
	while (!atomic_load(&q->called[i]))
		sleep_while(&q->called[i], 0);
}

/*
 * parking_lot 465, 466. The last waiter that gives up says in the lock's word that nobody is
 * parked. It does so when it has left the queue; in between, another one may have entered.
 */
enum { TAKEN = 1, PARKED = 2 };

struct parking {
	_Atomic uint32_t word;
	struct queue queue;
};

static struct parking *parking;

static void parked_begin(void)
{
	parking = model_alloc(sizeof(*parking));
	model_name(&parking->word, "lock");
}

/* True if the queue was entered: the lock is taken, and says that somebody is parked. */
static bool park(unsigned i)
{
	uint32_t seen = atomic_load(&parking->word);
	bool valid;

	if (!(seen & TAKEN) ||
	    (!(seen & PARKED) &&
	     !atomic_compare_exchange_strong(&parking->word, &seen, TAKEN | PARKED)))
		return false;
	enter(&parking->queue);
	valid = atomic_load(&parking->word) == (TAKEN | PARKED);
	if (valid)
		append(&parking->queue, i);
	leave(&parking->queue);
	return valid;
}

/* False if it was called in the last moment. */
static bool give_up(unsigned i)
{
	bool left, last;

	enter(&parking->queue);
	left = withdraw(&parking->queue, i);
	last = left && parking->queue.n == 0;
	if (last && repaired())
		atomic_fetch_and(&parking->word, ~(uint32_t)PARKED);
	leave(&parking->queue);
	if (last && !repaired())
		atomic_fetch_and(&parking->word, ~(uint32_t)PARKED);
	return left;
}

static bool parked_take(unsigned i, int64_t deadline_ns)
{
	uint32_t seen = atomic_load(&parking->word);

	for (;;) {
		if (!(seen & TAKEN)) {
			if (atomic_compare_exchange_strong(&parking->word, &seen,
							   seen | TAKEN))
				return true;
			continue;
		}
		if (park(i)) {
			if (sleep_while_until(&parking->queue.called[i], 0, deadline_ns) ==
				    -ETIMEDOUT &&
			    give_up(i))
				return false;
			sleep_until_called(&parking->queue, i);
		}
		seen = atomic_load(&parking->word);
	}
}

static void parked_give(void)
{
	uint32_t seen = TAKEN;

	if (atomic_compare_exchange_strong(&parking->word, &seen, 0))
		return;
	enter(&parking->queue);
	if (parking->queue.n) {
		atomic_store(&parking->word, parking->queue.n > 1 ? PARKED : 0);
		call_first(&parking->queue);
	} else {
		atomic_store(&parking->word, 0);
		leave(&parking->queue);
	}
}

static void parked_thread(unsigned i)
{
	if (parked_take(i, i == 1 ? model_now() + 1000 : INT64_MAX))
		parked_give();
}

static void parked_end(void)
{
	model_free(parking);
}

/*
 * A semaphore that hands tokens over. A waiter that is cancelled leaves the queue; if it is not
 * in it any more then it has been given a token, and has to pass that on. The class of glibc
 * 12683.
 */
struct hand_over {
	unsigned tokens;
	struct queue queue;
};

static struct hand_over *hand_over;

static void left_begin(void)
{
	hand_over = model_alloc(sizeof(*hand_over));
	for (unsigned i = 0; i < WAITERS; i++)
		model_name(&hand_over->queue.called[i], "called");
}

static void left_post(void)
{
	enter(&hand_over->queue);
	if (hand_over->queue.n) {
		call_first(&hand_over->queue);
	} else {
		hand_over->tokens++;
		leave(&hand_over->queue);
	}
}

static void left_thread(unsigned i)
{
	bool taken;

	if (i == 2) {
		left_post();
		return;
	}
	enter(&hand_over->queue);
	taken = hand_over->tokens;
	if (taken)
		hand_over->tokens--;
	else
		append(&hand_over->queue, i);
	leave(&hand_over->queue);
	if (!taken)
		sleep_until_called(&hand_over->queue, i);
	left_post();
}

static void left_cancelled(unsigned i)
{
	bool left;

	enter(&hand_over->queue);
	left = withdraw(&hand_over->queue, i);
	leave(&hand_over->queue);
	if (!left && repaired())
		left_post();
}

static void left_end(void)
{
	model_free(hand_over);
}

const struct model_scenario past_queue[] = {
	{ .name = "parking_lot 465",
	  .threads = 3,
	  .about = "the last one to give up clears the flag of the next one to come",
	  .begin = parked_begin,
	  .thread = parked_thread,
	  .end = parked_end,
	  .search = { .bound = 2, .weak_bound = 2 },
	  .expect = { MODEL_DEADLOCK, MODEL_DEADLOCK, MODEL_DEADLOCK } },
	{ .name = "parking_lot 465, repaired",
	  .threads = 3,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = parked_begin,
	  .thread = parked_thread,
	  .end = parked_end,
	  .search = { .bound = 2, .weak_bound = 2 } },
	{ .name = "cancelled with a token",
	  .threads = 3,
	  .about = "who is cancelled keeps what he was given",
	  .begin = left_begin,
	  .thread = left_thread,
	  .end = left_end,
	  .cancelled = left_cancelled,
	  .faults = { .cancels = 1 },
	  .search = { .bound = 2, .weak_bound = 2 },
	  .expect = { MODEL_DEADLOCK, MODEL_DEADLOCK, MODEL_DEADLOCK } },
	{ .name = "cancelled with a token, repaired",
	  .threads = 3,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = left_begin,
	  .thread = left_thread,
	  .end = left_end,
	  .cancelled = left_cancelled,
	  .faults = { .cancels = 1 },
	  .search = { .bound = 2, .weak_bound = 2 } },
	{ 0 },
};
