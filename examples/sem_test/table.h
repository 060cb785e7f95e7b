/* SPDX-License-Identifier: MIT */
/*
 * The report for people, on stdout.
 */
#ifndef SEM_TEST_TABLE_H
#define SEM_TEST_TABLE_H

#include "results.h"

/* What is measured, where, and about how long it takes. Before the rounds. */
void table_print_header(const struct results *r, double estimated_seconds);

/* The rows, the sentence, the bars. After the rounds. */
void table_print(const struct results *r);

#endif
