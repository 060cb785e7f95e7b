/* SPDX-License-Identifier: MIT */
/*
 * The bars that the project has set itself, and what the row ipcwait reached.
 */
#ifndef SEM_TEST_BARS_H
#define SEM_TEST_BARS_H

#include "results.h"

struct bar {
	const char *text;
	bool processes;
	bool at_least; /* else at most */
	double limit;
	double value; /* NAN: not available, and not reached */
	bool reached;
};

#define BARS_MOST 6

/* Those that apply to the mode and the rows that were run. Return: how many. */
unsigned bars_get(const struct results *r, struct bar bars[BARS_MOST]);

#endif
