/* SPDX-License-Identifier: MIT */
#include "number.h"

#include <errno.h>

/* The digits that @text begins with, which are left behind. */
static int digits(const char **text, uint64_t *n)
{
	const char *p = *text;
	uint64_t v = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return -EINVAL;
	if (p == *text)
		return -EINVAL;
	*text = p;
	*n = v;
	return 0;
}

static int within(uint64_t v, uint64_t least, uint64_t most, uint64_t *n)
{
	if (v < least || v > most)
		return -EINVAL;
	*n = v;
	return 0;
}

int number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *n)
{
	uint64_t v;

	return digits(&text, &v) || *text ? -EINVAL : within(v, least, most, n);
}

int number_parse_large(const char *text, uint64_t least, uint64_t most, uint64_t *n)
{
	uint64_t v, factor;

	if (digits(&text, &v))
		return -EINVAL;
	factor = *text == 'k' ? 1000 : *text == 'M' ? 1000 * 1000 : 1;
	text += factor != 1;
	if (*text || __builtin_mul_overflow(v, factor, &v))
		return -EINVAL;
	return within(v, least, most, n);
}
