/* SPDX-License-Identifier: MIT */
/*
 * The saved calibration: where it is, and when it is believed.
 *
 *   no file, or of another boot, kernel, CPU, idle driver or affinity    ignored
 *   damaged, or a file that others could have written                    ignored, and one
 *                                                                        line on stderr
 *   IPCWAIT_CALIBRATION that is no path                                  likewise
 *   in a program with more rights than its user (secure mode)            the environment is
 *                                                                        not read: no file
 */
#ifndef IW_ENV_CALIBRATION_FILE_H
#define IW_ENV_CALIBRATION_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <ipcwait/calibration.h>

#include "env/config.h"

/* Where the file is or would be; false if there is no place for it. */
bool iw_calibration_path(char path[IW_CONFIG_PATH_BYTES]);

/* True if there is one to be believed, else *@c is all zero. 0.1 ms, or 10 us if there is no
 * file. */
bool iw_calibration_load(struct ipcwait_calibration *c);

/* 0, -EINVAL for what no calibration holds, -ENOENT without a place, or what writing gave. */
int iw_calibration_store(const struct ipcwait_calibration *c);

#endif
