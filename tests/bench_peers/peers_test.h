/* SPDX-License-Identifier: MIT */
/* What the tests of the peers share. */
#ifndef TESTS_PEERS_TEST_H
#define TESTS_PEERS_TEST_H

/* From here on @name is at work; who has not finished in 20 s is named, and the test ends. */
void now_testing(const char *name);

/* Run @body in @n threads, with the same argument, until all have returned. */
void in_threads(unsigned n, void *(*body)(void *), void *arg);

#endif
