/* SPDX-License-Identifier: MIT */
/* What the pages of a process, or of all, have counted between two looks at them. */
#ifndef CLI_WATCHED_H
#define CLI_WATCHED_H

#include "pages.h"

/* An object or a call site. */
struct watched_row {
	pid_t pid;
	uid_t uid;
	uint64_t page; /* what tells its page from others of the same number */
	uint64_t address, site;
	unsigned kind; /* IPCWAIT_KIND_COUNT: not known */
	char name[IPCWAIT_PAGE_NAME_BYTES];
	uint64_t waits, spun, gave_up; /* spun: did not sleep; of these waits */
	uint64_t spun_useful_ns, spun_wasted_ns, slept_ns;
	uint64_t window_ns;
};

/* Of a copy of the library in a process: its counters as they were read, not settled. */
struct watched_page {
	pid_t pid;
	uid_t uid;
	uint64_t began_ns; /* what tells it from others of the same number */
	char program[IPCWAIT_PAGE_NAME_BYTES];
	uint64_t block_ns, samples;
	struct counters counters;
	uint64_t missed[2];
};

/* With the sums of its pages. */
struct watched_process {
	pid_t pid;
	uid_t uid; /* another user's process of the same number, in another container, is another */
	char program[IPCWAIT_PAGE_NAME_BYTES];
	uint64_t block_ns, samples;
	struct counters counters;
	uint64_t missed[2]; /* waits without a row, by enum page_table */
};

struct watched {
	int64_t at_ns;
	struct watched_process *process; /* by pid and uid */
	struct watched_page *page;       /* the same */
	struct watched_row *row[2];      /* by enum page_table */
	unsigned processes, pages, rows[2];
	unsigned refused; /* pages that this version cannot read */
};

/*
 * All that is counted by now; @pid 0: of all processes. Of each user there are at most ROWS_MOST
 * (16,384) objects and as many call sites; waits on further ones are missed, as the page says it.
 */
void watched_look(struct watched *w, pid_t pid);

/* The same of these pages, read again; true: one of their processes goes on. */
bool watched_look_again(struct watched *w, struct pages *pages);

void watched_free(struct watched *w);

/*
 * What was counted since @before; what was not there was 0 then. Rows without waits and without a
 * name are left out.
 */
void watched_since(struct watched *d, const struct watched *now,
		   const struct watched *before);

/* The busiest rows first. */
void watched_sort(struct watched *w);

/* The process of a row. */
const struct watched_process *watched_process_of(const struct watched *w,
						 const struct watched_row *row);

/*
 * What to call it: its name, or where it is waited for, or where it is; a terminal may have it.
 * symbols_begin() says how long to look for places.
 */
void watched_label(const struct watched_row *row, char *text, size_t size);

#endif
