/* SPDX-License-Identifier: MIT */
/*
 * Queues of any kind between any number of threads, one after the other, each closed in the
 * middle of it: each element that went in comes out once, whole, behind those that its producer
 * pushed before, or is there in the end.
 *
 *	queue_stress SECONDS
 *
 * IW_STRESS_SECONDS and IW_TEST_SEED in the environment: as for sem_stress.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "rounds.h"

#define THREADS_MAX 6
#define BATCH       100
#define WATCHDOG_S  30 /* for each queue */
#define NUMBERS     3  /* in an element, at most */

/* With this exclusive-or the first elements are what a slot's word cannot be, segment.h. */
#define EMPTY UINT64_C(0x9e3779b97f4a7c14)

static struct {
	struct ipcwait_queue *queue;
	size_t numbers; /* in an element, all the same */
	uint64_t mask;  /* exclusive-or on all of them */
	unsigned producers;
	uint64_t most;
	uint64_t seed;
	uint64_t last[THREADS_MAX]; /* in the end, of each producer */
	_Atomic uint64_t in, out, sum;
	bool leaves_some; /* consumers end with the close */
	_Atomic bool closing;
} world;

static int64_t push(uint64_t *elems, size_t n)
{
	int r;

	if (n > 1)
		return ipcwait_queue_push_n(world.queue, elems, n);
	r = ipcwait_queue_push(world.queue, elems);
	return r ? r : 1;
}

static void *produce(void *arg)
{
	uint64_t me = (uintptr_t)arg, seed = world.seed + me, next = 1;
	uint64_t elems[BATCH * NUMBERS];
	int64_t r = 0;

	while (r != -EPIPE) {
		uint64_t random = check_random(&seed);
		size_t n = random % 4 ? 1 : 1 + random / 8 % BATCH;

		for (size_t i = 0; i < n * world.numbers; i++)
			elems[i] = (me << 40 | (next + i / world.numbers)) ^ world.mask;
		r = push(elems, n);
		CHECK(r > 0 || r == -EPIPE || (r == -EAGAIN && world.most));
		CHECK(r != -EPIPE || world.closing);
		for (int64_t i = 0; i < r; i++)
			world.sum += me << 40 | (next + (uint64_t)i);
		if (r > 0) {
			next += (uint64_t)r;
			world.in += (uint64_t)r;
		}
	}
	return NULL;
}

static void note(const uint64_t *elem, uint64_t *last)
{
	uint64_t number = *elem ^ world.mask, from = number >> 40;

	for (size_t i = 1; i < world.numbers; i++)
		CHECK(elem[i] == elem[0]);
	CHECK(from < world.producers);
	CHECK(number > last[from]);
	last[from] = number;
	world.sum -= number;
	world.out++;
}

static int64_t pop(uint64_t *elems, uint64_t random)
{
	int64_t deadline = ipcwait_deadline_in_ns((int64_t)(random >> 8 & 0x1ffff));
	int r;

	switch (random % 4) {
	case 0:
		r = ipcwait_queue_trypop(world.queue, elems);
		break;
	case 1:
		r = ipcwait_queue_pop(world.queue, elems);
		break;
	case 2:
		r = ipcwait_queue_pop_until(world.queue, elems, deadline);
		break;
	default:
		return ipcwait_queue_pop_n_until(world.queue, elems,
						 1 + (random >> 8) % BATCH, deadline);
	}
	return r ? r : 1;
}

static void *consume(void *arg)
{
	uint64_t last[THREADS_MAX] = { 0 }, elems[BATCH * NUMBERS], lo, hi;
	uint64_t seed = world.seed + 100 + (uintptr_t)arg;
	int64_t r = 0;

	while (r != -EPIPE && !(world.leaves_some && world.closing)) {
		r = pop(elems, check_random(&seed));
		CHECK(r > 0 || r == -EPIPE || r == -EAGAIN || r == -ETIMEDOUT);
		CHECK(r != -EPIPE || world.closing);
		for (int64_t i = 0; i < r; i++)
			note(elems + (size_t)i * world.numbers, last);
		CHECK_EQ(ipcwait_queue_length(world.queue, &lo, &hi), 0);
		CHECK(lo <= hi);
	}
	return NULL;
}

static void note_left(void *elem, void *unused)
{
	(void)unused;
	note(elem, world.last);
}

static uint64_t run(uint64_t *seed)
{
	uint64_t random = check_random(seed);
	unsigned consumers = 1 + random % THREADS_MAX, threads;
	struct ipcwait_queue_params params = { .elem_fini = note_left };
	const struct timespec pause = { 0, (long)(random >> 40) % 20000000 };
	pthread_t thread[2 * THREADS_MAX];

	check_watchdog(WATCHDOG_S);
	world.seed = random;
	world.numbers = 1 + (random >> 8) % NUMBERS;
	world.mask = (random >> 10) % 2 ? EMPTY : 0;
	world.producers = 1 + (random >> 12) % THREADS_MAX;
	world.most = params.max_elems = (random >> 16) % 2 ? (random >> 20) % 2000 : 0;
	world.leaves_some = (random >> 17) % 2;
	world.closing = false;
	world.in = 0;
	world.out = 0;
	memset(world.last, 0, sizeof(world.last));
	params.elem_size = world.numbers * sizeof(uint64_t);
	params.flags = consumers == 1 ? IPCWAIT_QUEUE_ONE_CONSUMER : 0;
	CHECK((world.queue = ipcwait_queue_create(&params)) != NULL);
	for (threads = 0; threads < world.producers + consumers; threads++)
		CHECK_EQ(pthread_create(&thread[threads], NULL,
					threads < world.producers ? produce : consume,
					(void *)(uintptr_t)threads),
			 0);
	(void)nanosleep(&pause, NULL);
	world.closing = true;
	CHECK_EQ(ipcwait_queue_close(world.queue), 0);
	while (threads)
		CHECK_EQ(pthread_join(thread[--threads], NULL), 0);
	ipcwait_queue_destroy(world.queue);
	CHECK_EQ(world.out, world.in);
	CHECK_EQ(world.sum, 0);
	return world.out;
}

int main(int argc, char **argv)
{
	return stress_rounds(argc, argv, "queues", run);
}
