/* SPDX-License-Identifier: MIT */
/* Objects between this process and one that has nothing preloaded. */
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "moments.h"
#include "say.h"

#define TURNS 400

struct shared {
	sem_t there, back;
	pthread_mutex_t mutex, robust;
	pthread_cond_t cond, monotonic;
	pthread_rwlock_t rwlock;
	pthread_barrier_t barrier;
	long turn, counted, pair[2];
	int begun, torn, serial;
};

static struct shared *shared;

static void make(void)
{
	pthread_mutexattr_t m;
	pthread_condattr_t c;
	pthread_rwlockattr_t r;
	pthread_barrierattr_t b;

	NEEDS(sem_init(&shared->there, 1, 0) == 0 && sem_init(&shared->back, 1, 0) == 0);
	NEEDS(pthread_mutexattr_init(&m) == 0 && pthread_mutexattr_setpshared(&m, 1) == 0);
	NEEDS(pthread_mutex_init(&shared->mutex, &m) == 0);
	NEEDS(pthread_mutexattr_setrobust(&m, PTHREAD_MUTEX_ROBUST) == 0);
	NEEDS(pthread_mutex_init(&shared->robust, &m) == 0);
	NEEDS(pthread_condattr_init(&c) == 0 && pthread_condattr_setpshared(&c, 1) == 0);
	NEEDS(pthread_cond_init(&shared->cond, &c) == 0);
	NEEDS(pthread_condattr_setclock(&c, CLOCK_MONOTONIC) == 0);
	NEEDS(pthread_cond_init(&shared->monotonic, &c) == 0);
	NEEDS(pthread_rwlockattr_init(&r) == 0 &&
	      pthread_rwlockattr_setpshared(&r, 1) == 0);
	NEEDS(pthread_rwlock_init(&shared->rwlock, &r) == 0);
	NEEDS(pthread_barrierattr_init(&b) == 0 &&
	      pthread_barrierattr_setpshared(&b, 1) == 0);
	NEEDS(pthread_barrier_init(&shared->barrier, &b, 2) == 0);
}

/* Both sides do the same, @me is 0 or 1. */
static void sems(int me)
{
	int k;

	for (k = 0; k < TURNS; k++) {
		struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);

		if (me == 0)
			NEEDS(sem_post(&shared->there) == 0);
		NEEDS((k % 2 ? sem_wait(me ? &shared->there : &shared->back)
			     : sem_timedwait(me ? &shared->there : &shared->back, &at)) ==
		      0);
		if (me == 1)
			NEEDS(sem_post(&shared->back) == 0);
	}
}

static void mutexes(int me)
{
	int k;

	for (k = 0; k < TURNS * 4; k++) {
		pthread_mutex_t *m = k % 4 == me ? &shared->robust : &shared->mutex;
		struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);

		NEEDS((k % 2 ? pthread_mutex_lock(m) : pthread_mutex_timedlock(m, &at)) ==
		      0);
		if (m == &shared->mutex)
			shared->counted++;
		NEEDS(pthread_mutex_unlock(m) == 0);
	}
}

static void conds(int me)
{
	int k;

	NEEDS(pthread_mutex_lock(&shared->mutex) == 0);
	for (k = 0; k < TURNS; k++) {
		struct timespec at = in_ms(CLOCK_MONOTONIC, FAR_MS);

		while (shared->turn % 2 != me) {
			if (k % 3 == 0)
				NEEDS(pthread_cond_wait(&shared->cond, &shared->mutex) ==
				      0);
			else
				NEEDS(pthread_cond_clockwait(&shared->cond, &shared->mutex,
							     CLOCK_MONOTONIC, &at) == 0);
		}
		shared->turn++;
		NEEDS((k % 2 ? pthread_cond_signal(&shared->cond)
			     : pthread_cond_broadcast(&shared->cond)) == 0);
	}
	NEEDS(pthread_mutex_unlock(&shared->mutex) == 0);
}

static void rwlocks(int me)
{
	int k;

	for (k = 0; k < TURNS * 4; k++) {
		if (k % 4 == me) {
			NEEDS(pthread_rwlock_wrlock(&shared->rwlock) == 0);
			shared->pair[0]++;
			shared->pair[1]++;
		} else {
			NEEDS(pthread_rwlock_rdlock(&shared->rwlock) == 0);
			if (shared->pair[0] != shared->pair[1])
				add(&shared->torn, 1);
		}
		NEEDS(pthread_rwlock_unlock(&shared->rwlock) == 0);
	}
}

static void barriers(void)
{
	int k;

	for (k = 0; k < TURNS; k++) {
		int is = pthread_barrier_wait(&shared->barrier);

		NEEDS(is == 0 || is == PTHREAD_BARRIER_SERIAL_THREAD);
		if (is)
			add(&shared->serial, 1);
	}
}

static void both(int me)
{
	sems(me);
	mutexes(me);
	conds(me);
	rwlocks(me);
	barriers();
}

