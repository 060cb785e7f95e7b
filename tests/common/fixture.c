/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/check.h"
#include "common/fixture.h"

#define PATH_BYTES 4096

void fixture_begin(struct fixture *f)
{
	(void)snprintf(f->root, sizeof(f->root), "/tmp/iw-fixture-XXXXXX");
	CHECK(mkdtemp(f->root) != NULL);
}

void fixture_put_bytes(const struct fixture *f, const char *path, const char *bytes,
		       size_t size)
{
	char full[PATH_BYTES];
	int fd;

	CHECK(snprintf(full, sizeof(full), "%s%s", f->root, path) < PATH_BYTES);
	for (char *at = full + strlen(f->root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		CHECK(mkdir(full, 0700) == 0 || errno == EEXIST);
		*at = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, bytes, size), size);
	CHECK_EQ(close(fd), 0);
}

void fixture_put(const struct fixture *f, const char *path, const char *text)
{
	fixture_put_bytes(f, path, text, strlen(text));
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
	(void)s;
	(void)kind;
	(void)at;
	return remove(path);
}

void fixture_end(const struct fixture *f)
{
	CHECK_EQ(nftw(f->root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}
