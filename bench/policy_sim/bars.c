/* SPDX-License-Identifier: MIT */
#include "bars.h"

#define MEAN_LIMIT   1.15
#define YOUNG_LIMIT  1.15
#define WORST_LIMIT  1.60
#define LOSS_LIMIT_B 2.0

static bool own_rule(const struct verdict *v)
{
	return v->name == rule_ipcwait.name || v->name == rule_latency.name;
}

static const struct verdict *best_competitor(const struct series *s)
{
	const struct verdict *best = NULL;

	for (size_t i = 0; i < s->n; i++)
		if (!own_rule(&s->verdicts[i]) &&
		    (!best || s->verdicts[i].mean < best->mean))
			best = &s->verdicts[i];
	return best;
}

/* Over the objects that live for a few waits each. */
static double young_mean(const struct series *s, const struct verdict *v)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->suite.n; i++) {
		if (s->suite.members[i].kind != YOUNG)
			continue;
		sum += v->scores[i].ratio;
		n++;
	}
	return sum / (double)n;
}

bool bars_get(const struct series *s, struct bar bars[BARS])
{
	const struct verdict *own = results_find(s, rule_ipcwait.name);
	const struct verdict *other = best_competitor(s);
	const struct member *members = s->suite.members;
	struct bar *bar = bars;

	if (!own || !other || !s->suite.synthetic)
		return false;
	*bar++ = (struct bar){ .text = "suite mean",
			       .value = own->mean,
			       .limit = MEAN_LIMIT };
	*bar++ = (struct bar){ .text = "mean of the young members",
			       .value = young_mean(s, own),
			       .limit = YOUNG_LIMIT };
	*bar++ = (struct bar){ .text = "worst stationary member",
			       .value = own->worst,
			       .limit = WORST_LIMIT,
			       .who = members[own->worst_member].name };
	*bar++ = (struct bar){ .text = "loss on any single wait, in B",
			       .value = (double)own->loss_max_ns / (double)s->block_ns,
			       .limit = LOSS_LIMIT_B,
			       .who = members[own->loss_member].name };
	*bar++ = (struct bar){ .text = "suite mean, of the best competitor",
			       .value = own->mean,
			       .limit = other->mean,
			       .strict = true,
			       .who = other->name };
	while (bar-- > bars)
		bar->reached =
			bar->strict ? bar->value < bar->limit : bar->value <= bar->limit;
	return true;
}

bool bars_all_reached(const struct results *r)
{
	struct bar bars[BARS];
	bool reached = true;

	for (size_t i = 0; i < r->n; i++) {
		if (!bars_get(&r->series[i], bars))
			return false;
		for (int k = 0; k < BARS; k++)
			reached = reached && bars[k].reached;
	}
	return reached;
}
