/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ipcwait/page.h>

#include "env/config.h"
#include "os/calls.h"
#include "os/fork_hold.h"
#include "os/page_file.h"
#include "os/pages.h"
#include "os/shared_file.h"
#include "watch/objects.h"
#include "watch/observe.h"
#include "watch/page.h"
#include "watch/stats.h"

#define SAME(ours, theirs)                                                \
	_Static_assert(offsetof(struct iw_object, ours) ==                \
			       offsetof(struct ipcwait_page_row, theirs), \
		       "the row is what it says")
SAME(address, address);
SAME(counts, waits);
SAME(reasons, reasons);
SAME(chosen_ns, window_ns);
SAME(bins, bins);
SAME(state, state);
SAME(kind, kind);
SAME(site, site);
SAME(resumable, resumable);
SAME(name, name);
_Static_assert(sizeof(struct iw_object) >= sizeof(struct ipcwait_page_row), "and as long");
_Static_assert(IW_OBJECT_NAME_BYTES == IPCWAIT_PAGE_NAME_BYTES, "the table holds the name");

#define HEAD_BYTES 4096
_Static_assert(sizeof(struct ipcwait_page_head) <= HEAD_BYTES, "it fits");

enum { COUNTERS, OBJECTS, CALL_SITES, PARTS };

struct part {
	void *memory;
	size_t bytes;
	uint64_t at; /* in the file */
};

static struct iw_page_file file;
static struct ipcwait_wordptr head; /* NULL: there is no page */
static uint32_t owner;              /* the process that has made it */
static bool is_copy;                /* of a process with a page, by fork(3) */
static struct ipcwait_word32 warned;

bool iw_page_is_late;

/* WANTED -> MAKING -> ENDED: the late page is made once, or cannot be. */
enum { ENDED, WANTED, MAKING };

static struct ipcwait_word32 stage;

/* Where everything is, in memory and in the file. Returns the size of the file. */
static uint64_t lay_out(struct part part[PARTS], struct iw_stats_table *counters)
{
	uint64_t end = HEAD_BYTES;

	iw_stats_table(counters);
	part[COUNTERS] = (struct part){ counters->memory, counters->bytes, 0 };
	part[OBJECTS] = (struct part){ &iw_objects, sizeof(iw_objects), 0 };
	part[CALL_SITES] = (struct part){ &iw_call_sites, sizeof(iw_call_sites), 0 };
	for (unsigned i = 0; i < PARTS; i++) {
		part[i].at = end;
		end += part[i].bytes;
	}
	return end;
}

static uint64_t real_time_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void fill_head(struct ipcwait_page_head *h, const struct part part[PARTS],
		      const struct iw_stats_table *counters)
{
	*h = (struct ipcwait_page_head){
		.magic = IPCWAIT_PAGE_MAGIC,
		.version = IPCWAIT_PAGE_VERSION,
		.pid = (uint32_t)getpid(),
		.bytes = part[CALL_SITES].at + part[CALL_SITES].bytes,
		.began_ns = real_time_ns(),
		.counters_at = part[COUNTERS].at,
		.objects_at = part[OBJECTS].at,
		.call_sites_at = part[CALL_SITES].at,
		.shards = counters->shards,
		.shard_bytes = counters->shard_bytes,
		.kinds = counters->kinds,
		.kind_bytes = counters->kind_bytes,
		.events = counters->events,
		.reasons = counters->reasons,
		.reasons_at = counters->reasons_at,
		.rows = IW_OBJECTS,
		.row_bytes = sizeof(struct iw_object),
		.moves = counters->moves,
	};
	(void)snprintf(h->program, sizeof(h->program), "%s", program_invocation_short_name);
	(void)snprintf(h->library, sizeof(h->library), "%s", ipcwait_version());
}

/* Only those: who counts in a row of its own makes it. */
static void copy_names(struct iw_objects *to)
{
	for (unsigned i = 0; i < IW_OBJECTS; i++) {
		struct iw_object *from = iw_object_at(&iw_objects, i), *o;

		if (!from || !from->name[0].v)
			continue;
		o = iw_object_get(to, from->address.v);
		if (o)
			memcpy(o->name, from->name, sizeof(o->name));
	}
}

/* The file's memory in the place of a part that was copied into it. */
static bool lay(const struct part *part)
{
	return iw_shared_file_lay(file.fd, part->at, part->memory, part->bytes);
}

