/* SPDX-License-Identifier: MIT */
#include "random.h"

#include <math.h>
#include <stddef.h>

#define TWO_PI 6.283185307179586

/* Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators". */
uint64_t random_next(struct random *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void mix_in(struct random *r, const char *name)
{
	for (; name && *name; name++) {
		r->state ^= (unsigned char)*name;
		r->state = random_next(r);
	}
	r->state = random_next(r);
}

struct random random_stream(uint64_t seed, const char *name, const char *name2)
{
	struct random r = { .state = seed };

	mix_in(&r, name);
	mix_in(&r, name2);
	return r;
}

double random_unit(struct random *r)
{
	return ((double)(random_next(r) >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

/* Box and Muller 1958; the second number of the pair is thrown away. */
double random_normal(struct random *r)
{
	double radius = sqrt(-2 * log(random_unit(r)));

	return radius * cos(TWO_PI * random_unit(r));
}
