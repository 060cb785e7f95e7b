/* SPDX-License-Identifier: MIT */
/*
 * Ending early without leaving anything behind.
 *
 * Whatever ends the program before its time - a signal, a failed run, a reader that went
 * away - removes the unfinished result file and kills the child processes. Threads, the
 * hogs among them, end with the process.
 */
#ifndef SEM_TEST_FINISH_H
#define SEM_TEST_FINISH_H

#include <stdbool.h>
#include <sys/types.h>

enum {
	EXIT_FAILED = 1,      /* a run failed: its figures mean nothing */
	EXIT_BAD_INPUT = 2,   /* nothing was run */
	EXIT_NOT_REACHED = 3, /* with --check: a bar was not reached */
};

/* SIGINT, SIGTERM, SIGHUP and SIGPIPE end the program with 128 + their number. */
void finish_on_signals(void);

/* In a child process: no clean-up here, the parent does it; a Ctrl-C is the parent's too. */
void finish_is_parents(void);

/* The file to remove, or NULL for none. Copied. */
void finish_removes(const char *path);

/* The child processes to kill, 0 for none. */
void finish_kills(unsigned slot, pid_t pid);

/* One line on stderr, then clean up and exit. */
_Noreturn void finish_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
