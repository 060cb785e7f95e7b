/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <time.h>

#include "os/clock.h"
#include "os/file.h"

static int64_t read_ns(clockid_t clock)
{
	struct timespec now;

	/* Cannot fail: the clock id is valid and so is the pointer. */
	(void)clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t iw_clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t iw_clock_raw_ns(void)
{
	return read_ns(CLOCK_MONOTONIC_RAW);
}

uint64_t iw_clock_wall_s(void)
{
	int64_t ns = read_ns(CLOCK_REALTIME);

	return ns < 0 ? 0 : (uint64_t)ns / 1000000000;
}

bool iw_clock_counter_trusted(void)
{
	static const char *const by_counter[] = {
		"tsc",
		"kvm-clock",
		"hyperv_clocksource_tsc_page",
		"arch_sys_counter",
		"riscv_clocksource",
	};
	char name[64];

	if (iw_file_read("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			 name, sizeof(name)) <= 0)
		return false;
	name[strcspn(name, "\n")] = '\0';
	for (unsigned i = 0; i < sizeof(by_counter) / sizeof(by_counter[0]); i++)
		if (strcmp(name, by_counter[i]) == 0)
			return true;
	return false;
}
