/* SPDX-License-Identifier: MIT */
/* What the library's rule has to reach, for each B. */
#ifndef POLICY_SIM_BARS_H
#define POLICY_SIM_BARS_H

#include "results.h"

#define BARS 5

struct bar {
	const char *text;
	double value, limit;
	bool reached; /* at most the limit; where strict is set, below it */
	bool strict;
	const char *who; /* the member or policy that decides, or NULL */
};

/* False if the rule or all others were not run. */
bool bars_get(const struct series *s, struct bar bars[BARS]);

bool bars_all_reached(const struct results *r);

#endif
