/* SPDX-License-Identifier: MIT */
/* The same for the calls that wait. */
#include "channel_scene.h"

#include <errno.h>

static void send_one(struct region *r)
{
	r->result = ipcwait_channel_send(channel_mine, &r->element[0]);
}

static void receive_one(struct region *r)
{
	r->result = ipcwait_channel_recv(channel_mine, &r->element[0]);
}

static void send_until(struct region *r)
{
	r->result = ipcwait_channel_send_until(channel_mine, &r->element[0],
					       ipcwait_deadline_in_ns(r->patience_ns));
}

static void receive_until(struct region *r)
{
	r->result = ipcwait_channel_recv_until(channel_mine, &r->element[0],
					       ipcwait_deadline_in_ns(r->patience_ns));
}

static void send_many(struct region *r)
{
	r->result = (int)ipcwait_channel_send_n(channel_mine, r->element, REGION_BULK,
						IPCWAIT_FOREVER);
}

static void receive_many(struct region *r)
{
	r->result = (int)ipcwait_channel_recv_n(channel_mine, r->element, REGION_BULK,
						IPCWAIT_FOREVER);
}

static const struct channel_scene scenes[] = {
	{
		.base = { .name = "send, room, 3",
			  .act = send_one,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .patient = true,
			  .rare = 4 },
		.role = CHANNEL_SENDER,
		.capacity = 3,
		.in = 2,
		.n = 1,
	},
	{
		.base = { .name = "send, asleep, 1",
			  .act = send_one,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .patient = true,
			  .rare = 6 },
		.role = CHANNEL_SENDER,
		.capacity = 1,
		.in = 1,
		.n = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "send, beside a sleeper, 3",
			  .act = send_one,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .patient = true,
			  .rare = 32 },
		.role = CHANNEL_SENDER,
		.capacity = 3,
		.in = 3,
		.n = 1,
		.senders = 1,
	},
	{
		.base = { .name = "send, closed while it sleeps, 1",
			  .act = send_one,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .patient = true,
			  .rare = 12 },
		.role = CHANNEL_SENDER,
		.capacity = 1,
		.in = 1,
		.n = 1,
		.result = -EPIPE,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "recv, one in, 1",
			  .act = receive_one,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .patient = true,
			  .rare = 4 },
		.role = CHANNEL_RECEIVER,
		.capacity = 1,
		.in = 1,
		.n = 1,
	},
	{
		.base = { .name = "recv, asleep, 1",
			  .act = receive_one,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .patient = true,
			  .rare = 6 },
		.role = CHANNEL_RECEIVER,
		.capacity = 1,
		.n = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "recv, before a sleeper, 3",
			  .act = receive_one,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .patient = true,
			  .rare = 8 },
		.role = CHANNEL_RECEIVER,
		.capacity = 3,
		.n = 1,
		.late = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "recv, beside a sleeper, 1",
			  .act = receive_one,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .patient = true,
			  .rare = 32 },
		.role = CHANNEL_RECEIVER,
		.capacity = 1,
		.n = 1,
		.receivers = 1,
	},
	{
		.base = { .name = "recv, closed while it sleeps, 3",
			  .act = receive_one,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .patient = true,
			  .rare = 12 },
		.role = CHANNEL_RECEIVER,
		.capacity = 3,
		.n = 1,
		.result = -EPIPE,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "send_until, expires, 1",
			  .act = send_until,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .rare = 12 },
		.role = CHANNEL_SENDER,
		.capacity = 1,
		.in = 1,
		.n = 1,
		.result = -ETIMEDOUT,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "recv_until, expires, 3",
			  .act = receive_until,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .rare = 12 },
		.role = CHANNEL_RECEIVER,
		.capacity = 3,
		.n = 1,
		.result = -ETIMEDOUT,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "send_n, room, two asleep, 3",
			  .act = send_many,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .patient = true,
			  .rare = 8 },
		.role = CHANNEL_SENDER,
		.capacity = 3,
		.n = REGION_BULK,
		.result = REGION_BULK,
		.receivers = 2,
	},
	{
		.base = { .name = "send_n, asleep, 1",
			  .act = send_many,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .patient = true,
			  .rare = 24 },
		.role = CHANNEL_SENDER,
		.capacity = 1,
		.n = REGION_BULK,
		.result = REGION_BULK,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "recv_n, full, two asleep, 3",
			  .act = receive_many,
			  .before = channel_attach_before,
			  .sleeps = true,
			  .patient = true,
			  .rare = 8 },
		.role = CHANNEL_RECEIVER,
		.capacity = 3,
		.in = 3,
		.n = REGION_BULK,
		.result = REGION_BULK,
		.senders = 2,
	},
};

const struct scene *channel_wait_scene(unsigned i)
{
	return i < sizeof(scenes) / sizeof(scenes[0]) ? &scenes[i].base : NULL;
}
