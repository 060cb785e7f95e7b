/* SPDX-License-Identifier: MIT */
/* The bytes of an input, taken from the front. Behind the end all are zero. */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct input {
	const uint8_t *at;
	size_t left;
};

static inline void take_bytes(struct input *in, void *to, size_t size)
{
	size_t n = size < in->left ? size : in->left;

	memset(to, 0, size);
	if (n)
		memcpy(to, in->at, n);
	in->at += n;
	in->left -= n;
}

static inline uint8_t take_8(struct input *in)
{
	uint8_t v;

	take_bytes(in, &v, sizeof(v));
	return v;
}

static inline uint16_t take_16(struct input *in)
{
	uint16_t v;

	take_bytes(in, &v, sizeof(v));
	return v;
}

static inline uint32_t take_32(struct input *in)
{
	uint32_t v;

	take_bytes(in, &v, sizeof(v));
	return v;
}

static inline uint64_t take_64(struct input *in)
{
	uint64_t v;

	take_bytes(in, &v, sizeof(v));
	return v;
}

/*
 * A deadline: the extremes, the moments around @now_ns, some microseconds ahead, anything. Few
 * of those that are ahead expire far from now.
 */
static inline int64_t take_deadline(struct input *in, int64_t now_ns)
{
	uint8_t kind = take_8(in);

	switch (kind % 8) {
	case 0:
		return kind & 8 ? INT64_MIN : 0;
	case 1:
		return now_ns + (int8_t)take_8(in);
	case 2:
		return INT64_MAX - (kind >> 3 & 1);
	case 3:
		return (int64_t)take_64(in);
	case 4:
		return now_ns + take_32(in);
	default:
		return now_ns + take_16(in);
	}
}

/* One that has passed. */
static inline int64_t take_past_deadline(struct input *in, int64_t now_ns)
{
	int64_t deadline_ns = take_deadline(in, now_ns);

	return deadline_ns < now_ns ? deadline_ns : 0;
}

#endif
