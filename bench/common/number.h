/* SPDX-License-Identifier: MIT */
#ifndef BENCH_NUMBER_H
#define BENCH_NUMBER_H

#include <stdint.h>

/*
 * A whole number from @least to @most, digits only: no sign, no blanks, no suffix.
 *
 * Return: 0, or -EINVAL with @n untouched.
 */
int number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *n);

#endif
