/* SPDX-License-Identifier: MIT */
#include "shares.h"

#define EACH_MOST 64
#define TAKES     16 /* by each, about */

void shares_init(struct shares *s, uint64_t total, unsigned takers)
{
	uint64_t each = total / takers / TAKES + 1;

	s->total = total;
	s->each = each < EACH_MOST ? each : EACH_MOST;
	s->taken = 0;
}

uint64_t shares_take(struct shares *s, uint64_t *first)
{
	*first = __atomic_fetch_add(&s->taken, s->each, __ATOMIC_RELAXED);
	if (*first >= s->total)
		return 0;
	return s->total - *first < s->each ? s->total - *first : s->each;
}
