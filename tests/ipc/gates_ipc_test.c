/* SPDX-License-Identifier: MIT */
/*
 * Barriers, latches and onces in memory that processes share, each at another address: rounds,
 * ends, forks in the middle of a run, and processes that are killed at any moment.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fini.h"
#include "common/gates_word.h"
#include "process.h"

#define PROCESSES 3
#define ROUNDS    200
#define ONCES     200
#define SLOTS     6
#define STORM_NS  INT64_C(1500000000)

/* Fresh memory is all zero: latches are open, and onces and nothing else usable. */
static struct shared {
	struct ipcwait_barrier barrier, ready;
	struct ipcwait_latch latch;
	struct ipcwait_once once[ONCES];
	uint64_t data[PROCESSES + 1]; /* plain on purpose */
	uint64_t runs[ONCES], serials;
	uint32_t stop;
} * all;

static void make_all(void)
{
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		   -1, 0);
	CHECK(all != MAP_FAILED);
	CHECK_EQ(ipcwait_barrier_init(&all->ready, 2, 0), 0);
}

/* To an address that the parent uses for nothing, but the memory stays the same. */
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
	pid_t parent = getpid(), child;

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

static void kill_child(pid_t child)
{
	CHECK(kill(child, SIGKILL) == 0);
	(void)check_reap(child);
}

static bool is_quiet(void *arg)
{
	return process_quiet(*(pid_t *)arg);
}

static void meet(unsigned me)
{
	for (uint64_t n = 1; n <= ROUNDS; n++) {
		int r;

		all->data[me] = n;
		r = ipcwait_barrier_wait(&all->barrier);
		CHECK(r == 0 || r == IPCWAIT_BARRIER_SERIAL);
		__atomic_fetch_add(&all->serials, (uint64_t)r, __ATOMIC_RELAXED);
		for (unsigned i = 0; i <= PROCESSES; i++)
			CHECK_EQ(all->data[i], n);
		CHECK(ipcwait_barrier_wait(&all->barrier) >= 0);
	}
}

static void processes_meet(void)
{
	pid_t child[PROCESSES];

	make_all();
	CHECK_EQ(ipcwait_barrier_init(&all->barrier, PROCESSES + 1, 0), 0);
	for (unsigned i = 0; i < PROCESSES; i++)
		child[i] = start(meet, i);
	meet(PROCESSES);
	for (unsigned i = 0; i < PROCESSES; i++)
		CHECK_EQ(check_reap(child[i]), 0);
	CHECK_EQ(all->serials, ROUNDS);
	CHECK_EQ(gate_word(&all->barrier.word), BARRIER_WORD(2 * ROUNDS, 0, 0));
}

static void meet_once(unsigned me)
{
	(void)me;
	CHECK(ipcwait_barrier_wait(&all->barrier) >= 0);
}

/* What comes after the end must not be touched any more by those who come back. */
static void ended_by_another_process(void)
{
	make_all();
	for (int i = 0; i < 60; i++) {
		pid_t child;

		CHECK_EQ(ipcwait_barrier_init(&all->barrier, 2, 0), 0);
		child = start(meet_once, 0);
		if (i % 2)
			CHECK(check_eventually(is_quiet, &child));
		CHECK(ipcwait_barrier_wait(&all->barrier) >= 0);
		CHECK_EQ(fini_barrier(&all->barrier), 0);
		memset(&all->barrier, 0x5a, sizeof(all->barrier));
		CHECK_EQ(check_reap(child), 0);
		for (unsigned k = 0; k < sizeof(all->barrier); k++)
			CHECK_EQ(((char *)&all->barrier)[k], 0x5a);
	}
}

static void count_down(unsigned me)
{
	all->data[me] = me + 1;
	CHECK_EQ(ipcwait_latch_count_down(&all->latch, me + 1), 0);
}

static void processes_count(void)
{
	for (int i = 0; i < 20; i++) {
		pid_t child[PROCESSES];

		make_all();
		CHECK_EQ(ipcwait_latch_init(&all->latch, 1 + 2 + 3, 0), 0);
		for (unsigned k = 0; k < PROCESSES; k++)
			child[k] = start(count_down, k);
		CHECK_EQ(ipcwait_latch_wait(&all->latch), 0);
		for (unsigned k = 0; k < PROCESSES; k++)
			CHECK_EQ(all->data[k], k + 1);
		for (unsigned k = 0; k < PROCESSES; k++)
			CHECK_EQ(check_reap(child[k]), 0);
		CHECK_EQ(ipcwait_latch_fini(&all->latch), 0);
	}
}

static int run(void *arg)
{
	(*(uint64_t *)arg)++;
	return 0;
}

