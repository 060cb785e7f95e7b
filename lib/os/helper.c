/* SPDX-License-Identifier: MIT */
#include "os/helper.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "os/cpu_mask.h"

/*
 * Where the first thread of the process may run, and where the calling one may: that is where the
 * user lets the process run, and not only where the program has put this thread. False: it is where
 * the calling thread may run, and a new one may by itself.
 */
static bool may_run_elsewhere(struct iw_cpu_mask *cpus)
{
	struct iw_cpu_mask own;
	uint64_t more = 0;

	iw_cpu_mask_of_process(cpus);
	iw_cpu_mask_of_thread(&own);
	for (unsigned i = 0; i < sizeof(own.word) / sizeof(own.word[0]); i++) {
		more |= cpus->word[i] & ~own.word[i];
		cpus->word[i] |= own.word[i];
	}
	return more;
}

static void be_usual(pthread_attr_t *attr)
{
	const struct sched_param none = { 0 };
	struct iw_cpu_mask cpus;

	(void)pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
	(void)pthread_attr_setschedpolicy(attr, SCHED_OTHER);
	(void)pthread_attr_setschedparam(attr, &none);
	if (may_run_elsewhere(&cpus))
		(void)pthread_attr_setaffinity_np(attr, sizeof(cpus),
						  (const cpu_set_t *)(const void *)&cpus);
}

/* As a usual thread, or as whoever makes it is. */
static int start(void *(*body)(void *), void *arg, size_t stack, bool usual)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r = pthread_attr_init(&attr);

	if (r)
		return r;
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (usual)
		be_usual(&attr);
	if (stack)
		(void)pthread_attr_setstacksize(&attr, stack);
	r = pthread_create(&thread, &attr, body, arg);
	(void)pthread_attr_destroy(&attr);
	return r;
}

int iw_helper_start(void *(*body)(void *), void *arg, size_t stack)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = start(body, arg, stack, true);
	if (r && stack)
		r = start(body, arg, 0, true);
	if (r == EPERM)
		r = start(body, arg, 0, false);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

void iw_helper_stay_loaded(void)
{
	static const char here;
	Dl_info where;
	void *self;

	if (!dladdr(&here, &where))
		return;
	self = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (self)
		(void)dlclose(self);
}
