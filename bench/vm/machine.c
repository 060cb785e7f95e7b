/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CPUIDLE      "/sys/devices/system/cpu/cpuidle/"
#define CLOCK        "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define HALT_POLL_NS "/sys/module/haltpoll/parameters/guest_halt_poll_ns"

/* syslog(2): read everything that is in the kernel's log. */
#define LOG_READ_ALL 3
#define LOG_SIZE     262144
#define LINES_MOST   8

/* The first line of a file. One that cannot be read is null. */
static void write_file(struct json *j, const char *key, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[128];

	if (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		json_text(j, key, line);
	} else {
		json_number(j, key, __builtin_nan(""));
	}
	if (f)
		fclose(f);
}

/* Without the level and the time that the kernel puts before it. */
static const char *message(const char *line)
{
	const char *end = strstr(line, "] ");

	return end ? end + 2 : line;
}

/* idle=poll has no file that shows it; the kernel says so once, in its log. */
static void write_messages(struct json *j)
{
	char *text = malloc(LOG_SIZE);
	int n = text ? klogctl(LOG_READ_ALL, text, LOG_SIZE - 1) : -1;
	char *rest = text;
	int lines = 0;

	if (n < 0) {
		json_number(j, "idle_messages", __builtin_nan(""));
		free(text);
		return;
	}
	text[n] = 0;
	json_open(j, "idle_messages", '[');
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
		if ((strstr(line, "idle thread") || strstr(line, "cpuidle")) &&
		    !strstr(line, "ommand line") && lines++ < LINES_MOST)
			json_text(j, NULL, message(line));
	json_close(j, ']');
	free(text);
}

void machine_write(struct json *j)
{
	struct utsname u;

	json_number(j, "cpus", (double)sysconf(_SC_NPROCESSORS_ONLN));
	json_text(j, "kernel", uname(&u) ? "" : u.release);
	write_file(j, "idle_driver", CPUIDLE "current_driver");
	write_file(j, "idle_governor", CPUIDLE "current_governor_ro");
	write_file(j, "guest_halt_poll_ns", HALT_POLL_NS);
	write_file(j, "clock_source", CLOCK);
	write_messages(j);
}
