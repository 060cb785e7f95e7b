/* SPDX-License-Identifier: MIT */
/* What the scenes of the event have in common: who is there, and what may come of it. */
#ifndef TESTS_IPC_EVENT_SCENE_H
#define TESTS_IPC_EVENT_SCENE_H

#include "stage.h"

enum event_role { EVENT_BYSTANDER, EVENT_SETTER, EVENT_TAKER };

struct event_scene {
	struct scene base;
	enum event_role role; /* who resets it takes */
	bool auto_;           /* the event resets itself */
	bool set;             /* before the call */
	bool spinner;         /* a spinner has set its mark: the tracer */
	bool left;            /* ... and the event has been set, which was left to it */
	bool pulse;           /* who sets a manual event resets it at once */
	int fails;            /* the result that is allowed besides 0 */
	unsigned sleepers;    /* beside the victim from the beginning */
	unsigned late;        /* who join it when it sleeps */
	enum ipcwait_preset preset;
};

/* event_judge.c: see struct suspect. */
void event_prepare(struct stage *st);
void event_meanwhile(struct stage *st);
void event_interfere(struct region *r);
const char *event_mourn(struct stage *st, enum heal heal);
void event_detour(struct stage *st);
void event_audit(struct stage *st);

/* Between two instructions: it is set, as soon as the victim has said that it spins. */
void event_set_for_the_spinner(struct stage *st);

/* ... as long as it is not set, a spinner sets its mark again: the tracer. */
void event_keep_the_mark(struct stage *st);

#endif
