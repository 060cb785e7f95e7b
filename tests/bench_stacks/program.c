/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the sampler record: a thread that waits in sit() all the time, one that is
 * busy in burn(), and a recursion. With a word as the argument also something worse.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BURN_MS 250
#define SIT_MS  500
/* A minute: until somebody interrupts it. */
#define LONG_SITS 120

#define DEPTH   5
#define THREADS 40

/* Not static: the names must be there, as they are, in every build. */
void burn(int ms);
void again(int depth);
void sit(void);
void burn_in_child(void);

static sem_t never;
static char sitters_name[] = "the sitter";
static volatile uint64_t used;

static int64_t now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* CPU time, as the machine may be busy with other things. */
__attribute__((noinline)) void burn(int ms)
{
	int64_t end = now_ms(CLOCK_THREAD_CPUTIME_ID) + ms;

	while (now_ms(CLOCK_THREAD_CPUTIME_ID) < end) {
		for (int i = 0; i < 20000; i++)
			used = used * 3 + 1;
	}
}

__attribute__((noinline)) void again(int depth)
{
	if (depth > 1)
		again(depth - 1);
	else
		burn(BURN_MS);
	used++;
}

/* Nobody posts. A signal ends such a wait, also one whose handler restarts system calls. */
__attribute__((noinline)) void sit(void)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += SIT_MS * 1000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	while (sem_timedwait(&never, &end) && errno == EINTR)
		continue;
	used++;
}

static void *sitter(void *name)
{
	pthread_setname_np(pthread_self(), name);
	sit();
	return NULL;
}

static void *nothing(void *name)
{
	return name;
}

__attribute__((noinline)) void burn_in_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		burn(BURN_MS);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void many_threads(void)
{
	for (int i = 0; i < THREADS; i++) {
		pthread_t t;

		if (!pthread_create(&t, NULL, nothing, NULL))
			pthread_join(t, NULL);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t thread;

	sem_init(&never, 0, 0);
	if (strcmp(what, "long") == 0) {
		sit();
		puts("waiting");
		fflush(stdout);
		for (int i = 0; i < LONG_SITS; i++)
			sit();
		return 0;
	}
	pthread_create(&thread, NULL, sitter, sitters_name);
	if (strcmp(what, "fork") == 0)
		burn_in_child();
	else
		again(DEPTH);
	if (strcmp(what, "threads") == 0)
		many_threads();
	if (strcmp(what, "crash") == 0)
		raise(SIGSEGV);
	if (strcmp(what, "exec") == 0)
		execl(argv[0], argv[0], "status", (char *)NULL);
	pthread_join(thread, NULL);
	puts("done");
	return strcmp(what, "status") == 0 ? 7 : 0;
}
