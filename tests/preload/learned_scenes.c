/* SPDX-License-Identifier: MIT */
/* Sleeps and wakes that learned.py has a look at: learned_scenes SCENE */
#include <semaphore.h>
#include <string.h>

#include "say.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t sem;
static int done;

static void *lock_once(void *arg)
{
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	return arg;
}

/* While somebody sleeps, unlocks that leave the mutex locked. */
static void inner_unlocks(void)
{
	pthread_mutexattr_t attr;
	pthread_t t;
	int i;

	NEEDS(pthread_mutexattr_init(&attr) == 0);
	NEEDS(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE) == 0);
	NEEDS(pthread_mutex_init(&mutex, &attr) == 0);
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	t = begin_thread(lock_once, NULL);
	pass_ms(50);
	for (i = 0; i < 1000; i++)
		(void)lock_once(NULL);
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	(void)end_thread(t);
}

static void *lock_often(void *arg)
{
	int i;

	for (i = 0; i < 200; i++) {
		pass_us(500);
		(void)lock_once(NULL);
	}
	set(&done, 1);
	return arg;
}

/* Who was woken leaves the mark of sleepers, and its own unlock wakes nobody. */
static void last_unlocks(void)
{
	pthread_t t = begin_thread(lock_often, NULL);

	while (!get(&done)) {
		NEEDS(pthread_mutex_lock(&mutex) == 0);
		pass_us(2000);
		NEEDS(pthread_mutex_unlock(&mutex) == 0);
		pass_us(1000);
	}
	(void)end_thread(t);
}

#define BURSTS 100
#define TOKENS 200

static void *take_all(void *arg)
{
	int i;

	for (i = 0; i < BURSTS * TOKENS; i++)
		NEEDS(sem_wait(&sem) == 0);
	return arg;
}

/* The first token wakes, and those that follow find a sleeper who has been woken. */
static void bursts(void)
{
	pthread_t t;
	int i, k;

	NEEDS(sem_init(&sem, 0, 0) == 0);
	t = begin_thread(take_all, NULL);
	for (i = 0; i < BURSTS; i++) {
		pass_us(2000);
		for (k = 0; k < TOKENS; k++)
			NEEDS(sem_post(&sem) == 0);
	}
	(void)end_thread(t);
}

static const struct scene {
	const char *name;
	void (*play)(void);
} scenes[] = {
	{ "inner unlocks", inner_unlocks },
	{ "last unlocks", last_unlocks },
	{ "bursts", bursts },
};

int main(int argc, char **argv)
{
	unsigned i;

	NEEDS(argc == 2);
	for (i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (strcmp(scenes[i].name, argv[1]) == 0) {
			scenes[i].play();
			return 0;
		}
	}
	return 1;
}
