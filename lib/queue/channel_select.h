/* SPDX-License-Identifier: MIT */
#ifndef IW_QUEUE_CHANNEL_SELECT_H
#define IW_QUEUE_CHANNEL_SELECT_H

#include "queue/channel.h"

/*
 * One of @n valid @cases, as ipcwait_channel_select(): its index, or an error. @w: what is learned
 * from such waits.
 */
int iw_channel_select(struct ipcwait_channel_case *cases, unsigned n, int64_t deadline_ns,
		      struct ipcwait_window *w, uintptr_t site);

#endif
