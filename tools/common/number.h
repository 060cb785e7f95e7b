/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_NUMBER_H
#define TOOLS_NUMBER_H

#include <stdint.h>

/*
 * A whole number from @least to @most, digits only: no sign, no blanks, no suffix.
 *
 * Return: 0, or -EINVAL with @n untouched.
 */
int number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *n);

/* The same with k for thousands or M for millions at the end, if one likes: "800k". */
int number_parse_large(const char *text, uint64_t least, uint64_t most, uint64_t *n);

#endif
