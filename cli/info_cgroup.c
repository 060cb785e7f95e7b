/* SPDX-License-Identifier: MIT */
/* See cgroups(7) and, for the mounts, proc_pid_mountinfo(5). */
#include "info_cgroup.h"

#include <stdlib.h>
#include <string.h>

#define NAMES  "/proc/self/cgroup"
#define MOUNTS "/proc/self/mountinfo"

/* What the library reads: of a file, and of a line with its end. */
#define FILE_BYTES_MOST 262144
#define LINE_BYTES_MOST 2048

struct mount {
	char *top;   /* the group that is mounted there */
	char *point; /* the folder */
	enum info_cgroup_version version;
};

/* Is @word a member of a list with commas? */
static bool listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		if (!strncmp(list, word, length) && (list[length] == ',' || !list[length]))
			return true;
	}
	return false;
}

/* End @text at the next @end. Returns what is behind it; NULL if there is no @end. */
static char *cut(char *text, char end)
{
	char *at = text ? strchr(text, end) : NULL;

	if (at)
		*at++ = '\0';
	return at;
}

static bool join(char to[INFO_GROUP_BYTES], const char *head, const char *tail)
{
	if (snprintf(to, INFO_GROUP_BYTES, "%s%s", head, tail) < INFO_GROUP_BYTES)
		return true;
	to[0] = '\0';
	return false;
}

/* "4:cpu,cpuacct:/a", or "0::/a" for version 2. */
static void take_name(struct info_cgroup *group, char *line)
{
	char *controllers = cut(line, ':');
	char *name = cut(controllers, ':');
	bool v2 = name && !strcmp(line, "0") && !*controllers;

	if (name && *name == '/' && (v2 || listed(controllers, "cpu")))
		(void)join(group[v2 ? INFO_CGROUP_V2 : INFO_CGROUP_V1].name, name, "");
}

/* Blanks and backslashes in a path are written as \040 and the like. */
static void unescape(char *path)
{
	char *to = path;

	for (; *path; path++, to++) {
		*to = *path;
		if (*path == '\\' && strspn(path + 1, "01234567") >= 3) {
			*to = (char)((path[1] - '0') << 6 | (path[2] - '0') << 3 |
				     (path[3] - '0'));
			path += 3;
		}
	}
	*to = '\0';
}

/* id parent device top point options [optional]... - type source super_options */
static bool parse_mount(struct mount *m, char *line)
{
	char *options, *type, *source, *super;

	m->top = cut(cut(cut(line, ' '), ' '), ' ');
	m->point = cut(m->top, ' ');
	options = cut(m->point, ' ');
	type = options ? strstr(options, " - ") : NULL;
	source = type ? cut(type += 3, ' ') : NULL;
	super = cut(source, ' ');
	if (!super)
		return false;
	m->version = strcmp(type, "cgroup2") != 0 ? INFO_CGROUP_V1 : INFO_CGROUP_V2;
	if (m->version == INFO_CGROUP_V1 &&
	    (strcmp(type, "cgroup") != 0 || !listed(super, "cpu")))
		return false;
	unescape(m->top);
	unescape(m->point);
	return *m->point == '/';
}

/* What of @name is below @top; NULL if it is elsewhere. */
static const char *below(const char *name, const char *top)
{
	size_t length = strcmp(top, "/") != 0 ? strlen(top) : 0;

	if (strncmp(name, top, length) != 0 || strstr(name, "/.."))
		return NULL;
	name += length;
	if (!strcmp(name, "/"))
		return "";
	return *name == '/' || !*name ? name : NULL;
}

/*
 * The first mount that shows the group. Until there is one, the first that does not is used as
 * it is: in a container it usually is the container's group.
 */
static void take_mount(struct info_cgroup *group, bool *shown, char *line)
{
	struct mount m;
	const char *rest;

	if (!parse_mount(&m, line) || shown[m.version] || !group[m.version].name[0])
		return;
	group += m.version;
	rest = below(group->name, m.top);
	if ((group->path[0] && !rest) || strlen(m.point) >= INFO_GROUP_BYTES ||
	    !join(group->path, m.point, rest ? rest : ""))
		return;
	group->top = strlen(m.point);
	shown[m.version] = rest;
}

/* The next line that is whole and not too long, without its end; @left: bytes of the file. */
static bool next_line(FILE *f, char **line, size_t *size, size_t *left)
{
	for (;;) {
		ssize_t n = getline(line, size, f);

		if (n <= 0 || (size_t)n > *left || (*line)[n - 1] != '\n')
			return false;
		*left -= (size_t)n;
		(*line)[n - 1] = '\0';
		if (n <= LINE_BYTES_MOST)
			return true;
	}
}

static void read_lines(const struct info *info, const char *path, struct info_cgroup *group,
		       bool *shown)
{
	FILE *f = info_open(info, path);
	size_t size = 0, left = FILE_BYTES_MOST;
	char *line = NULL;

	while (f && next_line(f, &line, &size, &left)) {
		if (shown)
			take_mount(group, shown, line);
		else
			take_name(group, line);
	}
	free(line);
	if (f)
		fclose(f);
}

bool info_find_cgroups(const struct info *info,
		       struct info_cgroup group[INFO_CGROUP_VERSIONS],
		       char why[INFO_TEXT_BYTES])
{
	bool shown[INFO_CGROUP_VERSIONS] = { false };

	memset(group, 0, INFO_CGROUP_VERSIONS * sizeof(group[0]));
	if (!info_read(info, why, INFO_TEXT_BYTES, NAMES))
		return false;
	read_lines(info, NAMES, group, NULL);
	read_lines(info, MOUNTS, group, shown);
	return true;
}
