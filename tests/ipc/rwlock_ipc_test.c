/* SPDX-License-Identifier: MIT */
/*
 * A reader-writer lock in memory that processes share: what it protects, deadlines, and what
 * <ipcwait/rwlock.h> says about processes that are killed while they wait.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/rwlock_word.h"
#include "process.h"

#define NUMBERS 8
#define ROUNDS  4000
#define WORKERS 4

/* Longer than anything that is put right by alarms takes, on a busy machine. */
#define LONG_NS INT64_C(100000000000)

/* The length of the storm, of most rounds, and of the rounds in which a waiter becomes overdue. */
#define STORM_NS      INT64_C(1000000000)
#define ROUND_US      3000
#define LONG_ROUND_US 12000

/* The longest wait of a worker: usually, and in one wait of sixteen. */
#define PATIENCE_NS      400000
#define LONG_PATIENCE_NS 12000000

/* Fresh memory is all zero: nobody initialises the lock. */
static struct shared {
	struct ipcwait_rwlock lock;
	uint64_t number[NUMBERS]; /* all the same while nobody writes */
	uint32_t stop;
	uint32_t in; /* processes that have got in */
	struct {
		_Alignas(
			64) uint32_t writes; /* it has, or may have, the lock for writing */
	} intent[WORKERS];
} * all;

static void make_all(void)
{
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		   -1, 0);
	CHECK(all != MAP_FAILED);
}

static void unmake_all(void)
{
	CHECK(munmap(all, sizeof(*all)) == 0);
}

