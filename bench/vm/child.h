/* SPDX-License-Identifier: MIT */
/* Running a program to its end, or to the end of its time. */
#ifndef BENCH_VM_CHILD_H
#define BENCH_VM_CHILD_H

#include <stdbool.h>

#define CHILD_SECONDS_MOST 50

/*
 * @argv[0] is the program's path. Its standard output goes to the file @out, or nowhere if that
 * is NULL, and what it says on stderr to @err.
 *
 * Return: true if it ended with status 0. Otherwise @why says what happened.
 */
bool child_run(char *const argv[], const char *out, const char *err, char *why, int size);

/* The whole file as a string, for free(), or NULL. */
char *child_read_file(const char *path);

#endif
