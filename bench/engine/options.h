/* SPDX-License-Identifier: MIT */
/* The command line. */
#ifndef WAIT_BENCH_OPTIONS_H
#define WAIT_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define ROUNDS_MOST 49

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,      /* a row failed: its figures mean nothing */
	EXIT_BAD_INPUT = 2,   /* nothing was run */
	EXIT_NOT_REACHED = 3, /* with --check: a bar was not reached */
};

struct options {
	unsigned rows; /* bit i: row i of rows.c */
	unsigned rounds;
	double scale; /* of the default lengths */
	bool timer;   /* ticks come from a timer */
	bool progress;
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
