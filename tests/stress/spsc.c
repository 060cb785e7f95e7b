/* SPDX-License-Identifier: MIT */
/*
 * Queues from one producer to one consumer, one after the other, with and without a bound, with
 * every way in and every way out, and signals for both threads. The producer, the consumer or
 * somebody else closes each in the middle of it: each element that went in comes out once, whole
 * and in its turn, or is there in the end.
 *
 *	spsc_stress SECONDS
 *
 * IW_STRESS_SECONDS and IW_TEST_SEED in the environment: as for sem_stress.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "rounds.h"

#define BATCH     50
#define ELEM_MOST 100
#define WATCH     30 /* seconds, for one queue */

enum side { PRODUCER, CONSUMER, SOMEBODY_ELSE, SIDES };

static struct {
	struct ipcwait_spsc *queue;
	size_t size; /* of an element */
	uint64_t capacity, seed;
	uint64_t enough; /* elements, before it is closed */
	enum side closer;
	bool patient;     /* no wait has a deadline, and nobody tries only */
	bool leaves_some; /* the consumer ends with the close */
	bool quiet;       /* no signals: one would hide that a wake-up was lost */
	_Atomic uint64_t in;
	uint64_t out; /* the consumer's, then of who destroys */
	_Atomic bool closing, closed;
	_Atomic unsigned ended; /* threads */
} world;

/* Each word of an element is another one, and of another element too. */
static uint32_t word_of(uint64_t number, size_t i)
{
	return (uint32_t)number + (uint32_t)i * UINT32_C(0x9e3779b9);
}

static void fill(void *elem, uint64_t number)
{
	uint32_t word;

	for (size_t i = 0; i < world.size / sizeof(word); i++) {
		word = word_of(number, i);
		memcpy((char *)elem + i * sizeof(word), &word, sizeof(word));
	}
}

static void fill_many(void *elems, size_t n)
{
	uint64_t number = world.in;

	for (size_t i = 0; i < n; i++)
		fill((char *)elems + i * world.size, number + i);
}

/* The next one that came out has to be the next one that went in. */
static void note(const void *elem)
{
	uint32_t word;

	for (size_t i = 0; i < world.size / sizeof(word); i++) {
		memcpy(&word, (const char *)elem + i * sizeof(word), sizeof(word));
		CHECK_EQ(word, word_of(world.out, i));
	}
	world.out++;
}

static void note_many(const void *elems, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		note((const char *)elems + (size_t)i * world.size);
}

static void close_queue(void)
{
	world.closing = true;
	CHECK_EQ(ipcwait_spsc_close(world.queue), 0);
	world.closed = true;
}

/* Up to 65 us, or for ever. */
static int64_t deadline(uint64_t random)
{
	return world.patient || random % 8 == 0
		       ? IPCWAIT_FOREVER
		       : ipcwait_deadline_in_ns((int64_t)(random >> 48));
}

/* What is written where it will lie; not all of it counts. */
static int64_t push_in_place(size_t n, uint64_t random)
{
	size_t room = n, again = n;
	void *elems = ipcwait_spsc_reserve(world.queue, &room);
	int r;

	CHECK(room <= n && !elems == !room);
	if (!elems)
		return -EAGAIN;
	fill_many(elems, room);
	if (random % 2) {
		elems = ipcwait_spsc_reserve(world.queue, &again);
		CHECK(elems || world.closing);
		CHECK(!elems || again >= room);
	}
	n = 1 + (random >> 1) % room;
	r = ipcwait_spsc_commit(world.queue, n);
	return r ? r : (int64_t)n;
}

static int64_t push(uint64_t random)
{
	char elems[BATCH * ELEM_MOST];
	size_t n = 1 + (random >> 8) % BATCH;
	unsigned how = world.patient ? 0 : random % 4;
	int64_t until = deadline(random >> 4);
	int r;

	if (how < 3)
		fill_many(elems, how == 2 ? n : 1);
	switch (how) {
	case 0:
		r = ipcwait_spsc_push_until(world.queue, elems, until);
		CHECK(r != -EAGAIN);
		CHECK(r != -ETIMEDOUT || ipcwait_now_ns() >= until);
		break;
	case 1:
		r = ipcwait_spsc_push(world.queue, elems);
		break;
	case 2:
		return ipcwait_spsc_push_n(world.queue, elems, n);
	default:
		return push_in_place(n, random >> 16);
	}
	return r ? r : 1;
}

static int64_t pop_in_place(size_t n, uint64_t random)
{
	size_t there = n;
	const void *elems = ipcwait_spsc_peek(world.queue, &there);

	CHECK(there <= n && !elems == !there);
	if (!elems)
		return -EAGAIN;
	n = 1 + random % there;
	note_many(elems, (int64_t)n);
	CHECK_EQ(ipcwait_spsc_release(world.queue, n), 0);
	return (int64_t)n;
}

/* Notes what it has got, and returns how many. */
static int64_t pop(uint64_t random)
{
	char elems[BATCH * ELEM_MOST];
	size_t n = 1 + (random >> 8) % BATCH;
	int64_t until = deadline(random >> 4), r;

	switch (random % (world.patient ? 2 : 5)) {
	case 0:
		r = ipcwait_spsc_pop(world.queue, elems);
		CHECK(r == 0 || r == -EPIPE);
		break;
	case 1:
		r = ipcwait_spsc_pop_until(world.queue, elems, until);
		CHECK(r != -EAGAIN);
		CHECK(r != -ETIMEDOUT || ipcwait_now_ns() >= until);
		break;
	case 2:
		r = ipcwait_spsc_trypop(world.queue, elems);
		break;
	case 3:
		r = ipcwait_spsc_pop_n(world.queue, elems, n);
		note_many(elems, r);
		return r;
	default:
		return pop_in_place(n, random >> 16);
	}
	note_many(elems, r == 0);
	return r ? r : 1;
}

