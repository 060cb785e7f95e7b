/* SPDX-License-Identifier: MIT */
/* Queues, with one producer and one consumer or with many, and pools. */
#include <errno.h>
#include <stdint.h>

#include <ipcwait/pool.h>
#include <ipcwait/queue.h>
#include <ipcwait/spsc.h>

#include "users.h"

/* Larger than a register: copied by memcpy(), which the sanitizer sees. */
struct job {
	unsigned round;
	long *count;
	char rest[48];
};

static struct ipcwait_spsc *spsc;

static void push_to_spsc(unsigned round)
{
	const struct job j = { .round = round };

	fill(round);
	if (ipcwait_spsc_push_until(spsc, &j, IPCWAIT_FOREVER))
		fail("no push");
}

static void pop_from_spsc(unsigned round)
{
	struct job j;

	if (ipcwait_spsc_pop(spsc, &j) || j.round != round)
		fail("no pop");
}

static void write_to_spsc(unsigned round)
{
	struct job *j;
	size_t n = 1;

	fill(round);
	while (!(j = ipcwait_spsc_reserve(spsc, &n))) {
		pause_us(10);
		n = 1;
	}
	j->round = round;
	if (ipcwait_spsc_commit(spsc, 1))
		fail("no commit");
}

static void read_from_spsc(unsigned round)
{
	const struct job *j;
	size_t n = 1;

	while (!(j = ipcwait_spsc_peek(spsc, &n))) {
		pause_us(10);
		n = 1;
	}
	if (j->round != round)
		fail("another job");
	ipcwait_spsc_release(spsc, 1);
}

static void push_word_to_spsc(unsigned round)
{
	uint64_t word = round;

	fill(round);
	if (ipcwait_spsc_push(spsc, &word))
		fail("no push");
}

static void pop_word_from_spsc(unsigned round)
{
	uint64_t word;

	if (ipcwait_spsc_pop(spsc, &word) || word != round)
		fail("no pop");
}

static void with_spsc(size_t elem_size, uint64_t capacity, void (*give)(unsigned round),
		      void (*take)(unsigned round))
{
	const struct ipcwait_spsc_params params = { .elem_size = elem_size,
						    .capacity = capacity };

	spsc = ipcwait_spsc_create(&params);
	if (!spsc)
		fail("no queue");
	hand_over(give, take);
	ipcwait_spsc_destroy(spsc);
}

static void spsc_bound(void)
{
	with_spsc(sizeof(struct job), 4, push_to_spsc, pop_from_spsc);
}

static void spsc_unbound(void)
{
	with_spsc(sizeof(uint64_t), 0, push_word_to_spsc, pop_word_from_spsc);
}

static void spsc_in_place(void)
{
	with_spsc(sizeof(struct job), 4, write_to_spsc, read_from_spsc);
}

/* A queue for each round: whoever learns that it is closed sees what came before. */
static struct ipcwait_spsc *spscs[ROUNDS];

static void close_spsc(unsigned round)
{
	fill(round);
	ipcwait_spsc_close(spscs[round]);
}

static void find_spsc_closed(unsigned round)
{
	uint64_t word;

	if (ipcwait_spsc_pop(spscs[round], &word) != -EPIPE)
		fail("not closed");
}

static void spsc_close(void)
{
	const struct ipcwait_spsc_params params = { .elem_size = sizeof(uint64_t) };

	for (unsigned i = 0; i < ROUNDS; i++) {
		spscs[i] = ipcwait_spsc_create(&params);
		if (!spscs[i])
			fail("no queue");
	}
	hand_over(close_spsc, find_spsc_closed);
	for (unsigned i = 0; i < ROUNDS; i++)
		ipcwait_spsc_destroy(spscs[i]);
}

static struct ipcwait_pool *pool;

#define HELD 8

static void hold(long **held)
{
	for (unsigned i = 0; i < HELD; i++) {
		held[i] = ipcwait_pool_get(pool);
		if (!held[i])
			fail("no object");
		*held[i] = i;
	}
}

static void let_go(long **held)
{
	for (unsigned i = 0; i < HELD; i++)
		ipcwait_pool_put(pool, held[i]);
}

/* The mistake: the first thread writes to what it has put, and the second has got. */
static void hold_and_let_go(unsigned me)
{
	static int put, got;
	long *held[HELD];

	if (wrong && me == 1)
		await(&put);
	for (unsigned i = 0; i < 200; i++) {
		hold(held);
		if (me == 1)
			say(&got);
		let_go(held);
		say(&put);
		if (wrong && !me && !i) {
			await(&got);
			for (unsigned k = 0; k < HELD; k++)
				*held[k] = -1;
			return;
		}
	}
}

static void pools(void)
{
	const struct ipcwait_pool_params params = { .elem_size = sizeof(long),
						    .magazine = 1 };

	if (ipcwait_pool_create(&params, &pool))
		fail("no pool");
	run_threads(wrong ? 2 : 3, hold_and_let_go);
	ipcwait_pool_destroy(pool);
}

