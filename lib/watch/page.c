/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ipcwait/page.h>

#include "env/config.h"
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
static struct ipcwait_page_head *head; /* NULL: there is no page */
static struct ipcwait_word32 warned;

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
	};
	(void)snprintf(h->program, sizeof(h->program), "%s", program_invocation_short_name);
	(void)snprintf(h->library, sizeof(h->library), "%s", ipcwait_version());
}

static void copy_parts(char *to, const struct part part[PARTS])
{
	for (unsigned i = 0; i < PARTS; i++)
		memcpy(to + part[i].at, part[i].memory, part[i].bytes);
}

static void copy_names(struct iw_objects *to)
{
	for (unsigned i = 0; i < IW_OBJECTS; i++) {
		const struct iw_object *o = &iw_objects.entry[i];

		to->entry[i].address = o->address;
		memcpy(to->entry[i].name, o->name, sizeof(o->name));
	}
}

static int lay(const struct part part[PARTS])
{
	for (unsigned i = 0; i < PARTS; i++)
		if (!iw_shared_file_lay(file.fd, part[i].at, part[i].memory, part[i].bytes))
			return -ENOMEM;
	return 0;
}

/*
 * All of the file is written before it replaces what is counted in: what was counted until now, or
 * in a child only the names.
 */
static int fill(const struct part part[PARTS], const struct iw_stats_table *counters,
		uint64_t bytes, bool names_only)
{
	void *all = iw_shared_file_map(file.fd, bytes, true);
	int r;

	if (!all)
		return -ENOMEM;
	fill_head(all, part, counters);
	if (names_only)
		copy_names((void *)((char *)all + part[OBJECTS].at));
	else
		copy_parts(all, part);
	r = lay(part);
	iw_shared_file_unmap((char *)all + HEAD_BYTES, bytes - HEAD_BYTES);
	if (r)
		iw_shared_file_unmap(all, HEAD_BYTES);
	else
		head = all;
	return r;
}

static int make(bool names_only)
{
	struct iw_stats_table counters;
	struct part part[PARTS];
	uint64_t bytes = lay_out(part, &counters);
	char folder[IW_PAGE_FILE_PATH_BYTES];
	int r;

	(void)snprintf(folder, sizeof(folder), IPCWAIT_PAGE_FOLDER, geteuid());
	r = iw_page_file_make(&file, folder, bytes);
	if (r)
		return r;
	r = fill(part, &counters, bytes, names_only);
	if (!r)
		r = iw_page_file_publish(&file);
	iw_page_file_close(&file);
	return r;
}

/*
 * A page of its own, so that it does not count in its parent's. Where it can have none, having
 * given up its rights, it goes on with a copy, as children do without a page.
 */
static void in_child(void)
{
	struct iw_stats_table counters;
	struct part part[PARTS];
	struct ipcwait_page_head *old = head;

	if (!old)
		return;
	head = NULL;
	/* Its parent tells of those. */
	memset(iw_self()->untold, 0, sizeof(iw_self()->untold));
	if (make(true)) {
		(void)lay_out(part, &counters);
		for (unsigned i = 0; i < PARTS; i++)
			(void)iw_pages_part(part[i].memory, part[i].bytes);
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
	default:
		return "no page can be made in /dev/shm";
	}
}

/* What is illegal in the variable is said where all variables are read. */
static __attribute__((constructor)) void begin(void)
{
	const char *wanted = iw_config_variable("IPCWAIT_PAGE");
	bool on = false;
	int r;

	if (!wanted || !iw_config_take_switch(&on, wanted) || !on)
		return;
	r = iw_page_file_after_fork(in_child) ? make(false) : -ENOMEM;
	if (r)
		iw_config_warn_once(&warned, "IPCWAIT_PAGE", why_not(r));
	else
		iw_observe_more(IW_OBSERVE_ALL);
}

/* A child that has no page of its own does not end its parent's. */
static __attribute__((destructor)) void end(void)
{
	if (head && head->pid == (uint32_t)getpid())
		iw_page_file_remove(&file);
}

void iw_page_note_cost(uint64_t block_ns, uint64_t samples)
{
	struct ipcwait_page_head *h = head;

	if (!h)
		return;
	/* ORD page.X1: relaxed, statistic. */
	ipcwait_impl_store64_relaxed((struct ipcwait_word64 *)&h->block_ns, block_ns);
	ipcwait_impl_store64_relaxed((struct ipcwait_word64 *)&h->samples, samples);
}