static void use_all_onces(unsigned me)
{
	CHECK(ipcwait_barrier_wait(&all->barrier) >= 0);
	for (unsigned i = 0; i < ONCES; i++) {
		unsigned k = me % 2 ? ONCES - 1 - i : i;

		CHECK_EQ(ipcwait_once_run(&all->once[k], run, &all->runs[k]), 0);
		CHECK_EQ(all->runs[k], 1);
	}
}

static void processes_run_once(void)
{
	pid_t child[PROCESSES];

	make_all();
	CHECK_EQ(ipcwait_barrier_init(&all->barrier, PROCESSES + 1, 0), 0);
	for (unsigned i = 0; i < PROCESSES; i++)
		child[i] = start(use_all_onces, i);
	use_all_onces(PROCESSES);
	for (unsigned i = 0; i < PROCESSES; i++)
		CHECK_EQ(check_reap(child[i]), 0);
}

static int run_for_ever(void *arg)
{
	(void)arg;
	CHECK(ipcwait_barrier_wait(&all->ready) >= 0);
	for (;;)
		(void)pause();
}

static void begin_and_never_end(unsigned me)
{
	(void)me;
	(void)ipcwait_once_run(&all->once[0], run_for_ever, NULL);
}

static void run_or_wait(unsigned me)
{
	(void)me;
	CHECK_EQ(ipcwait_once_run(&all->once[0], run, &all->runs[0]), 0);
}

/* Those who sleep notice; one of them runs it. */
static void killed_in_a_run(void)
{
	pid_t runner, waiter[2];

	make_all();
	runner = start(begin_and_never_end, 0);
	CHECK(ipcwait_barrier_wait(&all->ready) >= 0);
	for (int i = 0; i < 2; i++) {
		waiter[i] = start(run_or_wait, 0);
		CHECK(check_eventually(is_quiet, &waiter[i]));
	}
	(void)usleep(30000);
	CHECK_EQ(all->runs[0], 0);
	kill_child(runner);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(check_reap(waiter[i]), 0);
	run_or_wait(0);
	CHECK_EQ(all->runs[0], 1);
}

/* A private once: every process has its own. */
static struct ipcwait_once own = IPCWAIT_ONCE_INIT;
static uint64_t own_runs;
static int ends[2];

static int run_until_told(void *arg)
{
	char byte;

	CHECK(ipcwait_barrier_wait(&all->ready) >= 0);
	CHECK(read(ends[0], &byte, 1) == 1);
	return run(arg);
}

static void *run_own(void *arg)
{
	CHECK_EQ(ipcwait_once_run(&own, run_until_told, &own_runs), 0);
	return arg;
}

static void run_own_anew(unsigned me)
{
	(void)me;
	for (int i = 0; i < 3; i++)
		CHECK_EQ(ipcwait_once_run(&own, run, &own_runs), 0);
	CHECK_EQ(own_runs, 1);
}

static void forked_beside_a_run(void)
{
	pthread_t thread;

	make_all();
	CHECK(pipe(ends) == 0);
	CHECK_EQ(pthread_create(&thread, NULL, run_own, NULL), 0);
	CHECK(ipcwait_barrier_wait(&all->ready) >= 0);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(check_reap(start(run_own_anew, 0)), 0);
	CHECK_EQ(own_runs, 0);
	CHECK(write(ends[1], "x", 1) == 1);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK_EQ(own_runs, 1);
	CHECK_EQ(check_reap(start(run_own_anew, 0)), 0);
}

static pid_t forked;

static int fork_in_the_run(void *arg)
{
	forked = fork();
	CHECK(forked >= 0);
	return run(arg);
}

/* Both return from the same call, each has its own once, and both are done. */
static void forked_in_a_run(void)
{
	CHECK_EQ(ipcwait_once_run(&own, fork_in_the_run, &own_runs), 0);
	CHECK_EQ(ipcwait_once_run(&own, run, &own_runs), 0);
	CHECK_EQ(own_runs, 1);
	if (forked)
		CHECK_EQ(check_reap(forked), 0);
	else
		_exit(EXIT_SUCCESS);
}

static bool one_has_arrived(void *arg)
{
	return barrier_arrived(gate_word(&all->barrier.word)) == 1 && is_quiet(arg);
}

