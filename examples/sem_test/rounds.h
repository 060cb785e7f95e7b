/* SPDX-License-Identifier: MIT */
/*
 * The measurement: rounds in which every row runs once, so that a machine that drifts
 * drifts for all of them.
 */
#ifndef SEM_TEST_ROUNDS_H
#define SEM_TEST_ROUNDS_H

#include "job.h"
#include "results.h"

/*
 * A small run of every row: warms up, and fills in the entries' estimates. Return: seconds
 * that rounds_run() will take.
 */
double rounds_estimate(struct results *r, struct arena *a);

/* Fills in the entries' runs, behind a progress bar if somebody looks. */
void rounds_run(struct results *r, struct arena *a, double estimated_seconds);

#endif
