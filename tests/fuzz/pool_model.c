/* SPDX-License-Identifier: MIT */
#include "fuzz/pool_model.h"

#include "fuzz/elements.h"

/* What nobody needs for so long goes back, in ns, so many magazines at a visit. */
#define TRIM_NS      1000000000
#define TRIM_A_VISIT 2

/* A magazine has so many bytes of elements, but at least two elements and at most 64. */
#define MAGAZINE_BYTES 32768

struct pool_outside pool_outside;

void pool_model_begin(struct pool_model *m, const struct ipcwait_pool_params *is,
		      size_t stride)
{
	size_t fit = MAGAZINE_BYTES / stride;

	*m = (struct pool_model){ .most = is->max_elems };
	m->rounds = fit < 2 ? 2 : fit < 64 ? (uint32_t)fit : 64;
	if (is->magazine)
		m->rounds = is->magazine;
}

static void note_least(struct pool_depot *d)
{
	if (d->full < d->least)
		d->least = d->full;
}

/* A full magazine, of the nearest depot that has one. */
static bool take_full(struct pool_model *m)
{
	for (unsigned i = 0; i < pool_outside.nodes; i++) {
		struct pool_depot *d =
			&m->depot[(pool_outside.node + i) % pool_outside.nodes];
		bool there = d->full;

		d->full -= there;
		note_least(d);
		if (there)
			return true;
	}
	return false;
}

/* What was in a magazine. */
static void back_to_slabs(struct pool_model *m, uint32_t n)
{
	m->out -= n;
	m->refills += n != 0;
}

static bool trim_one(struct pool_model *m, struct pool_depot *d)
{
	if (!d->full)
		return false;
	d->full--;
	m->trimmed += m->rounds;
	back_to_slabs(m, m->rounds);
	return true;
}

static bool trim_any(struct pool_model *m)
{
	for (unsigned i = 0; i < pool_outside.nodes; i++)
		if (trim_one(m, &m->depot[i]))
			return true;
	return false;
}

static void settle_accounts(struct pool_depot *d)
{
	if (pool_outside.now_ns - d->settled_at < TRIM_NS)
		return;
	d->settled_at = pool_outside.now_ns;
	d->owed = d->least;
	d->least = d->full;
}

/* At a visit with a full magazine. */
static void trim_some(struct pool_model *m, struct pool_depot *d)
{
	if (d->owed > d->least)
		d->owed = d->least;
	if (!d->owed) {
		settle_accounts(d);
		return;
	}
	for (int i = 0; i < TRIM_A_VISIT && d->owed; i++)
		d->owed = trim_one(m, d) ? d->owed - 1 : 0;
	note_least(d);
}

/* How many of @n the slabs have: as many as the bound lets out. */
static uint32_t from_slabs(struct pool_model *m, uint32_t n)
{
	uint64_t room = m->most ? m->most - m->out : n;

	n = room < n ? (uint32_t)room : n;
	m->out += n;
	return n;
}

static bool get_without(struct pool_model *m)
{
	while (!from_slabs(m, 1))
		if (!trim_any(m))
			return false;
	return true;
}

/* The magazine in hand is empty. */
static void refill(struct pool_model *m, struct pool_cache *c)
{
	if (c->other) {
		c->hand = c->other;
		c->other = 0;
	} else if (take_full(m)) {
		c->hand = m->rounds;
		c->exchanges++;
	} else {
		c->hand = from_slabs(m, m->rounds);
		m->refills += c->hand != 0;
	}
}

bool pool_model_get(struct pool_model *m, struct pool_cache *c)
{
	c->made |= !pool_outside.ends_untold;
	if (!c->made)
		return get_without(m);
	if (!c->hand)
		refill(m, c);
	if (!c->hand)
		return false;
	c->hand--;
	return true;
}

void pool_model_put(struct pool_model *m, struct pool_cache *c)
{
	struct pool_depot *d = &m->depot[pool_outside.node % pool_outside.nodes];

	c->made |= !pool_outside.ends_untold;
	if (!c->made) {
		m->out--;
		return;
	}
	if (c->hand == m->rounds && !c->other) {
		c->other = c->hand;
		c->hand = 0;
	} else if (c->hand == m->rounds) {
		d->full++;
		c->exchanges++;
		c->hand = 0;
		trim_some(m, d);
	}
	c->hand++;
}

void pool_model_trim(struct pool_model *m, struct pool_cache *c)
{
	back_to_slabs(m, c->hand);
	back_to_slabs(m, c->other);
	c->hand = c->other = 0;
	while (trim_any(m))
		continue;
}

static void shelve(struct pool_model *m, uint32_t n)
{
	if (n == m->rounds)
		m->depot[pool_outside.node % pool_outside.nodes].full++;
	else
		back_to_slabs(m, n);
}

void pool_model_end(struct pool_model *m, const struct pool_cache *c)
{
	if (!c->made)
		return;
	shelve(m, c->hand);
	shelve(m, c->other);
	m->exchanges_of_the_gone += c->exchanges;
}

struct ipcwait_pool_stats pool_model_stats(const struct pool_model *m,
					   const struct pool_cache *c)
{
	struct ipcwait_pool_stats st = {
		.size = sizeof(st),
		.used = m->out,
		.threads = c->made,
		.exchanges = m->exchanges_of_the_gone + c->exchanges,
		.refills = m->refills,
		.trimmed = m->trimmed,
	};

	for (unsigned i = 0; i < pool_outside.nodes; i++)
		st.cached += (uint64_t)m->depot[i].full * m->rounds;
	st.used -= st.cached;
	return st;
}
