/* SPDX-License-Identifier: MIT */
#include "waits.h"

#include <math.h>

#define PI 3.141592653589793

/* A heavy tail now and then draws years; all rules but one treat 10 s the same. */
#define LONGEST_NS 1e10

static uint64_t in_ns(double ns)
{
	return (uint64_t)(ns < LONGEST_NS ? ns : LONGEST_NS);
}

static double between(struct random *r, double least, double most)
{
	return least + random_unit(r) * (most - least);
}

static double exponential(struct random *r, double mean)
{
	return -mean * log(random_unit(r));
}

static double spread(struct random *r, double x)
{
	return x * between(r, 0.9, 1.1);
}

void waits_uniform(struct draw *d, const double *p)
{
	for (size_t i = 0; i < d->n; i++)
		d->waits_ns[i] = in_ns(d->block_ns * between(&d->random, p[0], p[1]));
}

void waits_uniform_us(struct draw *d, const double *p)
{
	for (size_t i = 0; i < d->n; i++)
		d->waits_ns[i] = in_ns(1000 * between(&d->random, p[0], p[1]));
}

void waits_exponential(struct draw *d, const double *p)
{
	for (size_t i = 0; i < d->n; i++)
		d->waits_ns[i] = in_ns(d->block_ns * exponential(&d->random, p[0]));
}

void waits_bimodal(struct draw *d, const double *p)
{
	for (size_t i = 0; i < d->n; i++) {
		double mode = random_unit(&d->random) < p[0] ? p[1] : p[2];

		d->waits_ns[i] = in_ns(d->block_ns * spread(&d->random, mode));
	}
}

void waits_tail_us(struct draw *d, const double *p)
{
	for (size_t i = 0; i < d->n; i++) {
		double ns = random_unit(&d->random) < p[0]
				    ? d->block_ns * exponential(&d->random, p[1])
				    : 1000 * between(&d->random, p[2], p[3]);

		d->waits_ns[i] = in_ns(ns);
	}
}

void waits_pareto(struct draw *d, const double *p)
{
	for (size_t i = 0; i < d->n; i++)
		d->waits_ns[i] =
			in_ns(d->block_ns * p[1] * pow(random_unit(&d->random), -1 / p[0]));
}

void waits_lognormal(struct draw *d, const double *p)
{
	for (size_t i = 0; i < d->n; i++)
		d->waits_ns[i] =
			in_ns(d->block_ns * p[0] * exp(p[1] * random_normal(&d->random)));
}

/* A sine of the logarithm, from the least up to the most and back. */
void waits_drift(struct draw *d, const double *p)
{
	for (size_t i = 0; i < d->n; i++) {
		double share = (1 - cos(2 * PI * (double)i / p[2])) / 2;
		double mode = p[0] * pow(p[1] / p[0], share);

		d->waits_ns[i] = in_ns(d->block_ns * spread(&d->random, mode));
	}
}

void waits_regimes(struct draw *d, const double *p)
{
	for (size_t i = 0; i < d->n; i++) {
		double mode = i / (size_t)p[2] % 2 ? p[1] : p[0];

		d->waits_ns[i] = in_ns(d->block_ns * spread(&d->random, mode));
	}
}

void waits_turns(struct draw *d, const double *p)
{
	for (size_t i = 0; i < d->n; i++) {
		size_t place = i % (size_t)(p[2] + p[3]);

		d->waits_ns[i] = in_ns(d->block_ns * (place < (size_t)p[2] ? p[0] : p[1]));
	}
}

uint64_t waits_just_beyond(size_t i, uint64_t spin_ns, uint64_t block_ns, struct random *r)
{
	(void)i;
	(void)block_ns;
	(void)r;
	return spin_ns + 1;
}

uint64_t waits_lure_to_b(size_t i, uint64_t spin_ns, uint64_t block_ns, struct random *r)
{
	if (i % 16 == 15)
		return spin_ns + 1;
	return in_ns((double)block_ns * between(r, 0, 0.9));
}

/* Half the waits need a spin of B/2; then going on to twice that costs less than a sleep. */
uint64_t waits_lure_to_2b(size_t i, uint64_t spin_ns, uint64_t block_ns, struct random *r)
{
	if (i % 32 == 31)
		return spin_ns + 1;
	return in_ns((double)block_ns *
		     (i % 2 ? between(r, 0.4, 0.6) : between(r, 1.05, 1.6)));
}
