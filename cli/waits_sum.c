/* SPDX-License-Identifier: MIT */
#include "waits_sum.h"
#include "../tools/common/complain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A wait by what it is sorted by. */
struct key {
	uint64_t address, length_ns;
	const struct waits_wait *wait;
};

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_address_and_length(const void *a, const void *b)
{
	const struct key *p = a, *q = b;
	int r = compare((uintptr_t)p->wait->process, (uintptr_t)q->wait->process);

	if (!r)
		r = compare(p->address, q->address);
	return r ? r : compare(p->length_ns, q->length_ns);
}

static int longest_first(const void *a, const void *b)
{
	const struct waits_row *p = a, *q = b;
	int r = compare(q->length_ns, p->length_ns);

	return r ? r : compare(p->address, q->address);
}

static unsigned bin_of(uint64_t ns)
{
	unsigned bin = 0;

	while (bin < WAITS_BINS - 1 && ns >> (bin + 1))
		bin++;
	return bin;
}

static void add(struct waits_row *row, const struct ipcwait_record_wait *w)
{
	row->waits++;
	row->slept += w->reason != 0;
	row->gave_up += w->error != 0;
	row->length_ns += waits_length_ns(w);
	row->slept_ns += w->slept_ns;
	*(w->reason || w->error ? &row->wasted_ns : &row->useful_ns) += w->spun_ns;
	row->bins[bin_of(waits_length_ns(w))]++;
	if (w->reason < IPCWAIT_REASON_SPACE)
		row->reasons[w->reason]++;
	if (w->window_ns)
		row->window_ns = w->window_ns;
	row->kind = w->kind;
	row->site = w->site;
}

/* Of @n that are sorted by length. */
static void set_quantiles(struct waits_row *row, const struct key *key, size_t n)
{
	row->p50_ns = key[n / 2].length_ns;
	row->p90_ns = key[n * 9 / 10].length_ns;
	row->p99_ns = key[n * 99 / 100].length_ns;
	row->most_ns = key[n - 1].length_ns;
}

static size_t length_of_group(const struct key *key, size_t n)
{
	size_t i = 1;

	while (i < n && key[i].wait->process == key[0].wait->process &&
	       key[i].address == key[0].address)
		i++;
	return i;
}

static void add_group(struct waits_row *row, const struct key *key, size_t n)
{
	row->process = key[0].wait->process;
	row->address = key[0].address;
	for (size_t i = 0; i < n; i++)
		add(row, key[i].wait->is);
	set_quantiles(row, key, n);
}

static struct key *sorted(const struct waits *w, enum waits_by by)
{
	struct key *key = calloc(w->n + 1, sizeof(*key));

	if (!key)
		give_up("no memory");
	for (size_t i = 0; i < w->n; i++) {
		const struct ipcwait_record_wait *is = w->wait[i].is;

		key[i] = (struct key){ by == WAITS_BY_SITE ? is->site : is->object,
				       waits_length_ns(is), &w->wait[i] };
	}
	qsort(key, w->n, sizeof(*key), by_address_and_length);
	return key;
}

/* Waits that are one row: @n from @key on. */
struct group {
	const struct key *key;
	size_t n;
	uint64_t length_ns;
};

static int longest_group_first(const void *a, const void *b)
{
	const struct group *p = a, *q = b;
	int r = compare(q->length_ns, p->length_ns);

	return r ? r : compare((uintptr_t)p->key, (uintptr_t)q->key);
}

static struct group group_at(const struct key *key, size_t n)
{
	struct group g = { .key = key, .n = length_of_group(key, n) };

	for (size_t i = 0; i < g.n; i++)
		g.length_ns += key[i].length_ns;
	return g;
}

/* Sorted. Return: how many there are. */
static size_t find_groups(struct group **groups, const struct key *key, size_t n)
{
	struct group *all = NULL;
	size_t found = 0;

	for (size_t i = 0; i < n; i += all[found++].n) {
		/* It doubles. */
		if (!(found & (found - 1)))
			all = realloc(all, (found ? 2 * found : 1) * sizeof(*all));
		if (!all)
			give_up("no memory");
		all[found] = group_at(key + i, n - i);
	}
	if (found)
		qsort(all, found, sizeof(*all), longest_group_first);
	*groups = all;
	return found;
}

void waits_sum(struct waits_sums *s, const struct waits *w, enum waits_by by)
{
	struct key *key = sorted(w, by);
	struct group *groups;

	*s = (struct waits_sums){ .all = find_groups(&groups, key, w->n) };
	s->n = s->all < WAITS_ROWS_MOST ? s->all : WAITS_ROWS_MOST;
	s->row = calloc(s->n + 1, sizeof(*s->row));
	if (!s->row)
		give_up("no memory");
	for (size_t i = 0; i < s->n; i++)
		add_group(&s->row[i], groups[i].key, groups[i].n);
	free(groups);
	free(key);
	qsort(s->row, s->n, sizeof(*s->row), longest_first);
}

void waits_sum_free(struct waits_sums *s)
{
	free(s->row);
	*s = (struct waits_sums){ .row = NULL };
}

struct waits_row *waits_totals(const struct waits *w)
{
	struct waits_row *all = calloc(w->processes + 1, sizeof(*all));

	if (!all)
		give_up("no memory");
	for (size_t i = 0; i < w->processes; i++)
		all[i].process = w->process[i];
	for (size_t i = 0; i < w->n; i++)
		add(&all[w->wait[i].process->index], w->wait[i].is);
	return all;
}

void waits_label(const struct waits_row *row, enum waits_by by, char *text, size_t size)
{
	char name[WAITS_NAME_BYTES];

	if (by == WAITS_BY_SITE)
		waits_place(row->process, row->address, text, size);
	else if (waits_name_of(row->process, row->address, name))
		(void)snprintf(text, size, "%s", name);
	else
		waits_place(row->process, row->site ? row->site : row->address, text, size);
}