/* To an address that the parent uses for nothing; the memory stays the same. */
static void move(void)
{
	void *elsewhere =
		mmap(NULL, sizeof(*all), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(elsewhere != MAP_FAILED);
	elsewhere = mremap(all, sizeof(*all), sizeof(*all), MREMAP_MAYMOVE | MREMAP_FIXED,
			   elsewhere);
	CHECK(elsewhere != MAP_FAILED && elsewhere != all);
	all = elsewhere;
}

static pid_t start(void (*body)(unsigned me), unsigned me)
{
	pid_t parent = getpid();
	pid_t child;

	(void)fflush(NULL);
	child = fork();
	CHECK(child >= 0);
	if (child)
		return child;
	CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	check_watchdog(60);
	move();
	body(me);
	_exit(EXIT_SUCCESS);
}

static void kill_now(pid_t child)
{
	int status;

	CHECK(kill(child, SIGKILL) == 0);
	status = check_reap(child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void write_numbers(void)
{
	for (unsigned i = 1; i < NUMBERS; i++)
		CHECK_EQ(all->number[i], all->number[0]);
	for (unsigned i = 0; i < NUMBERS; i++)
		all->number[i]++;
}

static void read_numbers(void)
{
	for (unsigned i = 1; i < NUMBERS; i++)
		CHECK_EQ(all->number[i], all->number[0]);
}

static void read_and_write(unsigned me)
{
	uint64_t seed = check_random(&(uint64_t){ me });

	for (int i = 0; i < ROUNDS; i++) {
		if (check_random(&seed) % 4) {
			CHECK_EQ(ipcwait_rwlock_rdlock(&all->lock), 0);
			read_numbers();
		} else {
			CHECK_EQ(ipcwait_rwlock_wrlock(&all->lock), 0);
			write_numbers();
		}
		CHECK_EQ(ipcwait_rwlock_unlock(&all->lock), 0);
	}
}

static void readers_and_writers(void)
{
	pid_t child[WORKERS];

	make_all();
	for (unsigned i = 0; i < WORKERS; i++)
		child[i] = start(read_and_write, i);
	for (unsigned i = 0; i < WORKERS; i++)
		CHECK_EQ(check_reap(child[i]), 0);
	read_numbers();
	CHECK_EQ(rwlock_word(&all->lock) & ~WORD_EPOCH, 0);
	unmake_all();
}

static void get_in(int r)
{
	CHECK_EQ(r, 0);
	__atomic_fetch_add(&all->in, 1, __ATOMIC_RELEASE);
	CHECK_EQ(ipcwait_rwlock_unlock(&all->lock), 0);
}

static void read_once(unsigned me)
{
	(void)me;
	get_in(ipcwait_rwlock_rdlock_until(&all->lock, ipcwait_deadline_in_ns(LONG_NS)));
}

static void write_once(unsigned me)
{
	(void)me;
	get_in(ipcwait_rwlock_wrlock_until(&all->lock, ipcwait_deadline_in_ns(LONG_NS)));
}

static bool announced(void *arg)
{
	const uint64_t *want = arg;
	uint64_t w = rwlock_word(&all->lock);

	return word_wsleepers(w) == word_wsleepers(*want) &&
	       word_rsleepers(w) == word_rsleepers(*want);
}

/* So many are counted, and the last of them is asleep indeed. */
static void await_asleep(pid_t child, unsigned writers, unsigned readers)
{
	uint64_t want = WORD(0, writers, readers);

	CHECK(check_eventually(announced, &want));
	while (process_state(child) != 'S')
		(void)usleep(100);
}

static bool is_marked(void *arg)
{
	return rwlock_word(&all->lock) & *(const uint64_t *)arg;
}

/* @mark is URGENT or RURGENT: wait until a writer, or a reader, is overdue. */
static void await_overdue(uint64_t mark)
{
	CHECK(check_eventually(is_marked, &mark));
}

static void each_lets_the_other_in(void)
{
	pid_t reader, writer;

	make_all();
	CHECK_EQ(ipcwait_rwlock_rdlock(&all->lock), 0);
	writer = start(write_once, 0);
	await_asleep(writer, 1, 0);
	await_overdue(WORD_URGENT);
	reader = start(read_once, 0);
	await_asleep(reader, 1, 1);
	CHECK_EQ(ipcwait_rwlock_rdunlock(&all->lock), 0);
	CHECK_EQ(check_reap(writer), 0);
	CHECK_EQ(check_reap(reader), 0);
	CHECK_EQ(all->in, 2);
	unmake_all();
}

/* A writer acquires the lock after the reader that was woken, or had the turn, has died. */
static void kill_reader(bool overdue)
{
	pid_t victim, writer;

	make_all();
	CHECK_EQ(ipcwait_rwlock_wrlock(&all->lock), 0);
	victim = start(read_once, 0);
	await_asleep(victim, 0, 1);
	writer = start(write_once, 0);
	await_asleep(writer, 1, 1);
	if (overdue)
		await_overdue(WORD_RURGENT);
	kill_now(victim);
	CHECK_EQ(ipcwait_rwlock_wrunlock(&all->lock), 0);
	CHECK_EQ(check_reap(writer), 0);
	if (overdue)
		CHECK_EQ(rwlock_word(&all->lock) & ~WORD_EPOCH, 0);
	unmake_all();
}

static void killed_reader(void)
{
	kill_reader(false);
	kill_reader(true);
}

/* Who reads stays, and those whom a dead writer kept out come in beside it. */
static void killed_writer(void)
{
	pid_t victim, reader;

	make_all();
	CHECK_EQ(ipcwait_rwlock_rdlock(&all->lock), 0);
	victim = start(write_once, 0);
	await_asleep(victim, 1, 0);
	await_overdue(WORD_URGENT);
	reader = start(read_once, 0);
	await_asleep(reader, 1, 1);
	kill_now(victim);
	CHECK_EQ(check_reap(reader), 0);
	CHECK_EQ(rwlock_word(&all->lock) & ~WORD_EPOCH, WORD(1, 0, 0));
	CHECK_EQ(ipcwait_rwlock_rdunlock(&all->lock), 0);
	unmake_all();
}

/* The mark of a dead writer suppresses a wake. The alarm of a sleeper makes up for that. */
static void left_by_the_dead(void)
{
	static const uint64_t left[] = { WORD_QUIET, WORD_NEXT, WORD_QUIET | WORD_NEXT,
					 WORD_SPINNER, WORD_WAKE };

	for (unsigned i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		pid_t writer;

		make_all();
		rwlock_fabricate(&all->lock, WRITTEN(1, 0) | left[i]);
		writer = start(write_once, 0);
		await_asleep(writer, 2, 0);
		rwlock_fabricate(&all->lock, WRITTEN(2, 0) | left[i]);
		CHECK_EQ(ipcwait_rwlock_wrunlock(&all->lock), 0);
		CHECK_EQ(check_reap(writer), 0);
		CHECK_EQ(all->in, 1);
		unmake_all();
	}
}

static uint64_t round_seed;

/* Works until it is told to stop; gives up now and then. */
static void work(unsigned me)
{
	uint64_t seed = round_seed + me * 7919;

	while (!__atomic_load_n(&all->stop, __ATOMIC_ACQUIRE)) {
		uint64_t r = check_random(&seed);
		bool writes = r % 3 == 0;
		int64_t most_ns = r >> 4 & 15 ? PATIENCE_NS : LONG_PATIENCE_NS;
		int64_t deadline_ns = ipcwait_deadline_in_ns((int64_t)(r >> 8) % most_ns);

		__atomic_store_n(&all->intent[me].writes, writes, __ATOMIC_RELEASE);
		if ((writes ? ipcwait_rwlock_wrlock_until(&all->lock, deadline_ns)
			    : ipcwait_rwlock_rdlock_until(&all->lock, deadline_ns)))
			continue;
		if (writes)
			write_numbers();
		else
			read_numbers();
		CHECK_EQ(ipcwait_rwlock_unlock(&all->lock), 0);
	}
}

/* All have ended: what is held is what the victim held, and what it wrote may be torn. */
static void repair(bool wrote)
{
	uint64_t w = rwlock_word(&all->lock);

	if (w & WORD_WRITER)
		CHECK(wrote);
	CHECK(word_readers(w) <= (wrote ? 0 : 1));
	for (unsigned i = 0; w & WORD_WRITER && i < NUMBERS; i++)
		all->number[i] = 0;
	if (w & WORD_WRITER || word_readers(w))
		CHECK_EQ(ipcwait_rwlock_unlock(&all->lock), 0);
	CHECK_EQ(ipcwait_rwlock_wrlock_until(&all->lock, ipcwait_deadline_in_ns(LONG_NS)),
		 0);
	write_numbers();
	CHECK_EQ(ipcwait_rwlock_wrunlock(&all->lock), 0);
	CHECK_EQ(ipcwait_rwlock_rdlock_until(&all->lock, ipcwait_deadline_in_ns(LONG_NS)),
		 0);
	CHECK_EQ(ipcwait_rwlock_rdunlock(&all->lock), 0);
}

static void round_of_the_storm(uint64_t *seed)
{
	unsigned victim = (unsigned)(check_random(seed) % WORKERS);
	unsigned most_us = check_random(seed) % 4 ? ROUND_US : LONG_ROUND_US;
	pid_t child[WORKERS];

	__atomic_store_n(&all->stop, 0, __ATOMIC_RELEASE);
	round_seed = check_random(seed);
	for (unsigned i = 0; i < WORKERS; i++)
		child[i] = start(work, i);
	(void)usleep((useconds_t)(check_random(seed) % most_us));
	kill_now(child[victim]);
	__atomic_store_n(&all->stop, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < WORKERS; i++)
		if (i != victim)
			CHECK_EQ(check_reap(child[i]), 0);
	repair(all->intent[victim].writes);
}

static void kill_storm(void)
{
	int64_t end_ns = ipcwait_deadline_in_ns(STORM_NS);
	uint64_t seed = check_seed();
	unsigned deaths = 0;

	make_all();
	for (; ipcwait_now_ns() < end_ns; deaths++)
		round_of_the_storm(&seed);
	print_message("%u deaths\n", deaths);
	unmake_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(readers_and_writers), CHILD_TEST(each_lets_the_other_in),
		CHILD_TEST(killed_reader),       CHILD_TEST(killed_writer),
		CHILD_TEST(left_by_the_dead),    CHILD_TEST(kill_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
