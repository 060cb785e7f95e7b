/* SPDX-License-Identifier: MIT */
#include "watched.h"
#include "symbol.h"
#include "../tools/common/complain.h"

#include <ipcwait/base.h>

#include <stdlib.h>
#include <string.h>

static void *grow(void *all, unsigned n, size_t size)
{
	void *more = n & (n - 1) ? all : realloc(all, (n ? (size_t)2 * n : 1) * size);

	if (!more)
		give_up("no memory");
	return more;
}

static struct watched_process *process_of(struct watched *w, const struct page *page)
{
	struct watched_process *p = w->process + w->processes - 1;

	if (w->processes && p->pid == page->pid)
		return p;
	w->process = grow(w->process, w->processes, sizeof(*p));
	p = &w->process[w->processes++];
	*p = (struct watched_process){ .pid = page->pid };
	memcpy(p->program, page->head->program, sizeof(p->program));
	return p;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Its counters may be a few waits out of step. */
static void add_row(struct watched *w, const struct page *page, enum page_table table,
		    const struct ipcwait_page_row *r)
{
	struct watched_row *row;

	w->row[table] = grow(w->row[table], w->rows[table], sizeof(*row));
	row = &w->row[table][w->rows[table]++];
	*row = (struct watched_row){
		.pid = page->pid,
		.page = page->head->began_ns,
		.address = r->address,
		.site = r->site,
		.kind = r->kind && r->kind <= IPCWAIT_KIND_COUNT ? r->kind - 1
								 : IPCWAIT_KIND_COUNT,
		.waits = r->waits,
		.spun = least(page_row_spun(r), r->waits),
		.gave_up = r->gave_up,
		.spun_useful_ns = r->spun_useful_ns,
		.spun_wasted_ns = r->spun_wasted_ns,
		.slept_ns = r->slept_ns,
		.window_ns = r->window_ns,
	};
	memcpy(row->name, r->name, sizeof(row->name) - 1);
}

static void add_table(struct watched *w, const struct page *page, enum page_table table)
{
	const struct ipcwait_page_row *r;

	for (unsigned i = 0; (r = page_row(page, table, i)); i++)
		if (r->address)
			add_row(w, page, table, r);
}

static void add_page(struct watched *w, const struct page *page)
{
	struct watched_process *p = process_of(w, page);
	struct watched_page *its;

	w->page = grow(w->page, w->pages, sizeof(*its));
	its = &w->page[w->pages++];
	*its = (struct watched_page){ .pid = page->pid, .began_ns = page->head->began_ns };
	page_add_counters(page, &its->counters);
	/* Of several copies of the library the one that has learned most knows best. */
	if (page->head->samples >= p->samples && page->head->block_ns) {
		p->samples = page->head->samples;
		p->block_ns = page->head->block_ns;
	}
	for (unsigned t = PAGE_OBJECTS; t <= PAGE_CALL_SITES; t++) {
		its->missed[t] = page_missed(page, t);
		add_table(w, page, t);
	}
}

static const struct watched_page *page_before(const struct watched *before,
					      const struct watched_page *now)
{
	for (unsigned i = 0; i < before->pages; i++)
		if (before->page[i].pid == now->pid &&
		    before->page[i].began_ns == now->began_ns)
			return &before->page[i];
	return NULL;
}

/* What a page has counted since @before; one that was not there had counted nothing. */
static void add_to_process(struct watched_process *p, const struct watched_page *page,
			   const struct watched_page *before)
{
	counters_sum(&p->counters, &page->counters);
	if (before)
		counters_subtract(&p->counters, &before->counters);
	for (unsigned t = PAGE_OBJECTS; t <= PAGE_CALL_SITES; t++)
		p->missed[t] += page->missed[t] - (before ? before->missed[t] : 0);
}

/* Page by page: they come and go, with what they have counted, and their process stays. */
static void sum_processes(struct watched *w, const struct watched *before)
{
	unsigned page = 0;

	for (unsigned i = 0; i < w->processes; i++) {
		struct watched_process *p = &w->process[i];

		p->counters = (struct counters){ .reasons = { 0 } };
		p->missed[PAGE_OBJECTS] = p->missed[PAGE_CALL_SITES] = 0;
		for (; page < w->pages && w->page[page].pid == p->pid; page++)
			add_to_process(p, &w->page[page],
				       page_before(before, &w->page[page]));
		counters_settle(&p->counters);
	}
}

void watched_look(struct watched *w, pid_t pid)
{
	struct pages pages;

	pages_open(&pages, pid);
	(void)watched_look_again(w, &pages);
	pages_close(&pages);
}

bool watched_look_again(struct watched *w, struct pages *pages)
{
	bool lives = false;

	*w = (struct watched){ .at_ns = ipcwait_now_ns(), .refused = pages->refused };
	for (unsigned i = 0; i < pages->n; i++) {
		/* First, so that what it counts at its end is read. */
		lives = page_lives(&pages->page[i]) || lives;
		if (page_read(&pages->page[i]))
			add_page(w, &pages->page[i]);
	}
	sum_processes(w, &(struct watched){ .pages = 0 });
	return lives;
}

void watched_free(struct watched *w)
{
	free(w->process);
	free(w->page);
	free(w->row[PAGE_OBJECTS]);
	free(w->row[PAGE_CALL_SITES]);
	*w = (struct watched){ .at_ns = 0 };
}

static const struct watched_row *row_before(const struct watched *before,
					    enum page_table table,
					    const struct watched_row *now)
{
	for (unsigned i = 0; i < before->rows[table]; i++) {
		const struct watched_row *r = &before->row[table][i];

		if (r->pid == now->pid && r->page == now->page &&
		    r->address == now->address)
			return r;
	}
	return NULL;
}

static void subtract_row(struct watched_row *r, const struct watched_row *before)
{
	/* Who writes to its page has written what it likes. */
	if (!before || before->waits > r->waits)
		return;
	r->waits -= before->waits;
	r->spun = r->spun > before->spun ? least(r->spun - before->spun, r->waits) : 0;
	r->gave_up -= before->gave_up;
	r->spun_useful_ns -= before->spun_useful_ns;
	r->spun_wasted_ns -= before->spun_wasted_ns;
	r->slept_ns -= before->slept_ns;
}

static void subtract_rows(struct watched *w, const struct watched *before,
			  enum page_table table)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < w->rows[table]; i++) {
		struct watched_row r = w->row[table][i];

		subtract_row(&r, row_before(before, table, &r));
		if (r.waits || r.name[0])
			w->row[table][kept++] = r;
	}
	w->rows[table] = kept;
}

