/* SPDX-License-Identifier: MIT */
/* What the kernel counts for the whole machine. NAN: it does not. */
#ifndef BENCH_VM_COUNTERS_H
#define BENCH_VM_COUNTERS_H

#include "../../tools/common/json_writer.h"

struct counters {
	double rescheduling;   /* RES of /proc/interrupts, all CPUs */
	double function_calls; /* CAL: wake-ups of idle CPUs mostly come as these */
	double local_timer;    /* LOC */
	double switches;
	double steal_ticks; /* of 10 ms */
};

void counters_read(struct counters *c);

/* What came since @before, as members of the object that is open. */
void counters_write_since(struct json *j, const struct counters *before);

#endif
