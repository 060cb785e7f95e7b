/* SPDX-License-Identifier: MIT */
/*
 * Whole numbers as people type them.
 */
#ifndef SEM_TEST_NUMBER_H
#define SEM_TEST_NUMBER_H

#include <stdint.h>

/*
 * Digits, with k for thousands or M for millions at the end: "800k". No sign, no blanks.
 * Return: 0 with the number in @n; -EINVAL if @text is not one from @least to @most.
 */
int number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *n);

#endif
