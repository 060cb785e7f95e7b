/* SPDX-License-Identifier: MIT */
#include "quota.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_US 100000

/* How long the kernel may take to let go of the last process of a group. */
#define REMOVE_TRIES  100
#define REMOVE_GAP_NS 10000000

/* Is @word one of the words of @list, which are parted by one of @separators? */
static bool has_word(const char *list, const char *word, const char *separators)
{
	size_t length = strlen(word);

	for (const char *p = list; *p;) {
		size_t n = strcspn(p, separators);

		if (n == length && !strncmp(p, word, n))
			return true;
		p += n;
		p += strspn(p, separators);
	}
	return false;
}

/* Our group in the hierarchy that has the controller; for version 2 it is called "". */
static bool find_own_path(const char *controller, char path[PATH_MAX])
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX + 256];
	bool found = false;

	while (!found && f && fgets(line, sizeof(line), f)) {
		char *names = strchr(line, ':');
		char *own = names ? strchr(names + 1, ':') : NULL;

		if (!own)
			continue;
		*own++ = 0;
		own[strcspn(own, "\n")] = 0;
		found = *controller ? has_word(names + 1, controller, ",") : !names[1];
		snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, own);
	}
	if (f)
		fclose(f);
	return found;
}

/*
 * Where the hierarchy is mounted, and which of its groups is shown there. A line:
 * "31 23 0:27 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu"
 */
static bool find_mount(const char *controller, char root[PATH_MAX], char mount[PATH_MAX])
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[2 * PATH_MAX], options[512], type[32];
	bool found = false;

	while (!found && f && fgets(line, sizeof(line), f)) {
		const char *dash = strstr(line, " - ");

		if (!dash || sscanf(dash, " - %31s %*s %511s", type, options) != 2 ||
		    sscanf(line, "%*s %*s %*s %4095s %4095s", root, mount) != 2)
			continue;
		found = *controller ? !strcmp(type, "cgroup") &&
					      has_word(options, controller, ",\n")
				    : !strcmp(type, "cgroup2");
	}
	if (f)
		fclose(f);
	return found;
}

/* The folder of our own group. A container may show less of the tree than we are told. */
static bool find_folder(const char *controller, char folder[PATH_MAX])
{
	char own[PATH_MAX], root[PATH_MAX], mount[PATH_MAX];
	const char *below;
	size_t length;

	if (!find_own_path(controller, own) || !find_mount(controller, root, mount))
		return false;
	length = strcmp(root, "/") ? strlen(root) : 0;
	below = strncmp(own, root, length) ? "" : own + length;
	return snprintf(folder, PATH_MAX, "%s%s", mount, below) < PATH_MAX;
}

static int write_text(const char *folder, const char *name, const char *text)
{
	char path[PATH_MAX + 64];
	FILE *f;
	int error;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	error = fputs(text, f) < 0 || fflush(f) ? errno : 0;
	fclose(f);
	return -error;
}

/* Version 2: are the groups below ours given the cpu controller? */
static bool delegates_cpu(const char *folder)
{
	char path[PATH_MAX + 64], line[512] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", folder);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	return has_word(line, "cpu", " \n");
}

static int set_quota(const char *group, bool version_2, unsigned percent)
{
	unsigned quota_us = PERIOD_US / 100 * percent;
	char text[64];

	if (version_2) {
		snprintf(text, sizeof(text), "%u %u", quota_us, PERIOD_US);
		return write_text(group, "cpu.max", text);
	}
	snprintf(text, sizeof(text), "%u", quota_us);
	return write_text(group, "cpu.cfs_quota_us", text);
}

int quota_make(unsigned percent, char *group, size_t group_size, char *why, size_t why_size)
{
	char folder[PATH_MAX];
	bool version_1 = find_folder("cpu", folder);
	int r;

	group[0] = 0;
	if (!version_1 && (!find_folder("", folder) || !delegates_cpu(folder))) {
		snprintf(why, why_size, "no control group with the cpu controller to use");
		return -1;
	}
	r = snprintf(group, group_size, "%s/wait_bench.%ld", folder, (long)getpid());
	if (r < 0 || (size_t)r >= group_size || mkdir(group, 0755)) {
		snprintf(why, why_size, "cannot make a control group: %s", strerror(errno));
		group[0] = 0;
		return -1;
	}
	r = set_quota(group, !version_1, percent);
	if (!r)
		return 0;
	quota_remove(group);
	group[0] = 0;
	snprintf(why, why_size, "cannot set a quota: %s", strerror(-r));
	return -1;
}

int quota_join(const char *group)
{
	return write_text(group, "cgroup.procs", "0");
}

void quota_remove(const char *group)
{
	const struct timespec gap = { 0, REMOVE_GAP_NS };

	for (int i = 0; *group && i < REMOVE_TRIES; i++) {
		if (!rmdir(group) || errno != EBUSY)
			return;
		nanosleep(&gap, NULL);
	}
}
