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

#include "../../tools/common/outfile.h"

#include <sys/types.h>

/* SIGINT, SIGTERM, SIGHUP and SIGPIPE end the program with 128 + their number. */
void finish_on_signals(void);

/* In a child process: no clean-up here, the parent does it; a Ctrl-C is the parent's too. */
void finish_is_parents(void);

/*
 * The result file, as in outfile.h: from when it is open until it is complete it is removed. @o
 * lives as long.
 */
int finish_opens(struct outfile *o, const char *option, const char *path);
int finish_completes(struct outfile *o);

/* The child processes to kill, 0 for none. */
void finish_kills(unsigned slot, pid_t pid);

/* One line on stderr, then clean up and exit. */
_Noreturn void finish_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
