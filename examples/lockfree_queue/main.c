/* SPDX-License-Identifier: MIT */
/*
 * Numbers go through a queue that needs no lock, from producers to consumers, as fast as they can.
 *
 *	lockfree_queue [ITEMS] [--producers N] [--consumers N] [--blocking] [--batch N]
 *
 * A consumer that finds the queue empty gives way to other threads and looks again; with --blocking
 * it waits in ipcwait_queue_pop(), which spins for a moment and then sleeps. With --batch items
 * are pushed and popped up to N at a time. All that comes out is added up, and checked.
 *
 * To compare it with other queues, take bench/seed/queue_test, which has this one too.
 */
#include "../../tools/common/arguments.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/number.h"

#include <errno.h>
#include <inttypes.h>
#include <ipcwait/queue.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

const char program_name[] = "lockfree_queue";

#define THREADS_MOST 64
#define BATCH_MOST   1024

struct options {
	uint64_t items, producers, consumers, batch;
	bool blocking;
};

struct worker {
	_Alignas(128) const struct options *o;
	struct ipcwait_queue *queue;
	uint64_t first, end; /* of a producer: the numbers that it pushes */
	uint64_t count, sum; /* of a consumer: what it has popped */
	pthread_t thread;
};

static void *produce(void *arg)
{
	const struct worker *w = arg;
	uint64_t numbers[BATCH_MOST], next = w->first;

	while (next < w->end) {
		uint64_t n = 0;
		int64_t pushed;

		while (n < w->o->batch && next + n < w->end) {
			numbers[n] = next + n;
			n++;
		}
		pushed = ipcwait_queue_push_n(w->queue, numbers, (size_t)n);
		if (pushed < 0)
			give_up("cannot push");
		next += (uint64_t)pushed;
	}
	return NULL;
}

/* Some numbers, or -EPIPE at the end. */
static int64_t pop_some(const struct worker *w, uint64_t *numbers)
{
	int64_t n;

	if (w->o->blocking)
		return ipcwait_queue_pop_n_until(w->queue, numbers, (size_t)w->o->batch,
						 IPCWAIT_FOREVER);
	while ((n = ipcwait_queue_pop_n(w->queue, numbers, (size_t)w->o->batch)) == -EAGAIN)
		sched_yield();
	return n;
}

static void *consume(void *arg)
{
	struct worker *w = arg;
	uint64_t numbers[BATCH_MOST];
	int64_t n;

	while ((n = pop_some(w, numbers)) > 0) {
		for (int64_t i = 0; i < n; i++)
			w->sum += numbers[i];
		w->count += (uint64_t)n;
	}
	if (n != -EPIPE)
		give_up("cannot pop");
	return NULL;
}

static void start(struct worker *w, void *(*body)(void *))
{
	if (pthread_create(&w->thread, NULL, body, w))
		give_up("cannot make a thread");
}

/* The workers are producers, then consumers. */
static void run(const struct options *o, struct ipcwait_queue *q, struct worker *workers)
{
	uint64_t all = o->producers + o->consumers;

	for (uint64_t i = 0; i < all; i++) {
		struct worker *w = &workers[i];

		*w = (struct worker){ .o = o, .queue = q };
		if (i < o->producers) {
			w->first = o->items / o->producers * i;
			w->end = i + 1 < o->producers ? w->first + o->items / o->producers
						      : o->items;
		}
		start(w, i < o->producers ? produce : consume);
	}
	for (uint64_t i = 0; i < o->producers; i++)
		pthread_join(workers[i].thread, NULL);
	ipcwait_queue_close(q);
	for (uint64_t i = o->producers; i < all; i++)
		pthread_join(workers[i].thread, NULL);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int measure(const struct options *o)
{
	const struct ipcwait_queue_params params = { .elem_size = sizeof(uint64_t) };
	struct ipcwait_queue *q = ipcwait_queue_create(&params);
	static struct worker workers[2 * THREADS_MOST];
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t sum = 0, count = 0;

	if (!q)
		give_up("cannot make a queue");
	run(o, q, workers);
	wall = seconds(CLOCK_MONOTONIC) - wall;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	ipcwait_queue_destroy(q);
	for (uint64_t i = o->producers; i < o->producers + o->consumers; i++) {
		sum += workers[i].sum;
		count += workers[i].count;
	}
	printf("%" PRIu64 " items in %.3f s, for %.3f CPU-s: %.2f M items/s, "
	       "%.2f M items/CPU-s\n",
	       count, wall, cpu, (double)count / wall / 1e6, (double)count / cpu / 1e6);
	if (count != o->items || sum != (o->items - 1) * o->items / 2) {
		complain("items were lost, changed or came twice");
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

static int set_items(struct options *o, const char *text, unsigned i)
{
	if (!i && !number_parse_large(text, 1, 4000000000, &o->items))
		return 0;
	return complain("ITEMS: want one number, 1 to 4000000000, not '%s'",
			shown(text, 40));
}

static int set_producers(struct options *o, const char *text)
{
	return argument_number("--producers", text, 1, THREADS_MOST, &o->producers);
}

static int set_consumers(struct options *o, const char *text)
{
	return argument_number("--consumers", text, 1, THREADS_MOST, &o->consumers);
}

static int set_batch(struct options *o, const char *text)
{
	return argument_number("--batch", text, 1, BATCH_MOST, &o->batch);
}

static void print_help(void)
{
	puts("usage: lockfree_queue [ITEMS] [--producers N] [--consumers N] [--blocking] "
	     "[--batch N]\n"
	     "Pass ITEMS numbers (100M) through a queue, and say how fast they went.");
}

static const struct argument known[] = {
	{ .name = "--producers", .kind = ARGUMENT_VALUE, .set = set_producers },
	{ .name = "--consumers", .kind = ARGUMENT_VALUE, .set = set_consumers },
	{ .name = "--batch", .kind = ARGUMENT_VALUE, .set = set_batch },
	{ .name = "--blocking",
	  .kind = ARGUMENT_FLAG,
	  .at = offsetof(struct options, blocking) },
	{ .name = "--help", .kind = ARGUMENT_PRINT, .print = print_help },
};

int main(int argc, char **argv)
{
	const struct arguments a = { known, sizeof(known) / sizeof(known[0]), set_items };
	struct options o = { 100000000, 1, 1, 1, false };
	int r = arguments_parse(&o, &a, argc, argv);

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	return measure(&o);
}
