/* SPDX-License-Identifier: MIT */
/* Stress programs of which a run is a few objects from their beginning to their end. */
#ifndef TESTS_STRESS_ROUNDS_H
#define TESTS_STRESS_ROUNDS_H

#include <stdint.h>

/*
 * main() of one: PROGRAM SECONDS, or as many as IW_STRESS_SECONDS in the environment says. @run
 * makes a run from random numbers, and returns how many elements came through; @what names its
 * objects. SIGUSR1 runs a handler that does nothing, and restarts nothing.
 */
int stress_rounds(int argc, char **argv, const char *what, uint64_t (*run)(uint64_t *seed));

#endif
