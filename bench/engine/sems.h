/* SPDX-License-Identifier: MIT */
/* The semaphores that are compared, for the threads of one process. */
#ifndef WAIT_BENCH_SEMS_H
#define WAIT_BENCH_SEMS_H

/* Room for any of them, away from everything else. */
struct sem_room {
	_Alignas(128) unsigned char bytes[128];
};

/* A failure ends the program; a wait goes on when a signal interrupts it. */
struct sem_ops {
	const char *name;
	void (*init)(void *sem); /* without tokens */
	void (*wait)(void *sem);
	void (*post)(void *sem);
};

/* libipcwait's, by preset */
extern const struct sem_ops sem_adaptive;
extern const struct sem_ops sem_latency;
extern const struct sem_ops sem_preset_spin;
extern const struct sem_ops sem_preset_block;

extern const struct sem_ops sem_spin;  /* spins until there is a token, and never sleeps */
extern const struct sem_ops sem_block; /* sleeps on the futex at once, and never spins */
extern const struct sem_ops sem_glibc; /* sem_t */

#endif
