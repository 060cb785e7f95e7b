/* SPDX-License-Identifier: MIT */
/* What the scenes of the reader-writer lock have in common: who holds it, and who waits. */
#ifndef TESTS_IPC_RWLOCK_SCENE_H
#define TESTS_IPC_RWLOCK_SCENE_H

#include "stage.h"

/* Who holds the lock before the call, or what has become of it. */
enum rwlock_holder {
	RWLOCK_NOBODY,
	RWLOCK_TRACER_READS,
	RWLOCK_TRACER_WRITES,
	RWLOCK_VICTIM_READS,
	RWLOCK_VICTIM_WRITES,
	RWLOCK_DEAD_READER, /* has died asleep, with the turn */
	RWLOCK_DEAD_WRITER, /* was overdue and woken, and has died asleep */
};

struct rwlock_scene {
	struct scene base;
	enum rwlock_holder holder;
	bool bystands;             /* the victim does not use it */
	unsigned readers, writers; /* asleep beside the victim from the beginning */
	bool extra_wake;           /* the victim is woken once before the lock is free */
	bool overdue;              /* it is overdue by then */
	int result;                /* of the call */
	bool reads, writes; /* the victim has it afterwards, and unlocks before it ends */
	enum ipcwait_preset preset;
};

/* rwlock_judge.c: see struct suspect. */
void rwlock_prepare(struct stage *st);
void rwlock_gather(struct stage *st);
void rwlock_meanwhile(struct stage *st);
void rwlock_interfere(struct region *r);
const char *rwlock_mourn(struct stage *st, enum heal heal);
void rwlock_detour(struct stage *st);
void rwlock_audit(struct stage *st);

/* Between two instructions: the tracer unlocks, as soon as the victim has said that it spins. */
void rwlock_free_for_the_spinner(struct stage *st);

/* ... as long as the victim holds the lock, a spinner sets its mark again: the tracer. */
void rwlock_keep_the_mark(struct stage *st);

#endif
