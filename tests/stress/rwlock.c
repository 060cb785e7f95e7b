/* SPDX-License-Identifier: MIT */
/*
 * rwlock_stress private|shared SECONDS [SEED]: writers write eight numbers one by one, readers read
 * them and find them equal; all in every way there is, under signals. Nobody waits for as long
 * as the watchdog does. IW_STRESS_SECONDS and IW_TEST_SEED in the environment replace the last
 * two.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "common/rwlock_word.h"

#define THREADS 8
#define NUMBERS 8

/* The longest deadline and section, in ns. Some are LONG, so that waiters become overdue. */
#define PATIENCE_NS      300000
#define SECTION_NS       5000
#define LONG_PATIENCE_NS 8000000
#define LONG_SECTION_NS  3000000

/* Locks in which one thread gets in as a rule, and all together now and then. */
#define LOCKS 2

static struct place {
	struct ipcwait_rwlock lock;
	uint64_t number[NUMBERS];
	int reading;
	uint64_t seen; /* by readers, so that the loop is not for nothing */
} places[LOCKS];

static struct {
	int64_t end_ns;
	uint64_t seed;
	pthread_t thread[THREADS];
	uint64_t reads, writes, refused, together;
	bool over;
	bool counts; /* no roll is called in a private lock, so the counts are right */
} run;

static void count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void stay(uint64_t r)
{
	int64_t end;

	if (r % 4)
		return;
	end = ipcwait_deadline_in_ns((int64_t)(r >> 16) %
				     (r >> 8 & 255 ? SECTION_NS : LONG_SECTION_NS));
	while (ipcwait_now_ns() < end)
		continue;
}

static void write_numbers(struct place *p, uint64_t r)
{
	uint64_t next = p->number[0] + 1;

	CHECK_EQ(__atomic_load_n(&p->reading, __ATOMIC_RELAXED), 0);
	for (unsigned i = 0; i < NUMBERS; i++) {
		CHECK_EQ(p->number[i], next - 1);
		p->number[i] = next;
		if (i == NUMBERS / 2)
			stay(r);
	}
}

static void read_numbers(struct place *p, uint64_t r)
{
	uint64_t first = p->number[0];

	if (__atomic_fetch_add(&p->reading, 1, __ATOMIC_RELAXED))
		count(&run.together);
	stay(r);
	for (unsigned i = 1; i < NUMBERS; i++)
		CHECK_EQ(p->number[i], first);
	__atomic_fetch_sub(&p->reading, 1, __ATOMIC_RELAXED);
}

static int lock_in_some_way(struct ipcwait_rwlock *l, bool writes, uint64_t r)
{
	int64_t most_ns = r >> 4 & 15 ? PATIENCE_NS : LONG_PATIENCE_NS;
	int64_t deadline_ns = ipcwait_deadline_in_ns((int64_t)(r >> 8) % most_ns);

	switch (r % 4) {
	case 0:
		return writes ? ipcwait_rwlock_trywrlock(l) : ipcwait_rwlock_tryrdlock(l);
	case 1:
		return writes ? ipcwait_rwlock_wrlock_until(l, deadline_ns)
			      : ipcwait_rwlock_rdlock_until(l, deadline_ns);
	default:
		return writes ? ipcwait_rwlock_wrlock(l) : ipcwait_rwlock_rdlock(l);
	}
}

static void unlock_in_some_way(struct ipcwait_rwlock *l, bool writes, uint64_t r)
{
	if (r % 2)
		CHECK_EQ(ipcwait_rwlock_unlock(l), 0);
	else
		CHECK_EQ(writes ? ipcwait_rwlock_wrunlock(l) : ipcwait_rwlock_rdunlock(l),
			 0);
}

