/* SPDX-License-Identifier: MIT */
/*
 * What the scenes of the channel between processes have in common: what is in it, who is there,
 * and what comes of the call. The tracer takes part itself, before and after the accident.
 */
#ifndef TESTS_IPC_CHANNEL_SCENE_H
#define TESTS_IPC_CHANNEL_SCENE_H

#include "stage.h"

enum channel_role {
	CHANNEL_BYSTANDER,
	CHANNEL_SENDER,
	CHANNEL_RECEIVER,
	CHANNEL_CLOSER,
};

/* In whose claim somebody has died before. */
enum channel_dead { CHANNEL_NOBODY, CHANNEL_DEAD_SENDER, CHANNEL_DEAD_RECEIVER };

struct channel_scene {
	struct scene base;
	enum channel_role role;
	unsigned capacity;
	unsigned in;        /* elements before the call */
	unsigned n;         /* elements that the call moves at most */
	int result;         /* of the call */
	unsigned receivers; /* asleep from the beginning */
	unsigned senders;
	unsigned late; /* who join the victim when it sleeps, and do the same */
	bool closed;   /* before the call */
	enum channel_dead dead;
	bool heir; /* the victim gets the number of that dead one */
	enum ipcwait_preset preset;
};

/* Numbers of elements: the tracer's begin with 0. */
#define CHANNEL_VICTIMS 100
#define CHANNEL_OTHERS  110

/* channel_wait_scenes.c: of calls that wait; NULL after the last. */
const struct scene *channel_wait_scene(unsigned i);

/* channel_judge.c: see struct suspect. */
void channel_prepare(struct stage *st);
void channel_gather(struct stage *st);
void channel_meanwhile(struct stage *st);
void channel_interfere(struct region *r);
void channel_witness(struct stage *st);
const char *channel_mourn(struct stage *st, enum heal heal);
void channel_audit(struct stage *st);

/* Between two instructions, once the victim has a claim. */
void channel_close_meanwhile(struct stage *st);
void channel_send_meanwhile(struct stage *st);
void channel_receive_meanwhile(struct stage *st);

/* The part of the calling process, which is not the tracer's. */
extern struct ipcwait_channel *channel_mine;
int channel_attach_mine(void);
void channel_attach_before(struct region *r);

/* channel_parts.c: parts of the tracer's. The one after the accident is changed for a new one
 * whenever the others have found nothing to do: a part that is new asks at once who is dead. */
enum channel_part { CHANNEL_BEFORE, CHANNEL_SPARE, CHANNEL_AFTER, CHANNEL_PARTS };

void channel_make(struct stage *st, unsigned capacity);
void channel_unmake(struct stage *st);
void channel_join(struct stage *st, enum channel_part part);
void channel_leave(struct stage *st, enum channel_part part);

/* Calls of the tracer's, without waiting. What is sent has a number of its own. */
int channel_send(struct stage *st, enum channel_part part);
int channel_receive(struct stage *st, enum channel_part part);
int channel_close(struct stage *st, enum channel_part part);

/* Elements. Whoever receives one notes it: whole, and for the first time. */
struct element channel_element(uint64_t number);
void channel_note(struct region *r, const struct element *e);

/* Who has died, in sum, as the channel counts it. */
struct ipcwait_channel_shared_stats channel_stats(void);

/* What is in the file. */
struct channel_left {
	unsigned full, writing, reading; /* slots */
	unsigned asleep;                 /* places in line, at both event counts */
	bool closed;
};
struct channel_left channel_left(void);
void channel_set_preset(enum ipcwait_preset preset);

/* Somebody has died with a claim on the next slot, as number @owner. */
void channel_fabricate(enum channel_dead dead, unsigned owner);

/* A claim is just what the next sender or receiver would need. */
bool channel_sender_is_in_the_way(void);
bool channel_receiver_is_in_the_way(void);

/* Elements that are there or were seen, less those that were sent: the victim's, which nobody has
 * noted; below 0: those that it took. */
int channel_surplus(const struct stage *st);

/* channel_end.c. Take part: a process that sleeps until it has received, or sent, one element. */
void channel_seat(struct stage *st, bool receives);

/* The others are asleep although they could go on. */
bool channel_is_missed(struct stage *st);

/* All others go on; then nothing is lost but @lost elements, and all room is there. */
void channel_serve(struct stage *st);
void channel_end(struct stage *st, unsigned lost, bool look);

#endif
