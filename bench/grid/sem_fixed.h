/* SPDX-License-Identifier: MIT */
/* Semaphores whose waiters spin for a fixed time before they sleep, whatever happens. */
#ifndef BENCH_SEM_FIXED_H
#define BENCH_SEM_FIXED_H

#include "../peers/peers.h"

struct sem_fixed {
	const char *budget; /* "5us" */
	struct sem_peer peer;
};

/* Ends with a peer without a name. */
extern const struct sem_fixed sem_fixed[];

#endif
