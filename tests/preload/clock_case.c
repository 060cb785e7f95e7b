/* SPDX-License-Identifier: MIT */
/*
 * Deadlines by a clock that another library has put in front of libc's (clock_library.c): waits
 * end, and not before their time. Arguments: "behind" if that library comes after the module, so
 * that deadlines reach the module by that clock; "before" if it comes first, and would tell the
 * module the kernel's time.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "say.h"

#define WAIT_NS  20000000
#define NS_PER_S 1000000000L

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static int64_t kernels_ns(clockid_t clock)
{
	struct timespec now;

	NEEDS(syscall(SYS_clock_gettime, clock, &now) == 0);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static bool by_kernel;

static struct timespec soon(clockid_t clock)
{
	struct timespec now;
	int64_t ns;

	NEEDS(clock_gettime(clock, &now) == 0);
	ns = by_kernel ? kernels_ns(clock) : now.tv_sec * NS_PER_S + now.tv_nsec;
	ns += WAIT_NS;
	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

static int wait_on(pthread_cond_t *c, clockid_t clock, int with_clock)
{
	struct timespec at = soon(clock);

	return with_clock ? pthread_cond_clockwait(c, &m, clock, &at)
			  : pthread_cond_timedwait(c, &m, &at);
}

static void expires(const char *name, pthread_cond_t *c, clockid_t clock, int with_clock)
{
	int64_t began = kernels_ns(CLOCK_MONOTONIC);

	expect(name, wait_on(c, clock, with_clock), ETIMEDOUT);
	expect_least("ns until then", (long)(kernels_ns(CLOCK_MONOTONIC) - began), WAIT_NS);
}

int main(int argc, char **argv)
{
	pthread_condattr_t attributes;
	pthread_cond_t monotonic;

	say_begin();
	by_kernel = argc > 1 && strcmp(argv[1], "before") == 0;
	NEEDS(pthread_condattr_init(&attributes) == 0);
	NEEDS(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
	NEEDS(pthread_cond_init(&monotonic, &attributes) == 0);
	(void)pthread_mutex_lock(&m);
	expires("timedwait", &cond, CLOCK_REALTIME, 0);
	expires("timedwait, monotonic", &monotonic, CLOCK_MONOTONIC, 0);
	expires("clockwait", &cond, CLOCK_REALTIME, 1);
	expires("clockwait, monotonic", &cond, CLOCK_MONOTONIC, 1);
	return say_end();
}
