/* SPDX-License-Identifier: MIT */
/*
 * Does it make a wake shorter if an idle CPU polls? Decisions only, without clock and system calls.
 *
 * A round measures the wake of a halted CPU, of one with a spinner and of one that polls, one after
 * the other. A round alone is never believed: what else ran at that moment is a part of it.
 *
 *	answer of the rounds                            believed after
 *	yes                                             3 that agree
 *	no, as this boot has found it before            3 that agree
 *	no                                              6 that agree
 *	other than what this boot has found             6 that agree
 *
 * If that many do not agree, what this boot has found stays. If it has found nothing, the medians
 * of AWAKE_ROUNDS_MOST rounds decide, where at least 3 of them measured something.
 */
#ifndef CLI_AWAKE_TRIAL_H
#define CLI_AWAKE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#define AWAKE_ROUNDS_MOST 9u

/* What the CPU does while the thread sleeps that is to be woken. */
enum awake_way { AWAKE_HALTS, AWAKE_SPINS, AWAKE_POLLS, AWAKE_WAYS };

/* What a wake takes, in ns. 0: not known. */
struct awake_wakes {
	uint64_t ns[AWAKE_WAYS];
};

enum awake_answer { AWAKE_NOT_KNOWN, AWAKE_NO, AWAKE_YES };

struct awake_trial {
	unsigned ways;            /* a bit for each way that is measured */
	struct awake_wakes known; /* what this boot has found before */
	unsigned rounds;
	struct awake_wakes round[AWAKE_ROUNDS_MOST];
};

/* @w says that a wake of a CPU that halts is cheap: nothing is left to gain. */
bool awake_wakes_cheap(const struct awake_wakes *w);

/* Does @way make a wake shorter, by a quarter at least? */
enum awake_answer awake_wakes_answer(const struct awake_wakes *w, enum awake_way way);

/* @known: what this boot has found, of an earlier trial or a calibration. */
void awake_trial_begin(struct awake_trial *t, unsigned ways,
		       const struct awake_wakes *known);

/*
 * One round more, with 0 for what something else disturbed. Return: the pause before the next
 * round, in ns; 0: the trial is over.
 */
uint64_t awake_trial_add(struct awake_trial *t, const struct awake_wakes *round);

/* Where an answer is from. */
enum awake_source {
	AWAKE_NOWHERE, /* the rounds so far are not enough */
	AWAKE_ROUNDS,  /* the medians of the rounds */
	AWAKE_BEFORE,  /* what this boot has found */
};

/* What wakes take, as far as the rounds go. A way that is not known has 0. */
enum awake_source awake_trial_wakes(const struct awake_trial *t, struct awake_wakes *w);

#endif