static void *copy(const void *all, unsigned n, size_t size)
{
	void *p = n ? malloc(n * size) : NULL;

	if (n && !p)
		give_up("no memory");
	return n ? memcpy(p, all, n * size) : NULL;
}

void watched_since(struct watched *d, const struct watched *now,
		   const struct watched *before)
{
	*d = *now;
	d->process = copy(now->process, now->processes, sizeof(*d->process));
	d->page = copy(now->page, now->pages, sizeof(*d->page));
	for (unsigned t = PAGE_OBJECTS; t <= PAGE_CALL_SITES; t++)
		d->row[t] = copy(now->row[t], now->rows[t], sizeof(*d->row[t]));
	sum_processes(d, before);
	subtract_rows(d, before, PAGE_OBJECTS);
	subtract_rows(d, before, PAGE_CALL_SITES);
}

static int busiest_first(const void *a, const void *b)
{
	const struct watched_row *p = a, *q = b;

	if (p->waits != q->waits)
		return p->waits > q->waits ? -1 : 1;
	return (p->address > q->address) - (p->address < q->address);
}

void watched_sort(struct watched *w)
{
	for (unsigned t = PAGE_OBJECTS; t <= PAGE_CALL_SITES; t++)
		if (w->rows[t])
			qsort(w->row[t], w->rows[t], sizeof(*w->row[t]), busiest_first);
}

void watched_label(const struct watched_row *row, char *text, size_t size)
{
	if (row->name[0])
		(void)snprintf(text, size, "%s", shown(row->name, -1));
	else
		symbol_of(row->pid, row->site ? row->site : row->address, text, size);
}
