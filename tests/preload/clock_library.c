/* SPDX-License-Identifier: MIT */
/* In front of libc's clock: a day ahead, as libfaketime has it. Of waits it knows nothing. */
#include <dlfcn.h>
#include <string.h>
#include <time.h>

#define AHEAD_S 86400

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static int (*libcs)(clockid_t clock, struct timespec * now);
	void *f;
	int r;

	if (!libcs) {
		f = dlsym(RTLD_NEXT, "clock_gettime");
		memcpy(&libcs, &f, sizeof(libcs));
	}
	r = libcs(clock, now);
	if (r == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC))
		now->tv_sec += AHEAD_S;
	return r;
}
