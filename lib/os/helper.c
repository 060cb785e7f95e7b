/* SPDX-License-Identifier: MIT */
#include "os/helper.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "os/cpu_mask.h"

static void be_usual(pthread_attr_t *attr)
{
	const struct sched_param none = { 0 };
	struct iw_cpu_mask cpus;

	memset(&cpus, 0xff, sizeof(cpus));
	(void)pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
	(void)pthread_attr_setschedpolicy(attr, SCHED_OTHER);
	(void)pthread_attr_setschedparam(attr, &none);
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
