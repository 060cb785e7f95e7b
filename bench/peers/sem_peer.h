/* SPDX-License-Identifier: MIT */
/*
 * The semaphores that are compared, for the threads of one process unless they say otherwise.
 * Whoever has no semaphore shows what its users take in its place: a count under its mutex and
 * condition variable, or an event count.
 */
#ifndef BENCH_SEM_PEER_H
#define BENCH_SEM_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Room for any of them, away from everything else. */
struct sem_room {
#ifdef __cplusplus
	alignas(128) unsigned char bytes[128];
#else
	_Alignas(128) unsigned char bytes[128];
#endif
};

/* A failure ends the program; a wait goes on when a signal interrupts it. */
struct sem_ops {
	const char *name;
	void (*init)(void *sem); /* without tokens */
	void (*wait)(void *sem);
	void (*post)(void *sem);
	void (*end)(void *sem); /* NULL: nothing to be given back */
};

/* libipcwait's, by preset */
extern const struct sem_ops sem_adaptive;
extern const struct sem_ops sem_latency;
extern const struct sem_ops sem_preset_power;
extern const struct sem_ops sem_preset_spin;
extern const struct sem_ops sem_preset_block;
extern const struct sem_ops sem_preset_haltpoll;
extern const struct sem_ops sem_preset_ticks;

extern const struct sem_ops sem_spin;  /* spins until there is a token, and never sleeps */
extern const struct sem_ops sem_block; /* sleeps on the futex at once, and never spins */
extern const struct sem_ops sem_50us;  /* spins for 50 us, whatever happens, then sleeps */
extern const struct sem_ops sem_glibc; /* sem_t */

/* The same for several processes that map the room. */
extern const struct sem_ops sem_adaptive_shared;
extern const struct sem_ops sem_50us_shared;
extern const struct sem_ops sem_glibc_shared;

/* A count under a mutex and a condition variable: libc's, and libipcwait's. */
extern const struct sem_ops sem_glibc_cond;
extern const struct sem_ops sem_ipcwait_cond;
extern const struct sem_ops sem_glibc_cond_shared;
extern const struct sem_ops sem_ipcwait_cond_shared;

#ifdef __cplusplus
}
#endif

#endif
