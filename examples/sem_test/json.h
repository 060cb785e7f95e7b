/* SPDX-License-Identifier: MIT */
/*
 * The result file: all raw runs, medians, environment, command, bars.
 *
 * It is written beside its place and renamed when it is complete, so nobody ever reads
 * half of it.
 */
#ifndef SEM_TEST_JSON_H
#define SEM_TEST_JSON_H

#include "results.h"

struct json_file;

/*
 * Before anything is measured: is @path a place where the file can be? NULL after one line
 * on stderr.
 */
struct json_file *json_open(const char *path);

/* Return: 0, or -errno; then @path is as it was. */
int json_write(struct json_file *file, const struct results *r);

#endif
