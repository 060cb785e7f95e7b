/* SPDX-License-Identifier: MIT */
/*
 * What a process may leave behind that is killed in a call on a channel between processes: the
 * table in docs/design/shared_channel.md. What it was putting in was sent or was not; what it was
 * taking out is lost, and nothing else is.
 */
#include <errno.h>

#include "channel_scene.h"
#include "common/check.h"

/* The tracer has 0 and 1, the victim the next one unless it is to attach; a number that nobody
 * has; where the channel begins, in slots. */
#define FIRST_NUMBER 2
#define NO_NUMBER    40
#define TURNED       2

static const struct channel_scene *row(const struct stage *st)
{
	return (const struct channel_scene *)st->scene;
}

void channel_interfere(struct region *r)
{
	struct ipcwait_channel_shared_stats stats;

	CHECK_EQ(ipcwait_sem_post(&r->space), 0);
	if (channel_mine)
		CHECK_EQ(ipcwait_channel_shared_stats_get(channel_mine, &stats,
							  sizeof(stats)),
			 sizeof(stats));
}

/* So that positions wrap where three slots do. */
static void turn(struct stage *st)
{
	for (unsigned i = 0; i < TURNED; i++) {
		CHECK_EQ(channel_send(st, CHANNEL_BEFORE), 0);
		CHECK_EQ(channel_receive(st, CHANNEL_BEFORE), 0);
	}
}

/* What the dead one was taking is lost; it is the first element. */
static void let_one_die(struct stage *st)
{
	const struct channel_scene *scene = row(st);

	if (scene->dead == CHANNEL_NOBODY)
		return;
	channel_fabricate(scene->dead, scene->heir ? FIRST_NUMBER + st->others : NO_NUMBER);
	if (scene->dead == CHANNEL_DEAD_RECEIVER)
		st->r->sent[TURNED] = 0;
}

void channel_prepare(struct stage *st)
{
	const struct channel_scene *scene = row(st);

	channel_mine = NULL;
	channel_make(st, scene->capacity);
	channel_join(st, CHANNEL_SPARE);
	turn(st);
	for (unsigned i = 0; i < scene->in; i++)
		CHECK_EQ(channel_send(st, CHANNEL_BEFORE), 0);
	if (scene->closed)
		CHECK_EQ(channel_close(st, CHANNEL_BEFORE), 0);
	channel_set_preset(scene->preset);
	if (scene->role == CHANNEL_SENDER)
		for (unsigned i = 0; i < REGION_BULK; i++)
			st->r->element[i] = channel_element(CHANNEL_VICTIMS + i);
}

/* They are asleep before the victim is, and have seen nobody dead. */
void channel_gather(struct stage *st)
{
	for (unsigned i = 0; i < row(st)->receivers; i++)
		channel_seat(st, true);
	for (unsigned i = 0; i < row(st)->senders; i++)
		channel_seat(st, false);
	let_one_die(st);
}

/* An element, or room, for each, the victim included. */
void channel_meanwhile(struct stage *st)
{
	const struct channel_scene *scene = row(st);
	bool receives = scene->role == CHANNEL_RECEIVER;

	if (st->slept == 1)
		for (unsigned i = 0; i < scene->late; i++)
			channel_seat(st, receives);
	(void)stage_asleep(st);
	if (scene->result == -ETIMEDOUT)
		return;
	stage_let_pass(STAGE_LONG_NS);
	if (scene->result == -EPIPE) {
		CHECK_EQ(channel_close(st, CHANNEL_BEFORE), 0);
		return;
	}
	CHECK_EQ(receives ? channel_send(st, CHANNEL_BEFORE)
			  : channel_receive(st, CHANNEL_BEFORE),
		 0);
	CHECK(++st->posted <= scene->n + scene->receivers + scene->senders + scene->late);
}

/* Who is told of it finds the victim in the way, and sleeps on: it is owed the victim's wake. */
void channel_close_meanwhile(struct stage *st)
{
	if (st->between_over || !channel_left().writing)
		return;
	CHECK_EQ(channel_close(st, CHANNEL_BEFORE), 0);
	CHECK_EQ(stage_asleep(st), st->others);
	st->between_over = true;
}

/* An element behind the victim's: who is told of it finds the other in the way. */
void channel_send_meanwhile(struct stage *st)
{
	if (st->between_over || !channel_left().writing)
		return;
	CHECK_EQ(channel_send(st, CHANNEL_BEFORE), 0);
	CHECK_EQ(stage_asleep(st), st->others);
	st->between_over = true;
}

void channel_receive_meanwhile(struct stage *st)
{
	if (st->between_over || !channel_left().reading)
		return;
	CHECK_EQ(channel_receive(st, CHANNEL_BEFORE), 0);
	CHECK_EQ(stage_asleep(st), st->others);
	st->between_over = true;
}

