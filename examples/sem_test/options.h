/* SPDX-License-Identifier: MIT */
/*
 * The command line.
 */
#ifndef SEM_TEST_OPTIONS_H
#define SEM_TEST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum mode {
	MODE_HAND_OFF,    /* the classic two-semaphore hand-off */
	MODE_IDLE,        /* the producer sleeps before each item: long waits */
	MODE_UNCONTENDED, /* one thread posts and waits */
};

struct options {
	enum mode mode;
	uint64_t items;
	uint64_t loops;
	uint64_t idle_us;
	unsigned repeat;
	unsigned rows; /* bit i: row i of rows.h */
	bool threads;
	bool processes;
	bool one_cpu;
	bool objects;
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

#endif
