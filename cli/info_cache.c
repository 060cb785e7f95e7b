/* SPDX-License-Identifier: MIT */
/* The caches behind the CPU that is looked at. */
#include "info.h"
#include "../tools/common/cpu_list.h"

#include <stdlib.h>
#include <string.h>

#define FOLDER "/sys/devices/system/cpu/cpu%u/cache/index%u/"

/* More than any CPU has. */
#define INDEXES 10

/* "1024K". 0: it is no size. */
static double size_bytes(const char *text)
{
	static const char units[] = "KMG";
	size_t digits = strspn(text, "0123456789");
	double n = strtod(text, NULL);
	const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;

	if (!digits || (text[digits] && (!unit || text[digits + 1])) || n > 1e12)
		return 0;
	return unit ? n * (double)(UINT64_C(1024) << 10 * (unit - units)) : n;
}

/* The index whose data cache has this level; -1, with the reason. */
static int find_level(const struct info *info, unsigned level, char why[INFO_TEXT_BYTES])
{
	for (unsigned i = 0; i < INDEXES; i++) {
		char text[64];
		double n;

		if (!info_line(info, why, INFO_TEXT_BYTES, FOLDER "level", info->cpu, i)) {
			if (i)
				break;
			return -1;
		}
		if (info_to_number(why, &n) && n == level &&
		    info_line(info, text, sizeof(text), FOLDER "type", info->cpu, i) &&
		    strcmp(text, "Instruction") != 0)
			return (int)i;
	}
	(void)snprintf(why, INFO_TEXT_BYTES, "the kernel tells of no cache of level %u",
		       level);
	return -1;
}

static void put_level(struct info *info, unsigned level, const char *size_key,
		      const char *cpus_key)
{
	char text[INFO_TEXT_BYTES];
	int index = find_level(info, level, text);
	unsigned i = (unsigned)index, n;

	if (index < 0) {
		info_put_missing(info, size_key, text);
		info_put_missing(info, cpus_key, text);
		return;
	}
	if (!info_line(info, text, sizeof(text), FOLDER "size", info->cpu, i))
		info_put_missing(info, size_key, text);
	else if (size_bytes(text) > 0)
		info_put_number(info, size_key, size_bytes(text));
	else
		info_put_missing(info, size_key, "the file holds no size");
	if (!info_line(info, text, sizeof(text), FOLDER "shared_cpu_list", info->cpu, i))
		info_put_missing(info, cpus_key, text);
	else if ((n = cpu_list_count(text, NULL)))
		info_put_number(info, cpus_key, n);
	else
		info_put_missing(info, cpus_key, "the list makes no sense");
}

void info_read_cache(struct info *info)
{
	put_level(info, 2, "l2_bytes", "l2_shared_by_cpus");
	put_level(info, 3, "l3_bytes", "l3_shared_by_cpus");
}
