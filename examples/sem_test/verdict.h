/* SPDX-License-Identifier: MIT */
/*
 * What the row ipcwait is against glibc's and the bound: in one sentence, and against the bars
 * that the project has set itself.
 */
#ifndef SEM_TEST_VERDICT_H
#define SEM_TEST_VERDICT_H

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

#define SENTENCE_SIZE 400

/* Empty if ipcwait was not run, or if there is nothing to compare it with. */
void sentence_write(const struct results *r, char text[SENTENCE_SIZE]);

#endif
