/* SPDX-License-Identifier: MIT */
/*
 * mutex_stress private|shared SECONDS: more threads than CPUs count with plain numbers under
 * mutexes of every kind, in every way there is to lock one, under signals. Between that they go
 * through pages with a mutex each, which the last owner takes away as soon as it has unlocked: any
 * further access is a segmentation fault. IW_STRESS_SECONDS and IW_TEST_SEED in the environment
 * are as for sem_stress.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "common/mutex_word.h"

#define THREADS   6
#define PAGES     96
#define PAGE_SIZE 4096
#define KINDS     6
#define USES      8 /* of lasting mutexes, for each page */

/* The longest deadline, and the longest section, in ns. */
#define PATIENCE_NS 300000
#define SECTION_NS  5000

/* In memory of its own, or one that lasts. */
struct place {
	struct ipcwait_mutex mutex;
	unsigned kind;
	unsigned left;         /* who have not had it yet; of a page */
	uint64_t first, again; /* plain on purpose, and equal */
};

static const unsigned kinds[KINDS] = { 0,
				       IPCWAIT_RECURSIVE,
				       IPCWAIT_ERRORCHECK,
				       IPCWAIT_ROBUST,
				       IPCWAIT_ROBUST | IPCWAIT_RECURSIVE,
				       IPCWAIT_ROBUST | IPCWAIT_ERRORCHECK };

static struct place places[KINDS];

static struct {
	char *pages;
	unsigned flags;
	uint64_t seed, batches, used, refused;
	int64_t end_ns;
	bool over, calm;
	pthread_t thread[THREADS];
	pthread_barrier_t batch;
} all;

static struct place *page_at(size_t i)
{
	return (struct place *)(void *)(all.pages + i * PAGE_SIZE);
}

static void stay(uint64_t r)
{
	int64_t end_ns;

	if (r % 4)
		return;
	end_ns = ipcwait_deadline_in_ns((int64_t)(r >> 8) % SECTION_NS);
	while (ipcwait_now_ns() < end_ns)
		continue;
}

static int lock_in_some_way(struct ipcwait_mutex *m, uint64_t r)
{
	switch (r % 4) {
	case 0:
		return ipcwait_mutex_trylock(m);
	case 1:
		return ipcwait_mutex_lock_until(
			m, ipcwait_deadline_in_ns((int64_t)(r >> 8) % PATIENCE_NS));
	default:
		return ipcwait_mutex_lock(m);
	}
}

/* What the owner gets that locks it again. */
static void lock_again(struct place *p)
{
	if (p->kind & IPCWAIT_RECURSIVE) {
		CHECK_EQ(ipcwait_mutex_lock(&p->mutex), 0);
		CHECK_EQ(ipcwait_mutex_unlock(&p->mutex), 0);
	} else if (p->kind) {
		CHECK_EQ(ipcwait_mutex_lock(&p->mutex), -EDEADLK);
	}
}

static bool use(struct place *p, uint64_t *seed)
{
	uint64_t r = check_random(seed);
	int result = lock_in_some_way(&p->mutex, r);

	if (result) {
		CHECK_EQ(result, r % 4 ? -ETIMEDOUT : -EBUSY);
		__atomic_fetch_add(&all.refused, 1, __ATOMIC_RELAXED);
		return false;
	}
	CHECK_EQ(p->again, p->first++);
	stay(r >> 16);
	lock_again(p);
	p->again++;
	return true;
}

/* Once for each thread; the last one ends it. */
static void use_page(struct place *p, uint64_t *seed)
{
	bool last;

	while (!use(p, seed))
		continue;
	last = --p->left == 0;
	CHECK_EQ(ipcwait_mutex_unlock(&p->mutex), 0);
	if (!last)
		return;
	CHECK_EQ(p->first, THREADS);
	CHECK_EQ(ipcwait_mutex_fini(&p->mutex), 0);
	CHECK(mprotect(p, PAGE_SIZE, PROT_NONE) == 0);
}

static void use_places(uint64_t *seed)
{
	for (unsigned i = 0; i < USES; i++) {
		struct place *p = &places[check_random(seed) % KINDS];

		if (!use(p, seed))
			continue;
		CHECK_EQ(ipcwait_mutex_unlock(&p->mutex), 0);
		__atomic_fetch_add(&all.used, 1, __ATOMIC_RELAXED);
	}
}

