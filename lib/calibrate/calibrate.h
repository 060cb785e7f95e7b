/* SPDX-License-Identifier: MIT */
/* What ipcwait_calibrate() does between its arguments and its result. */
#ifndef IW_CALIBRATE_CALIBRATE_H
#define IW_CALIBRATE_CALIBRATE_H

#include <stdint.h>

#include <ipcwait/calibration.h>

#include "env/tick.h"
#include "env/topology.h"

/* How to calibrate. */
struct iw_calibrating {
	struct iw_tick_rate rate;
	struct iw_cpu_pair
		pair[IPCWAIT_CALIBRATION_PAIRS]; /* the first is measured in full */
	unsigned pairs;
	unsigned batches;
	uint64_t done_ns, planned_ns; /* zero to begin with */
	void (*progress)(void *arg, uint32_t done, uint32_t total);
	void *progress_arg;
};

/*
 * Measure into *@c, which is all zero. Returns 0, -EAGAIN if too little could be measured for
 * a B, or what lib/calibrate/phases.h returns.
 */
int iw_calibrate(struct iw_calibrating *how, struct ipcwait_calibration *c);

#endif
