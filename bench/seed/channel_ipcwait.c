/* SPDX-License-Identifier: MIT */
/* libipcwait's channel: with room for one number, and with none, as Go's unbuffered ones. */
#include "channel.h"
#include "../../tools/common/complain.h"

#include <ipcwait/channel.h>

static void *create_with(uint64_t capacity)
{
	const struct ipcwait_channel_params params = { .elem_size = sizeof(int64_t),
						       .capacity = capacity };

	return ipcwait_channel_create(&params);
}

static void *create(void)
{
	return create_with(1);
}

static void *create_rendezvous(void)
{
	return create_with(0);
}

static void send(void *channel, int64_t value)
{
	if (ipcwait_channel_send(channel, &value))
		give_up("cannot send");
}

static int64_t receive(void *channel)
{
	int64_t value;

	if (ipcwait_channel_recv(channel, &value))
		give_up("cannot receive");
	return value;
}

static void destroy(void *channel)
{
	ipcwait_channel_destroy(channel);
}

const struct channel_ops channel_ipcwait = {
	.name = "ipcwait",
	.create = create,
	.send = send,
	.receive = receive,
	.destroy = destroy,
};

const struct channel_ops channel_ipcwait_rendezvous = {
	.name = "ipcwait-rendezvous",
	.create = create_rendezvous,
	.send = send,
	.receive = receive,
	.destroy = destroy,
};