static void *work(void *arg)
{
	uint64_t seed = all.seed + (uintptr_t)arg * 7919;

	for (;;) {
		(void)pthread_barrier_wait(&all.batch);
		if (all.over)
			return NULL;
		for (size_t i = 0; i < PAGES; i++) {
			use_page(page_at(i), &seed);
			use_places(&seed);
		}
		(void)pthread_barrier_wait(&all.batch);
	}
}

static void on_signal(int signal)
{
	(void)signal;
}

static void *thunder(void *arg)
{
	uint64_t seed = all.seed + 104729;

	while (!__atomic_load_n(&all.calm, __ATOMIC_ACQUIRE)) {
		uint64_t r = check_random(&seed);

		(void)nanosleep(&(struct timespec){ 0, (long)(r >> 40) % 60000 }, NULL);
		CHECK_EQ(pthread_kill(all.thread[r % THREADS], r & 256 ? SIGUSR1 : SIGUSR2),
			 0);
	}
	return arg;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	action.sa_flags = SA_RESTART;
	CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
}

static void make(struct place *p, size_t i)
{
	static const enum ipcwait_preset presets[] = { IPCWAIT_INHERIT, IPCWAIT_SPIN,
						       IPCWAIT_BLOCK };

	memset(p, 0, sizeof(*p));
	p->kind = kinds[i % KINDS];
	p->left = THREADS;
	CHECK_EQ(ipcwait_mutex_init(&p->mutex, p->kind | all.flags), 0);
	CHECK_EQ(ipcwait_window_set_preset(&p->mutex.window, presets[i / KINDS % 3]), 0);
}

static void renew_pages(void)
{
	CHECK(mprotect(all.pages, (size_t)PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE) == 0);
	for (size_t i = 0; i < PAGES; i++)
		make(page_at(i), i);
}

static void run_batches(void)
{
	while (!all.over) {
		all.over = all.batches && ipcwait_now_ns() >= all.end_ns;
		if (!all.over)
			renew_pages();
		(void)pthread_barrier_wait(&all.batch);
		if (all.over)
			break;
		(void)pthread_barrier_wait(&all.batch);
		all.batches++;
	}
}

static void run(void)
{
	pthread_t thunderer;

	CHECK_EQ(pthread_barrier_init(&all.batch, NULL, THREADS + 1), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&all.thread[i], NULL, work, (void *)i), 0);
	CHECK_EQ(pthread_create(&thunderer, NULL, thunder, NULL), 0);
	run_batches();
	__atomic_store_n(&all.calm, true, __ATOMIC_RELEASE);
	CHECK_EQ(pthread_join(thunderer, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(all.thread[i], NULL), 0);
}

/* Nobody is left, and nobody was counted twice. */
static void check_places(void)
{
	uint64_t used = 0;

	for (unsigned i = 0; i < KINDS; i++) {
		CHECK_EQ(places[i].first, places[i].again);
		CHECK_EQ(mutex_word(&places[i].mutex) &
				 ~(MUTEX_WORD_CHECKED | MUTEX_WORD_PROCESS),
			 0);
		CHECK_EQ(ipcwait_mutex_fini(&places[i].mutex), 0);
		used += places[i].first;
	}
	CHECK_EQ(used, all.used);
}

static void print_words(void)
{
	for (unsigned i = 0; i < KINDS; i++)
		dprintf(2, "mutex %u: word %#" PRIx64 "\n", i,
			mutex_word(&places[i].mutex));
}

int main(int argc, char **argv)
{
	const char *long_run = getenv("IW_STRESS_SECONDS");
	int seconds = argc == 3 ? atoi(long_run ? long_run : argv[2]) : 0;

	if (seconds < 1 || seconds > 86400 ||
	    (strcmp(argv[1], "private") != 0 && strcmp(argv[1], "shared") != 0)) {
		fputs("usage: mutex_stress private|shared SECONDS\n", stderr);
		return 2;
	}
	all.flags = strcmp(argv[1], "private") == 0 ? IPCWAIT_PRIVATE : 0;
	all.seed = check_seed();
	check_watchdog_report = print_words;
	check_watchdog((unsigned)seconds + 40);
	all.end_ns = ipcwait_deadline_in_ns(seconds * INT64_C(1000000000));
	all.pages = mmap(NULL, (size_t)PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(all.pages != MAP_FAILED);
	for (size_t i = 0; i < KINDS; i++)
		make(&places[i], i);
	catch_signals();
	run();
	check_places();
	printf("%" PRIu64 " pages, %" PRIu64 " uses, %" PRIu64 " refused\n",
	       all.batches * PAGES, all.used, all.refused);
	return 0;
}
