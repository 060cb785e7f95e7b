/* SPDX-License-Identifier: MIT */
/* Wrong calls for a channel of one process: each has its error, and nothing else happens. */
#ifndef TESTS_FUZZ_CHANNEL_WRONG_H
#define TESTS_FUZZ_CHANNEL_WRONG_H

#include <ipcwait/channel.h>

#include "fuzz/input.h"

/* One of them, to @ch, which was made of @is. */
void channel_wrong(struct ipcwait_channel *ch, const struct ipcwait_channel_params *is,
		   struct input *in);

#endif
