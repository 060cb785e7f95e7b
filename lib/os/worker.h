/* SPDX-License-Identifier: MIT */
/*
 * Threads of the library's own. Only calibration has any: they are started for a measurement
 * and joined before the call that asked for it returns. The caller's threads, their affinity
 * and their signal masks are as they were.
 */
#ifndef IW_OS_WORKER_H
#define IW_OS_WORKER_H

#include <pthread.h>

struct iw_worker {
	pthread_t thread;
	void (*body)(void *arg);
	void *arg;
};

/*
 * Start a thread that runs body(arg) on @cpu and nowhere else. It takes no signals, and is
 * in no real-time class even if the caller is. @w must stay until iw_worker_join().
 *
 * Returns 0; -EINVAL if @cpu is not usable; -EAGAIN without memory or beyond a limit;
 * -EPERM if a filter forbids it.
 */
int iw_worker_start(struct iw_worker *w, unsigned cpu);

void iw_worker_join(struct iw_worker *w);

/*
 * Until iw_cancel_restore() the calling thread is not cancelled, so that a cancellation in
 * pthread_join() or write(2) does not leave workers or files behind.
 */
int iw_cancel_off(void);
void iw_cancel_restore(int state);

#endif
