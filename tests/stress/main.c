/* SPDX-License-Identifier: MIT */
/*
 * sem_stress TEST OBJECTS SECONDS [SEED]: see usage(). IW_STRESS_SECONDS and IW_TEST_SEED in
 * the environment replace the last two.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/sem_word.h"
#include "stress.h"

#define WATCHED_MAX 64

static const struct ipcwait_sem *watched[WATCHED_MAX];
static unsigned watching;
static int64_t end_ns;

bool stress_over(void)
{
	return ipcwait_now_ns() >= end_ns;
}

void stress_begin(const struct stress *run)
{
	end_ns = ipcwait_deadline_in_ns(run->seconds * INT64_C(1000000000));
}

void stress_watch(const struct ipcwait_sem *s)
{
	CHECK(watching < WATCHED_MAX);
	watched[watching++] = s;
}

void stress_watch_none(void)
{
	watching = 0;
}

static void print_words(void)
{
	for (unsigned i = 0; i < watching; i++) {
		uint64_t w = sem_word(watched[i]);

		dprintf(STDERR_FILENO, "semaphore %u: value %u wakes %u sleepers %u%s\n", i,
			word_value(w), word_wakes(w), word_sleepers(w),
			w & WORD_SPINNER ? " spinner" : "");
	}
}

static bool no_token_beside_a_sleeper(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < watching; i++) {
		uint64_t w = sem_word(watched[i]);

		if (word_value(w) && word_sleepers(w))
			return false;
	}
	return true;
}

void stress_settles(void)
{
	if (check_eventually(no_token_beside_a_sleeper, NULL))
		return;
	print_words();
	check_failed(__FILE__, __LINE__, "a thread sleeps beside a token: lost wake-up");
}

static void usage(void)
{
	fputs("usage: sem_stress TEST private|shared SECONDS [SEED]\n"
	      "TEST is one of storm, storm-posting, reuse, crowd, handoff, handoff-spin, "
	      "handoff-block, scribble\n",
	      stderr);
	exit(2);
}

static void run_test(const char *name, struct stress *run)
{
	if (strcmp(name, "storm") == 0) {
		stress_storm(run, false);
	} else if (strcmp(name, "storm-posting") == 0) {
		stress_storm(run, true);
	} else if (strcmp(name, "reuse") == 0) {
		stress_reuse(run);
	} else if (strcmp(name, "crowd") == 0) {
		stress_crowd(run);
	} else if (strcmp(name, "handoff") == 0) {
		stress_handoff(run);
	} else if (strcmp(name, "handoff-spin") == 0) {
		run->preset = IPCWAIT_SPIN;
		stress_handoff(run);
	} else if (strcmp(name, "handoff-block") == 0) {
		run->preset = IPCWAIT_BLOCK;
		stress_handoff(run);
	} else if (strcmp(name, "scribble") == 0) {
		stress_scribble(run);
	} else {
		usage();
	}
}

int main(int argc, char **argv)
{
	const char *seconds = getenv("IW_STRESS_SECONDS");
	struct stress run = { .preset = IPCWAIT_INHERIT };

	if (argc < 4 || argc > 5)
		usage();
	if (strcmp(argv[2], "private") == 0)
		run.flags = IPCWAIT_PRIVATE;
	else if (strcmp(argv[2], "shared") != 0)
		usage();
	run.seconds = atoi(seconds ? seconds : argv[3]);
	if (run.seconds < 1 || run.seconds > 86400)
		usage();
	if (argc == 5)
		CHECK(setenv("IW_TEST_SEED", argv[4], 0) == 0);
	run.seed = check_seed();
	check_watchdog_report = print_words;
	check_watchdog((unsigned)run.seconds + 40);
	stress_begin(&run);
	run_test(argv[1], &run);
	return 0;
}
