/* SPDX-License-Identifier: MIT */
/*
 * The CPU time that the control groups allow. The tightest limit counts, from the process's own
 * group up to the last that is visible, and what the library does not take for a limit is none
 * here either.
 */
#include "info.h"
#include "info_cgroup.h"

#include <string.h>

#define LEVELS_MOST 32
#define FILE_BYTES  1024
#define DIGITS_MOST 15

/* What the kernel allows, in us. */
#define PERIOD_LEAST 1000u
#define PERIOD_MOST  1000000u

/* From as many CPUs as Linux can have it is no limit. */
#define CPUS_MOST 8192u

struct limits {
	uint64_t hundredths; /* CPUs times 100, the tightest so far; 0: none */
	bool known;          /* some group told whether it has a limit */
};

/* A number with a blank or the line's end behind it. */
static bool take_number(const char **at, uint64_t *number)
{
	size_t digits = strspn(*at, "0123456789");

	if (!digits || digits > DIGITS_MOST ||
	    ((*at)[digits] != ' ' && (*at)[digits] != '\n'))
		return false;
	*number = 0;
	for (; digits; digits--)
		*number = *number * 10 + (uint64_t)(*(*at)++ - '0');
	(*at)++;
	return true;
}

static void take_limit(struct limits *l, uint64_t quota, uint64_t period)
{
	uint64_t hundredths;

	if (!quota || period < PERIOD_LEAST || period > PERIOD_MOST)
		return;
	hundredths = quota * 100 / period;
	hundredths = hundredths ? hundredths : 1;
	l->known = true;
	if (hundredths < 100 * CPUS_MOST && (!l->hundredths || hundredths < l->hundredths))
		l->hundredths = hundredths;
}

/* "50000 100000", "max 100000" */
static void read_v2(const struct info *info, struct limits *l, const char *group)
{
	char text[FILE_BYTES];
	const char *at = text;
	uint64_t quota, period;

	if (!info_read(info, text, sizeof(text), "%s/cpu.max", group))
		return;
	if (!strncmp(text, "max", strlen("max")))
		l->known = true;
	else if (take_number(&at, &quota) && take_number(&at, &period))
		take_limit(l, quota, period);
}

/* "50000", "-1"; the period stands by itself. */
static void read_v1(const struct info *info, struct limits *l, const char *group)
{
	char text[FILE_BYTES], period_text[FILE_BYTES];
	const char *at = text, *period_at = period_text;
	uint64_t quota, period;

	if (!info_read(info, text, sizeof(text), "%s/cpu.cfs_quota_us", group))
		return;
	if (!strcmp(text, "-1\n"))
		l->known = true;
	else if (info_read(info, period_text, sizeof(period_text), "%s/cpu.cfs_period_us",
			   group) &&
		 take_number(&at, &quota) && take_number(&period_at, &period))
		take_limit(l, quota, period);
}

/* From the group upwards, the mount point included. */
static void read_levels(const struct info *info, struct limits *l,
			struct info_cgroup *group, bool v2)
{
	size_t length = strlen(group->path);

	for (int level = 0; length && level < LEVELS_MOST; level++) {
		(v2 ? read_v2 : read_v1)(info, l, group->path);
		if (length <= group->top)
			return;
		while (length > group->top && group->path[--length] != '/')
			;
		group->path[length] = '\0';
	}
}

void info_read_quota(struct info *info)
{
	static const char key[] = "quota_cpus";
	struct info_cgroup group[INFO_CGROUP_VERSIONS];
	const struct info_cgroup *v1 = &group[INFO_CGROUP_V1], *v2 = &group[INFO_CGROUP_V2];
	struct limits l = { .known = false };
	char why[INFO_TEXT_BYTES];

	if (!info_find_cgroups(info, group, why)) {
		info_put_missing(info, key, why);
		return;
	}
	/* The topmost group of version 2 has no limit, nor a file that could hold one. */
	l.known = !v1->name[0] && v2->path[0] && !strcmp(v2->name, "/");
	read_levels(info, &l, &group[INFO_CGROUP_V1], false);
	read_levels(info, &l, &group[INFO_CGROUP_V2], true);
	if (l.hundredths)
		info_put_number(info, key, (double)l.hundredths / 100);
	else if (l.known)
		info_put_none(info, key, "no limit");
	else
		info_put_missing(info, key,
				 "no visible control group tells its limit of CPU time");
}