/*
 * Without another push: who was not told of an element sleeps beside it, until the watchdog comes.
 */
static void await_empty(void)
{
	uint64_t lo, hi = 1;

	while (hi && !world.closing) {
		CHECK_EQ(ipcwait_spsc_length(world.queue, &lo, &hi), 0);
		(void)sched_yield();
	}
}

static void *produce(void *unused)
{
	uint64_t seed = world.seed, random;
	bool too_late;
	int64_t r = 0;

	(void)unused;
	while (r != -EPIPE) {
		random = check_random(&seed);
		if (random >> 58 == 0)
			await_empty();
		if (random >> 58 == 1)
			(void)ipcwait_spsc_trim(world.queue);
		too_late = world.closed;
		r = push(random);
		CHECK(r > 0 || r == -EPIPE || r == -ETIMEDOUT || r == -EAGAIN);
		CHECK(r > 0 || r == -EPIPE || world.capacity || world.closing);
		CHECK(r != -EPIPE || world.closing);
		CHECK(r <= 0 || !too_late);
		if (r > 0)
			world.in += (uint64_t)r;
		if (world.closer == PRODUCER && world.in >= world.enough && !world.closing)
			close_queue();
	}
	world.ended++;
	return NULL;
}

static void *consume(void *unused)
{
	uint64_t seed = world.seed + 1, random, lo, hi;
	const struct timespec nap = { 0, 50000 };
	int64_t r = 0;

	(void)unused;
	while (r != -EPIPE && !(world.leaves_some && world.closing)) {
		random = check_random(&seed);
		r = pop(random);
		CHECK(r > 0 || r == -EPIPE || r == -ETIMEDOUT || r == -EAGAIN);
		CHECK(r != -EPIPE || world.closing);
		CHECK_EQ(ipcwait_spsc_length(world.queue, &lo, &hi), 0);
		CHECK(lo <= hi);
		CHECK(!world.capacity || hi <= world.capacity);
		if (world.closer == CONSUMER && world.out >= world.enough && !world.closing)
			close_queue();
		/* A close meanwhile may leave a producer that waits for room. */
		if (random >> 57 == 0)
			(void)nanosleep(&nap, NULL);
	}
	world.ended++;
	return NULL;
}

static void note_left(void *elem, void *left)
{
	note(elem);
	++*(uint64_t *)left;
}

static void choose(uint64_t random, struct ipcwait_spsc_params *params)
{
	static const size_t sizes[] = { 4, 8, 16, 24, ELEM_MOST };
	const uint64_t capacities[] = { 0, 1, 2, 3, 1 + (random >> 8) % 100, 0 };

	world.seed = random;
	world.size = params->elem_size = sizes[random % 5];
	world.capacity = params->capacity = capacities[(random >> 16) % 6];
	params->flags = (random >> 20) % 4 ? 0 : IPCWAIT_SPSC_NO_MEMBARRIER;
	world.closer = (enum side)((random >> 24) % SIDES);
	/* As often a few as many, up to 4096. */
	world.enough = 1 + (random >> 32) % (UINT64_C(1) << (random >> 28) % 13);
	world.patient = (random >> 48) % 4 == 0;
	world.leaves_some = (random >> 50) % 4 == 0;
	world.quiet = (random >> 52) % 2;
	world.closing = world.closed = false;
	world.in = 0;
	world.out = 0;
	world.ended = 0;
}

/* Closes if the others do not, and interrupts them. */
static void watch(const pthread_t thread[2], uint64_t *seed)
{
	const struct timespec nap = { 0, 100000 };

	while (world.ended < 2) {
		if (!world.quiet)
			CHECK_EQ(pthread_kill(thread[check_random(seed) >> 63], SIGUSR1),
				 0);
		(void)nanosleep(&nap, NULL);
		if (world.closer == SOMEBODY_ELSE && world.in >= world.enough &&
		    !world.closing)
			close_queue();
	}
}

static uint64_t run(uint64_t *seed)
{
	uint64_t left = 0;
	struct ipcwait_spsc_params params = { .elem_fini = note_left,
					      .elem_fini_arg = &left };
	pthread_t thread[2];

	check_watchdog(WATCH);
	choose(check_random(seed), &params);
	CHECK((world.queue = ipcwait_spsc_create(&params)) != NULL);
	CHECK_EQ(pthread_create(&thread[0], NULL, produce, NULL), 0);
	CHECK_EQ(pthread_create(&thread[1], NULL, consume, NULL), 0);
	watch(thread, seed);
	CHECK_EQ(pthread_join(thread[0], NULL), 0);
	CHECK_EQ(pthread_join(thread[1], NULL), 0);
	ipcwait_spsc_destroy(world.queue);
	CHECK_EQ(world.out, world.in);
	/* No push ran beside this close. */
	CHECK(!left || world.closer != PRODUCER || world.leaves_some);
	return world.out;
}

int main(int argc, char **argv)
{
	return stress_rounds(argc, argv, "queues", run);
}
