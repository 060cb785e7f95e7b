/* SPDX-License-Identifier: MIT */
#include "calibrate/samples.h"

#define TENTH 10

void iw_series_add(struct iw_series *s, uint64_t ns, bool clean)
{
	if (!clean || s->used == IW_BATCH)
		s->discarded++;
	else
		s->ns[s->used++] = ns ? ns : 1;
}

static void sort(uint64_t *v, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		uint64_t x = v[i];
		unsigned at = i;

		for (; at > 0 && v[at - 1] > x; at--)
			v[at] = v[at - 1];
		v[at] = x;
	}
}

void iw_series_close(struct iw_series *s)
{
	struct iw_summary *sum = &s->batch[s->batches++];
	bool enough = s->used >= IW_BATCH_LEAST;
	unsigned tenth = s->used / TENTH;

	*sum = (struct iw_summary){ .discarded = s->discarded + (enough ? 0 : s->used) };
	if (enough) {
		sort(s->ns, s->used);
		sum->p10_ns = s->ns[tenth];
		sum->median_ns = s->ns[s->used / 2];
		sum->p90_ns = s->ns[s->used - 1 - tenth];
		sum->used = s->used;
	}
	s->used = s->discarded = 0;
}

static uint64_t median(uint64_t *v, unsigned n)
{
	sort(v, n);
	return n ? v[n / 2] : 0;
}

/* The quantiles of a batch are in order, and so are the medians of each over all batches. */
struct iw_summary iw_series_sum(const struct iw_series *s)
{
	uint64_t p10[IW_BATCHES], middle[IW_BATCHES], p90[IW_BATCHES];
	struct iw_summary sum = { .used = 0 };
	unsigned n = 0;

	for (unsigned i = 0; i < s->batches; i++) {
		const struct iw_summary *batch = &s->batch[i];

		sum.used += batch->used;
		sum.discarded += batch->discarded;
		if (!batch->used)
			continue;
		p10[n] = batch->p10_ns;
		middle[n] = batch->median_ns;
		p90[n++] = batch->p90_ns;
	}
	sum.p10_ns = median(p10, n);
	sum.median_ns = median(middle, n);
	sum.p90_ns = median(p90, n);
	return sum;
}
