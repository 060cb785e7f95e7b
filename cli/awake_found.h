/* SPDX-License-Identifier: MIT */
/*
 * What trials of this boot have found, in a file of the user's beside the saved calibration. It is
 * believed for the same boot and the same two CPUs, and only if nobody else can have written it.
 * Without it, or where it cannot be written, a trial has nothing to go by: no error.
 */
#ifndef CLI_AWAKE_FOUND_H
#define CLI_AWAKE_FOUND_H

#include "awake_trial.h"

/* False: nothing is known of wakes between CPUs @a and @b, and @w is all 0. */
bool awake_found_load(struct awake_wakes *w, unsigned a, unsigned b);

void awake_found_save(const struct awake_wakes *w, unsigned a, unsigned b);

#endif
