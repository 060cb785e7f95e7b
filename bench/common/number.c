/* SPDX-License-Identifier: MIT */
#include "number.h"

#include <errno.h>

int number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *n)
{
	const char *p = text;
	uint64_t v = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return -EINVAL;
	if (p == text || *p || v < least || v > most)
		return -EINVAL;
	*n = v;
	return 0;
}
