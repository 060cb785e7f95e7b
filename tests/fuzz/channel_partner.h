/* SPDX-License-Identifier: MIT */
/*
 * A second thread, which does one send or receive and waits for as long as it takes. Beside it the
 * select, or the wait-any before it, may have cases that nobody will do.
 */
#ifndef TESTS_FUZZ_CHANNEL_PARTNER_H
#define TESTS_FUZZ_CHANNEL_PARTNER_H

#include <pthread.h>
#include <stdbool.h>

#include <ipcwait/channel.h>

#define PARTNER_CASES 4

struct partner {
	enum { PLAIN, SELECTS, AFTER_ANY } how;
	struct ipcwait_channel_case cases[PARTNER_CASES];
	unsigned of[PARTNER_CASES]; /* whose channel that is; the caller's */
	unsigned n, does;

	pthread_t thread;
	pthread_barrier_t begin;
};

/* Both threads go on at once, or the caller a little later. */
void partner_begin(struct partner *p, bool later);

/* It has done what it @does. */
void partner_join(struct partner *p);

/* However long it takes. */
void channel_do(struct ipcwait_channel_case *c, bool selects);

#endif
