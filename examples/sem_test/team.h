/* SPDX-License-Identifier: MIT */
/*
 * One or two workers as threads of this process or as child processes.
 *
 * The starter never shares the workers' fate: it can look on while they run, learns of a
 * child's death, and a child dies with the starter.
 */
#ifndef SEM_TEST_TEAM_H
#define SEM_TEST_TEAM_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#define TEAM_MOST 2

struct team_member {
	void *(*body)(void *arg);
	void *arg;
	/* the team's own */
	pthread_t thread;
	pid_t pid;
	int status; /* of a process: as waitpid() gave it */
	bool ended;
};

struct team {
	bool processes;
	unsigned size;
	struct team_member member[TEAM_MOST];
};

/* Once, before any team and any thread. */
void team_prepare(void);

/* Return: 0, or -errno: then finish_failed(), a member may run already. */
int team_start(struct team *t);

/* Return: all have ended. Comes back after @ms, or as soon as a member has ended. */
bool team_wait(struct team *t, int ms);

#endif
