/* SPDX-License-Identifier: MIT */
/* What the stress programs share: how long to run, and threads that count tokens. */
#ifndef TESTS_STRESS_STRESS_H
#define TESTS_STRESS_STRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/ipcwait.h>

struct stress {
	int seconds;
	uint64_t seed;
	unsigned flags; /* 0 or IPCWAIT_PRIVATE, of all semaphores */
	enum ipcwait_preset preset;
};

/* The time is over. */
bool stress_over(void);

/* The time begins. */
void stress_begin(const struct stress *run);

/* Semaphores whose words the watchdog prints; at most 64. */
void stress_watch(const struct ipcwait_sem *s);
void stress_watch_none(void);

/*
 * Every semaphore that is watched comes to rest with no token beside a sleeper, while
 * nobody posts any more. Fails the test if one does not: that is a lost wake-up.
 */
void stress_settles(void);

/* Signals to workers while semaphores are busy: every token is counted. */
void stress_storm(const struct stress *run, bool handlers_post);

/* The last waiter protects the page of the semaphore at once. */
void stress_reuse(const struct stress *run);

/* Rings of two to eight threads pass a baton. */
void stress_handoff(const struct stress *run);

/* Sixteen threads move tokens between four semaphores. */
void stress_crowd(const struct stress *run);

/* Another process scribbles on the semaphore. */
void stress_scribble(const struct stress *run);

#endif
