/* SPDX-License-Identifier: MIT */
#ifndef IW_QUEUE_CHANNEL_RING_H
#define IW_QUEUE_CHANNEL_RING_H

#include "queue/channel.h"

/* A channel of valid @params whose capacity is not 0. NULL: no memory. */
struct ipcwait_channel *iw_channel_ring(const struct ipcwait_channel_params *params);

#endif
