/* SPDX-License-Identifier: MIT */
#include "awake_found.h"
#include "../tools/common/foreign_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOT_FILE  "/proc/sys/kernel/random/boot_id"
#define BOOT_BYTES 64

/* The whole file, one line. Boot, CPUs, and ns of each way. */
#define FORMAT     "ipcwait-awake 1 %s %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n"
#define FORM_READ  "ipcwait-awake 1 %63s %u %u %" SCNu64 " %" SCNu64 " %" SCNu64
#define FIELDS     6
#define BYTES_MOST 256

/* Longer wakes are none: what measures them gives up before. */
#define NS_MOST UINT64_C(1000000000)

static bool join(char path[PATH_MAX], const char *folder, const char *rest)
{
	return folder && *folder == '/' &&
	       snprintf(path, PATH_MAX, "%s%s", folder, rest) < PATH_MAX;
}

static bool find_path(char path[PATH_MAX])
{
	const char *named = getenv("IPCWAIT_CALIBRATION");

	if (named && !strcmp(named, "none"))
		return false;
	return join(path, named, ".awake") ||
	       join(path, getenv("XDG_CACHE_HOME"), "/ipcwait/awake") ||
	       join(path, getenv("HOME"), "/.cache/ipcwait/awake");
}

/* At most @size - 1 bytes of a regular file that is the user's alone to write. */
static bool read_text(const char *path, char *text, size_t size)
{
	struct stat st;
	int fd = foreign_file_open(AT_FDCWD, path, O_NOFOLLOW, &st);
	ssize_t n;

	if (fd < 0)
		return false;
	n = st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH))
		    ? read(fd, text, size - 1)
		    : -1;
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool read_boot(char boot[BOOT_BYTES])
{
	int fd = foreign_file_open_any(BOOT_FILE);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, boot, BOOT_BYTES - 1);
	close(fd);
	boot[n > 0 ? n : 0] = '\0';
	boot[strcspn(boot, " \n")] = '\0';
	return boot[0] != '\0';
}

bool awake_found_load(struct awake_wakes *w, unsigned a, unsigned b)
{
	char path[PATH_MAX], text[BYTES_MOST], boot[BOOT_BYTES], of_boot[BOOT_BYTES];
	unsigned of_a, of_b;
	struct awake_wakes read;

	*w = (struct awake_wakes){ .ns = { 0 } };
	if (!read_boot(boot) || !find_path(path) || !read_text(path, text, sizeof(text)) ||
	    sscanf(text, FORM_READ, of_boot, &of_a, &of_b, &read.ns[AWAKE_HALTS],
		   &read.ns[AWAKE_SPINS], &read.ns[AWAKE_POLLS]) != FIELDS)
		return false;
	if (strcmp(boot, of_boot) != 0 || of_a != a || of_b != b)
		return false;
	for (unsigned way = 0; way < AWAKE_WAYS; way++)
		if (read.ns[way] > NS_MOST)
			return false;
	*w = read;
	return true;
}

/* The folder, and the one that it is in: the user's cache may not be there yet. */
static void make_room(char path[PATH_MAX])
{
	char *last = strrchr(path, '/'), *before;

	*last = '\0';
	before = strrchr(path, '/');
	if (before && before != path) {
		*before = '\0';
		(void)mkdir(path, S_IRWXU);
		*before = '/';
	}
	(void)mkdir(path, S_IRWXU);
	*last = '/';
}

/* Return: a descriptor, or -1. @unfinished is beside @path. */
static int open_unfinished(char unfinished[PATH_MAX], char path[PATH_MAX])
{
	struct rlimit most;
	int length = snprintf(unfinished, PATH_MAX, "%s.XXXXXX", path);

	/* A write beyond the limit would end the process by SIGXFSZ. */
	if (length >= PATH_MAX || getrlimit(RLIMIT_FSIZE, &most) ||
	    most.rlim_cur < BYTES_MOST)
		return -1;
	make_room(path);
	return mkostemp(unfinished, O_CLOEXEC);
}

void awake_found_save(const struct awake_wakes *w, unsigned a, unsigned b)
{
	char path[PATH_MAX], unfinished[PATH_MAX], text[BYTES_MOST], boot[BOOT_BYTES];
	int fd, length;
	bool whole;

	if (!read_boot(boot) || !find_path(path))
		return;
	length = snprintf(text, sizeof(text), FORMAT, boot, a, b, w->ns[AWAKE_HALTS],
			  w->ns[AWAKE_SPINS], w->ns[AWAKE_POLLS]);
	fd = open_unfinished(unfinished, path);
	if (fd < 0)
		return;
	whole = write(fd, text, (size_t)length) == length;
	close(fd);
	if (!whole || rename(unfinished, path))
		(void)unlink(unfinished);
}
