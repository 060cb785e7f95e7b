/* SPDX-License-Identifier: MIT */
/* What happens to a process in the middle of a call. */
#ifndef TESTS_IPC_ACCIDENTS_H
#define TESTS_IPC_ACCIDENTS_H

#include "stage.h"

struct accident {
	const char *table; /* kill, signal or stop */
	const char *name;
	bool stops;                  /* the victim is stopped, and goes on later */
	void (*handler)(int signal); /* else, and if this is NULL, it is killed */
	bool restarts;               /* SA_RESTART */
	enum heal heal;              /* and then this is how the others find out */

	/* In a short run it happens at one instruction in @turns, from @turn on. */
	unsigned turn, turns;
};

/* The last has no name. */
extern const struct accident accidents[];

#endif
