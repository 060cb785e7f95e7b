/* SPDX-License-Identifier: MIT */
#ifndef CLI_INFO_SPIN_H
#define CLI_INFO_SPIN_H

#include "info.h"

/* Does a waiter spin here, and why? Tried out with a wait or some, of 10 ms each. */
void info_put_spinning(struct info *info);

#endif
