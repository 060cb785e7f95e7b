/* SPDX-License-Identifier: MIT */
/* Those who are left go on, and find all in order. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "channel_scene.h"
#include "common/check.h"

/* More than one notification may have gone to the dead. */
#define HELPS 2

/* A sleeper whom nobody tells attempts again four times a second: in a short run this is waited
 * for once in so many times. */
#define ALARMS_RARE 16

static const struct channel_scene *row(const struct stage *st)
{
	return (const struct channel_scene *)st->scene;
}

static unsigned seated; /* the number of whom the tracer seats */

static void take_one(struct region *r)
{
	struct element e;
	int result;

	CHECK_EQ(channel_attach_mine(), 0);
	result = ipcwait_channel_recv(channel_mine, &e);
	if (result == 0)
		channel_note(r, &e);
	else
		CHECK(result == -EPIPE && channel_left().closed);
}

static void put_one(struct region *r)
{
	struct element e = channel_element(CHANNEL_OTHERS + seated);
	int result;

	CHECK_EQ(channel_attach_mine(), 0);
	result = ipcwait_channel_send(channel_mine, &e);
	if (result == 0)
		r->sent[e.number] = 1;
	else
		CHECK(result == -EPIPE && channel_left().closed);
}

void channel_seat(struct stage *st, bool receives)
{
	seated = st->others;
	stage_seat(st, receives ? take_one : put_one);
}

static bool others_receive(const struct stage *st)
{
	return row(st)->receivers ||
	       (!row(st)->senders && row(st)->role == CHANNEL_RECEIVER);
}

bool channel_is_missed(struct stage *st)
{
	unsigned asleep = stage_asleep(st);
	struct channel_left left = channel_left();

	if (!asleep)
		return false;
	if (left.closed)
		return true;
	return others_receive(st)
		       ? left.full
		       : left.full + left.writing + left.reading < row(st)->capacity;
}

/* By the one who was there before; and if a claim may be in its way, by a new one. */
static int attempt(struct stage *st, int (*call)(struct stage *st, enum channel_part part))
{
	int result = call(st, CHANNEL_BEFORE);
	struct channel_left left = channel_left();

	if (result != -EAGAIN || left.writing + left.reading == 0)
		return result;
	channel_leave(st, CHANNEL_AFTER);
	channel_join(st, CHANNEL_AFTER);
	return call(st, CHANNEL_AFTER);
}

/* What one of the others waits for, and is told of. */
static void help(struct stage *st)
{
	bool receive = others_receive(st);

	if (channel_left().closed) {
		CHECK_EQ(channel_close(st, CHANNEL_AFTER), -EALREADY);
		return;
	}
	if (attempt(st, receive ? channel_send : channel_receive) == 0)
		return;
	/* It may be faster, if it has been told meanwhile. */
	if (attempt(st, receive ? channel_receive : channel_send) == 0)
		CHECK_EQ(attempt(st, receive ? channel_send : channel_receive), 0);
}

static void kill_others(struct stage *st)
{
	for (unsigned i = 0; i < st->others; i++) {
		int status;

		CHECK(kill(st->other[i], SIGKILL) == 0);
		status = check_reap(st->other[i]);
		CHECK(status == 0 || WIFSIGNALED(status));
	}
	st->others = 0;
}

/* Their notifications have gone to the dead, or have died with it. */
static void await_alarm(struct stage *st, unsigned asleep)
{
	static unsigned alarms;

	CHECK(!st->ended && (st->scene->sleeps || st->wake_pending));
	if (!st->thorough && alarms++ % ALARMS_RARE) {
		kill_others(st);
		return;
	}
	while (stage_asleep(st) == asleep)
		stage_let_pass(STAGE_LONG_NS);
}

void channel_serve(struct stage *st)
{
	unsigned asleep, helps = st->others + HELPS;

	while ((asleep = stage_asleep(st)) > 0) {
		if (helps && helps--)
			help(st);
		else
			await_alarm(st, asleep);
	}
}

static unsigned drain(struct stage *st)
{
	unsigned n = 0;
	int result;

	while ((result = attempt(st, channel_receive)) == 0)
		n++;
	CHECK_EQ(result, channel_left().closed ? -EPIPE : -EAGAIN);
	return n;
}

/* What was sent was received once; nothing else was. */
static void balance(const struct stage *st, unsigned lost)
{
	unsigned missing = 0;

	for (unsigned i = 0; i < REGION_NUMBERS; i++) {
		CHECK(st->r->seen[i] <= st->r->sent[i]);
		missing += st->r->sent[i] - st->r->seen[i];
	}
	CHECK_EQ(missing, lost);
}

/* All of it: each slot by one that was there before, or that has come later. */
static void fill_and_drain(struct stage *st, enum channel_part part)
{
	unsigned capacity = row(st)->capacity;

	CHECK_EQ(attempt(st, channel_send), 0);
	for (unsigned i = 1; i < capacity; i++)
		CHECK_EQ(channel_send(st, part), 0);
	CHECK_EQ(attempt(st, channel_send), -EAGAIN);
	CHECK_EQ(channel_receive(st, part), 0);
	CHECK_EQ(drain(st), capacity - 1);
}

/* The same as a sender, and a receiver that has to wait. */
static void hand_over(struct stage *st)
{
	channel_seat(st, true);
	CHECK_EQ(channel_send(st, CHANNEL_AFTER), 0);
	CHECK_EQ(stage_asleep(st), 0);
}

static void use(struct stage *st, bool look)
{
	fill_and_drain(st, CHANNEL_BEFORE);
	fill_and_drain(st, CHANNEL_AFTER);
	if (look && !channel_left().asleep)
		hand_over(st);
}

void channel_end(struct stage *st, unsigned lost, bool look)
{
	bool closed = channel_left().closed;
	struct channel_left left;

	(void)drain(st);
	balance(st, lost);
	if (!closed)
		use(st, look);
	balance(st, lost);
	CHECK_EQ(channel_close(st, CHANNEL_AFTER), closed ? -EALREADY : 0);
	CHECK_EQ(channel_send(st, CHANNEL_BEFORE), -EPIPE);
	CHECK_EQ(channel_receive(st, CHANNEL_AFTER), -EPIPE);
	left = channel_left();
	CHECK(!left.full && !left.writing && (!left.reading || closed));
}
