/* SPDX-License-Identifier: MIT */
#include "queue/channel.h"
#include "queue/made.h"
#include "queue/shared.h"

static struct ipcwait_eventcount *elements(void *object)
{
	return ((struct ipcwait_channel *)object)->elements;
}

static bool ready(void *object)
{
	struct ipcwait_channel *ch = object;

	return ch->ops->ready(ch);
}

const struct iw_made iw_channel_made = {
	.any = IW_MADE_ANY(IPCWAIT_WAITABLE_CHANNEL, true),
	.kind = IPCWAIT_KIND_CHANNEL,
	.elements = elements,
	.ready = ready,
};

const struct iw_made iw_channel_made_shared = {
	.any = IW_MADE_ANY(IPCWAIT_WAITABLE_CHANNEL, false),
	.kind = IPCWAIT_KIND_CHANNEL,
	.elements = elements,
	.ready = ready,
	.nap_ns = IW_SHARED_LOOK_NS,
};
