/* SPDX-License-Identifier: MIT */
#ifndef IW_ENV_CALIBRATION_KEY_H
#define IW_ENV_CALIBRATION_KEY_H

#include "env/calibration_text.h"

/*
 * What this process would be calibrated for: this boot, kernel, CPU and hypervisor, idle
 * driver, and the CPUs of the process. A part that the machine does not tell is IW_KEY_UNKNOWN.
 */
void iw_calibration_key_read(struct iw_calibration_key *key);

#endif
