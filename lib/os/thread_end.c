/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "os/thread_end.h"

static pthread_key_t key;
static bool have_key;
static void (*at_end)(void);

static void end(void *unused)
{
	(void)unused;
	at_end();
}

static bool set_up(void (*before_fork)(void), void (*in_parent)(void),
		   void (*in_child)(void))
{
	if (pthread_key_create(&key, end))
		return false;
	if (pthread_atfork(before_fork, in_parent, in_child)) {
		(void)pthread_key_delete(key);
		return false;
	}
	return true;
}

bool iw_thread_hooks(void (*end_hook)(void), void (*before_fork)(void),
		     void (*in_parent)(void), void (*in_child)(void))
{
	int saved_errno = errno;

	at_end = end_hook;
	have_key = set_up(before_fork, in_parent, in_child);
	errno = saved_errno;
	return have_key;
}

bool iw_thread_end_ask(void)
{
	int saved_errno = errno;
	bool asked = have_key && pthread_setspecific(key, &key) == 0;

	errno = saved_errno;
	return asked;
}

/* Threads that end later must not come here. libc itself forgets the hooks of forks. */
static __attribute__((destructor)) void unload(void)
{
	bool had_key = have_key;

	have_key = false;
	if (had_key)
		(void)pthread_key_delete(key);
}
