/* SPDX-License-Identifier: MIT */
/* The statistics pages of running processes, <ipcwait/page.h>. */
#ifndef CLI_PAGES_H
#define CLI_PAGES_H

#include "counters.h"

#include <ipcwait/page.h>

#include <sys/types.h>

/* A process has one for each copy of the library in it. */
struct page {
	pid_t pid;
	uid_t uid; /* whose process it is */
	int fd;
	/* A copy: what is in the file may change, and become shorter, at any time. */
	const struct ipcwait_page_head *head;
	size_t bytes;
	struct counters_shape shape;
};

struct pages {
	struct page *page;
	unsigned n;
	unsigned refused; /* files that are no pages, or of another version */
};

/*
 * Call @take with each page of all processes of this user, and of all users for root. Of each
 * user at most PAGES_MOST (1,024) pages are looked at. What dead processes have left behind is
 * removed. @take returns true if it keeps the page, to be given to page_close(). Return: how
 * many files are no pages, or of another version.
 */
unsigned pages_visit(bool (*take)(void *arg, const struct page *page), void *arg);

/*
 * Keep those of process @pid, of the user whose process it is or of this one. What others say
 * of it is left out.
 */
void pages_open(struct pages *p, pid_t pid);

void pages_close(struct pages *p);

void page_close(struct page *page);

/* Copy it again; also after the end of its process. False: it is no page any more. */
bool page_read(struct page *page);

/* Its process still has it. */
bool page_lives(const struct page *page);

/* Add what it has counted. */
void page_add_counters(const struct page *page, struct counters *c);

enum page_table { PAGE_OBJECTS, PAGE_CALL_SITES };

/* Row @i; NULL behind the last. Free rows have the address 0. */
const struct ipcwait_page_row *page_row(const struct page *page, enum page_table table,
					unsigned i);

/* Waits that found no row. */
uint64_t page_missed(const struct page *page, enum page_table table);

/* Waits in a row that did not sleep. */
uint64_t page_row_spun(const struct ipcwait_page_row *row);

#endif
