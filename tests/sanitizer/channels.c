/* SPDX-License-Identifier: MIT */
/* Channels: with room, without, between processes, and several of them. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ipcwait/channel.h>
#include <ipcwait/channel_shared.h>

#include "users.h"

struct job {
	unsigned round;
	char rest[60];
};

static struct ipcwait_channel *channel, *other;

static void send(unsigned round)
{
	const struct job j = { .round = round };

	fill(round);
	if (ipcwait_channel_send(channel, &j))
		fail("nothing sent");
}

static void receive(unsigned round)
{
	struct job j;

	if (ipcwait_channel_recv(channel, &j) || j.round != round)
		fail("nothing received");
}

static struct ipcwait_channel *make(uint64_t capacity)
{
	const struct ipcwait_channel_params params = { .elem_size = sizeof(struct job),
						       .capacity = capacity };
	struct ipcwait_channel *ch = ipcwait_channel_create(&params);

	if (!ch)
		fail("no channel");
	return ch;
}

static void with_room(void)
{
	channel = make(4);
	hand_over(send, receive);
	ipcwait_channel_destroy(channel);
}

static void without_room(void)
{
	channel = make(0);
	hand_over(send, receive);
	ipcwait_channel_destroy(channel);
}

static void shared(void)
{
	const struct ipcwait_channel_params params = { .elem_size = sizeof(struct job),
						       .capacity = 4 };
	int fd = memfd_create("users", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ipcwait_channel_create_shared(fd, &params, &channel))
		fail("no channel");
	hand_over(send, receive);
	ipcwait_channel_destroy(channel);
	close(fd);
}

/* Both sides do what can be done first; the second channel is never ready. */
static void select_one(int op, struct job *j)
{
	struct job unused = { 0 };
	struct ipcwait_channel_case cases[] = {
		{ .channel = channel, .op = op, .elem = j },
		{ .channel = other, .op = IPCWAIT_CHANNEL_RECV, .elem = &unused },
	};

	if (ipcwait_channel_select(cases, 2, IPCWAIT_FOREVER) || cases[0].result)
		fail("nothing done");
}

static void select_send(unsigned round)
{
	struct job j = { .round = round };

	fill(round);
	select_one(IPCWAIT_CHANNEL_SEND, &j);
}

static void select_receive(unsigned round)
{
	struct job j;

	select_one(IPCWAIT_CHANNEL_RECV, &j);
	if (j.round != round)
		fail("another job");
}

static void selected(uint64_t capacity)
{
	channel = make(capacity);
	other = make(1);
	hand_over(select_send, select_receive);
	ipcwait_channel_destroy(channel);
	ipcwait_channel_destroy(other);
}

static void select_with_room(void)
{
	selected(4);
}

static void select_without_room(void)
{
	selected(0);
}

/* The other way: a sender that has met its receiver sees what that did before. */
static void receive_filled(unsigned round)
{
	struct job j;

	fill(round);
	if (ipcwait_channel_recv(channel, &j))
		fail("nothing received");
}

static void send_to_it(unsigned round)
{
	const struct job j = { .round = round };

	if (ipcwait_channel_send(channel, &j))
		fail("nothing sent");
}

static void met(void)
{
	channel = make(0);
	hand_over(receive_filled, send_to_it);
	ipcwait_channel_destroy(channel);
}

/* A channel for each round: whoever learns that it is closed sees what came before. */
static struct ipcwait_channel *channels[ROUNDS];

static void close_it(unsigned round)
{
	fill(round);
	ipcwait_channel_close(channels[round]);
}

static void receive_none(unsigned round)
{
	struct job j;

	if (ipcwait_channel_recv(channels[round], &j) != -EPIPE)
		fail("not closed");
}

static void closed(uint64_t capacity)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		channels[i] = make(capacity);
	hand_over(close_it, receive_none);
	for (unsigned i = 0; i < ROUNDS; i++)
		ipcwait_channel_destroy(channels[i]);
}

static void close_with_room(void)
{
	closed(2);
}

static void close_without_room(void)
{
	closed(0);
}

/* The same for a sender: one that waits for room, or one that tries again and again. */
static int full[ROUNDS];

static void close_when_full(unsigned round)
{
	fill(round);
	if (round % 4)
		await(&full[round]);
	ipcwait_channel_close(channels[round]);
}

static int send_or_say_full(unsigned round, const struct job *j)
{
	int r = ipcwait_channel_trysend(channels[round], j);

	if (r == -EAGAIN) {
		say(&full[round]);
		if (round % 2)
			r = ipcwait_channel_send(channels[round], j);
	}
	return r;
}

static void send_until_closed(unsigned round)
{
	const struct job j = { .round = round };
	int r;

	do
		r = send_or_say_full(round, &j);
	while (!r || r == -EAGAIN);
	if (r != -EPIPE)
		fail("not closed");
}

static void close_senders(uint64_t capacity)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		channels[i] = make(capacity);
	hand_over(close_when_full, send_until_closed);
	for (unsigned i = 0; i < ROUNDS; i++)
		ipcwait_channel_destroy(channels[i]);
}

static void close_send_with_room(void)
{
	close_senders(2);
}

static void close_send_without_room(void)
{
	close_senders(0);
}

const struct scene channel_scenes[] = {
	{ "channel", with_room },
	{ "channel-rendezvous", without_room },
	{ "channel-met", met },
	{ "channel-shared", shared },
	{ "channel-close", close_with_room },
	{ "channel-close-rendezvous", close_without_room },
	{ "channel-close-send", close_send_with_room },
	{ "channel-close-send-rendezvous", close_send_without_room },
	{ "channel-select", select_with_room },
	{ "channel-select-rendezvous", select_without_room },
	{ NULL, NULL },
};
