/* SPDX-License-Identifier: MIT */
/* How busy the machine is: load, memory, and what the hypervisor took. */
#include "info.h"

#include <stdlib.h>

/* The members of the first line of /proc/stat, of which guest time is in user time already. */
enum { STEAL = 7, TIMES = 8 };

static void put_load(struct info *info)
{
	static const char *const keys[] = { "load_1min", "load_5min", "load_15min" };
	char text[INFO_TEXT_BYTES], *at = text;
	bool read = info_line(info, text, sizeof(text), "/proc/loadavg");

	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char *begin = at;
		double n = read ? strtod(begin, &at) : 0;

		if (!read)
			info_put_missing(info, keys[i], text);
		else if (at != begin && n >= 0 && n < 1e9)
			info_put_number(info, keys[i], n);
		else
			info_put_missing(info, keys[i], "/proc/loadavg makes no sense");
	}
}

static void put_uptime(struct info *info)
{
	char text[INFO_TEXT_BYTES];
	double seconds;

	if (!info_line(info, text, sizeof(text), "/proc/uptime"))
		info_put_missing(info, "uptime_s", text);
	else if ((seconds = strtod(text, NULL)) > 0 && seconds < 1e12)
		info_put_number(info, "uptime_s", (double)(int64_t)seconds);
	else
		info_put_missing(info, "uptime_s", "/proc/uptime makes no sense");
}

static void put_memory(struct info *info, const char *key, const char *name)
{
	char text[4096], value[64];
	bool read = info_read(info, text, sizeof(text), "/proc/meminfo");
	double kib;

	if (!read)
		info_put_missing(info, key, text);
	else if (info_field(text, name, value, sizeof(value)) &&
		 (kib = (double)strtoul(value, NULL, 10)) > 0 && kib < 1e12)
		info_put_number(info, key, kib * 1024);
	else
		info_put_missing(info, key, "/proc/meminfo does not tell");
}

/* Kernels without CONFIG_PARAVIRT_TIME_ACCOUNTING show 0, as metal does. */
static void put_steal(struct info *info)
{
	static const char key[] = "steal_share";
	char text[INFO_TEXT_BYTES];
	double time[TIMES], sum = 0;

	if (!info_line(info, text, sizeof(text), "/proc/stat")) {
		info_put_missing(info, key, text);
		return;
	}
	if (sscanf(text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &time[0], &time[1],
		   &time[2], &time[3], &time[4], &time[5], &time[6], &time[STEAL]) == TIMES)
		for (unsigned i = 0; i < TIMES; i++)
			sum += time[i];
	if (sum > 0 && sum < 1e18 && time[STEAL] >= 0)
		info_put_number(info, key, time[STEAL] / sum);
	else
		info_put_missing(info, key, "/proc/stat makes no sense");
}

void info_read_load(struct info *info)
{
	put_memory(info, "memory_bytes", "MemTotal");
	put_memory(info, "memory_available_bytes", "MemAvailable");
	put_load(info);
	put_uptime(info);
	put_steal(info);
}