static void map(int fd)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	NEEDS(shared != MAP_FAILED);
}

/* A program of its own, as the loader would start it without LD_PRELOAD. */
static pid_t begin_other(const char *part, int fd)
{
	char number[16];
	pid_t child;

	(void)snprintf(number, sizeof(number), "%d", fd);
	child = fork();
	NEEDS(child >= 0);
	if (child == 0) {
		(void)unsetenv("LD_PRELOAD");
		(void)execl("/proc/self/exe", "shared_case", part, number, (char *)NULL);
		_exit(5);
	}
	return child;
}

static bool is_preloaded(void)
{
	static char maps[1 << 16];
	int fd = open("/proc/self/maps", O_RDONLY);
	size_t n = 0;
	ssize_t got;

	while (n < sizeof(maps) - 1 && (got = read(fd, maps + n, sizeof(maps) - 1 - n)) > 0)
		n += (size_t)got;
	(void)close(fd);
	return strstr(maps, "libipcwait-preload") != NULL;
}

static int other_side(const char *part, int fd)
{
	map(fd);
	NEEDS(!is_preloaded());
	if (strcmp(part, "both") == 0) {
		both(1);
	} else if (strcmp(part, "own") == 0) {
		NEEDS(pthread_mutex_lock(&shared->robust) == 0);
		set(&shared->begun, 1);
		for (;;)
			(void)pause();
	} else {
		struct timespec at = in_ms(CLOCK_MONOTONIC, FAR_MS);

		/* Sleeps in all that somebody else ends. */
		set(&shared->begun, 1);
		NEEDS(sem_wait(&shared->there) == 0);
		NEEDS(pthread_mutex_lock(&shared->mutex) == 0);
		set(&shared->begun, 2);
		while (get(&shared->begun) != 3)
			NEEDS(pthread_cond_timedwait(&shared->monotonic, &shared->mutex,
						     &at) == 0);
		NEEDS(pthread_mutex_unlock(&shared->mutex) == 0);
		NEEDS(pthread_rwlock_rdlock(&shared->rwlock) == 0);
		NEEDS(pthread_rwlock_unlock(&shared->rwlock) == 0);
	}
	return 0;
}

/* The other waits, long enough to sleep, for what this side does. */
static void wakes_sleepers(int fd)
{
	pid_t child;

	set(&shared->begun, 0);
	NEEDS(pthread_rwlock_wrlock(&shared->rwlock) == 0);
	child = begin_other("sleep", fd);
	NEEDS(becomes(&shared->begun, 1));
	pass_ms(5);
	NEEDS(pthread_mutex_lock(&shared->mutex) == 0);
	expect("post to a sleeper", error_of(sem_post(&shared->there)), 0);
	pass_ms(5);
	expect("unlock for a sleeper", pthread_mutex_unlock(&shared->mutex), 0);
	NEEDS(becomes(&shared->begun, 2));
	pass_ms(5);
	NEEDS(pthread_mutex_lock(&shared->mutex) == 0);
	set(&shared->begun, 3);
	expect("signal to a sleeper", pthread_cond_signal(&shared->monotonic), 0);
	NEEDS(pthread_mutex_unlock(&shared->mutex) == 0);
	pass_ms(5);
	expect("rwlock unlock for a sleeper", pthread_rwlock_unlock(&shared->rwlock), 0);
	expect_child("the sleeper", child, 0);
}

static void killed_owner(int fd)
{
	pid_t child;

	set(&shared->begun, 0);
	child = begin_other("own", fd);
	NEEDS(becomes(&shared->begun, 1));
	expect("trylock", pthread_mutex_trylock(&shared->robust), EBUSY);
	NEEDS(kill(child, SIGKILL) == 0);
	expect("lock", pthread_mutex_lock(&shared->robust), EOWNERDEAD);
	expect("consistent", pthread_mutex_consistent(&shared->robust), 0);
	expect("unlock", pthread_mutex_unlock(&shared->robust), 0);
	expect_child("the owner", child, SIGKILL);
}

int main(int argc, char **argv)
{
	pid_t child;
	int fd;

	say_begin();
	if (argc == 3)
		return other_side(argv[1], atoi(argv[2]));
	fd = memfd_create("shared", 0);
	NEEDS(fd >= 0 && ftruncate(fd, sizeof(*shared)) == 0);
	map(fd);
	make();
	child = begin_other("both", fd);
	both(0);
	expect_child("the other side", child, 0);
	expect_number("turns", shared->turn, 2L * TURNS);
	expect_number("counted", shared->counted, 2L * TURNS * 3);
	expect_number("written", shared->pair[1], 2L * TURNS);
	expect_number("torn", shared->torn, 0);
	expect_number("serial threads of barriers", shared->serial, TURNS);
	wakes_sleepers(fd);
	killed_owner(fd);
	return say_end();
}
