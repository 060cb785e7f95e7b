/* SPDX-License-Identifier: MIT */
/*
 * Processes that are killed while they use a semaphore. What the others may expect is in
 * <ipcwait/sem.h>, "Death": no token is lost, and a post that comes a millisecond later
 * reaches every sleeper again.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/sem_word.h"
#include "common/sleeper.h"
#include "region.h"

static void take_one(struct region *r)
{
	CHECK_EQ(ipcwait_sem_wait(&r->items), 0);
	CHECK_EQ(ipcwait_sem_post(&r->done), 0);
}

static void expect_an_answer(struct region *r)
{
	CHECK_EQ(ipcwait_sem_wait_until(&r->done,
					ipcwait_deadline_in_ns(INT64_C(20000000000))),
		 0);
}

static void killed_asleep(void)
{
	struct region *r = region_create();

	for (unsigned dead = 0; dead < 20; dead++) {
		pid_t victim = region_fork(r, take_one);
		pid_t survivor;

		sleeper_await(&r->items, dead + 1);
		survivor = region_fork(r, take_one);
		sleeper_await(&r->items, dead + 2);
		region_kill(victim);
		/* The dead are counted for ever; the post reaches the living at once. */
		CHECK_EQ(ipcwait_sem_post(&r->items), 0);
		expect_an_answer(r);
		region_join(survivor);
		CHECK_EQ(ipcwait_sem_value(&r->items), 0);
		CHECK_EQ(word_sleepers(sem_word(&r->items)), dead + 1);
	}
	/* With twenty dead, and nobody else, tokens are counted as ever. */
	CHECK_EQ(ipcwait_sem_post_n(&r->items, 3), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(ipcwait_sem_wait(&r->items), 0);
	CHECK_EQ(ipcwait_sem_wait_until(&r->items, ipcwait_deadline_in_ns(1000000)),
		 -ETIMEDOUT);
	region_destroy(r);
}

/* Short waits, so that most of the time it spins; stopped by a signal. */
static void spin_for_ever(struct region *r)
{
	CHECK_EQ(ipcwait_window_set_preset(&r->items.window, IPCWAIT_SPIN), 0);
	CHECK_EQ(ipcwait_sem_post(&r->space), 0);
	for (;;)
		CHECK_EQ(ipcwait_sem_wait_until(&r->items, ipcwait_deadline_in_ns(20000)),
			 -ETIMEDOUT);
}

/* Stop the spinner in the middle of a spin. False if it was not seen to spin. */
static bool stop_while_it_spins(const struct region *r, pid_t spinner)
{
	int64_t end = ipcwait_deadline_in_ns(INT64_C(2000000000));

	while (ipcwait_now_ns() < end) {
		int status;

		if (!(sem_word(&r->items) & WORD_SPINNER))
			continue;
		CHECK(kill(spinner, SIGSTOP) == 0);
		CHECK(waitpid(spinner, &status, WUNTRACED) == spinner);
		if (sem_word(&r->items) & WORD_SPINNER)
			return true;
		CHECK(kill(spinner, SIGCONT) == 0);
	}
	return false;
}

static unsigned cpus(void)
{
	cpu_set_t allowed;

	CHECK(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
	return (unsigned)CPU_COUNT(&allowed);
}

static void killed_spinning(void)
{
	struct region *r = region_create();
	pid_t survivor = region_fork(r, take_one);
	pid_t spinner;
	bool seen;

	sleeper_await(&r->items, 1);
	spinner = region_fork(r, spin_for_ever);
	CHECK_EQ(ipcwait_sem_wait(&r->space), 0);
	seen = cpus() >= 2 && stop_while_it_spins(r, spinner);
	if (!seen)
		print_message("nobody was seen to spin: one CPU, or a busy machine\n");
	region_kill(spinner);
	/* One token may be left for the dead spinner. */
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	region_let_wakes_go_stale();
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	expect_an_answer(r);
	region_join(survivor);
	CHECK_EQ(ipcwait_sem_wait(&r->items), 0);
	CHECK_EQ(ipcwait_sem_value(&r->items), 0);
	region_destroy(r);
}

/* Waits and posts until it is killed; `taken` counts what it certainly got. */
static void work_until_killed(struct region *r)
{
	uint64_t seed = (uint64_t)getpid();

	for (;;) {
		uint64_t n = check_random(&seed);
		int result = n % 3 ? ipcwait_sem_wait(&r->items)
				   : ipcwait_sem_wait_until(&r->items,
							    ipcwait_deadline_in_ns(50000));

		if (result == 0)
			__atomic_fetch_add(&r->taken, 1, __ATOMIC_RELAXED);
		else
			CHECK_EQ(result, -ETIMEDOUT);
		if (result == 0 && n % 2) {
			__atomic_fetch_add(&r->interrupted, 1, __ATOMIC_RELAXED);
			CHECK_EQ(ipcwait_sem_post(&r->items), 0);
		}
	}
}

static bool no_token_left(void *arg)
{
	return ipcwait_sem_value(arg) == 0;
}

#define WORKERS 5
#define KILLS   150

/*
 * After every death the survivors go on. At most one token per death is unaccounted for: the
 * victim may have taken one that it did not count, or counted one that it did not post.
 */
static void kill_storm(void)
{
	struct region *r = region_create();
	uint64_t seed = check_seed(), posted = 0;
	pid_t worker[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		worker[i] = region_fork(r, work_until_killed);
	for (int kills = 0; kills < KILLS; kills++) {
		uint64_t victim = check_random(&seed) % WORKERS;
		uint32_t n = 1 + (uint32_t)(check_random(&seed) % 20);

		CHECK_EQ(ipcwait_sem_post_n(&r->items, n), 0);
		posted += n;
		(void)usleep((useconds_t)(check_random(&seed) % 300));
		region_kill(worker[victim]);
		worker[victim] = region_fork(r, work_until_killed);
	}
	region_let_wakes_go_stale();
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	posted++;
	CHECK(check_eventually(no_token_left, &r->items));
	for (int i = 0; i < WORKERS; i++)
		region_kill(worker[i]);
	posted += r->interrupted;
	CHECK(r->taken <= posted);
	CHECK(r->taken + KILLS + WORKERS >= posted);
	region_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(killed_asleep),
		CHILD_TEST(killed_spinning),
		CHILD_TEST(kill_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
