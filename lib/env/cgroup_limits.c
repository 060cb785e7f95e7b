/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "env/cgroup.h"
#include "os/cpu_mask.h"
#include "os/file.h"

/* Levels of groups that are looked at. */
#define LEVELS_MOST 32

/* The longest of the files have two numbers. */
#define FILE_BYTES 128

/* So that a hundredfold of it does not overflow: 31 years in us. */
#define DIGITS_MOST 15

/* What the kernel allows, in us. */
#define PERIOD_LEAST UINT64_C(1000)
#define PERIOD_MOST  UINT64_C(1000000)

static bool read_file(const char *group, const char *name, char text[FILE_BYTES])
{
	char path[IW_CGROUP_PATH_BYTES + 32];

	return iw_file_join(path, sizeof(path), group, name) &&
	       iw_file_read(path, text, FILE_BYTES) > 0;
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

	return read_file(group, "/cpu.max", text) && take_number(&at, quota) &&
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
	return read_number(group, "/cpu.cfs_quota_us", quota) &&
	       read_number(group, "/cpu.cfs_period_us", period);
}

/* The tighter of @tightest, 0 for none, and what this group has. */
static uint32_t tighter(const char *group, bool v2, uint32_t tightest)
{
	uint64_t quota, period, hundredths;

	if (!(v2 ? read_v2 : read_v1)(group, &quota, &period) || quota == 0 ||
	    period < PERIOD_LEAST || period > PERIOD_MOST)
		return tightest;
	hundredths = quota * 100 / period;
	hundredths = hundredths ? hundredths : 1;
	if (hundredths >= IW_CPU_MOST * UINT64_C(100) ||
	    (tightest && hundredths >= tightest))
		return tightest;
	return (uint32_t)hundredths;
}

/* From the group upwards, the mount point included. */
static uint32_t tightest_level(const struct iw_cgroup_place *place, bool v2,
			       uint32_t tightest)
{
	char group[IW_CGROUP_PATH_BYTES];
	size_t length = strlen(place->path);

	memcpy(group, place->path, length + 1);
	for (int level = 0; length && level < LEVELS_MOST; level++) {
		tightest = tighter(group, v2, tightest);
		if (length <= place->top)
			break;
		while (length > place->top && group[--length] != '/')
			;
		group[length] = '\0';
	}
	return tightest;
}

uint32_t iw_cgroup_hundredths(const struct iw_cgroup_places *places)
{
	uint32_t tightest = 0;

	for (int v = 0; v < IW_CGROUP_VERSIONS; v++)
		tightest = tightest_level(&places->place[v], v == IW_CGROUP_V2, tightest);
	return tightest;
}
