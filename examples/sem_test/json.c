/* SPDX-License-Identifier: MIT */
#include "json.h"
#include "finish.h"
#include "json_text.h"
#include "shown.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct json_file {
	FILE *f;
	char path[PATH_MAX];
	char unfinished[PATH_MAX];
};

/* What the rename would replace must be a file that the user could write. */
static int check_place(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	return access(path, W_OK) ? -errno : 0;
}

/* fopen's "x" makes it fail rather than follow or empty what is there. */
static int open_unfinished(struct json_file *file, const char *path)
{
	int n = snprintf(file->path, sizeof(file->path), "%s", path);
	int m = snprintf(file->unfinished, sizeof(file->unfinished), "%s.%ld.unfinished",
			 path, (long)getpid());
	int r = check_place(path);

	if (n >= PATH_MAX || m >= PATH_MAX)
		return -ENAMETOOLONG;
	if (r)
		return r;
	finish_removes(file->unfinished);
	file->f = fopen(file->unfinished, "wxe");
	if (file->f)
		return 0;
	r = -errno;
	finish_removes(NULL);
	return r;
}

struct json_file *json_open(const char *path)
{
	struct json_file *file = calloc(1, sizeof(*file));
	int r = file ? open_unfinished(file, path) : -ENOMEM;

	if (!r)
		return file;
	fprintf(stderr, "sem_test: --json: cannot write '%s': %s\n", shown(path, -1),
		r == -ENOTSUP ? "not a regular file" : strerror(-r));
	free(file);
	return NULL;
}

static int complete(struct json_file *file)
{
	int failed = fflush(file->f) || ferror(file->f) || fsync(fileno(file->f));
	int r = failed ? -errno : 0;

	if (fclose(file->f) && !r)
		r = -errno;
	if (!r && rename(file->unfinished, file->path))
		r = -errno;
	if (r)
		unlink(file->unfinished);
	return r;
}

int json_write(struct json_file *file, const struct results *r)
{
	int result;

	json_text_write(file->f, r);
	result = complete(file);
	finish_removes(NULL);
	free(file);
	return result;
}
