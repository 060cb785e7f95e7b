/* SPDX-License-Identifier: MIT */
/*
 * The accident matrix. A row is a few public functions, in calls that come to their system calls; a
 * column is an accident that happens at each of these. Every public function is in some row: a
 * column that is told the library's map complains of those that are not.
 */
#ifndef TESTS_IPC_MATRIX_H
#define TESTS_IPC_MATRIX_H

#include <stdbool.h>

struct matrix_row {
	const char *functions; /* with blanks between them */

	/* In the process's first thread, before the others begin. Or NULL. */
	void (*begin)(void);

	/* The calls, in the thread that the accident happens to. */
	void (*act)(void);

	/* What another thread does again and again until act() has returned. Or NULL. */
	void (*help)(void);

	/* After that: what was used is in order. Or NULL. */
	void (*end)(void);

	/* It takes long: the accident happens at few of its system calls. */
	bool slow;
};

/* The last has no functions. */
extern const struct matrix_row matrix_rows[], matrix_queue_rows[];

/* For help(): so much later. */
void matrix_pause(void);

#endif
