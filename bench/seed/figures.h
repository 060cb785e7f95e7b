/* SPDX-License-Identifier: MIT */
/*
 * What a program of the scoreboard reports of its measured part: wall time and CPU time side
 * by side, and what the kernel counted. Written as one JSON object on the standard output.
 */
#ifndef SEED_FIGURES_H
#define SEED_FIGURES_H

#include "../../tools/common/json_writer.h"

#include <stdint.h>
#include <sys/resource.h>

struct figures {
	int64_t began_ns;
	struct rusage before;
};

/* The measured part begins, and ends: its figures become members of the object. */
void figures_begin(struct figures *f);
void figures_end(struct figures *f, struct json *j);

#endif
