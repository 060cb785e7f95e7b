/* SPDX-License-Identifier: MIT */
/*
 * One job: one or two workers, started together, watched and measured.
 *
 * Everything they share is in memory that child processes see as well, so a body need not
 * know whether it runs in a thread or in a process.
 */
#ifndef SEM_TEST_JOB_H
#define SEM_TEST_JOB_H

#include "measure.h"
#include "rows.h"

#include <pthread.h>

#define JOB_WORKERS 2

struct arena;

struct worker {
	_Alignas(128) uint64_t done; /* items so far; read by others while it runs */
	uint64_t beat;               /* of the meeting before the job */
	int error; /* negative errno value, ends the job; read by others */
	/* valid when it has ended */
	int64_t begin_ns;
	int64_t end_ns;
	struct thread_cost cost;
	struct library_cost library; /* process form only */
	uint64_t checksum;
	double result; /* of the bodies in baseline.c */
	/* set before it starts */
	struct arena *arena;
	const struct worker *other; /* to meet before the job; NULL: nobody */
	int (*body)(struct arena *a, struct worker *self);
};

/* In shared memory, at one address in all processes. */
struct arena {
	struct sem_room full;  /* items for the consumer, 0 at first */
	struct sem_room empty; /* room for the producer, 1 at first */
	struct worker worker[JOB_WORKERS];
	/* set before the workers start */
	_Alignas(128) pthread_barrier_t start;
	const struct sem_ops *ops;
	uint64_t items;
	uint64_t loops;
	int64_t idle_ns;
	bool processes;
};

/* Tells how far a job is, 0 to 1, a few times a second. */
struct job_watcher {
	void (*tell)(struct job_watcher *self, double fraction);
};

/* Before the clock starts two workers meet, for this long at most. */
#define JOB_MEET_NS_MOST 100000000

struct job {
	const char *name;              /* for messages: "glibc, threads" */
	const char *role[JOB_WORKERS]; /* the second one NULL: one worker */
	int (*body[JOB_WORKERS])(struct arena *a, struct worker *self);
	struct job_watcher *watcher; /* or NULL */
};

/* NULL if there is no memory. */
struct arena *arena_create(void);

/*
 * Run @j in @a to its end. If a worker fails, dies or makes no progress, the program ends
 * with a message.
 */
void job_run(const struct job *j, struct arena *a);

/* From the first worker's begin to the last one's end. */
double job_seconds(const struct job *j, const struct arena *a);

#endif
