/* SPDX-License-Identifier: MIT */
#include "finish.h"

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHILDREN 2

/* Read by signal handlers: the path changes with signals blocked, a pid is one store. */
static char unfinished[PATH_MAX];
static volatile pid_t children[CHILDREN];

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
#define N_ENDING (sizeof(ending_signals) / sizeof(ending_signals[0]))

/* Async-signal-safe. */
static void clean_up(void)
{
	static const char clear_line[] = "\r\033[K";

	/* A progress bar may be there. */
	if (isatty(STDERR_FILENO))
		(void)!write(STDERR_FILENO, clear_line, sizeof(clear_line) - 1);
	for (unsigned i = 0; i < CHILDREN; i++)
		if (children[i] > 0)
			kill(children[i], SIGKILL);
	if (unfinished[0])
		unlink(unfinished);
}

static void end(int signal_number)
{
	clean_up();
	_exit(128 + signal_number);
}

static void set_handler(int signal_number, void (*handler)(int))
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sigfillset(&sa.sa_mask);
	sigaction(signal_number, &sa, NULL);
}

void finish_on_signals(void)
{
	for (unsigned i = 0; i < N_ENDING; i++)
		set_handler(ending_signals[i], end);
}

void finish_is_parents(void)
{
	for (unsigned i = 0; i < N_ENDING; i++)
		set_handler(ending_signals[i], SIG_DFL);
	set_handler(SIGINT, SIG_IGN);
	set_handler(SIGHUP, SIG_IGN);
	unfinished[0] = 0;
	children[0] = 0;
	children[1] = 0;
}

void finish_removes(const char *path)
{
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	snprintf(unfinished, sizeof(unfinished), "%s", path ? path : "");
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void finish_kills(unsigned slot, pid_t pid)
{
	children[slot] = pid;
}

void finish_failed(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	clean_up();
	fputs("sem_test: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(EXIT_FAILED);
}
