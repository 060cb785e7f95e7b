/* SPDX-License-Identifier: MIT */
/* Locks before main(), in libraries that are loaded, and at the end: life_case LIBRARY */
#include <dlfcn.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "life_case.h"
#include "say.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem;
static int told, stage;

static void *tell(void *arg)
{
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	told = 1;
	NEEDS(pthread_cond_signal(&cond) == 0);
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	pass_us(500);
	NEEDS(sem_post(&sem) == 0);
	return arg;
}

/* One of each, with a thread on the other side. */
static void use(const char *when)
{
	struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);
	pthread_t t;

	told = 0;
	NEEDS(sem_init(&sem, 0, 0) == 0 && pthread_mutex_lock(&mutex) == 0);
	t = begin_thread(tell, NULL);
	while (!told)
		NEEDS(pthread_cond_timedwait(&cond, &mutex, &at) == 0);
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	NEEDS(sem_wait(&sem) == 0);
	NEEDS(pthread_rwlock_rdlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
	(void)end_thread(t);
	say(when, 0);
}

__attribute__((constructor(101))) static void very_early(void)
{
	use("constructor, first");
}

__attribute__((constructor)) static void early(void)
{
	use("constructor");
}

__attribute__((destructor)) static void late(void)
{
	use("destructor");
}

static void at_exit(void)
{
	use("atexit");
}

static void *wait_in_library(void *arg)
{
	const struct life_library *l = arg;

	return (void *)(intptr_t)l->wait();
}

/* Opened, used from both sides, closed and opened again. */
static void library(const char *path, int flags, const char *name)
{
	int k;

	dprintf(1, "== %s\n", name);
	for (k = 0; k < 2; k++) {
		void *handle = dlopen(path, flags);
		struct life_library *l;
		pthread_t t;

		if (!handle)
			dprintf(1, "%s\n", dlerror());
		NEEDS(handle);
		l = dlsym(handle, "life_library");
		NEEDS(l);
		expect("constructor of the library", l->constructed, 0);
		expect("used", l->use(), 0);
		t = begin_thread(wait_in_library, l);
		pass_ms(1);
		expect("post in the library", l->post(), 0);
		expect_true("wait in the library", end_thread(t) == NULL);
		expect("dlclose", dlclose(handle), 0);
	}
}

/* dlopen() by one thread while others use locks. */
static int stop;

static void *lock_on(void *arg)
{
	while (!get(&stop)) {
		struct timespec at = in_ms(CLOCK_REALTIME, 0);

		NEEDS(pthread_mutex_lock(&mutex) == 0);
		NEEDS(pthread_cond_timedwait(&cond, &mutex, &at) == ETIMEDOUT);
		NEEDS(pthread_mutex_unlock(&mutex) == 0);
	}
	return arg;
}

static void loaded_meanwhile(const char *path)
{
	pthread_t t[2];
	int i;

	for (i = 0; i < 2; i++)
		t[i] = begin_thread(lock_on, NULL);
	library(path, RTLD_LAZY, "while others wait");
	set(&stop, 1);
	for (i = 0; i < 2; i++)
		(void)end_thread(t[i]);
}

/* The process ends while its threads wait for everything. */
static void *wait_for_ever(void *arg)
{
	static sem_t never;
	static pthread_cond_t nobody = PTHREAD_COND_INITIALIZER;
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER,
			       held = PTHREAD_MUTEX_INITIALIZER;

	add(&stage, 1);
	switch (*(int *)arg % 4) {
	case 0:
		NEEDS(pthread_mutex_lock(&held) == 0);
		(void)sem_wait(&never);
		break;
	case 1:
		NEEDS(pthread_mutex_lock(&own) == 0);
		for (;;)
			(void)pthread_cond_wait(&nobody, &own);
	case 2:
		pass_us(200);
		(void)pthread_mutex_lock(&held);
		break;
	default:
		for (;;) {
			NEEDS(pthread_rwlock_rdlock(&rwlock) == 0);
			NEEDS(pthread_rwlock_unlock(&rwlock) == 0);
		}
	}
	return NULL;
}

static void end_with_waiters(void *arg)
{
	int n[8], i;

	for (i = 0; i < 8; i++) {
		n[i] = i;
		(void)begin_thread(wait_for_ever, &n[i]);
	}
	NEEDS(becomes(&stage, 8));
	if (*(int *)arg % 2)
		pass_ms(2);
	if (*(int *)arg & 2)
		_exit(3);
	exit(3);
}

/* main()'s thread leaves, the last thread ends the process. */
static void *leave_last(void *arg)
{
	pass_ms(3);
	use("after the first thread has left");
	return arg;
}

static void end_by_pthread_exit(void *arg)
{
	(void)begin_thread(leave_last, arg);
	pthread_exit(NULL);
}

static void ends(void)
{
	int i;

	NEEDS(atexit(at_exit) == 0);
	for (i = 0; i < 4; i++)
		expect_child("exit with waiters", begin_child(end_with_waiters, &i),
			     3 << 8);
	expect_child("pthread_exit of the first thread",
		     begin_child(end_by_pthread_exit, NULL), 0);
}

int main(int argc, char **argv)
{
	say_begin();
	NEEDS(argc == 2);
	use("main");
	library(argv[1], RTLD_NOW, "now");
	library(argv[1], RTLD_LAZY | RTLD_DEEPBIND, "deep");
	library(argv[1], RTLD_LAZY | RTLD_GLOBAL, "global");
	loaded_meanwhile(argv[1]);
	ends();
	NEEDS(dlopen(argv[1], RTLD_NOW | RTLD_NODELETE)); /* its destructor runs at exit */
	return say_end();
}
