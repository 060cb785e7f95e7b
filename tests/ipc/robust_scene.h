/* SPDX-License-Identifier: MIT */
/* What the scenes of the robust mutex have in common: who owns it, and what comes of the call. */
#ifndef TESTS_IPC_ROBUST_SCENE_H
#define TESTS_IPC_ROBUST_SCENE_H

#include "stage.h"

/* Who owns the mutex before the call. */
enum robust_owner {
	ROBUST_NOBODY,
	ROBUST_TRACER,
	ROBUST_DEAD,
	ROBUST_BURIED,
	ROBUST_VICTIM
};

struct robust_scene {
	struct scene base;
	enum robust_owner owner;
	bool inherited; /* the victim has it from a dead owner, and has not repaired anything */
	unsigned sleepers; /* beside the victim */
	int result;        /* of the call */
	bool keeps;        /* the victim owns it afterwards, and ends so */
	enum ipcwait_preset preset;
};

/* robust_judge.c: see struct suspect. */
void robust_prepare(struct stage *st);
void robust_gather(struct stage *st);
void robust_meanwhile(struct stage *st);
void robust_interfere(struct region *r);
void robust_witness(struct stage *st);
const char *robust_mourn(struct stage *st, enum heal heal);
void robust_audit(struct stage *st);

/* Between two instructions: the tracer unlocks, as soon as the victim has said that it spins. */
void robust_free_for_the_spinner(struct stage *st);

/* ... as long as the victim owns the mutex, a spinner sets its mark again: the tracer. */
void robust_keep_the_mark(struct stage *st);

#endif
