/* SPDX-License-Identifier: MIT */
/*
 * One object, reached by whatever name and version a program or a library finds:
 *
 *	names_case LIBRARY
 *
 * The library is loaded with RTLD_DEEPBIND: what it calls is looked for in the C library first, and
 * its condition variables are its own.
 */
#include <dlfcn.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "names_case.h"
#include "say.h"

static struct names_object object;

static void *wait_by(void *arg)
{
	const struct names *n = arg;
	struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);
	long error = 0;

	NEEDS(n->lock(&object.mutex) == 0);
	object.waiting = 1;
	while (!object.told && !error)
		error = n->timedwait(&object.cond, &object.mutex, &at);
	NEEDS(n->unlock(&object.mutex) == 0);
	if (!error)
		error = n->sem_wait(&object.sem);
	return (void *)error;
}

static bool is_waiting(void *arg)
{
	const struct names *n = arg;
	bool waiting;

	NEEDS(n->lock(&object.mutex) == 0);
	waiting = object.waiting;
	NEEDS(n->unlock(&object.mutex) == 0);
	return waiting;
}

/* One waits by some names, another wakes by others. */
static void pair(const struct names *waiter, const struct names *waker)
{
	static const long before[] = { 0, 100, 5000 };
	char line[96];
	int i;

	for (i = 0; i < 3; i++) {
		pthread_t t;

		memset(&object, 0, sizeof(object));
		NEEDS(pthread_mutex_init(&object.mutex, NULL) == 0);
		NEEDS(pthread_cond_init(&object.cond, NULL) == 0);
		NEEDS(sem_init(&object.sem, 0, 0) == 0);
		t = begin_thread(wait_by, (void *)(uintptr_t)waiter);
		NEEDS(eventually(is_waiting, (void *)(uintptr_t)waker));
		if (before[i])
			pass_us(before[i]);
		NEEDS(waker->lock(&object.mutex) == 0);
		object.told = 1;
		NEEDS(waker->signal(&object.cond) == 0);
		NEEDS(waker->unlock(&object.mutex) == 0);
		pass_us(before[i]);
		NEEDS(waker->sem_post(&object.sem) == 0);
		(void)snprintf(line, sizeof(line), "waits as %s, woken as %s", waiter->name,
			       waker->name);
		expect(line, (int)(intptr_t)end_thread(t), 0);
		NEEDS(pthread_cond_destroy(&object.cond) == 0);
	}
}

static void *look_up(void *where, const char *name, const char *version)
{
	void *found = version ? dlvsym(where, name, version) : dlsym(where, name);

	NEEDS(found);
	return found;
}

/* A pointer to a function, from one to data. */
static void find(struct names *n, const char *name, void *where, const char *cond_version)
{
	void *found[] = {
		look_up(where, "pthread_mutex_lock", NULL),
		look_up(where, "pthread_mutex_unlock", NULL),
		look_up(where, "pthread_cond_timedwait", cond_version),
		look_up(where, "pthread_cond_signal", cond_version),
		look_up(where, "sem_wait", NULL),
		look_up(where, "sem_post", NULL),
	};

	n->name = name;
	memcpy(&n->lock, &found[0], sizeof(void *));
	memcpy(&n->unlock, &found[1], sizeof(void *));
	memcpy(&n->timedwait, &found[2], sizeof(void *));
	memcpy(&n->signal, &found[3], sizeof(void *));
	memcpy(&n->sem_wait, &found[4], sizeof(void *));
	memcpy(&n->sem_post, &found[5], sizeof(void *));
}

#define DEEP 3
#define MOST 5

int main(int argc, char **argv)
{
	struct names all[MOST] = { { "linked", pthread_mutex_lock, pthread_mutex_unlock,
				     pthread_cond_timedwait, pthread_cond_signal, sem_wait,
				     sem_post } };
	struct names *found;
	void *library;
	int i, k, n = DEEP + 1;

	say_begin();
	NEEDS(argc == 2);
	find(&all[1], "default", RTLD_DEFAULT, NULL);
	find(&all[2], "next", RTLD_NEXT, NULL);
	library = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
	NEEDS(library);
	found = dlsym(library, "names");
	NEEDS(found);
	all[DEEP] = *found;
	/* The version that all programs of x86-64 since 2003 are linked with. */
	if (dlvsym(RTLD_DEFAULT, "pthread_cond_signal", "GLIBC_2.3.2"))
		find(&all[n++], "of 2.3.2", RTLD_DEFAULT, "GLIBC_2.3.2");
	for (i = 0; i < n; i++) {
		for (k = 0; k < n; k++) {
			if ((i == DEEP) == (k == DEEP))
				pair(&all[i], &all[k]);
		}
	}
	return say_end();
}