static void use(struct place *p, uint64_t *seed)
{
	uint64_t r = check_random(seed), how = check_random(seed);
	bool writes = r % 3 == 0;
	int result = lock_in_some_way(&p->lock, writes, how);

	if (result) {
		CHECK(result == -EBUSY || result == -ETIMEDOUT);
		count(&run.refused);
		return;
	}
	if (writes)
		write_numbers(p, r >> 4);
	else
		read_numbers(p, r >> 4);
	unlock_in_some_way(&p->lock, writes, how >> 4);
	count(writes ? &run.writes : &run.reads);
}

/* Also where the program was stopped for all of its time. */
static bool is_over(void)
{
	return ipcwait_now_ns() >= run.end_ns &&
	       __atomic_load_n(&run.reads, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&run.writes, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	uint64_t seed = run.seed + (uintptr_t)arg * 7919;

	while (!is_over())
		use(&places[check_random(&seed) % 16 == 0], &seed);
	return NULL;
}

static void on_signal(int signal)
{
	(void)signal;
}

/* The word never has a value that the table calls "never". */
static void look_at_words(void)
{
	for (unsigned i = 0; i < LOCKS && run.counts; i++)
		CHECK(word_may_be(rwlock_word(&places[i].lock)));
}

static void *thunder(void *arg)
{
	uint64_t seed = run.seed + 104729;

	while (!__atomic_load_n(&run.over, __ATOMIC_ACQUIRE)) {
		uint64_t r = check_random(&seed);

		(void)nanosleep(&(struct timespec){ 0, (long)(r >> 40) % 60000 }, NULL);
		CHECK_EQ(pthread_kill(run.thread[r % THREADS], r & 256 ? SIGUSR1 : SIGUSR2),
			 0);
		look_at_words();
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

static void print_words(void)
{
	for (unsigned i = 0; i < LOCKS; i++) {
		uint64_t w = rwlock_word(&places[i].lock);

		dprintf(2, "lock %u: word %#" PRIx64 ": readers %u, asleep %u and %u\n", i,
			w, word_readers(w), word_rsleepers(w), word_wsleepers(w));
	}
}

static void run_threads(void)
{
	pthread_t thunderer;

	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&run.thread[i], NULL, work, (void *)i), 0);
	CHECK_EQ(pthread_create(&thunderer, NULL, thunder, NULL), 0);
	(void)nanosleep(
		&(struct timespec){ (time_t)(run.end_ns - ipcwait_now_ns()) / 1000000000,
				    0 },
		NULL);
	__atomic_store_n(&run.over, true, __ATOMIC_RELEASE);
	CHECK_EQ(pthread_join(thunderer, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(run.thread[i], NULL), 0);
}

int main(int argc, char **argv)
{
	const char *seconds = getenv("IW_STRESS_SECONDS");
	unsigned flags = 0;
	int most;

	if (argc < 3 || argc > 4)
		return 2;
	if (strcmp(argv[1], "private") == 0)
		flags = IPCWAIT_PRIVATE;
	run.counts = flags;
	if (argc == 4)
		CHECK(setenv("IW_TEST_SEED", argv[3], 0) == 0);
	most = atoi(seconds ? seconds : argv[2]);
	CHECK(most > 0 && most <= 86400);
	run.seed = check_seed();
	check_watchdog_report = print_words;
	check_watchdog((unsigned)most + 40);
	run.end_ns = ipcwait_deadline_in_ns(most * INT64_C(1000000000));
	for (unsigned i = 0; i < LOCKS; i++)
		CHECK_EQ(ipcwait_rwlock_init(&places[i].lock, flags), 0);
	catch_signals();
	run_threads();
	printf("%" PRIu64 " reads, %" PRIu64 " beside others, %" PRIu64 " writes, %" PRIu64
	       " in vain\n",
	       run.reads, run.together, run.writes, run.refused);
	CHECK(run.reads && run.writes);
	for (unsigned i = 0; i < LOCKS; i++) {
		/* Nothing is left; who was late for 5 ms may have been taken for dead. */
		CHECK_EQ(rwlock_word(&places[i].lock) & ~WORD_EPOCH, 0);
		CHECK_EQ(ipcwait_rwlock_fini(&places[i].lock), 0);
	}
	return 0;
}
