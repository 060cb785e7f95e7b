/* SPDX-License-Identifier: MIT */
/* What a library that is loaded later offers to the program that loads it. */
#ifndef TESTS_PRELOAD_LIFE_CASE_H
#define TESTS_PRELOAD_LIFE_CASE_H

struct life_library {
	/* What its constructor found when it used one of each. */
	int constructed;
	/* Uses one of each, with a thread of its own on the other side. Returns 0 or an error. */
	int (*use)(void);
	/* What it exports for others to wait for and to post. */
	int (*wait)(void);
	int (*post)(void);
};

#endif
