/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "os/cpu_mask.h"
#include "os/worker.h"

static void *run(void *arg)
{
	struct iw_worker *w = arg;

	w->body(w->arg);
	return NULL;
}

/* Two real-time threads that spin would own a machine of two CPUs. */
static int leave_real_time(pthread_attr_t *attr)
{
	const struct sched_param none = { 0 };
	int class = sched_getscheduler(0);
	int r;

	if (class != SCHED_FIFO && class != SCHED_RR)
		return 0;
	r = pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
	if (!r)
		r = pthread_attr_setschedpolicy(attr, SCHED_OTHER);
	return r ? r : pthread_attr_setschedparam(attr, &none);
}

static int set_cpu(pthread_attr_t *attr, unsigned cpu)
{
	struct iw_cpu_mask mask = { { 0 } };

	if (cpu >= IW_CPU_MOST)
		return EINVAL;
	iw_cpu_mask_add(&mask, cpu);
	return pthread_attr_setaffinity_np(attr, sizeof(mask),
					   (const cpu_set_t *)(const void *)&mask);
}

/* The new thread inherits the mask, and so never runs a handler of the program. */
static int create_without_signals(struct iw_worker *w, const pthread_attr_t *attr)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	r = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (r)
		return r;
	r = pthread_create(&w->thread, attr, run, w);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int iw_worker_start(struct iw_worker *w, unsigned cpu)
{
	pthread_attr_t attr;
	int r = pthread_attr_init(&attr);

	if (r)
		return -EAGAIN;
	r = leave_real_time(&attr);
	if (!r)
		r = set_cpu(&attr, cpu);
	if (!r)
		r = create_without_signals(w, &attr);
	(void)pthread_attr_destroy(&attr);
	return r == ENOMEM ? -EAGAIN : -r;
}

void iw_worker_join(struct iw_worker *w)
{
	(void)pthread_join(w->thread, NULL);
}

int iw_cancel_off(void)
{
	int state = PTHREAD_CANCEL_ENABLE;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

void iw_cancel_restore(int state)
{
	int ours;

	(void)pthread_setcancelstate(state, &ours);
}
