/* SPDX-License-Identifier: MIT */
#include "suite.h"
#include "waits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const kind_names[N_KINDS] = {
	[STATIONARY] = "stationary", [CHANGING] = "changing",       [YOUNG] = "young",
	[RECORDED] = "recorded",     [ADVERSARIAL] = "adversarial",
};

/* One line of the suite; p is what the function in waits.c says. */
struct entry {
	const char *name;
	enum kind kind;
	void (*fill)(struct draw *d, const double *p);
	uint64_t (*strike)(size_t i, uint64_t spin_ns, uint64_t block_ns, struct random *r);
	double p[4];
};

/* The same for objects that do not live long: waits of each, and sites by turns. */
struct young_entry {
	struct entry entry;
	size_t life;
	unsigned sites;
};

static const struct entry entries[] = {
	{ "constant 0.02 B", STATIONARY, waits_uniform, NULL, { 0.02, 0.02 } },
	{ "constant 0.1 B", STATIONARY, waits_uniform, NULL, { 0.1, 0.1 } },
	{ "constant 0.3 B", STATIONARY, waits_uniform, NULL, { 0.3, 0.3 } },
	{ "constant 0.7 B", STATIONARY, waits_uniform, NULL, { 0.7, 0.7 } },
	{ "constant 0.9 B", STATIONARY, waits_uniform, NULL, { 0.9, 0.9 } },
	{ "constant 1.1 B", STATIONARY, waits_uniform, NULL, { 1.1, 1.1 } },
	{ "constant 1.5 B", STATIONARY, waits_uniform, NULL, { 1.5, 1.5 } },
	{ "constant 3 B", STATIONARY, waits_uniform, NULL, { 3, 3 } },
	{ "constant 30 B", STATIONARY, waits_uniform, NULL, { 30, 30 } },
	{ "ticks of 1 ms +-2 %", STATIONARY, waits_uniform_us, NULL, { 980, 1020 } },
	{ "ticks of 1 ms +-0.2 %", STATIONARY, waits_uniform_us, NULL, { 998, 1002 } },
	{ "frames of 16.7 ms +-0.1 %",
	  STATIONARY,
	  waits_uniform_us,
	  NULL,
	  { 16650, 16683 } },
	{ "completions of 250 us +-3 %", STATIONARY, waits_uniform_us, NULL, { 242, 258 } },
	{ "uniform 0 .. 0.5 B", STATIONARY, waits_uniform, NULL, { 0, 0.5 } },
	{ "uniform 0 .. 1.2 B", STATIONARY, waits_uniform, NULL, { 0, 1.2 } },
	{ "uniform 0 .. 1.5 B", STATIONARY, waits_uniform, NULL, { 0, 1.5 } },
	{ "uniform 0 .. 2 B", STATIONARY, waits_uniform, NULL, { 0, 2 } },
	{ "uniform 0 .. 10 B", STATIONARY, waits_uniform, NULL, { 0, 10 } },
	{ "exponential 0.05 B", STATIONARY, waits_exponential, NULL, { 0.05 } },
	{ "exponential 0.1 B", STATIONARY, waits_exponential, NULL, { 0.1 } },
	{ "exponential 0.2 B", STATIONARY, waits_exponential, NULL, { 0.2 } },
	{ "exponential 0.5 B", STATIONARY, waits_exponential, NULL, { 0.5 } },
	{ "exponential 0.7 B", STATIONARY, waits_exponential, NULL, { 0.7 } },
	{ "exponential 1 B", STATIONARY, waits_exponential, NULL, { 1 } },
	{ "exponential 1.4 B", STATIONARY, waits_exponential, NULL, { 1.4 } },
	{ "exponential 2 B", STATIONARY, waits_exponential, NULL, { 2 } },
	{ "exponential 5 B", STATIONARY, waits_exponential, NULL, { 5 } },
	{ "exponential 10 B", STATIONARY, waits_exponential, NULL, { 10 } },
	/* Share of the short ones, short, long. */
	{ "bimodal 50 % 0.1 B, 10 B", STATIONARY, waits_bimodal, NULL, { 0.5, 0.1, 10 } },
	{ "bimodal 90 % 0.1 B, 10 B", STATIONARY, waits_bimodal, NULL, { 0.9, 0.1, 10 } },
	{ "bimodal 10 % 0.1 B, 10 B", STATIONARY, waits_bimodal, NULL, { 0.1, 0.1, 10 } },
	{ "bimodal 50 % 0.5 B, 2 B", STATIONARY, waits_bimodal, NULL, { 0.5, 0.5, 2 } },
	{ "bimodal 90 % 0.5 B, 2 B", STATIONARY, waits_bimodal, NULL, { 0.9, 0.5, 2 } },
	{ "bimodal 50 % 0.8 B, 1.3 B", STATIONARY, waits_bimodal, NULL, { 0.5, 0.8, 1.3 } },
	{ "99 % 0.02 B, rest 5 ms",
	  STATIONARY,
	  waits_tail_us,
	  NULL,
	  { 0.99, 0.02, 5000, 5000 } },
	{ "99.8 % 0.02 B, rest 2-10 us",
	  STATIONARY,
	  waits_tail_us,
	  NULL,
	  { 0.998, 0.02, 2, 10 } },
	/* Exponent, least. */
	{ "Pareto 1.1 from 0.02 B", STATIONARY, waits_pareto, NULL, { 1.1, 0.02 } },
	{ "Pareto 1.1 from 0.2 B", STATIONARY, waits_pareto, NULL, { 1.1, 0.2 } },
	{ "Pareto 1.5 from 0.05 B", STATIONARY, waits_pareto, NULL, { 1.5, 0.05 } },
	{ "Pareto 1.5 from 0.5 B", STATIONARY, waits_pareto, NULL, { 1.5, 0.5 } },
	{ "Pareto 2 from 0.1 B", STATIONARY, waits_pareto, NULL, { 2, 0.1 } },
	{ "Pareto 2 from 0.5 B", STATIONARY, waits_pareto, NULL, { 2, 0.5 } },
	/* Median, sigma of the logarithm. */
	{ "lognormal 0.1 B, sigma 1", STATIONARY, waits_lognormal, NULL, { 0.1, 1 } },
	{ "lognormal 0.5 B, sigma 0.5", STATIONARY, waits_lognormal, NULL, { 0.5, 0.5 } },
	{ "lognormal 1 B, sigma 0.5", STATIONARY, waits_lognormal, NULL, { 1, 0.5 } },
	{ "lognormal 1 B, sigma 1", STATIONARY, waits_lognormal, NULL, { 1, 1 } },
	{ "lognormal 5 B, sigma 1.5", STATIONARY, waits_lognormal, NULL, { 5, 1.5 } },
	/* From, to, waits of a full swing. */
	{ "drift 0.05 .. 5 B over 5000", CHANGING, waits_drift, NULL, { 0.05, 5, 5000 } },
	{ "drift 0.3 .. 3 B over 2000", CHANGING, waits_drift, NULL, { 0.3, 3, 2000 } },
	/* The two lengths, waits of each. */
	{ "regimes 0.1 B, 10 B by 1000", CHANGING, waits_regimes, NULL, { 0.1, 10, 1000 } },
	{ "regimes 0.1 B, 10 B by 100", CHANGING, waits_regimes, NULL, { 0.1, 10, 100 } },
	{ "regimes 0.5 B, 2 B by 1000", CHANGING, waits_regimes, NULL, { 0.5, 2, 1000 } },
	{ "regimes 0.5 B, 2 B by 100", CHANGING, waits_regimes, NULL, { 0.5, 2, 100 } },
	/* The two lengths, short ones in a row, long ones in a row. */
	{ "by turns 0.1 B, 10 B", CHANGING, waits_turns, NULL, { 0.1, 10, 1, 1 } },
	{ "by turns 0.5 B, 3 B", CHANGING, waits_turns, NULL, { 0.5, 3, 1, 1 } },
	{ "10 of 0.1 B, then 10 B", CHANGING, waits_turns, NULL, { 0.1, 10, 10, 1 } },
	{ "50 of 0.1 B, then 30 B", CHANGING, waits_turns, NULL, { 0.1, 30, 50, 1 } },
	{ "just beyond", ADVERSARIAL, NULL, waits_just_beyond, { 0 } },
	{ "lured to B, then beyond", ADVERSARIAL, NULL, waits_lure_to_b, { 0 } },
	{ "lured to 2 B, then beyond", ADVERSARIAL, NULL, waits_lure_to_2b, { 0 } },
};