#ifdef HAVE_QUEUE
static struct ipcwait_queue *queue;

static void push_one(unsigned round)
{
	const struct job j = { .round = round };

	fill(round);
	if (ipcwait_queue_push(queue, &j))
		fail("no push");
}

static void pop_one(unsigned round)
{
	struct job j;

	if (ipcwait_queue_pop(queue, &j) || j.round != round)
		fail("no pop");
}

static struct ipcwait_queue *queues[ROUNDS];

static void close_queue(unsigned round)
{
	fill(round);
	ipcwait_queue_close(queues[round]);
}

static void find_queue_closed(unsigned round)
{
	struct job j;

	if (ipcwait_queue_pop(queues[round], &j) != -EPIPE)
		fail("not closed");
}

static void make_queue(void)
{
	const struct ipcwait_queue_params params = { .elem_size = sizeof(struct job) };

	queue = ipcwait_queue_create(&params);
	if (!queue)
		fail("no queue");
}

static void make_queues(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		make_queue();
		queues[i] = queue;
	}
}

static void destroy_queues(void)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		ipcwait_queue_destroy(queues[i]);
}

static void queue_close(void)
{
	make_queues();
	hand_over(close_queue, find_queue_closed);
	destroy_queues();
}

/* The same for a pusher, who learns it while the other closes, or afterwards. */
static int pushing[ROUNDS];

static void close_under_push(unsigned round)
{
	fill(round);
	if (round % 4)
		await(&pushing[round]);
	ipcwait_queue_close(queues[round]);
}

static void push_until_closed(unsigned round)
{
	struct job j = { .round = round };

	while (!ipcwait_queue_push(queues[round], &j)) {
		say(&pushing[round]);
		if (ipcwait_queue_trypop(queues[round], &j))
			fail("no pop");
	}
}

static void queue_close_push(void)
{
	make_queues();
	hand_over(close_under_push, push_until_closed);
	destroy_queues();
}

static void queue_of_two(void)
{
	make_queue();
	hand_over(push_one, pop_one);
	ipcwait_queue_destroy(queue);
}

/* So many that segments are used again, after grace periods. */
#define COUNTS 4000
static long counts[2][COUNTS];

/* The mistake: the first thread counts a job that it has pushed, and another has popped. */
static int popped;

static void push_many(unsigned me)
{
	for (unsigned i = 0; i < COUNTS; i++) {
		const struct job j = { .round = i, .count = &counts[me][i] };

		counts[me][i] = i;
		if (ipcwait_queue_push(queue, &j))
			fail("no push");
		if (i % 500 == 0)
			pause_us(15000);
		if (wrong && !me && !i) {
			await(&popped);
			counts[0][0]++;
		}
	}
}

static void pop_many(void)
{
	struct job j;

	for (unsigned i = 0; i < COUNTS; i++) {
		if (ipcwait_queue_pop(queue, &j))
			fail("no pop");
		(*j.count)++;
		if (j.count == &counts[0][0])
			say(&popped);
	}
}

static void push_or_pop(unsigned me)
{
	if (me < 2)
		push_many(me);
	else
		pop_many();
}

/* Thread 0 uses again the memory where thread 1 has popped once: only a grace period says when. */
static void push_and_pop(unsigned n)
{
	struct job j = { .count = &counts[1][0] };

	for (unsigned i = 0; i < n; i++)
		if (ipcwait_queue_push(queue, &j))
			fail("no push");
	for (unsigned i = 0; i < n; i++)
		if (ipcwait_queue_trypop(queue, &j))
			fail("no pop");
}

static void use_again(unsigned me)
{
	static int pushed, done;
	struct job j = { .count = &counts[0][0] };

	if (me) {
		await(&pushed);
		if (ipcwait_queue_trypop(queue, &j))
			fail("no pop");
		(*j.count)++;
		say(&popped);
		await(&done);
		return;
	}
	push_and_pop(300);
	if (ipcwait_queue_push(queue, &j))
		fail("no push");
	say(&pushed);
	await(&popped);
	if (wrong)
		counts[0][0]++;
	for (unsigned i = 0; i < 60; i++) {
		push_and_pop(300);
		pause_us(2000);
	}
	say(&done);
}

static void queue_again(void)
{
	make_queue();
	run_threads(2, use_again);
	ipcwait_queue_destroy(queue);
}

static void queue_of_many(void)
{
	make_queue();
	run_threads(4, push_or_pop);
	ipcwait_queue_destroy(queue);
}
#endif

const struct scene queue_scenes[] = {
	{ "spsc-bound", spsc_bound },
	{ "spsc-unbound", spsc_unbound },
	{ "spsc-in-place", spsc_in_place },
	{ "spsc-close", spsc_close },
	{ "pool", pools },
#ifdef HAVE_QUEUE
	{ "queue", queue_of_two },
	{ "queue-close", queue_close },
	{ "queue-close-push", queue_close_push },
	{ "queue-many", queue_of_many },
	{ "queue-again", queue_again },
#endif
	{ NULL, NULL },
};
