/* SPDX-License-Identifier: MIT */
/* Latches, barriers, onces. */
#include <ipcwait/barrier.h>
#include <ipcwait/latch.h>
#include <ipcwait/once.h>

#include "users.h"

#define PARTIES 3

static struct ipcwait_latch latches[ROUNDS];
static struct ipcwait_barrier barrier = IPCWAIT_BARRIER_INIT(PARTIES);
static struct ipcwait_once onces[ROUNDS];

static void count_down(unsigned round)
{
	fill(round);
	ipcwait_latch_count_down(&latches[round], 1);
}

static void wait_until_open(unsigned round)
{
	ipcwait_latch_wait(&latches[round]);
}

static void latch(void)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		if (ipcwait_latch_init(&latches[i], 1, 0))
			fail("no latch");
	hand_over(count_down, wait_until_open);
}

static int do_it(void *arg)
{
	unsigned round = (unsigned)((struct ipcwait_once *)arg - onces);

	pause_us(200);
	fill(round);
	return 0;
}

static void run_once(unsigned round)
{
	ipcwait_once_run(&onces[round], do_it, &onces[round]);
}

static void once(void)
{
	hand_over(run_once, run_once);
}

static long part[PARTIES][ROUNDS];
static int first_part;

/* All parts of a round are read after its end. */
static void do_parts(unsigned me)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (i % PARTIES == me)
			pause_us(500);
		part[me][i] = i + 1;
		if (me)
			say(&first_part);
		if (wrong && !me && !i) {
			await(&first_part);
			if (part[1][0] + part[2][0] == 0)
				pause_us(1000);
		}
		if (ipcwait_barrier_wait(&barrier) < 0)
			fail("no end of a round");
		for (unsigned k = 0; k < PARTIES; k++)
			if (part[k][i] != i + 1)
				fail("a part is missing");
	}
}

static void barriers(void)
{
	run_threads(PARTIES, do_parts);
}

const struct scene gate_scenes[] = {
	{ "latch", latch },
	{ "barrier", barriers },
	{ "once", once },
	{ NULL, NULL },
};