static const struct young_entry young_entries[] = {
	{ { "1 wait each, 0.3 B", YOUNG, waits_uniform, NULL, { 0.3, 0.3 } }, 1, 1 },
	{ { "1 wait each, 10 B", YOUNG, waits_uniform, NULL, { 10, 10 } }, 1, 1 },
	{ { "2 waits each, 10 B", YOUNG, waits_uniform, NULL, { 10, 10 } }, 2, 1 },
	{ { "8 waits each, 10 B", YOUNG, waits_uniform, NULL, { 10, 10 } }, 8, 1 },
	{ { "64 waits each, 10 B", YOUNG, waits_uniform, NULL, { 10, 10 } }, 64, 1 },
	{ { "1 wait each, exponential 0.3 B", YOUNG, waits_exponential, NULL, { 0.3 } },
	  1,
	  1 },
	{ { "8 waits each, exponential 2 B", YOUNG, waits_exponential, NULL, { 2 } },
	  8,
	  1 },
	/* Two lengths, how many of each in a row: by turns is by site, or by object. */
	{ { "2 sites, 0.1 B, 10 B, 1 wait", YOUNG, waits_turns, NULL, { 0.1, 10, 1, 1 } },
	  1,
	  2 },
	{ { "2 sites, 0.1 B, 10 B, 8 waits", YOUNG, waits_turns, NULL, { 0.1, 10, 8, 8 } },
	  8,
	  2 },
	{ { "1 site, 0.1 B, 10 B, 8 waits", YOUNG, waits_turns, NULL, { 0.1, 10, 8, 8 } },
	  8,
	  1 },
	{ { "1 site, 0.1 B, 10 B, 64 waits",
	    YOUNG,
	    waits_turns,
	    NULL,
	    { 0.1, 10, 64, 64 } },
	  64,
	  1 },
	{ { "site changes by 1000, 2 waits",
	    YOUNG,
	    waits_regimes,
	    NULL,
	    { 0.1, 10, 1000 } },
	  2,
	  1 },
	{ { "100 sites, 0.2 B, 20 B, 2 waits",
	    YOUNG,
	    waits_turns,
	    NULL,
	    { 0.2, 20, 2, 2 } },
	  2,
	  100 },
};

