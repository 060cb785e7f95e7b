/* SPDX-License-Identifier: MIT */
/* fork(2), vfork(2), exec(3) and posix_spawn(3) in the middle of waits. */
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "moments.h"
#include "say.h"

#define CROWD 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem;
static int waiting, told, back;

static void *wait_with_cond(void *arg)
{
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	waiting++;
	while (!told)
		NEEDS(pthread_cond_wait(&cond, &mutex) == 0);
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	add(&back, 1);
	return arg;
}

static void *wait_with_sem(void *arg)
{
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	waiting++;
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	NEEDS(sem_wait(&sem) == 0);
	add(&back, 1);
	return arg;
}

static bool all_wait(void *arg)
{
	bool all;

	NEEDS(pthread_mutex_lock(&mutex) == 0);
	all = waiting == *(int *)arg;
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	return all;
}

/* Copies in which others wait are made anew; everything else works as it is. */
static void *tell_in_child(void *arg)
{
	pthread_cond_t *c = arg;

	NEEDS(pthread_mutex_lock(&mutex) == 0);
	told = 1;
	NEEDS(pthread_cond_broadcast(c) == 0);
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	pass_ms(1);
	NEEDS(sem_post(&sem) == 0);
	return NULL;
}

static void use_in_child(void *arg)
{
	struct timespec at = in_ms(CLOCK_REALTIME, FAR_MS);
	pthread_cond_t own = PTHREAD_COND_INITIALIZER;
	pthread_t t;

	expect("trylock in the child", pthread_mutex_trylock(&mutex), 0);
	told = 0;
	expect("timedwait, over", pthread_cond_timedwait(&own, &mutex, &moments[0].at),
	       ETIMEDOUT);
	t = begin_thread(tell_in_child, &own);
	while (!told)
		NEEDS(pthread_cond_timedwait(&own, &mutex, &at) == 0);
	expect("unlock in the child", pthread_mutex_unlock(&mutex), 0);
	expect("sem_timedwait in the child", error_of(sem_timedwait(&sem, &at)), 0);
	(void)end_thread(t);
	expect("wrlock in the child", pthread_rwlock_wrlock(&rwlock), 0);
	expect("unlock in the child", pthread_rwlock_unlock(&rwlock), 0);
	expect_number("nobody is back in the child", back, 0);
	if (arg)
		expect_child("a grandchild", begin_child(use_in_child, NULL), 0);
}

/* The copy of a condition variable that the parent's threads wait for. */
static void use_the_copy(void *arg)
{
	struct timespec at = in_ms(CLOCK_REALTIME, 30);
	int error;

	NEEDS(pthread_mutex_lock(&mutex) == 0);
	expect("signal of the copy", pthread_cond_signal(&cond), 0);
	expect("broadcast of the copy", pthread_cond_broadcast(&cond), 0);
	error = pthread_cond_timedwait(&cond, &mutex, &at);
	expect_true("wait for the copy", error == 0 || error == ETIMEDOUT);
	expect("unlock", pthread_mutex_unlock(&mutex), 0);
	(void)arg;
}

static void forked(long after_us)
{
	pthread_t t[CROWD];
	int i, yes = 1, all = CROWD;

	NEEDS(sem_init(&sem, 0, 0) == 0);
	waiting = told = back = 0;
	for (i = 0; i < CROWD; i++)
		t[i] = begin_thread(i % 2 ? wait_with_sem : wait_with_cond, NULL);
	NEEDS(eventually(all_wait, &all));
	if (after_us)
		pass_us(after_us);
	NEEDS(pthread_mutex_lock(&mutex) ==
	      0); /* so that it is free in the child when let go */
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	expect_child("the child", begin_child(use_in_child, &yes), 0);
	expect_child("the child with a copy", begin_child(use_the_copy, NULL), 0);
	NEEDS(pthread_mutex_lock(&mutex) == 0);
	told = 1;
	NEEDS(pthread_cond_broadcast(&cond) == 0);
	NEEDS(pthread_mutex_unlock(&mutex) == 0);
	for (i = 0; i < CROWD / 2; i++)
		NEEDS(sem_post(&sem) == 0);
	for (i = 0; i < CROWD; i++)
		(void)end_thread(t[i]);
	expect_number("back in the parent", back, CROWD);
}

/* What another thread holds in the parent nobody gives back in the child. */
static int step;

