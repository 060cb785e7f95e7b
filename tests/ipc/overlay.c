/* SPDX-License-Identifier: MIT */
#include "overlay.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* The layers lie in a tmpfs that covers this one. */
#define BELOW "/mnt"

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		(void)close(fd);
	return done;
}

/* Who is not root is, in a user namespace of its own. */
static bool become_root(void)
{
	char uids[32], gids[32];

	(void)snprintf(uids, sizeof(uids), "0 %u 1", geteuid());
	(void)snprintf(gids, sizeof(gids), "0 %u 1", getegid());
	return unshare(CLONE_NEWUSER) == 0 && put("/proc/self/setgroups", "deny") &&
	       put("/proc/self/uid_map", uids) && put("/proc/self/gid_map", gids);
}

bool overlay_mount(const char *place)
{
	if (geteuid() != 0 && !become_root())
		return false;
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", BELOW, "tmpfs", 0, NULL) == 0 &&
	       mkdir(BELOW "/lower", 0755) == 0 && mkdir(BELOW "/upper", 0755) == 0 &&
	       mkdir(BELOW "/work", 0755) == 0 &&
	       (mkdir(place, 0755) == 0 || access(place, F_OK) == 0) &&
	       mount("overlay", place, "overlay", 0,
		     "lowerdir=" BELOW "/lower,upperdir=" BELOW "/upper,workdir=" BELOW
		     "/work") == 0;
}
