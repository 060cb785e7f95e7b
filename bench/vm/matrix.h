/* SPDX-License-Identifier: MIT */
/* The command line: what is to be measured. In a guest the kernel passes it on to its init. */
#ifndef BENCH_VM_MATRIX_H
#define BENCH_VM_MATRIX_H

#include <stdbool.h>

#define ROWS_MOST 8

struct matrix {
	bool guest;           /* whoever calls takes it for a guest's first process */
	const char *sem_test; /* the program that measures */
	const char *info;     /* a program that describes the machine, NULL: none */
	const char *dir;      /* for its result files */
	const char *items;
	const char *loops;
	unsigned runs;
	unsigned n_rows; /* 0: nothing but the description of the machine */
	char *row[ROWS_MOST];
};

/* The list of rows is cut up where it stands. Return: 0, or -EINVAL after one line on stderr. */
int matrix_parse(struct matrix *m, int argc, char **argv);

#endif
