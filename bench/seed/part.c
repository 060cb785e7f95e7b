/* SPDX-License-Identifier: MIT */
#include "part.h"

#include "../../tools/common/place.h"

#define CPUS_MOST 256

void part(unsigned number)
{
	unsigned cpus[CPUS_MOST], turned[CPUS_MOST];
	unsigned n = place_cpus(cpus, CPUS_MOST);

	n = n < CPUS_MOST ? n : CPUS_MOST;
	for (unsigned i = 0; i < n; i++)
		turned[i] = cpus[(i + number) % n];
	if (n > 1)
		place_apart(turned, n);
}
