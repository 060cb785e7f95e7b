/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "env/cgroup.h"
#include "os/cpu_mask.h"
#include "os/file.h"

/* Levels of groups that are looked at. */
#define LEVELS_MOST 32

/* The longest of the files, cpu.stat of version 2, has some 300 bytes. */
#define FILE_BYTES 1024

/* So that a hundredfold of it does not overflow: 31 years in us. */
#define DIGITS_MOST 15

/* What the kernel allows, in us. */
#define PERIOD_LEAST UINT64_C(1000)
#define PERIOD_MOST  UINT64_C(1000000)

static bool read_file(const char *group, const char *name, char text[FILE_BYTES])
{
	char path[IW_CGROUP_PATH_BYTES + 32];

	(void)snprintf(path, sizeof(path), "%s/%s", group, name);
	return iw_file_read(path, text, FILE_BYTES) > 0;
}

/* A number with a blank or the line's end behind it. */
static bool take_number(const char **at, uint64_t *number)
{
	size_t digits = strspn(*at, "0123456789");

	if (digits == 0 || digits > DIGITS_MOST ||
	    ((*at)[digits] != ' ' && (*at)[digits] != '\n'))
		return false;
	*number = 0;
	for (; digits; digits--)
		*number = *number * 10 + (uint64_t)(*(*at)++ - '0');
	(*at)++;
	return true;
}

/* "50000 100000"; for no limit "max 100000". */
static bool read_v2(const char *group, uint64_t *quota, uint64_t *period)
{
	char text[FILE_BYTES];
	const char *at = text;

	return read_file(group, "cpu.max", text) && take_number(&at, quota) &&
	       take_number(&at, period);
}

static bool read_number(const char *group, const char *name, uint64_t *number)
{
	char text[FILE_BYTES];
	const char *at = text;

	return read_file(group, name, text) && take_number(&at, number);
}

/* "50000"; for no limit "-1". */
static bool read_v1(const char *group, uint64_t *quota, uint64_t *period)
{
	return read_number(group, "cpu.cfs_quota_us", quota) &&
	       read_number(group, "cpu.cfs_period_us", period);
}

static uint64_t read_throttled(const char *group)
{
	static const char name[] = "nr_throttled ";
	char text[FILE_BYTES];
	uint64_t count = 0;
	const char *at;

	if (!read_file(group, "cpu.stat", text))
		return 0;
	at = strstr(text, name);
	if (!at)
		return 0;
	at += sizeof(name) - 1;
	return take_number(&at, &count) ? count : 0;
}

static void read_group(const char *group, bool v2, struct iw_cgroup_limits *limits)
{
	uint64_t quota, period, hundredths;

	if (!(v2 ? read_v2 : read_v1)(group, &quota, &period) || quota == 0 ||
	    period < PERIOD_LEAST || period > PERIOD_MOST)
		return;
	hundredths = quota * 100 / period;
	hundredths = hundredths ? hundredths : 1;
	if (hundredths >= IW_CPU_MOST * UINT64_C(100))
		return;
	if (!limits->hundredths || hundredths < limits->hundredths)
		limits->hundredths = (uint32_t)hundredths;
	limits->throttled += read_throttled(group);
}

/* From the group upwards, the mount point included. */
static void read_levels(const struct iw_cgroup_place *place, bool v2,
			struct iw_cgroup_limits *limits)
{
	char group[IW_CGROUP_PATH_BYTES];
	size_t length = strlen(place->path);

	memcpy(group, place->path, length + 1);
	for (int level = 0; length && level < LEVELS_MOST; level++) {
		read_group(group, v2, limits);
		if (length <= place->top)
			return;
		while (length > place->top && group[--length] != '/')
			;
		group[length] = '\0';
	}
}

struct iw_cgroup_limits iw_cgroup_read_limits(const struct iw_cgroup_places *places)
{
	struct iw_cgroup_limits limits = { 0, 0 };

	for (int v = 0; v < IW_CGROUP_VERSIONS; v++)
		read_levels(&places->place[v], v == IW_CGROUP_V2, &limits);
	return limits;
}
