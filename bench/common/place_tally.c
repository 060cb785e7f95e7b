/* SPDX-License-Identifier: MIT */
#include "place_tally.h"

void place_count(struct place_tally *t, int cpu)
{
	if (cpu >= 0 && cpu < PLACE_TALLY_CPUS)
		t->seen[cpu]++;
}

int place_most_on(const struct place_tally *t)
{
	uint64_t most = 0;
	int on = -1;

	for (int cpu = 0; cpu < PLACE_TALLY_CPUS; cpu++)
		if (t->seen[cpu] > most) {
			most = t->seen[cpu];
			on = cpu;
		}
	return on;
}
