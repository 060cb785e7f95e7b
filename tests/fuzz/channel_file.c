/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the file of a channel between processes: instead of some of its head before somebody
 * attaches, and of any of its words while somebody uses it. Whatever they are, attach believes only
 * what it can check, and calls end, with a result that their headers list, and touch nothing else.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/fuzz.h"
#include "fuzz/input.h"
#include "queue/shared.h"

#define CALLS_MOST 24

/* Small ones: what is far behind the end is not mapped. */
#define CAPACITY_MOST 9
#define ELEM_MOST     40

static int file(const struct iw_shared_geometry *g)
{
	int fd = memfd_create("channel_file", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0 && iw_shared_create(fd, g) == 0);
	return fd;
}

/* @n bytes at @at, which may be behind the end. */
static void overwrite(int fd, struct input *in, uint64_t at, unsigned n)
{
	uint8_t bytes[16];

	take_bytes(in, bytes, sizeof(bytes));
	FUZZ_CHECK(pwrite(fd, bytes, n % (sizeof(bytes) + 1), (off_t)at) >= 0);
}

/* A word is replaced, or one bit of it turned over. */
static void scribble(struct iw_shared *s, struct input *in)
{
	uint64_t *words = (uint64_t *)(void *)s->head;
	uint16_t where = take_16(in);
	uint64_t *word = &words[(where >> 1) % (s->is.bytes / sizeof(*words))];

	*word = where & 1 ? *word ^ UINT64_C(1) << take_8(in) % 64 : take_64(in);
}

static bool listed(int r)
{
	return r == 0 || r == -EAGAIN || r == -EPIPE || r == -EBADMSG;
}

static void call(struct iw_shared *s, struct input *in, unsigned char *elem)
{
	uint64_t lo, hi;

	switch (take_8(in) % 8) {
	case 0:
	case 1:
		FUZZ_CHECK(listed(iw_shared_trysend(s, elem)));
		break;
	case 2:
	case 3:
		FUZZ_CHECK(listed(iw_shared_tryrecv(s, elem)));
		break;
	case 4:
		iw_shared_length(s, &lo, &hi);
		FUZZ_CHECK(lo <= hi && hi <= s->is.capacity);
		break;
	case 5:
		(void)iw_shared_is_ready(s);
		break;
	case 6:
		FUZZ_CHECK(iw_shared_close(s) >= -EALREADY);
		break;
	default:
		(void)iw_shared_inherit(s, take_8(in));
	}
}

static void use(struct iw_shared *s, struct input *in)
{
	/* Of its size, so that a copy of more is noticed. */
	unsigned char *elem = calloc(1, s->is.elem_bytes);

	FUZZ_CHECK(elem);
	for (unsigned i = 0; i < CALLS_MOST && in->left; i++) {
		if (take_8(in) & 1)
			scribble(s, in);
		call(s, in, elem);
	}
	free(elem);
}

/* Other sizes than it was made for may be believed, if they fit into the same slots. */
static bool fits(const struct iw_shared_geometry *seen,
		 const struct iw_shared_geometry *made)
{
	struct iw_shared_geometry g;

	return iw_shared_measure(seen->elem_bytes, seen->capacity, &g) &&
	       g.bytes == made->bytes && seen->bytes == made->bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct iw_shared_geometry g;
	struct iw_shared s;
	uint8_t changes;
	int fd;

	FUZZ_CHECK(iw_shared_measure(take_8(&in) % ELEM_MOST + 1,
				     take_8(&in) % CAPACITY_MOST + 1, &g));
	fd = file(&g);
	changes = take_8(&in) % 4;
	for (unsigned i = 0; i < changes; i++)
		overwrite(fd, &in, take_8(&in), take_8(&in));
	if (iw_shared_attach(&s, fd) == 0) {
		FUZZ_CHECK(fits(&s.is, &g));
		use(&s, &in);
		iw_shared_detach(&s);
	}
	close(fd);
	return 0;
}
