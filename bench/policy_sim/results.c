/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int run_rules(struct series *s, const struct options *o)
{
	int r = 0;

	s->verdicts = calloc(n_rules, sizeof(*s->verdicts));
	if (!s->verdicts)
		return -ENOMEM;
	for (unsigned i = 0; i < n_rules && !r; i++) {
		if (!(o->rules & (1u << i)))
			continue;
		r = run_rule(&s->verdicts[s->n], &s->suite, rules[i], o->seed);
		s->n += !r;
	}
	return r ? r : run_hindsight(&s->hindsight, &s->suite);
}

int results_run(struct results *r, const struct options *o, const struct trace *traces)
{
	int result = 0;

	*r = (struct results){ .options = o };
	for (size_t i = 0; i < o->n_blocks && !result; i++) {
		struct series *s = &r->series[r->n++];

		s->block_ns = o->blocks_us[i] * 1000;
		result = suite_create(&s->suite, s->block_ns, o->seed, o->n_waits, traces,
				      o->n_traces);
		if (!result)
			result = run_rules(s, o);
	}
	if (result)
		results_destroy(r);
	return result;
}

void results_destroy(struct results *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct series *s = &r->series[i];

		for (size_t k = 0; k < s->n; k++)
			verdict_destroy(&s->verdicts[k]);
		verdict_destroy(&s->hindsight);
		free(s->verdicts);
		suite_destroy(&s->suite);
	}
	*r = (struct results){ 0 };
}

const struct verdict *results_find(const struct series *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->verdicts[i].name, name))
			return &s->verdicts[i];
	return NULL;
}
