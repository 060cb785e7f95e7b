/* SPDX-License-Identifier: MIT */
/*
 * The run in one sentence: what the row ipcwait is against glibc's and the bound.
 */
#ifndef SEM_TEST_SENTENCE_H
#define SEM_TEST_SENTENCE_H

#include "results.h"

#define SENTENCE_SIZE 400

/* Empty if ipcwait was not run, or if there is nothing to compare it with. */
void sentence_write(const struct results *r, char text[SENTENCE_SIZE]);

#endif
