/* SPDX-License-Identifier: MIT */
/* Mistakes that can be made with one kind of object only. */
#ifndef TESTS_UNIT_MISUSE_H
#define TESTS_UNIT_MISUSE_H

struct misuse {
	void (*body)(void);             /* makes it */
	const char *kind, *call, *what; /* how the line begins, names the call, goes on */
};

/* Each ends with an entry without a body. */
extern const struct misuse misuse_of_sem[];
extern const struct misuse misuse_of_futex[];
extern const struct misuse misuse_of_cond[];
extern const struct misuse misuse_of_mutex[];
extern const struct misuse misuse_of_rwlock[];
extern const struct misuse misuse_of_gates[];
extern const struct misuse misuse_of_sets[];

/* Right, though it may look wrong. Ends with NULL. */
extern void (*const no_misuse[])(void);

#endif
