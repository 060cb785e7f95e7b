/* SPDX-License-Identifier: MIT */
/* Every call on a channel between processes that does not wait, in every state that it treats
 * differently. */
#include "channel_scene.h"

#include <errno.h>

static void trysend(struct region *r)
{
	r->result = ipcwait_channel_trysend(channel_mine, &r->element[0]);
}

static void tryrecv(struct region *r)
{
	r->result = ipcwait_channel_tryrecv(channel_mine, &r->element[0]);
}

static void close_it(struct region *r)
{
	r->result = ipcwait_channel_close(channel_mine);
}

static void attach(struct region *r)
{
	r->result = channel_attach_mine();
}

static void detach(struct region *r)
{
	struct ipcwait_channel *ch = channel_mine;

	channel_mine = NULL;
	ipcwait_channel_destroy(ch);
	r->result = 0;
}

static const struct channel_scene scenes[] = {
	{
		.base = { .name = "trysend, empty, 1",
			  .act = trysend,
			  .before = channel_attach_before },
		.role = CHANNEL_SENDER,
		.capacity = 1,
		.n = 1,
	},
	{
		.base = { .name = "trysend, some in, 3",
			  .act = trysend,
			  .before = channel_attach_before,
			  .rare = 4 },
		.role = CHANNEL_SENDER,
		.capacity = 3,
		.in = 1,
		.n = 1,
	},
	{
		.base = { .name = "trysend, full, 1",
			  .act = trysend,
			  .before = channel_attach_before,
			  .rare = 4 },
		.role = CHANNEL_SENDER,
		.capacity = 1,
		.in = 1,
		.n = 1,
		.result = -EAGAIN,
	},
	{
		.base = { .name = "trysend, full, 3",
			  .act = trysend,
			  .before = channel_attach_before,
			  .rare = 8 },
		.role = CHANNEL_SENDER,
		.capacity = 3,
		.in = 3,
		.n = 1,
		.result = -EAGAIN,
	},
	{
		.base = { .name = "trysend, closed",
			  .act = trysend,
			  .before = channel_attach_before,
			  .rare = 4 },
		.role = CHANNEL_SENDER,
		.capacity = 3,
		.n = 1,
		.result = -EPIPE,
		.closed = true,
	},
	{
		.base = { .name = "trysend, closed meanwhile",
			  .act = trysend,
			  .before = channel_attach_before,
			  .between = channel_close_meanwhile,
			  .rare = 5 },
		.role = CHANNEL_SENDER,
		.capacity = 1,
		.n = 1,
		.result = -EPIPE,
		.receivers = 1,
	},
	{
		.base = { .name = "trysend, one asleep, 1",
			  .act = trysend,
			  .before = channel_attach_before,
			  .rare = 3 },
		.role = CHANNEL_SENDER,
		.capacity = 1,
		.n = 1,
		.receivers = 1,
	},
	{
		.base = { .name = "trysend, two asleep, 3",
			  .act = trysend,
			  .before = channel_attach_before,
			  .rare = 6 },
		.role = CHANNEL_SENDER,
		.capacity = 3,
		.n = 1,
		.receivers = 2,
	},
	{
		.base = { .name = "trysend, another behind it, 3",
			  .act = trysend,
			  .before = channel_attach_before,
			  .between = channel_send_meanwhile,
			  .rare = 4 },
		.role = CHANNEL_SENDER,
		.capacity = 3,
		.n = 1,
		.receivers = 2,
	},
	{
		.base = { .name = "trysend, behind a dead receiver, 1",
			  .act = trysend,
			  .before = channel_attach_before,
			  .asks = true,
			  .rare = 4 },
		.role = CHANNEL_SENDER,
		.capacity = 1,
		.in = 1,
		.n = 1,
		.dead = CHANNEL_DEAD_RECEIVER,
	},
	{
		.base = { .name = "tryrecv, empty, 1",
			  .act = tryrecv,
			  .before = channel_attach_before,
			  .rare = 4 },
		.role = CHANNEL_RECEIVER,
		.capacity = 1,
		.n = 1,
		.result = -EAGAIN,
	},
	{
		.base = { .name = "tryrecv, one in, 1",
			  .act = tryrecv,
			  .before = channel_attach_before },
		.role = CHANNEL_RECEIVER,
		.capacity = 1,
		.in = 1,
		.n = 1,
	},
	{
		.base = { .name = "tryrecv, some in, 3",
			  .act = tryrecv,
			  .before = channel_attach_before,
			  .rare = 4 },
		.role = CHANNEL_RECEIVER,
		.capacity = 3,
		.in = 2,
		.n = 1,
	},
	{
		.base = { .name = "tryrecv, the last of a closed one",
			  .act = tryrecv,
			  .before = channel_attach_before,
			  .rare = 4 },
		.role = CHANNEL_RECEIVER,
		.capacity = 3,
		.in = 1,
		.n = 1,
		.closed = true,
	},
	{
		.base = { .name = "tryrecv, closed",
			  .act = tryrecv,
			  .before = channel_attach_before,
			  .rare = 6 },
		.role = CHANNEL_RECEIVER,
		.capacity = 1,
		.n = 1,
		.result = -EPIPE,
		.closed = true,
	},
	{
		.base = { .name = "tryrecv, full, one asleep, 1",
			  .act = tryrecv,
			  .before = channel_attach_before,
			  .rare = 3 },
		.role = CHANNEL_RECEIVER,
		.capacity = 1,
		.in = 1,
		.n = 1,
		.senders = 1,
	},
	{
		.base = { .name = "tryrecv, full, two asleep, 3",
			  .act = tryrecv,
			  .before = channel_attach_before,
			  .rare = 6 },
		.role = CHANNEL_RECEIVER,
		.capacity = 3,
		.in = 3,
		.n = 1,
		.senders = 2,
	},
	{
		.base = { .name = "tryrecv, another behind it, 3",
			  .act = tryrecv,
			  .before = channel_attach_before,
			  .between = channel_receive_meanwhile,
			  .rare = 4 },
		.role = CHANNEL_RECEIVER,
		.capacity = 3,
		.in = 3,
		.n = 1,
		.senders = 2,
	},
	{
		.base = { .name = "tryrecv, behind a dead sender, 3",
			  .act = tryrecv,
			  .before = channel_attach_before,
			  .asks = true,
			  .rare = 4 },
		.role = CHANNEL_RECEIVER,
		.capacity = 3,
		.n = 1,
		.result = -EAGAIN,
		.dead = CHANNEL_DEAD_SENDER,
	},
	{
		.base = { .name = "close, nobody",
			  .act = close_it,
			  .before = channel_attach_before,
			  .rare = 2 },
		.role = CHANNEL_CLOSER,
		.capacity = 1,
		.in = 1,
	},
	{
		.base = { .name = "close, two receivers asleep",
			  .act = close_it,
			  .before = channel_attach_before,
			  .rare = 4 },
		.role = CHANNEL_CLOSER,
		.capacity = 1,
		.receivers = 2,
	},
	{
		.base = { .name = "close, a sender asleep",
			  .act = close_it,
			  .before = channel_attach_before,
			  .rare = 4 },
		.role = CHANNEL_CLOSER,
		.capacity = 3,
		.in = 3,
		.senders = 1,
	},
	{
		.base = { .name = "attach", .act = attach, .asks = true, .rare = 16 },
		.capacity = 3,
		.in = 1,
	},
	{
		.base = { .name = "attach, heir of a sender",
			  .act = attach,
			  .asks = true,
			  .rare = 16 },
		.capacity = 1,
		.dead = CHANNEL_DEAD_SENDER,
		.heir = true,
	},
	{
		.base = { .name = "attach, heir of a receiver",
			  .act = attach,
			  .asks = true,
			  .rare = 16 },
		.capacity = 1,
		.in = 1,
		.senders = 1,
		.dead = CHANNEL_DEAD_RECEIVER,
		.heir = true,
	},
	{
		.base = { .name = "destroy",
			  .act = detach,
			  .before = channel_attach_before,
			  .asks = true,
			  .rare = 8 },
		.capacity = 3,
		.in = 1,
	},
};

static const struct scene *scene(unsigned i)
{
	const unsigned here = sizeof(scenes) / sizeof(scenes[0]);

	return i < here ? &scenes[i].base : channel_wait_scene(i - here);
}

const struct suspect channel_suspect = {
	.name = "channel",
	.calm = 4,
	.scene = scene,
	.prepare = channel_prepare,
	.gather = channel_gather,
	.meanwhile = channel_meanwhile,
	.interfere = channel_interfere,
	.witness = channel_witness,
	.mourn = channel_mourn,
	.audit = channel_audit,
};
