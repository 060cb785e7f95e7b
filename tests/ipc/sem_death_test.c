/* SPDX-License-Identifier: MIT */
/*
 * Processes that are killed while they wait for a semaphore. What the others may expect is in
 * <ipcwait/sem.h>, "Death": no token is lost, and a post that comes a millisecond later
 * reaches every sleeper again. (At every instruction: step_test.c. By the thousand: sem_storm.c.)
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
					ipcwait_deadline_in_ns(INT64_C(100000000000))),
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(killed_asleep),
		CHILD_TEST(killed_spinning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
