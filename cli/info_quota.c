/* SPDX-License-Identifier: MIT */
/*
 * The CPU time that the control groups allow, of both versions: see cgroups(7). The tightest
 * limit counts, from the process's own group up to the last that is visible.
 */
#include "info.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_BYTES 768
#define LINE_BYTES  4096
#define LEVELS_MOST 32

/* More is no limit. */
#define CPUS_MOST 65536

enum version { V1, V2, VERSIONS };

struct groups {
	char name[VERSIONS][GROUP_BYTES]; /* "": none */
	double cpus;                      /* tightest limit so far; 0: none */
	bool known;                       /* some group told whether it has a limit */
};

/* Is @word a member of a list with commas? */
static bool listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; *list; list += *list == ',') {
		size_t n = strcspn(list, ",\n");

		if (n == length && !strncmp(list, word, n))
			return true;
		list += n;
		if (*list == '\n')
			break;
	}
	return false;
}

/* "4:cpu,cpuacct:/a", or "0::/a" for version 2. */
static void take_name(struct groups *g, char *line)
{
	char *controllers = strchr(line, ':');
	char *name = controllers ? strchr(controllers + 1, ':') : NULL;
	enum version v;

	if (!name)
		return;
	*name++ = '\0';
	name[strcspn(name, "\n")] = '\0';
	if (controllers[1] == '\0')
		v = V2;
	else if (listed(controllers + 1, "cpu"))
		v = V1;
	else
		return;
	(void)snprintf(g->name[v], GROUP_BYTES, "%s", name);
}

static bool read_names(const struct info *info, struct groups *g, char why[INFO_TEXT_BYTES])
{
	static const char path[] = "/proc/self/cgroup";
	FILE *f = info_open(info, path);
	char line[LINE_BYTES];

	if (!f)
		return info_read(info, why, INFO_TEXT_BYTES, "%s", path);
	while (fgets(line, sizeof(line), f))
		take_name(g, line);
	fclose(f);
	(void)snprintf(why, INFO_TEXT_BYTES,
		       "the control groups of CPU time are not visible");
	return true;
}

static void take_limit(struct groups *g, double quota, double period)
{
	g->known = true;
	if (quota > 0 && period > 0 && quota / period < CPUS_MOST &&
	    (g->cpus == 0 || quota / period < g->cpus))
		g->cpus = quota / period;
}

/* "50000 100000", "max 100000"; with version 1 "50000", "-1", and the period by itself. */
static void read_group(const struct info *info, struct groups *g, enum version v,
		       const char *group)
{
	char quota[64], period[64];
	char *end;
	double us;

	if (v == V2 && info_line(info, quota, sizeof(quota), "%s/cpu.max", group)) {
		us = strtod(quota, &end);
		take_limit(g, end == quota ? 0 : us, strtod(end, NULL));
	} else if (v == V1 &&
		   info_line(info, quota, sizeof(quota), "%s/cpu.cfs_quota_us", group) &&
		   info_line(info, period, sizeof(period), "%s/cpu.cfs_period_us", group)) {
		take_limit(g, strtod(quota, NULL), strtod(period, NULL));
	}
}

/* From the group upwards to the mount point, whose length is @top. */
static void read_levels(const struct info *info, struct groups *g, enum version v,
			char *group, size_t top)
{
	for (int level = 0; level < LEVELS_MOST; level++) {
		char *slash = strrchr(group, '/');

		read_group(info, g, v, group);
		if (strlen(group) <= top || !slash)
			return;
		*slash = '\0';
	}
}

/* What of @name is below @top; a mount that does not show the group is used as it is: in a
 * container it usually is the container's group. */
static const char *below(const char *name, const char *top)
{
	size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);

	if (strncmp(name, top, length) != 0 || strstr(name, "/..") ||
	    (name[length] && name[length] != '/') || !strcmp(name + length, "/"))
		return "";
	return name + length;
}

/* id parent device top point options [optional]... - type source super_options */
static void take_mount(const struct info *info, struct groups *g, const char *line)
{
	char top[GROUP_BYTES], point[GROUP_BYTES], type[32], super[GROUP_BYTES];
	char group[2 * GROUP_BYTES];
	const char *behind = strstr(line, " - ");
	enum version v;

	if (!behind || sscanf(line, "%*s %*s %*s %767s %767s", top, point) != 2 ||
	    sscanf(behind, " - %31s %*s %767s", type, super) != 2)
		return;
	if (!strcmp(type, "cgroup2"))
		v = V2;
	else if (!strcmp(type, "cgroup") && listed(super, "cpu"))
		v = V1;
	else
		return;
	if (!g->name[v][0])
		return;
	(void)snprintf(group, sizeof(group), "%s%s", point, below(g->name[v], top));
	read_levels(info, g, v, group, strlen(point));
	/* The topmost group of version 2 has no limit, nor a file that could hold one. */
	if (v == V2 && !strcmp(g->name[v], "/") && !g->name[V1][0])
		g->known = true;
}

void info_read_quota(struct info *info)
{
	static const char key[] = "quota_cpus";
	struct groups g = { .known = false };
	char why[INFO_TEXT_BYTES], line[LINE_BYTES];
	FILE *f = NULL;

	if (read_names(info, &g, why))
		f = info_open(info, "/proc/self/mountinfo");
	while (f && fgets(line, sizeof(line), f))
		take_mount(info, &g, line);
	if (f)
		fclose(f);
	if (g.cpus > 0)
		info_put_number(info, key, g.cpus);
	else if (g.known)
		info_put_none(info, key, "no limit");
	else
		info_put_missing(info, key, why);
}
