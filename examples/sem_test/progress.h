/* SPDX-License-Identifier: MIT */
/*
 * The progress bar, one line on stderr, only where a person looks at it.
 *
 * The plan is a number of steps with estimated lengths; a step tells how far it is.
 */
#ifndef SEM_TEST_PROGRESS_H
#define SEM_TEST_PROGRESS_H

#include "job.h"

struct progress {
	struct job_watcher watcher; /* first: a watcher is a progress */
	bool shown;
	char label[64];
	double step_seconds;    /* of this step, as estimated */
	double done_seconds;    /* of the steps before it */
	double planned_seconds; /* of all */
	int64_t began_ns;
};

/* @wanted and stderr is a terminal: shown. */
void progress_init(struct progress *p, bool wanted);

/* Begin with a plan of @seconds. */
void progress_begin(struct progress *p, double seconds);

/* The step before has ended. */
void progress_step(struct progress *p, const char *label, double seconds);

/* For job.watcher: NULL where nothing is shown. */
struct job_watcher *progress_watcher(struct progress *p);

/* Leave no trace on the terminal. */
void progress_end(struct progress *p);

#endif
