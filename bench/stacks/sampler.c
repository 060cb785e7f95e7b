/* SPDX-License-Identifier: MIT */
/*
 * A library for LD_PRELOAD that samples the stacks of a program's threads, waiting ones too.
 *
 * Every thread has a timer of its own that sends SIGPROF to that thread. On the wall clock it
 * ticks while the thread sleeps: that is what `perf record` cannot see. The signal interrupts
 * system calls; SA_RESTART continues most, but some (epoll_wait, select, sleeps with a
 * deadline) end with EINTR as they would on any signal.
 *
 * Not seen: threads that are made by thrd_create() or clone(), programs that are static or
 * set-user-ID, and programs that install a handler for SIGPROF themselves.
 */
#include "sample_file.h"
#include "stack_walk.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define RATE_MOST_HZ 10000

typedef int pthread_create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *),
			      void *);

struct start {
	void *(*function)(void *);
	void *argument;
};

static bool active;
static bool by_frame_pointers;
static clockid_t timer_clock = CLOCK_MONOTONIC;
static long rate_hz = 199;
static pthread_key_t timer_key;
static pthread_create_fn *real_pthread_create;

static void take_sample(int signal, siginfo_t *info, void *context)
{
	int saved = errno;
	uint64_t pcs[FRAMES_MOST];
	uint32_t frames;

	(void)signal;
	/* Somebody's kill -PROF is no tick. */
	if (info->si_code == SI_TIMER) {
		frames = by_frame_pointers
				 ? walk_by_frame_pointers(context, pcs, FRAMES_MOST)
				 : walk_by_tables(context, pcs, FRAMES_MOST);
		sample_file_add(1 + (uint32_t)info->si_overrun, pcs, frames);
	}
	errno = saved;
}

static void delete_timer(void *timer)
{
	timer_delete((timer_t)((char *)timer - 1));
}

/* The timer's number plus one is the key's value, as a value of NULL has no destructor. */
static void begin_thread(void)
{
	struct timespec period = { rate_hz == 1, 1000000000L / rate_hz % 1000000000L };
	struct itimerspec every = { period, period };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };
	sigset_t profile;
	timer_t timer;

	event.sigev_notify_thread_id = gettid();
	walk_begin_thread();
	if (timer_create(timer_clock, &event, &timer))
		return;
	sigemptyset(&profile);
	sigaddset(&profile, SIGPROF);
	pthread_sigmask(SIG_UNBLOCK, &profile, NULL);
	pthread_setspecific(timer_key, (char *)timer + 1);
	timer_settime(timer, 0, &every, NULL);
}

static void *run_thread(void *argument)
{
	struct start start = *(struct start *)argument;

	free(argument);
	begin_thread();
	return start.function(start.argument);
}

/* Other libraries' constructors may make threads before ours has run. */
static pthread_create_fn *next_pthread_create(void)
{
	void *symbol = dlsym(RTLD_NEXT, "pthread_create");
	pthread_create_fn *function;

	memcpy(&function, &symbol, sizeof(function));
	return function;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*function)(void *), void *argument)
{
	struct start *start;
	int error;

	if (!real_pthread_create)
		real_pthread_create = next_pthread_create();
	if (!active)
		return real_pthread_create(thread, attributes, function, argument);
	start = malloc(sizeof(*start));
	if (!start)
		return EAGAIN;
	*start = (struct start){ function, argument };
	error = real_pthread_create(thread, attributes, run_thread, start);
	if (error)
		free(start);
	return error;
}

/* What is not understood stays at its default: the script that starts us has checked it. */
static enum sample_clock read_settings(void)
{
	const char *rate = getenv("STACKS_HZ"), *by = getenv("STACKS_CLOCK");
	const char *unwind = getenv("STACKS_UNWIND");
	long hz = rate ? strtol(rate, NULL, 10) : 0;

	if (hz > 0 && hz <= RATE_MOST_HZ)
		rate_hz = hz;
	by_frame_pointers = unwind && strcmp(unwind, "fp") == 0;
	if (!by || strcmp(by, "cpu") != 0)
		return CLOCK_OF_WALL;
	timer_clock = CLOCK_THREAD_CPUTIME_ID;
	return CLOCK_OF_CPU;
}

__attribute__((constructor)) static void start_sampling(void)
{
	struct sigaction action = { .sa_sigaction = take_sample,
				    .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
	const char *prefix = getenv("STACKS_FILE");
	enum sample_clock clock = read_settings();

	if (!prefix || !sample_file_open(prefix, (uint64_t)rate_hz, clock))
		return;
	sample_file_save_maps();
	walk_prepare();
	if (pthread_key_create(&timer_key, delete_timer) ||
	    sigaction(SIGPROF, &action, NULL))
		return;
	/* A forked process has the mapping and the handler, but timers are not inherited. */
	pthread_atfork(NULL, NULL, begin_thread);
	active = true;
	begin_thread();
}

/* Once more, with what the program has loaded since. */
__attribute__((destructor)) static void finish_sampling(void)
{
	if (active)
		sample_file_save_maps();
}
