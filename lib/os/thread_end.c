/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include <ipcwait/impl/word.h>

#include "os/thread_end.h"

static pthread_key_t key;
static struct ipcwait_word32 have_key;
static void (*at_end)(void);

static void end(void *unused)
{
	(void)unused;
	at_end();
}

bool iw_thread_end_hook(void (*end_hook)(void))
{
	int saved_errno = errno;
	bool done;

	at_end = end_hook;
	done = !pthread_key_create(&key, end);
	/* ORD thread_end.X1: relaxed, protected by the loader: no other thread calls yet. */
	ipcwait_impl_store32_relaxed(&have_key, done);
	errno = saved_errno;
	return done;
}

bool iw_thread_end_ask(void)
{
	int saved_errno = errno;
	/*
	 * ORD thread_end.X2: relaxed, no order needed: while the process exits other threads
	 * run on, and a key that is gone is refused.
	 */
	bool asked = ipcwait_impl_load32_relaxed(&have_key) &&
		     pthread_setspecific(key, &key) == 0;

	errno = saved_errno;
	return asked;
}

/* Threads that end later must not come here. */
static __attribute__((destructor)) void unload(void)
{
	/* ORD thread_end.X3: relaxed, no order needed: as thread_end.X2. */
	bool had_key = ipcwait_impl_load32_relaxed(&have_key);

	/* ORD thread_end.X4: relaxed, no order needed: as thread_end.X2. */
	ipcwait_impl_store32_relaxed(&have_key, 0);
	if (had_key)
		(void)pthread_key_delete(key);
}
