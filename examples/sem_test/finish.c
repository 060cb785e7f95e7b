/* SPDX-License-Identifier: MIT */
#include "finish.h"
#include "../../tools/common/bar.h"
#include "../../tools/common/complain.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHILDREN 2

/* Read by signal handlers: each is one store. */
static struct outfile *volatile unfinished;
static volatile pid_t children[CHILDREN];
static volatile bool bar_there; /* there may be one */

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
#define N_ENDING (sizeof(ending_signals) / sizeof(ending_signals[0]))

/* Async-signal-safe. */
static void clean_up(void)
{
	static const char clear_line[] = BAR_TO_LINE_START_AND_CLEAR;

	if (bar_there)
		(void)!write(STDERR_FILENO, clear_line, sizeof(clear_line) - 1);
	for (unsigned i = 0; i < CHILDREN; i++)
		if (children[i] > 0)
			kill(children[i], SIGKILL);
	if (unfinished)
		unlink(unfinished->unfinished);
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
	bar_there = bar_possible();
	for (unsigned i = 0; i < N_ENDING; i++)
		set_handler(ending_signals[i], end);
}

void finish_is_parents(void)
{
	for (unsigned i = 0; i < N_ENDING; i++)
		set_handler(ending_signals[i], SIG_DFL);
	set_handler(SIGINT, SIG_IGN);
	set_handler(SIGHUP, SIG_IGN);
	unfinished = NULL;
	children[0] = 0;
	children[1] = 0;
}

int finish_opens(struct outfile *o, const char *option, const char *path)
{
	sigset_t all, before;
	int r;

	/* A signal in between would leave the file. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	r = outfile_open(o, option, path);
	unfinished = r ? NULL : o;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

int finish_completes(struct outfile *o)
{
	int r = outfile_complete(o);

	unfinished = NULL;
	return r;
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
	va_start(args, format);
	complain_list(format, args);
	_exit(EXIT_FAILED);
}