/* Of memory that other threads count in. Both are aligned, and consist of whole words. */
static void copy_words(char *to, const char *from, uint64_t bytes)
{
	struct ipcwait_word64 *into = (void *)to;
	const struct ipcwait_word64 *of = (const void *)from;

	for (uint64_t i = 0; i < bytes / sizeof(*of); i++)
		/* ORD page.X11: relaxed, statistic. */
		ipcwait_impl_store64_relaxed(&into[i], ipcwait_impl_load64_relaxed(&of[i]));
}

/* What other threads count in a part while it is copied and replaced, some 10 us, is lost. */
static int copy_and_lay(char *to, const struct part part[PARTS], bool names_only)
{
	bool laid = true;

	if (names_only)
		copy_names((void *)(to + part[OBJECTS].at));
	for (unsigned i = 0; i < PARTS && laid; i++) {
		if (!names_only)
			copy_words(to + part[i].at, part[i].memory, part[i].bytes);
		laid = lay(&part[i]);
	}
	return laid ? 0 : -ENOMEM;
}

/* The memory that is counted in is this process's own again, with what is in it. */
static void part_from_file(void)
{
	struct iw_stats_table counters;
	struct part part[PARTS];

	(void)lay_out(part, &counters);
	for (unsigned i = 0; i < PARTS; i++)
		(void)iw_pages_part(part[i].memory, part[i].bytes);
}

/*
 * The file is complete before it has a name: what was counted until now, or in a child only the
 * names. @all, the whole file, is mapped; the head stays so.
 */
static int fill_and_publish(char *all, const struct part part[PARTS],
			    const struct iw_stats_table *counters, bool names_only)
{
	int r;

	fill_head((void *)all, part, counters);
	r = copy_and_lay(all, part, names_only);
	if (!r)
		r = iw_page_file_publish(&file);
	if (r)
		part_from_file();
	return r;
}

static int make_file(bool names_only)
{
	struct iw_stats_table counters;
	struct part part[PARTS];
	uint64_t bytes = lay_out(part, &counters);
	char *all = iw_shared_file_map(file.fd, bytes, true);
	int r = all ? fill_and_publish(all, part, &counters, names_only) : -ENOMEM;

	if (!all)
		return r;
	iw_shared_file_unmap(all + HEAD_BYTES, bytes - HEAD_BYTES);
	if (r) {
		iw_shared_file_unmap(all, HEAD_BYTES);
		return r;
	}
	owner = (uint32_t)getpid();
	/* ORD page.R1: release: the head is filled in. Pairs with page.A1 and page.A2. */
	ipcwait_impl_storeptr_release(&head, all);
	return 0;
}

static int make_in(const char *folder, bool names_only)
{
	struct iw_stats_table counters;
	struct part part[PARTS];
	struct iw_fork_hold hold;
	int r;

	if (!iw_fork_try_hold(&hold))
		return -EAGAIN;
	r = iw_page_file_make(&file, folder, lay_out(part, &counters));
	if (!r) {
		r = make_file(names_only);
		iw_page_file_close(&file);
	}
	iw_fork_let(&hold);
	return r;
}

/* What the dead have left may be the room that is missing. -EAGAIN: another thread holds fork. */
static int make(bool names_only)
{
	char folder[IW_PAGE_FILE_PATH_BYTES];
	int r;

	(void)snprintf(folder, sizeof(folder), IPCWAIT_PAGE_FOLDER, geteuid());
	r = make_in(folder, names_only);
	if (r != -EAGAIN)
		iw_page_file_sweep(folder);
	return r == -ENOSPC ? make_in(folder, names_only) : r;
}

/* The tables begin anew, with the names. */
static void begin_anew(void)
{
	struct iw_stats_table counters;
	struct part part[PARTS];
	struct iw_objects *named = NULL;

	(void)lay_out(part, &counters);
	/* ORD page.X3: relaxed, protected by there being one thread. */
	if (ipcwait_impl_load32_relaxed(&iw_observed) & IW_OBSERVE_NAMED)
		named = iw_pages_get(part[OBJECTS].bytes, HEAD_BYTES);
	if (named)
		copy_names(named);
	for (unsigned i = 0; i < PARTS; i++) {
		bool renewed =
			i == OBJECTS && named
				? iw_pages_replace(part[i].memory, named, part[i].bytes)
				: iw_pages_renew(part[i].memory, part[i].bytes);

		if (!renewed)
			(void)iw_pages_part(part[i].memory, part[i].bytes);
	}
}

/*
 * A page of its own, so that it does not count in its parent's: at once, or as late as its parent's
 * was. Where it can have none, having given up its rights, it goes on with a copy, as children do
 * without a page.
 */
