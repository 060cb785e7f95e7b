/* SPDX-License-Identifier: MIT */
/* The jobs of the fragments about queues and channels. */
#ifndef JOB_H
#define JOB_H

struct job {
	int number;
};

static int worked;

static inline void work(const struct job *job)
{
	worked += job->number;
}

#endif
