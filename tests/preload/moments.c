/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>

#include "moments.h"
#include "say.h"

const struct moment moments[MOMENTS] = {
	{ "past", { 1, 0 }, OVER },
	{ "zero", { 0, 0 }, OVER },
	{ "the last nanosecond of a second", { 0, 999999999 }, OVER },
	{ "before 1970", { -1, 0 }, OVER_BEFORE },
	{ "long before 1970", { LONG_MIN, 999999999 }, OVER_BEFORE },
	{ "nanoseconds negative", { 1, -1 }, WRONG },
	{ "nanoseconds a second", { LONG_MAX, 1000000000 }, WRONG },
	{ "nanoseconds most", { 1, LONG_MAX }, WRONG },
	{ "nanoseconds least, before 1970", { -1, LONG_MIN }, WRONG_BEFORE },
};

const struct clock_case clocks[CLOCKS] = {
	{ "realtime", CLOCK_REALTIME, true },
	{ "monotonic", CLOCK_MONOTONIC, true },
	{ "boot time", CLOCK_BOOTTIME, false },
	{ "of the process", CLOCK_PROCESS_CPUTIME_ID, false },
	{ "of the thread", CLOCK_THREAD_CPUTIME_ID, false },
	{ "raw", CLOCK_MONOTONIC_RAW, false },
	{ "coarse", CLOCK_REALTIME_COARSE, false },
	{ "atomic time", CLOCK_TAI, false },
	{ "-1", -1, false },
	{ "99", 99, false },
};

const struct timespec moment_huge = { LONG_MAX, 999999999 };

static void try_moment(const struct timed_call *t, clockid_t clock, const struct moment *m)
{
	int error = t->call(t->object, clock, &m->at);
	char line[128];

	(void)snprintf(line, sizeof(line), "%s, %s", t->name, m->name);
	if (m->kind == OVER || (m->kind == OVER_BEFORE && !t->before))
		expect(line, error, t->valid);
	else if (m->kind == OVER_BEFORE && t->before > 0)
		expect(line, error, t->before);
	else if (m->kind == WRONG)
		expect(line, error, t->invalid);
	else
		say(line, error);
}

void try_moments(const struct timed_call *t, clockid_t clock)
{
	int i;

	for (i = 0; i < MOMENTS; i++)
		try_moment(t, clock, &moments[i]);
}

void try_clocks(const struct timed_call *t, int bad_clock)
{
	char line[128];
	int i;

	for (i = 0; i < CLOCKS; i++) {
		(void)snprintf(line, sizeof(line), "%s, clock %s", t->name, clocks[i].name);
		expect(line, t->call(t->object, clocks[i].clock, &moments[0].at),
		       clocks[i].valid ? t->valid : bad_clock);
	}
}