static void *hold(void *arg)
{
	NEEDS(pthread_mutex_lock(&mutex) == 0 && pthread_rwlock_wrlock(&rwlock) == 0);
	set(&step, 1);
	NEEDS(becomes(&step, 2));
	NEEDS(pthread_mutex_unlock(&mutex) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
	return arg;
}

static void look_in_child(void *arg)
{
	struct timespec at = in_ms(CLOCK_REALTIME, 20);

	(void)arg;
	expect("trylock, held in the parent", pthread_mutex_trylock(&mutex), EBUSY);
	expect("timedlock, held in the parent", pthread_mutex_timedlock(&mutex, &at),
	       ETIMEDOUT);
	expect("tryrdlock, held in the parent", pthread_rwlock_tryrdlock(&rwlock), EBUSY);
	expect("timedrdlock, held in the parent", pthread_rwlock_timedrdlock(&rwlock, &at),
	       ETIMEDOUT);
	expect("unlock of a default mutex of the parent's", pthread_mutex_unlock(&mutex),
	       0);
	expect("lock then", pthread_mutex_lock(&mutex), 0);
}

static void held(void)
{
	pthread_t t = begin_thread(hold, NULL);

	NEEDS(becomes(&step, 1));
	expect_child("the child", begin_child(look_in_child, NULL), 0);
	set(&step, 2);
	(void)end_thread(t);
	expect("lock in the parent", pthread_mutex_lock(&mutex), 0);
	expect("unlock in the parent", pthread_mutex_unlock(&mutex), 0);
}

/* Hooks of fork() that lock, as the allocators and many libraries have them. */
static pthread_mutex_t hooked = PTHREAD_MUTEX_INITIALIZER;

static void before(void)
{
	NEEDS(pthread_mutex_lock(&hooked) == 0);
}

static void after(void)
{
	NEEDS(pthread_mutex_unlock(&hooked) == 0);
}

static int stop;

static void *lock_on(void *arg)
{
	while (!get(&stop)) {
		NEEDS(pthread_mutex_lock(&hooked) == 0);
		NEEDS(pthread_mutex_unlock(&hooked) == 0);
	}
	return arg;
}

static void lock_in_child(void *arg)
{
	(void)arg;
	NEEDS(pthread_mutex_lock(&hooked) == 0 && pthread_mutex_unlock(&hooked) == 0);
}

static void hooks(void)
{
	pthread_t t[2];
	int i, good = 0;

	NEEDS(pthread_atfork(before, after, after) == 0);
	t[0] = begin_thread(lock_on, NULL);
	t[1] = begin_thread(lock_on, NULL);
	for (i = 0; i < 20; i++) {
		pid_t child = begin_child(lock_in_child, NULL);
		int status = -1;

		NEEDS(waitpid(child, &status, 0) == child);
		good += status == 0;
	}
	set(&stop, 1);
	(void)end_thread(t[0]);
	(void)end_thread(t[1]);
	expect_number("children of fork with hooks", good, 20);
}

/* Another program, in every way, while threads wait. */
static int run_as_child(void)
{
	struct timespec at = in_ms(CLOCK_REALTIME, 5);

	NEEDS(sem_init(&sem, 0, 0) == 0);
	expect("sem_timedwait in the new program", error_of(sem_timedwait(&sem, &at)),
	       ETIMEDOUT);
	return 21;
}

static void exec_itself(void *arg)
{
	(void)arg;
	waiting = 0;
	(void)begin_thread(wait_with_sem, NULL);
	pass_ms(1);
	(void)execl("/proc/self/exe", "fork_case", "child", (char *)NULL);
	_exit(1);
}

static void programs(void)
{
	char *const arguments[] = { (char[]){ "fork_case" }, (char[]){ "child" }, NULL };
	pthread_t t;
	pid_t child;
	int all = 1;

	NEEDS(sem_init(&sem, 0, 0) == 0);
	waiting = back = 0;
	t = begin_thread(wait_with_sem, NULL);
	NEEDS(eventually(all_wait, &all));
	child = vfork();
	if (child == 0) {
		(void)execv("/proc/self/exe", arguments);
		_exit(1);
	}
	expect_child("vfork and exec", child, 21 << 8);
	NEEDS(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0);
	expect_child("posix_spawn", child, 21 << 8);
	expect_child("exec beside a waiter", begin_child(exec_itself, NULL), 21 << 8);
	expect_number("system", system("exit 5"), 5 << 8);
	expect_number("the waiter is not back", get(&back), 0);
	NEEDS(sem_post(&sem) == 0);
	(void)end_thread(t);
}

int main(int argc, char **argv)
{
	(void)argv;
	say_begin();
	if (argc > 1)
		return run_as_child();
	forked(0);
	forked(5000);
	held();
	hooks();
	programs();
	return say_end();
}
