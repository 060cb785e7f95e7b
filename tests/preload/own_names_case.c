/* SPDX-License-Identifier: MIT */
/*
 * A program with functions of its own that have names of the C library's: they call the next ones,
 * and nothing but the program calls them.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <threads.h>

#include "say.h"

static int ran, conds;

static void *next(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	NEEDS(f != NULL);
	return f;
}

int __sigaction(int number, const struct sigaction *action, struct sigaction *old);
int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	int (*f)(int, const struct sigaction *, struct sigaction *);

	*(void **)&f = next("__sigaction");
	return f(number, action, old);
}

/* The one calls the other's next, as the runtime of Erlang does. */
int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	return __sigaction(number, action, old);
}

static int call_next(const char *name, pthread_cond_t *c)
{
	int (*f)(pthread_cond_t *);

	add(&conds, 1);
	*(void **)&f = next(name);
	return f(c);
}

int pthread_cond_signal(pthread_cond_t *c)
{
	return call_next("pthread_cond_signal", c);
}

int pthread_cond_broadcast(pthread_cond_t *c)
{
	return call_next("pthread_cond_broadcast", c);
}

int pthread_cond_destroy(pthread_cond_t *c)
{
	return call_next("pthread_cond_destroy", c);
}

static void on_signal(int number)
{
	(void)number;
	add(&ran, 1);
}

static void handlers(void)
{
	struct sigaction old;

	memset(&old, 0, sizeof(old));
	handle(SIGUSR1, on_signal, SA_RESTART);
	NEEDS(raise(SIGUSR1) == 0);
	expect_number("handler that sigaction has installed, ran", get(&ran), 1);
	expect("sigaction", error_of(sigaction(SIGUSR1, NULL, &old)), 0);
	expect_true("it is shown", old.sa_handler == on_signal);
	expect("__sigaction", error_of(__sigaction(SIGUSR1, &old, &old)), 0);
	NEEDS(raise(SIGUSR1) == 0);
	expect_number("handler that __sigaction has installed, ran", get(&ran), 2);
	expect_true("signal shows it", signal(SIGUSR1, SIG_DFL) == on_signal);
}

static void of_c11(void)
{
	cnd_t c;

	NEEDS(cnd_init(&c) == thrd_success);
	NEEDS(cnd_signal(&c) == thrd_success && cnd_broadcast(&c) == thrd_success);
	cnd_destroy(&c);
	expect_number("own functions, called by those of C11", get(&conds), 0);
}

static void of_posix(void)
{
	pthread_cond_t c;

	NEEDS(pthread_cond_init(&c, NULL) == 0);
	NEEDS(pthread_cond_signal(&c) == 0 && pthread_cond_broadcast(&c) == 0 &&
	      pthread_cond_destroy(&c) == 0);
	expect_number("own functions, called by the program", get(&conds), 3);
}

int main(void)
{
	say_begin();
	handlers();
	of_c11();
	of_posix();
	return say_end();
}
