/* SPDX-License-Identifier: MIT */
#include "peers_test.h"

#include "common/check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char program_name[] = "peers_test";

static const char *at_work;

/* In a signal handler. */
static void name_it(void)
{
	static const char text[] = "at work: ";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ||
	    write(STDERR_FILENO, at_work, strlen(at_work)) < 0 ||
	    write(STDERR_FILENO, "\n", 1) < 0)
		return;
}

void now_testing(const char *name)
{
	at_work = name;
	check_watchdog_report = name_it;
	check_watchdog(20);
	fprintf(stderr, "%s\n", name);
}

void in_threads(unsigned n, void *(*body)(void *), void *arg)
{
	pthread_t threads[16];

	CHECK(n <= 16);
	for (unsigned i = 0; i < n; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, body, arg), 0);
	for (unsigned i = 0; i < n; i++)
		CHECK_EQ(pthread_join(threads[i], NULL), 0);
}
