/* SPDX-License-Identifier: MIT */
/*
 * `ipcwait awake` beside a row: idle CPUs poll, or are kept from halting, while that pays. The same
 * end as that of the busy threads, hog.h, by whoever watches whether it is worth it.
 */
#ifndef SEM_TEST_AWAKE_H
#define SEM_TEST_AWAKE_H

#include <sys/types.h>

/*
 * Start it and give it time to have sampled: the one in this program's folder, or of its build, or
 * in the PATH. Return: its process; -ENOENT: there is none; -EOPNOTSUPP: it can do nothing here,
 * and has said why on stderr; another negative errno.
 */
pid_t awake_start(void);

/* Ends it. Return: the CPU seconds that it used. */
double awake_stop(pid_t pid);

#endif
