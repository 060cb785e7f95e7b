/* SPDX-License-Identifier: MIT */
/* The report for people, on the standard output. */
#ifndef WAIT_BENCH_TABLE_H
#define WAIT_BENCH_TABLE_H

#include "../../tools/common/machine.h"
#include "row.h"

/* Before anything is measured: command, machine, rounds. */
void table_print_header(const struct options *o, const struct machine *m);

void table_print_row(const struct row *row, const struct report *r);

/* How many bars were reached. */
void table_print_sum(unsigned reached, unsigned bars);

#endif