/* The dead have arrived. One who should leave keeps the barrier from its end. */
static void killed_in_a_barrier(void)
{
	pid_t dead, living;

	make_all();
	CHECK_EQ(ipcwait_barrier_init(&all->barrier, 3, 0), 0);
	dead = start(meet_once, 0);
	CHECK(check_eventually(one_has_arrived, &dead));
	kill_child(dead);
	living = start(meet_once, 0);
	CHECK(check_eventually(is_quiet, &living));
	CHECK_EQ(ipcwait_barrier_wait(&all->barrier), IPCWAIT_BARRIER_SERIAL);
	CHECK_EQ(check_reap(living), 0);
	CHECK_EQ(gate_word(&all->barrier.word), BARRIER_WORD(1, 0, 1));
	CHECK_EQ(ipcwait_barrier_fini(&all->barrier), -EBUSY);
	/* It is of use all the same. */
	CHECK_EQ(ipcwait_barrier_wait_until(&all->barrier, 0), -ETIMEDOUT);
}

static void wait_for_latch(unsigned me)
{
	(void)me;
	CHECK_EQ(ipcwait_latch_wait(&all->latch), 0);
}

static void killed_at_a_latch(void)
{
	pid_t dead, living;

	make_all();
	CHECK_EQ(ipcwait_latch_init(&all->latch, 1, 0), 0);
	dead = start(wait_for_latch, 0);
	CHECK(check_eventually(is_quiet, &dead));
	living = start(wait_for_latch, 0);
	CHECK(check_eventually(is_quiet, &living));
	kill_child(dead);
	CHECK_EQ(ipcwait_latch_fini(&all->latch), -EBUSY);
	CHECK_EQ(ipcwait_latch_count_down(&all->latch, 1), 0);
	CHECK_EQ(check_reap(living), 0);
	CHECK_EQ(gate_word(&all->latch.word), 0);
	CHECK_EQ(ipcwait_latch_fini(&all->latch), 0);
}

static uint64_t storm_seed;

/* Everything that a worker of the storm does has a deadline, or is over with its runner. */
static void work(unsigned me)
{
	uint64_t seed = storm_seed + me * 7919;

	while (!__atomic_load_n(&all->stop, __ATOMIC_ACQUIRE)) {
		uint64_t n = check_random(&seed);
		int64_t deadline = ipcwait_deadline_in_ns((int64_t)(n >> 40 & 0x3ffff));
		int r = ipcwait_barrier_wait_until(&all->barrier, deadline);

		CHECK(r == 0 || r == IPCWAIT_BARRIER_SERIAL || r == -ETIMEDOUT);
		r = ipcwait_latch_wait_until(&all->latch, deadline);
		CHECK(r == 0 || r == -ETIMEDOUT);
		r = ipcwait_latch_count_down(&all->latch, 1);
		CHECK(r == 0 || r == -EOVERFLOW);
		n = (n >> 8) % ONCES;
		CHECK_EQ(ipcwait_once_run(&all->once[n], run, &all->runs[n]), 0);
	}
}

static void storm(void)
{
	int64_t end = ipcwait_deadline_in_ns(STORM_NS);
	uint64_t seed = check_seed();
	pid_t worker[SLOTS];
	unsigned killed = 0;

	storm_seed = check_random(&seed);
	make_all();
	CHECK_EQ(ipcwait_barrier_init(&all->barrier, 3, 0), 0);
	CHECK_EQ(ipcwait_latch_init(&all->latch, 200000, 0), 0);
	for (unsigned i = 0; i < SLOTS; i++)
		worker[i] = start(work, i);
	for (; ipcwait_now_ns() < end; killed++) {
		unsigned i = (unsigned)(check_random(&seed) % SLOTS);

		(void)usleep((useconds_t)(check_random(&seed) % 4000));
		kill_child(worker[i]);
		CHECK(barrier_arrived(gate_word(&all->barrier.word)) < 3);
		worker[i] = start(work, SLOTS + killed);
	}
	__atomic_store_n(&all->stop, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < SLOTS; i++)
		CHECK_EQ(check_reap(worker[i]), 0);
	for (unsigned i = 0; i < ONCES; i++) {
		CHECK_EQ(ipcwait_once_run(&all->once[i], run, &all->runs[i]), 0);
		CHECK_EQ(gate_word(&all->once[i].word), ONCE_DONE);
	}
	(void)ipcwait_latch_count_down(&all->latch,
				       (uint32_t)ipcwait_latch_count(&all->latch));
	CHECK_EQ(gate_word(&all->latch.word), 0);
	print_message("%u killed, %u rounds\n", killed,
		      barrier_round(gate_word(&all->barrier.word)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(processes_meet),    CHILD_TEST(ended_by_another_process),
		CHILD_TEST(processes_count),   CHILD_TEST(processes_run_once),
		CHILD_TEST(killed_in_a_run),   CHILD_TEST(forked_beside_a_run),
		CHILD_TEST(forked_in_a_run),   CHILD_TEST(killed_in_a_barrier),
		CHILD_TEST(killed_at_a_latch), CHILD_TEST(storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