static void in_child(void)
{
	/* ORD page.A2: acquire, as page.A1. Pairs with page.R1. */
	struct ipcwait_page_head *old = ipcwait_impl_loadptr_acquire(&head);

	/* Another thread of the parent was about to make it: this process has none of that. */
	/* ORD page.X5: relaxed, protected by there being one thread. */
	if (ipcwait_impl_load32_relaxed(&stage) == MAKING)
		ipcwait_impl_store32_relaxed(&stage, WANTED);
	if (!old)
		return;
	is_copy = true;
	/* Behind a filter of system calls it counts in its parent's. */
	if (!iw_call_allowed(IW_CALL_FILES))
		return;
	/* ORD page.X4: relaxed, protected by there being one thread. */
	ipcwait_impl_storeptr_relaxed(&head, NULL);
	/* Its parent tells of those. */
	memset(iw_self()->untold, 0, sizeof(iw_self()->untold));
	if (iw_page_is_late) {
		begin_anew();
		ipcwait_impl_store32_relaxed(&stage, WANTED);
	} else if (make(true)) {
		part_from_file();
	}
	iw_shared_file_unmap(old, HEAD_BYTES);
}

static const char *why_not(int r)
{
	switch (r) {
	case -EPERM:
	case -EACCES:
	case -ELOOP:
	case -ENOTDIR:
		return "the folder for pages in /dev/shm is not the user's own";
	case -EEXIST:
		return "there are too many pages with the number of this process";
	case -ENOSPC:
		return "there is no room for it in /dev/shm";
	case -EFBIG:
		return "it would be larger than files of this process may be";
	case -EOPNOTSUPP:
		return "/dev/shm is on a file system that does not tell whether a process "
		       "lives";
	default:
		return "no page can be made in /dev/shm";
	}
}

static void warn(int r)
{
	if (r)
		iw_config_warn_once(&warned, "IPCWAIT_PAGE", why_not(r));
}

/* What is illegal in the variable is said where all variables are read. */
static __attribute__((constructor)) void begin(void)
{
	const char *wanted = iw_config_variable("IPCWAIT_PAGE");
	bool on = false, later;
	int r;

	if (!wanted || !iw_config_take_switch(&on, wanted) || !on)
		return;
	r = iw_page_file_after_fork(in_child) ? 0 : -ENOMEM;
	if (!r && !iw_page_is_late)
		r = make(false);
	later = iw_page_is_late || r == -EAGAIN;
	if (r && !later) {
		warn(r);
		return;
	}
	/* ORD page.X6: relaxed, no order needed: only chooses who makes it. */
	ipcwait_impl_store32_relaxed(&stage, later ? WANTED : ENDED);
	iw_observe_more(IW_OBSERVE_ALL);
}

void iw_page_make_due(void)
{
	/* ORD page.X7: relaxed, re-checked by the CAS. */
	uint32_t now = ipcwait_impl_load32_relaxed(&stage);
	int r;

	if (!iw_call_allowed(IW_CALL_FILES))
		return;
	/* ORD page.X8: relaxed, no order needed, as page.X6. */
	if (now != WANTED || !ipcwait_impl_cas32_relaxed(&stage, &now, MAKING))
		return;
	r = make(false);
	/* ORD page.X9: relaxed, no order needed, as page.X6. */
	ipcwait_impl_store32_relaxed(&stage, r == -EAGAIN ? WANTED : ENDED);
	/* A child that has given up its rights has none, and that is all. */
	if (r != -EAGAIN && !is_copy)
		warn(r);
}

/*
 * A child that has no page of its own does not end its parent's. What a process leaves that filters
 * its system calls is removed when another makes a page.
 */
static __attribute__((destructor)) void end(void)
{
	/* ORD page.X10: relaxed, no order needed: whether there is one. */
	if (ipcwait_impl_loadptr_relaxed(&head) && iw_call_allowed(IW_CALL_FILES) &&
	    owner == (uint32_t)getpid())
		iw_page_file_remove(&file);
}

void iw_page_note_cost(uint64_t block_ns, uint64_t samples)
{
	/* ORD page.A1: acquire: the head is filled in. Pairs with page.R1. */
	struct ipcwait_page_head *h = ipcwait_impl_loadptr_acquire(&head);

	if (!h)
		return;
	/* ORD page.X1: relaxed, statistic. */
	ipcwait_impl_store64_relaxed((struct ipcwait_word64 *)&h->block_ns, block_ns);
	ipcwait_impl_store64_relaxed((struct ipcwait_word64 *)&h->samples, samples);
}