/* It lives: nobody takes its claim from it, however new. */
void channel_witness(struct stage *st)
{
	struct channel_left before, after;

	if (st->asleep || row(st)->dead != CHANNEL_NOBODY)
		return;
	(void)stage_asleep(st);
	before = channel_left();
	channel_join(st, CHANNEL_AFTER);
	if (channel_sender_is_in_the_way())
		CHECK_EQ(channel_receive(st, CHANNEL_AFTER), -EAGAIN);
	if (channel_receiver_is_in_the_way())
		CHECK_EQ(channel_send(st, CHANNEL_AFTER), before.closed ? -EPIPE : -EAGAIN);
	channel_leave(st, CHANNEL_AFTER);
	after = channel_left();
	CHECK_EQ(after.writing, before.writing);
	CHECK_EQ(after.reading, before.reading);
	CHECK_EQ(channel_stats().recovered, 0);
}

/* It gets the dead's number, or another one. */
static void join_after(struct stage *st, enum heal heal)
{
	if (heal == HEAL_BY_LOOK)
		channel_leave(st, CHANNEL_SPARE);
	channel_join(st, CHANNEL_AFTER);
}

static unsigned claims(struct channel_left left)
{
	return left.writing + left.reading;
}

/* Who gets the number takes over what the last one has left, and tells everybody. */
static void inherit(struct stage *st, struct channel_left left)
{
	bool other = row(st)->dead != CHANNEL_NOBODY && !row(st)->heir;

	join_after(st, HEAL_BY_POST);
	CHECK(claims(channel_left()) <= other);
	if (claims(left) && !other)
		CHECK(!channel_is_missed(st));
}

/* Elements of the victim's that are there, or that are lost. */
static unsigned settle(struct stage *st)
{
	int surplus = channel_surplus(st);
	unsigned lost = 0;

	if (row(st)->role == CHANNEL_SENDER)
		st->change = surplus;
	else if (row(st)->role == CHANNEL_RECEIVER)
		lost = (unsigned)-surplus;
	else
		CHECK_EQ(surplus, 0);
	CHECK(st->change >= 0 && (unsigned)st->change <= row(st)->n && lost <= row(st)->n);
	for (int i = 0; i < st->change; i++)
		st->r->sent[CHANNEL_VICTIMS + i] = 1;
	return lost;
}

static const char *name(struct stage *st, struct channel_left left, unsigned lost)
{
	unsigned claimed = claims(left);

	if (claimed && row(st)->dead != CHANNEL_NOBODY)
		return "claim";
	if (claimed)
		return left.writing ? "being sent" : "being taken";
	if (left.closed && row(st)->role == CHANNEL_CLOSER)
		return st->wake_pending ? "closed, wakes owed" : "closed";
	if (st->change)
		return st->wake_pending ? "sent, wake owed" : "sent";
	if (lost)
		return st->wake_pending ? "taken, wake owed" : "taken";
	return left.asleep > stage_asleep(st) ? "sleeper" : "nothing";
}

const char *channel_mourn(struct stage *st, enum heal heal)
{
	struct ipcwait_channel_shared_stats before = channel_stats();
	struct channel_left left, after;
	const char *found;
	unsigned lost;

	(void)stage_asleep(st);
	left = channel_left();
	lost = settle(st);
	found = name(st, left, lost);
	if (heal == HEAL_BY_POST)
		inherit(st, left);
	else
		join_after(st, heal);
	channel_serve(st);
	channel_end(st, lost, heal == HEAL_BY_LOOK);
	after = channel_left();
	CHECK_EQ(channel_stats().recovered - before.recovered,
		 claims(left) - claims(after));
	CHECK_EQ(channel_stats().lost - before.lost, left.reading - after.reading);
	channel_unmake(st);
	return found;
}

/* How many elements the call has moved. */
static unsigned moved(const struct stage *st)
{
	int result = st->r->result;

	if (result < 0 || !row(st)->n)
		return 0;
	return row(st)->n > 1 ? (unsigned)result : 1;
}

/* Who runs on freely may be through before others have done anything. */
static int due(const struct stage *st)
{
	return st->scene->between && !st->between_over ? 0 : row(st)->result;
}

void channel_audit(struct stage *st)
{
	const struct channel_scene *scene = row(st);

	CHECK_EQ(st->r->result, due(st));
	for (unsigned i = 0; i < moved(st); i++) {
		if (scene->role == CHANNEL_SENDER)
			st->r->sent[CHANNEL_VICTIMS + i] = 1;
		else
			channel_note(st->r, &st->r->element[i]);
	}
	CHECK(!channel_is_missed(st));
	CHECK_EQ(channel_surplus(st), 0);
	CHECK(scene->dead || !claims(channel_left()));
	channel_join(st, CHANNEL_AFTER);
	channel_serve(st);
	channel_end(st, 0, false);
	channel_unmake(st);
}
