/* SPDX-License-Identifier: MIT */
/* What the scenes of the semaphore have in common: who is there, and what may come of it. */
#ifndef TESTS_IPC_SEM_SCENE_H
#define TESTS_IPC_SEM_SCENE_H

#include "stage.h"

enum sem_role { SEM_BYSTANDER, SEM_POSTER, SEM_WAITER };

struct sem_scene {
	struct scene base;
	enum sem_role role;
	unsigned tokens;      /* in the semaphore before the call */
	unsigned adds;        /* tokens that the call adds, if it succeeds */
	int fails;            /* the result that is allowed besides 0 */
	unsigned sleepers;    /* beside the victim from the beginning */
	unsigned late;        /* who join it when it sleeps */
	bool held;            /* the first sleeper has been woken, and is stopped there */
	bool stolen;          /* ... and its token is gone */
	bool doubted;         /* ... and it is not known any more when that was */
	bool spinner;         /* a spinner has set its mark: the tracer */
	unsigned for_nothing; /* wakes without a token, before there is one */
	enum ipcwait_preset preset; /* of the semaphore */
};

/* sem_judge.c: see struct suspect. */
void sem_prepare(struct stage *st);
void sem_meanwhile(struct stage *st);
void sem_interfere(struct region *r);
const char *sem_mourn(struct stage *st, enum heal heal);
void sem_audit(struct stage *st);

/* Between two instructions: a token, as soon as the victim has said that it spins. */
void sem_feed_the_spinner(struct stage *st);

/* ... until it reads the clock: wakes under way are not in doubt because the victim is slow. */
void sem_keep_wakes_fresh(struct stage *st);

#endif