#define N_YOUNG   (sizeof(young_entries) / sizeof(young_entries[0]))
#define N_ENTRIES (sizeof(entries) / sizeof(entries[0]))

static int add(struct suite *s, const char *name, enum kind kind, size_t n)
{
	struct member *m = &s->members[s->n++];

	snprintf(m->name, sizeof(m->name), "%s", name);
	m->kind = kind;
	m->n = n;
	if (kind == ADVERSARIAL)
		return 0;
	m->waits_ns = calloc(n, sizeof(*m->waits_ns));
	return m->waits_ns ? 0 : -ENOMEM;
}

static int add_entry(struct suite *s, const struct entry *e, uint64_t seed, size_t n)
{
	struct member *m = &s->members[s->n];
	struct draw d = { .n = n, .block_ns = (double)s->block_ns };

	if (add(s, e->name, e->kind, n))
		return -ENOMEM;
	m->strike = e->strike;
	d.waits_ns = m->waits_ns;
	d.random = random_stream(seed, e->name, NULL);
	if (e->fill)
		e->fill(&d, e->p);
	return 0;
}

static int add_young(struct suite *s, const struct young_entry *y, uint64_t seed, size_t n)
{
	struct member *m = &s->members[s->n];

	m->life = y->life;
	m->sites = y->sites;
	return add_entry(s, &y->entry, seed, n);
}

static int add_trace(struct suite *s, const struct trace *t)
{
	struct member *m = &s->members[s->n];

	if (add(s, t->name, RECORDED, t->n))
		return -ENOMEM;
	memcpy(m->waits_ns, t->waits_ns, t->n * sizeof(*t->waits_ns));
	return 0;
}

static int add_synthetic(struct suite *s, uint64_t seed, size_t n)
{
	int r = 0;

	s->synthetic = true;
	for (size_t i = 0; i < N_ENTRIES && !r; i++)
		r = add_entry(s, &entries[i], seed, n);
	for (size_t i = 0; i < N_YOUNG && !r; i++)
		r = add_young(s, &young_entries[i], seed, n);
	return r;
}

int suite_create(struct suite *s, uint64_t block_ns, uint64_t seed, size_t n_waits,
		 const struct trace *traces, size_t n_traces)
{
	int r = 0;

	*s = (struct suite){ .block_ns = block_ns };
	s->members = calloc(N_ENTRIES + N_YOUNG + n_traces, sizeof(*s->members));
	if (!s->members)
		return -ENOMEM;
	if (n_waits)
		r = add_synthetic(s, seed, n_waits);
	for (size_t i = 0; i < n_traces && !r; i++)
		r = add_trace(s, &traces[i]);
	if (r)
		suite_destroy(s);
	return r;
}

void suite_destroy(struct suite *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->members[i].waits_ns);
	free(s->members);
	*s = (struct suite){ 0 };
}
