/* SPDX-License-Identifier: MIT */
/* What the library would do in a process that is started as this one was. */
#include "info.h"
#include "info_spin.h"

#include <ipcwait/base.h>
#include <ipcwait/calibration.h>
#include <ipcwait/explain.h>
#include <ipcwait/stats.h>

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "IPCWAIT_"

/* What is shown of a name and of a value, so that one leaves room for the others. */
#define VALUE_BYTES 100

/* How much of @path is @folder, without a slash behind it; 0 if it is elsewhere. */
static size_t part_within(const char *path, const char *folder)
{
	size_t length = folder && folder[0] == '/' ? strlen(folder) : 0;

	while (length && folder[length - 1] == '/')
		length--;
	if (strncmp(path, folder ? folder : "", length) != 0 ||
	    (path[length] && path[length] != '/'))
		return 0;
	return length;
}

/* Figures are passed on, and folders name people: '~' for home, and nothing of others. */
static void discreet(char *text, size_t size, const char *path)
{
	const struct passwd *user = getpwuid(getuid());
	const char *slash = strrchr(path, '/');
	size_t home = part_within(path, getenv("HOME"));

	text[0] = '\0';
	if (!home && user)
		home = part_within(path, user->pw_dir);
	if (home) {
		info_append(text, size, "~");
		info_append(text, size, path + home);
	} else {
		info_append(text, size, slash ? "..." : "");
		info_append(text, size, slash ? slash : path);
	}
}

static void put_variables(struct info *info)
{
	char list[INFO_TEXT_BYTES] = "", value[VALUE_BYTES];

	for (char **at = environ; *at; at++) {
		const char *equals = strchr(*at, '=');
		size_t used = strlen(list);

		if (!equals || strncmp(*at, PREFIX, strlen(PREFIX)) != 0)
			continue;
		(void)snprintf(value, sizeof(value), "%.*s", (int)(equals - *at) + 1, *at);
		info_append(list, sizeof(list) - 1, value);
		discreet(value, sizeof(value), equals + 1);
		info_append(list, sizeof(list) - 1, value);
		info_make_printable(list + used);
		info_append(list, sizeof(list), "\n");
	}
	info_put_list(info, "variables", list);
}

/*
 * What the library takes for an object without a preset of its own: it alone knows all that it
 * may be told. Its words may change, and this command changes with them: they are of one tree.
 */
static void put_preset(struct info *info)
{
	static const char key[] = "default_preset", before[] = "; preset ";
	char text[IPCWAIT_EXPLAIN_BYTES] = "";
	struct ipcwait_window fresh;
	char *name = NULL;

	memset(&fresh, 0, sizeof(fresh));
	if (ipcwait_explain(&fresh, text, sizeof(text)) > 0)
		name = strstr(text, before);
	if (!name) {
		info_put_missing(info, key, "the library does not tell");
		return;
	}
	name += sizeof(before) - 1;
	name[strcspn(name, ",\n")] = '\0';
	info_put_text(info, key, name);
}

static void put_time(struct info *info, const char *key, uint64_t seconds)
{
	time_t then = (time_t)seconds;
	char line[32] = "";
	struct tm tm;

	if (gmtime_r(&then, &tm))
		strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%SZ", &tm);
	info_put_text(info, key, line);
}

static void put_calibration(struct info *info, const struct ipcwait_calibration *c)
{
	char path[PATH_MAX], text[INFO_TEXT_BYTES];
	bool there = ipcwait_calibration_path(path, sizeof(path)) > 0;

	info_put_text(info, "block_cost_from",
		      c->is_from_cache ? "saved calibration" : "table");
	if (there) {
		discreet(text, sizeof(text), path);
		info_make_printable(text);
		info_put_text(info, "calibration_file", text);
	} else {
		info_put_none(info, "calibration_file", "no place for one");
	}
	if (c->is_from_cache)
		put_time(info, "calibration_measured_at", c->measured_at_s);
	else
		info_put_missing(info, "calibration_measured_at",
				 !there || access(path, F_OK)
					 ? "there is no saved calibration"
					 : "the saved one is damaged, or not of this boot, "
					   "kernel, machine and affinity");
}

static void put_block_cost(struct info *info)
{
	struct ipcwait_calibration c;
	struct ipcwait_stats st;

	if (ipcwait_stats_get(&st, sizeof(st)) < 0 || ipcwait_calibration_get(&c)) {
		static const char why[] = "the library does not tell";

		info_put_missing(info, "block_cost_ns", why);
		info_put_missing(info, "block_cost_from", why);
		return;
	}
	info_put_number(info, "block_cost_ns", (double)st.block_cost_ns);
	put_calibration(info, &c);
}

static void put_nothing(struct info *info)
{
	static const char *const keys[] = {
		"block_cost_ns",    "block_cost_from",
		"calibration_file", "calibration_measured_at",
		"default_preset",   "variables",
		"spins_here",       "spins_here_because",
	};

	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		info_put_missing(info, keys[i],
				 "it belongs to a process, and this is a saved tree");
}

void info_read_policy(struct info *info)
{
	if (info_is_saved_tree(info)) {
		put_nothing(info);
		return;
	}
	put_variables(info);
	put_block_cost(info);
	put_preset(info);
	info_put_spinning(info);
}
