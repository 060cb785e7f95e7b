/* SPDX-License-Identifier: MIT */
#ifndef WAIT_BENCH_JSON_H
#define WAIT_BENCH_JSON_H

#include "../../tools/common/machine.h"
#include "row.h"

#include <stdio.h>

/*
 * The reports of the rows that were run, the others being NULL, as one JSON object. What was
 * not measured is null, and so is what never came.
 */
void json_write(FILE *f, const struct options *o, const struct machine *m,
		struct report *const reports[REPORTS]);

#endif
