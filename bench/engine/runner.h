/* SPDX-License-Identifier: MIT */
/* Running a row in a process of its own, and ending early without leaving anything behind. */
#ifndef WAIT_BENCH_RUNNER_H
#define WAIT_BENCH_RUNNER_H

#include "row.h"

/*
 * Once, before any row. From then on SIGINT, SIGTERM and SIGHUP wait until runner_run() is
 * called, or has them now; a reader that went away is found out when the table is written.
 */
void runner_prepare(void);

/*
 * Run @row and fill in @r.
 *
 * Return: 0; EXIT_FAILED after one line on stderr; 128 + a signal that asks the program to
 * end. The row's processes and its control group are gone in any case.
 */
int runner_run(const struct row *row, struct report *r, const struct options *o);

#endif
