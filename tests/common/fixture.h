/* SPDX-License-Identifier: MIT */
/* A directory with made-up files, in place of the root. */
#ifndef TESTS_COMMON_FIXTURE_H
#define TESTS_COMMON_FIXTURE_H

#include <stddef.h>

struct fixture {
	char root[64];
};

void fixture_begin(struct fixture *f);

/* Make a file, and the directories above it, with this content. @path begins with a slash. */
void fixture_put(const struct fixture *f, const char *path, const char *text);
void fixture_put_bytes(const struct fixture *f, const char *path, const char *bytes,
		       size_t size);

/* Remove everything. */
void fixture_end(const struct fixture *f);

#endif
