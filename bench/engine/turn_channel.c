/* SPDX-License-Identifier: MIT */
/* Turns that are the elements of a channel. The room of a turn holds the way to its channel. */
#include "turn.h"
#include "../seed/channel.h"
#include "../../tools/common/complain.h"

#include <ipcwait/channel_shared.h>

#include <stdint.h>
#include <sys/mman.h>

/* Each end has its own way to the channel: a process takes part in libipcwait's by itself. */
struct room {
	const struct channel_ops *ops;
	void *receives_from, *sends_to;
	int fd; /* of libipcwait's between processes */
};

_Static_assert(sizeof(struct room) <= sizeof(struct sem_room),
	       "the room of a turn holds it");

static void init_with(struct room *room, const struct channel_ops *ops)
{
	room->ops = ops;
	room->receives_from = room->sends_to = ops->create();
	if (!room->sends_to)
		give_up("cannot make a channel");
}

static void init_glibc(void *room)
{
	init_with(room, &channel_glibc);
}

static void init_glibc_shared(void *room)
{
	init_with(room, &channel_glibc_shared);
}

static void init_ipcwait(void *room)
{
	init_with(room, &channel_ipcwait);
}

static void init_ipcwait_shared(void *turn)
{
	const struct ipcwait_channel_params params = { .elem_size = sizeof(int64_t),
						       .capacity = 1 };
	struct ipcwait_channel *part;
	struct room *room = turn;

	room->ops = &channel_ipcwait;
	room->fd = memfd_create("wait_bench", MFD_CLOEXEC);
	if (room->fd < 0 || ipcwait_channel_create_shared(room->fd, &params, &part))
		give_up("cannot make a channel between processes");
}

static void join(void *turn, bool waits)
{
	struct ipcwait_channel *part;
	struct room *room = turn;

	if (ipcwait_channel_attach(room->fd, &part))
		give_up("cannot take part in a channel");
	*(waits ? &room->receives_from : &room->sends_to) = part;
}

static void wait(void *turn)
{
	const struct room *room = turn;

	(void)room->ops->receive(room->receives_from);
}

static void post(void *turn)
{
	const struct room *room = turn;

	room->ops->send(room->sends_to, 1);
}

static const struct sem_ops glibc = { "glibc", init_glibc, wait, post, NULL };
static const struct sem_ops glibc_shared = { "glibc", init_glibc_shared, wait, post, NULL };
static const struct sem_ops ipcwait = { "ADAPTIVE", init_ipcwait, wait, post, NULL };
static const struct sem_ops ipcwait_shared = { "ADAPTIVE", init_ipcwait_shared, wait, post,
					       NULL };

const struct turn turn_channel_glibc = { &glibc, NULL };
const struct turn turn_channel_glibc_shared = { &glibc_shared, NULL };
const struct turn turn_channel_ipcwait = { &ipcwait, NULL };
const struct turn turn_channel_ipcwait_shared = { &ipcwait_shared, join };
