/* SPDX-License-Identifier: MIT */
/* The command line. */
#ifndef WAIT_BENCH_OPTIONS_H
#define WAIT_BENCH_OPTIONS_H

#include "wakes.h"

#include <stdbool.h>
#include <stdint.h>

#define ROUNDS_MOST 49

struct options {
	unsigned rows;  /* bit i: row i of rows.c */
	unsigned wakes; /* bit i: the rows are measured with enum wakes i */
	unsigned rounds;
	double scale; /* of the default lengths */
	bool timer;   /* ticks come from a timer */
	bool no_progress;
	bool check;
	const char *json_path; /* NULL: none */
	int argc;
	char **argv;
};

/*
 * Fill in @o. Return: 0 to go on; 1 if the answer was printed (--help, --version);
 * -EINVAL after one line on stderr.
 */
int options_parse(struct options *o, int argc, char **argv);

/* @n at the scale that was asked for, but at least @least. */
uint64_t options_scaled(const struct options *o, uint64_t n, uint64_t least);

#endif
