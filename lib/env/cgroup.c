/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "env/cgroup.h"
#include "os/file.h"
#include "os/lines.h"

/* What is read of files in /proc: 2000 mounts and more. */
#define BYTES_MOST 262144

/* True if @item is one of those in @list, which commas separate. */
static bool listed(const char *list, const char *item)
{
	size_t length = strlen(item);

	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		if (strncmp(list, item, length) == 0 &&
		    (list[length] == ',' || list[length] == '\0'))
			return true;
	}
	return false;
}

/* Cut the text at the next @end. Returns what follows, NULL if there is no @end. */
static char *cut(char *text, char end)
{
	char *at = text ? strchr(text, end) : NULL;

	if (!at)
		return NULL;
	*at = '\0';
	return at + 1;
}

static bool open_lines(struct iw_lines *l, const char *root, const char *file)
{
	char path[IW_CGROUP_PATH_BYTES];

	return iw_file_join(path, sizeof(path), root, file) &&
	       iw_lines_open(l, path, BYTES_MOST);
}

/* A line is hierarchy:controllers:name, and has neither number nor controllers in version 2. */
static void read_name(char *line, struct iw_cgroup_names *names)
{
	char *controllers = cut(line, ':');
	char *name = cut(controllers, ':');
	bool v2 = name && strcmp(line, "0") == 0 && *controllers == '\0';

	if (name && *name == '/' && (v2 || listed(controllers, "cpu")))
		(void)iw_file_join(names->name[v2 ? IW_CGROUP_V2 : IW_CGROUP_V1],
				   IW_CGROUP_PATH_BYTES, name, "");
}

bool iw_cgroup_read_names(const char *root, struct iw_cgroup_names *names)
{
	struct iw_lines l;
	char *line;

	for (int v = 0; v < IW_CGROUP_VERSIONS; v++)
		names->name[v][0] = '\0';
	if (!open_lines(&l, root, "/proc/self/cgroup"))
		return false;
	while ((line = iw_lines_next(&l)))
		read_name(line, names);
	iw_lines_close(&l);
	return true;
}

/* One line of mountinfo, proc_pid_mountinfo(5). */
struct mount {
	char *top;   /* the group that is mounted there */
	char *point; /* the directory */
	enum iw_cgroup_version version;
};

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
static bool parse_mount(char *line, struct mount *m)
{
	char *at = cut(cut(cut(line, ' '), ' '), ' ');
	char *options, *type, *source, *super;

	m->top = at;
	m->point = cut(m->top, ' ');
	options = cut(m->point, ' ');
	type = options ? strstr(options, " - ") : NULL;
	source = type ? cut(type += 3, ' ') : NULL;
	super = cut(source, ' ');
	if (!super)
		return false;
	m->version = strcmp(type, "cgroup2") == 0 ? IW_CGROUP_V2 : IW_CGROUP_V1;
	if (m->version == IW_CGROUP_V1 &&
	    (strcmp(type, "cgroup") != 0 || !listed(super, "cpu")))
		return false;
	unescape(m->top);
	unescape(m->point);
	return *m->point == '/';
}

/* What of @name is below @top; NULL if it is not, or is said relative to a namespace. */
static const char *below(const char *name, const char *top)
{
	size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);

	if (strncmp(name, top, length) != 0 || strstr(name, "/.."))
		return NULL;
	if (strcmp(name + length, "/") == 0)
		return "";
	return name[length] == '/' || name[length] == '\0' ? name + length : NULL;
}

/*
 * True if the process's group is below the mount. A mount that does not show it is used as it
 * is, for want of a better one: in a container it usually is the container's group.
 */
static bool use_mount(const char *root, const struct mount *m, const char *name,
		      struct iw_cgroup_place *place)
{
	const char *rest = below(name, m->top);
	char point[IW_CGROUP_PATH_BYTES];

	if ((*place->path && !rest) ||
	    !iw_file_join(point, sizeof(point), root, m->point) ||
	    !iw_file_join(place->path, sizeof(place->path), point, rest ? rest : ""))
		return false;
	place->top = strlen(point);
	return rest != NULL;
}

static void clear(struct iw_cgroup_places *places)
{
	for (int v = 0; v < IW_CGROUP_VERSIONS; v++)
		places->place[v].path[0] = '\0';
}

bool iw_cgroup_guess(const char *root, const struct iw_cgroup_names *names,
		     struct iw_cgroup_places *places)
{
	/* A directory, and a file that each of its groups has. */
	static const char *const usual[IW_CGROUP_VERSIONS][2] = {
		[IW_CGROUP_V1] = { "/sys/fs/cgroup/cpu", "/cpu.cfs_quota_us" },
		[IW_CGROUP_V2] = { "/sys/fs/cgroup", "/cgroup.controllers" },
	};
	/* A controller belongs to one hierarchy. */
	int v = names->name[IW_CGROUP_V1][0] ? IW_CGROUP_V1 : IW_CGROUP_V2;
	const char *rest = below(names->name[v], "/");
	char point[IW_CGROUP_PATH_BYTES], file[IW_CGROUP_PATH_BYTES];
	char *path = places->place[v].path;

	clear(places);
	if (!names->name[v][0])
		return true;
	if (!rest || !iw_file_join(point, sizeof(point), root, usual[v][0]) ||
	    !iw_file_join(path, sizeof(places->place[v].path), point, rest) ||
	    !iw_file_join(file, sizeof(file), path, usual[v][1]) || !iw_file_exists(file)) {
		*path = '\0';
		return false;
	}
	places->place[v].top = strlen(point);
	return true;
}

void iw_cgroup_find(const char *root, const struct iw_cgroup_names *names,
		    struct iw_cgroup_places *places)
{
	bool found[IW_CGROUP_VERSIONS] = { false };
	struct iw_lines l;
	struct mount m;
	char *line;

	clear(places);
	if (!open_lines(&l, root, "/proc/self/mountinfo"))
		return;
	while ((line = iw_lines_next(&l))) {
		if (!parse_mount(line, &m) || found[m.version] ||
		    !names->name[m.version][0])
			continue;
		found[m.version] = use_mount(root, &m, names->name[m.version],
					     &places->place[m.version]);
	}
	iw_lines_close(&l);
}
