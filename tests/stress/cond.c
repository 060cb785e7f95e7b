/* SPDX-License-Identifier: MIT */
/*
 * cond_stress private|shared SECONDS [SEED]: makers put things into a small store and takers take
 * them out, in rounds; each put and each take signals once. When the makers have ended the takers
 * must empty the store: if they sleep beside something, a signal was lost. Then all are sent home
 * by a broadcast, and the condition variable is ended and its memory overwritten at once.
 * IW_STRESS_SECONDS and IW_TEST_SEED in the environment replace the last two.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "common/cond_word.h"
#include "common/fini.h"

#define MAKERS      4
#define TAKERS      8
#define ROOM        3
#define PUTS        300
#define PATIENCE_NS 100000

static struct store {
	struct ipcwait_mutex lock;
	struct ipcwait_cond not_empty, not_full;
	unsigned things;
	bool closed;
} * store;

static struct {
	uint64_t seed, rounds, taken, expired, in_vain;
} run;

static void lock(void)
{
	CHECK_EQ(ipcwait_mutex_lock(&store->lock), 0);
}

static void unlock(void)
{
	CHECK_EQ(ipcwait_mutex_unlock(&store->lock), 0);
}

/* Every other thread waits without a deadline always, lest deadlines hide a lost signal. */
static void wait_for(struct ipcwait_cond *c, uint64_t *seed, bool patient)
{
	uint64_t r = check_random(seed);
	int result;

	if (patient || r % 2) {
		CHECK_EQ(ipcwait_cond_wait(c, &store->lock), 0);
		return;
	}
	result = ipcwait_cond_wait_until(
		c, &store->lock, ipcwait_deadline_in_ns((int64_t)(r >> 8) % PATIENCE_NS));
	CHECK(result == 0 || result == -ETIMEDOUT);
	run.expired += result != 0;
}

/* With the mutex or after it. */
static void change(unsigned things, struct ipcwait_cond *c, uint64_t r)
{
	store->things += things;
	CHECK(store->things <= ROOM);
	if (r % 2)
		CHECK_EQ(ipcwait_cond_signal(c), 0);
	unlock();
	if (r % 2 == 0)
		CHECK_EQ(ipcwait_cond_signal(c), 0);
}

static void *make(void *arg)
{
	uint64_t seed = run.seed + (uintptr_t)arg;

	for (unsigned n = 0; n < PUTS; n++) {
		lock();
		while (store->things == ROOM)
			wait_for(&store->not_full, &seed, (uintptr_t)arg % 2);
		change(1, &store->not_empty, check_random(&seed));
	}
	return NULL;
}

static void *take(void *arg)
{
	uint64_t seed = run.seed + (uintptr_t)arg;

	for (;;) {
		lock();
		for (bool first = true; !store->things && !store->closed; first = false) {
			run.in_vain += !first;
			wait_for(&store->not_empty, &seed, (uintptr_t)arg % 2);
		}
		if (store->closed)
			break;
		run.taken++;
		change(-1u, &store->not_full, check_random(&seed));
	}
	unlock();
	return NULL;
}

static bool empty(void *arg)
{
	bool is;

	(void)arg;
	lock();
	is = !store->things;
	unlock();
	return is;
}

static void print_words(void)
{
	const struct ipcwait_cond *c[] = { &store->not_empty, &store->not_full };

	for (unsigned i = 0; i < 2; i++)
		dprintf(STDERR_FILENO, "word %#" PRIx64 " arrivals %#" PRIx64 " out %#x\n",
			cond_word(c[i]), cond_arrivals(c[i]), c[i]->out.v);
}

/* Whoever ends them has the mutex, which the takers need to go home. */
static void close_the_store(void)
{
	lock();
	store->closed = true;
	CHECK_EQ(ipcwait_cond_broadcast(&store->not_empty), 0);
	CHECK_EQ(fini_cond(&store->not_empty), 0);
	memset(&store->not_empty, 0xa5, sizeof(store->not_empty));
	unlock();
}

static void run_round(unsigned flags)
{
	pthread_t thread[MAKERS + TAKERS];

	store = calloc(1, sizeof(*store));
	CHECK(store != NULL);
	CHECK_EQ(ipcwait_mutex_init(&store->lock, flags), 0);
	CHECK_EQ(ipcwait_cond_init(&store->not_empty, flags), 0);
	CHECK_EQ(ipcwait_cond_init(&store->not_full, flags), 0);
	run.seed += 100;
	for (uintptr_t i = 0; i < MAKERS + TAKERS; i++)
		CHECK(pthread_create(&thread[i], NULL, i < MAKERS ? make : take,
				     (void *)i) == 0);
	for (unsigned i = 0; i < MAKERS; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	if (!check_eventually(empty, NULL)) {
		print_words();
		check_failed(__FILE__, __LINE__, "all sleep beside things: a lost signal");
	}
	close_the_store();
	for (unsigned i = MAKERS; i < MAKERS + TAKERS; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	CHECK_EQ(ipcwait_cond_fini(&store->not_full), 0);
	CHECK_EQ(ipcwait_mutex_fini(&store->lock), 0);
	free(store);
	run.rounds++;
}

int main(int argc, char **argv)
{
	const char *seconds = getenv("IW_STRESS_SECONDS");
	unsigned flags = argc > 1 && strcmp(argv[1], "private") == 0 ? IPCWAIT_PRIVATE : 0;
	int64_t end;

	if (argc < 3 || argc > 4 || (!flags && strcmp(argv[1], "shared") != 0)) {
		fputs("usage: cond_stress private|shared SECONDS [SEED]\n", stderr);
		return 2;
	}
	if (argc == 4)
		CHECK(setenv("IW_TEST_SEED", argv[3], 0) == 0);
	run.seed = check_seed();
	check_watchdog_report = print_words;
	end = ipcwait_deadline_in_ns(atoi(seconds ? seconds : argv[2]) *
				     INT64_C(1000000000));
	do {
		check_watchdog(60);
		run_round(flags);
	} while (ipcwait_now_ns() < end);
	CHECK_EQ(run.taken, run.rounds * MAKERS * PUTS);
	printf("%" PRIu64 " rounds, %" PRIu64 " taken, %" PRIu64 " waits expired, %" PRIu64
	       " in vain\n",
	       run.rounds, run.taken, run.expired, run.in_vain);
	return 0;
}
