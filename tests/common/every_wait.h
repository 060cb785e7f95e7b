/* SPDX-License-Identifier: MIT */
/* Waits on every object of the library that sleep, for tests of what any of them may do. */
#ifndef TESTS_COMMON_EVERY_WAIT_H
#define TESTS_COMMON_EVERY_WAIT_H

#include <stdbool.h>

/* The objects of the largest set. */
#define EVERY_WAIT_SET 64

struct every_wait {
	const char *name;
	void (*wait)(void);  /* one thread ... */
	void (*wake)(void);  /* ... and another, which lets it go, and ends its wait */
	unsigned stack_most; /* bytes that the wait may take */
	bool asks_for_owner; /* in /proc, who cannot be known without */
};

/* Ends with one without a name. Each is good for one performance in a process. */
extern const struct every_wait every_wait[];

/*
 * wait() in the thread, and wake() in the calling one. @prepare runs in the thread when the
 * other is ready, @done after the wait.
 */
void every_wait_perform(const struct every_wait *w, void (*prepare)(void),
			void (*done)(void));

/* The same in a thread on this stack. */
void every_wait_perform_on(const struct every_wait *w, void (*prepare)(void),
			   void (*done)(void), void *stack, unsigned long size);

#endif
