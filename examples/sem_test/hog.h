/* SPDX-License-Identifier: MIT */
/*
 * The classic work-around for slow wake-ups: a busy thread of the lowest priority on every CPU.
 *
 * It keeps the CPUs from halting, so that waking a thread costs no exit to the
 * hypervisor; it gives way to any other thread, and burns every CPU all the time.
 */
#ifndef SEM_TEST_HOG_H
#define SEM_TEST_HOG_H

#include <stdint.h>

struct hogs;

/* One on each usable CPU, running at SCHED_IDLE when this returns. -errno: none runs. */
int hogs_start(struct hogs **hogs);

/* CPU time that they have used so far. */
int64_t hogs_cpu_ns(const struct hogs *hogs);

/* Ends and joins them. NULL: nothing. */
void hogs_stop(struct hogs *hogs);

#endif
