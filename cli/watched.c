/* SPDX-License-Identifier: MIT */
#include "watched.h"
#include "symbol.h"
#include "../tools/common/complain.h"

#include <ipcwait/base.h>

#include <stdlib.h>
#include <string.h>

/* 6 MB a table; 64 processes with all the rows that the library has. */
#define ROWS_MOST 16384

static void *grow(void *all, unsigned n, size_t size)
{
	void *more = n & (n - 1) ? all : realloc(all, (n ? (size_t)2 * n : 1) * size);

	if (!more)
		give_up("no memory");
	return more;
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
		.uid = page->uid,
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

/* While pages are looked at: how many rows there are of the user whose pages these are. */
struct looker {
	struct watched *w;
	uid_t uid;
	unsigned rows[2];
};

static void add_table(struct looker *l, const struct page *page, enum page_table table,
		      uint64_t *missed)
{
	const struct ipcwait_page_row *r;

	for (unsigned i = 0; (r = page_row(page, table, i)); i++) {
		if (!r->address)
			continue;
		if (l->rows[table] == ROWS_MOST) {
			*missed += r->waits;
			continue;
		}
		l->rows[table]++;
		add_row(l->w, page, table, r);
	}
}

static void add_page(struct looker *l, const struct page *page)
{
	struct watched *w = l->w;
	struct watched_page *its;

	if (l->uid != page->uid)
		*l = (struct looker){ .w = w, .uid = page->uid };
	w->page = grow(w->page, w->pages, sizeof(*its));
	its = &w->page[w->pages++];
	*its = (struct watched_page){ .pid = page->pid,
				      .uid = page->uid,
				      .began_ns = page->head->began_ns,
				      .block_ns = page->head->block_ns,
				      .samples = page->head->samples };
	memcpy(its->program, page->head->program, sizeof(its->program));
	page_add_counters(page, &its->counters);
	for (unsigned t = PAGE_OBJECTS; t <= PAGE_CALL_SITES; t++) {
		its->missed[t] = page_missed(page, t);
		add_table(l, page, t, &its->missed[t]);
	}
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_process(pid_t pid, uid_t uid, pid_t other_pid, uid_t other_uid)
{
	int r = compare((uint64_t)pid, (uint64_t)other_pid);

	return r ? r : compare(uid, other_uid);
}

static int by_page(const void *a, const void *b)
{
	const struct watched_page *p = a, *q = b;
	int r = by_process(p->pid, p->uid, q->pid, q->uid);

	return r ? r : compare(p->began_ns, q->began_ns);
}

static bool is_of(const struct watched_process *p, const struct watched_page *page)
{
	return p->pid == page->pid && p->uid == page->uid;
}

/* From the pages, which are sorted. */
static void make_processes(struct watched *w)
{
	struct watched_process *p = NULL;

	for (unsigned i = 0; i < w->pages; i++) {
		const struct watched_page *page = &w->page[i];

		if (!p || !is_of(p, page)) {
			w->process = grow(w->process, w->processes, sizeof(*p));
			p = &w->process[w->processes++];
			*p = (struct watched_process){ .pid = page->pid, .uid = page->uid };
			memcpy(p->program, page->program, sizeof(p->program));
		}
		/* Of several copies of the library the one that has learned most knows best. */
		if (page->samples >= p->samples && page->block_ns) {
			p->samples = page->samples;
			p->block_ns = page->block_ns;
		}
	}
}

static const struct watched_page *page_before(const struct watched *before,
					      const struct watched_page *now)
{
	return before->pages ? bsearch(now, before->page, before->pages,
				       sizeof(*before->page), by_page)
			     : NULL;
}

/* Who writes to its page has written what it likes. */
static uint64_t more_than(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* What a page has counted since @before; one that was not there had counted nothing. */
static void add_to_process(struct watched_process *p, const struct watched_page *page,
			   const struct watched_page *before)
{
	counters_sum(&p->counters, &page->counters);
	if (before)
		counters_subtract(&p->counters, &before->counters);
	for (unsigned t = PAGE_OBJECTS; t <= PAGE_CALL_SITES; t++)
		p->missed[t] += more_than(page->missed[t], before ? before->missed[t] : 0);
}

/* Page by page: they come and go, with what they have counted, and their process stays. */
static void sum_processes(struct watched *w, const struct watched *before)
{
	unsigned page = 0;

	for (unsigned i = 0; i < w->processes; i++) {
		struct watched_process *p = &w->process[i];

		p->counters = (struct counters){ .reasons = { 0 } };
		p->missed[PAGE_OBJECTS] = p->missed[PAGE_CALL_SITES] = 0;
		for (; page < w->pages && is_of(p, &w->page[page]); page++)
			add_to_process(p, &w->page[page],
				       page_before(before, &w->page[page]));
		counters_settle(&p->counters);
	}
}

static void begin(struct looker *l, struct watched *w)
{
	*w = (struct watched){ .at_ns = ipcwait_now_ns() };
	*l = (struct looker){ .w = w };
}

static void end(struct watched *w)
{
	if (w->pages)
		qsort(w->page, w->pages, sizeof(*w->page), by_page);
	make_processes(w);
	sum_processes(w, &(struct watched){ .pages = 0 });
}

static bool take_page(void *arg, const struct page *page)
{
	add_page(arg, page);
	return false;
}

void watched_look(struct watched *w, pid_t pid)
{
	struct pages pages;
	struct looker l;

	if (pid) {
		pages_open(&pages, pid);
		(void)watched_look_again(w, &pages);
		pages_close(&pages);
		return;
	}
	begin(&l, w);
	w->refused = pages_visit(take_page, &l);
	end(w);
}

bool watched_look_again(struct watched *w, struct pages *pages)
{
	struct looker l;
	bool lives = false;

	begin(&l, w);
	w->refused = pages->refused;
	for (unsigned i = 0; i < pages->n; i++) {
		/* First, so that what it counts at its end is read. */
		lives = page_lives(&pages->page[i]) || lives;
		if (page_read(&pages->page[i]))
			add_page(&l, &pages->page[i]);
	}
	end(w);
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

static int by_row(const void *a, const void *b)
{
	const struct watched_row *p = a, *q = b;
	int r = by_process(p->pid, p->uid, q->pid, q->uid);

	if (!r)
		r = compare(p->page, q->page);
	return r ? r : compare(p->address, q->address);
}

static void subtract_row(struct watched_row *r, const struct watched_row *before)
{
	if (!before || before->waits > r->waits)
		return;
	r->waits -= before->waits;
	r->spun = least(more_than(r->spun, before->spun), r->waits);
	r->gave_up -= before->gave_up;
	r->spun_useful_ns -= before->spun_useful_ns;
	r->spun_wasted_ns -= before->spun_wasted_ns;
	r->slept_ns -= before->slept_ns;
}

static void *copy(const void *all, unsigned n, size_t size)
{
	void *p = n ? malloc(n * size) : NULL;

	if (n && !p)
		give_up("no memory");
	return n ? memcpy(p, all, n * size) : NULL;
}

static void subtract_rows(struct watched *w, const struct watched *before,
			  enum page_table table)
{
	unsigned n = before->rows[table], kept = 0;
	struct watched_row *sorted = copy(before->row[table], n, sizeof(*sorted));

	if (n)
		qsort(sorted, n, sizeof(*sorted), by_row);
	for (unsigned i = 0; i < w->rows[table]; i++) {
		struct watched_row r = w->row[table][i];

		subtract_row(&r, n ? bsearch(&r, sorted, n, sizeof(r), by_row) : NULL);
		if (r.waits || r.name[0])
			w->row[table][kept++] = r;
	}
	w->rows[table] = kept;
	free(sorted);
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

	int r = compare(q->waits, p->waits);

	return r ? r : by_row(a, b);
}

void watched_sort(struct watched *w)
{
	for (unsigned t = PAGE_OBJECTS; t <= PAGE_CALL_SITES; t++)
		if (w->rows[t])
			qsort(w->row[t], w->rows[t], sizeof(*w->row[t]), busiest_first);
}

const struct watched_process *watched_process_of(const struct watched *w,
						 const struct watched_row *row)
{
	unsigned first = 0, end = w->processes;

	while (end - first > 1) {
		unsigned middle = first + (end - first) / 2;
		const struct watched_process *p = &w->process[middle];

		if (by_process(p->pid, p->uid, row->pid, row->uid) <= 0)
			first = middle;
		else
			end = middle;
	}
	return &w->process[first];
}

void watched_label(const struct watched_row *row, char *text, size_t size)
{
	if (row->name[0])
		(void)snprintf(text, size, "%s", shown(row->name, -1));
	else
		symbol_of(row->pid, row->site ? row->site : row->address, text, size);
}
