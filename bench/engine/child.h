/* SPDX-License-Identifier: MIT */
/* A process for a part of a row: what the library learns there ends with it. */
#ifndef WAIT_BENCH_CHILD_H
#define WAIT_BENCH_CHILD_H

#include <sys/types.h>

/* As fork(), but the child dies with its parent, and a failure ends the program. */
pid_t child_start(void);

/* Until it has ended. If it has failed so does the program; @name is for the message. */
void child_end(pid_t pid, const char *name);

/* At once: all get the signal before any is waited for. */
void child_kill(const pid_t *pids, unsigned n);

#endif
