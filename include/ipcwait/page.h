/* SPDX-License-Identifier: MIT */
/*
 * The statistics page: what a process counts, for other processes of the same user.
 *
 * A process that is started with IPCWAIT_PAGE=1 makes a file IPCWAIT_PAGE_FOLDER/PID, counts in
 * it, and removes it at exit(3). Under the preload module it makes the file when the first wait
 * ends that did not succeed at once, and a process that never waits has none. So the counters of a
 * program can be read while it runs, without stopping it and without root; `ipcwait stat` and
 * `ipcwait top` do. This header is for programs that read the page too. A program that only asks
 * for
 * its own counters has <ipcwait/stats.h>.
 *
 *	offset 0               struct ipcwait_page_head
 *	head.counters_at       head.shards shards of head.shard_bytes each. In a shard, from its
 *	                       beginning: head.kinds kinds of head.kind_bytes each, by enum
 *	                       ipcwait_kind, of each the first head.events words of 64 bits, in
 *	                       the order of struct ipcwait_kind_stats; and at head.reasons_at
 *	                       head.reasons words by enum ipcwait_reason, and behind these
 *	                       head.moves words in the order of struct ipcwait_stats from
 *	                       moves_apart on; 0 in version 0.1.0, which counts none. A counter is
 *	                       the sum over all shards, modulo 2^64
 *	head.objects_at        head.rows rows of head.row_bytes each, by object: struct
 *	                       ipcwait_page_row; behind them a word, how many waits found no row
 *	head.call_sites_at     the same by call site
 *
 * A reader believes nothing: it checks the magic, the version, and that everything lies within the
 * file. Later libraries of the same version may have more kinds, events, reasons and moves, and
 * longer rows; what is longer is longer at its end.
 *
 * Ordering:  none. Words are written relaxed, so a page that is read while threads run may be a
 *            few events out of step with itself, and a name half written. At most one of 32 waits
 *            that a thread has only spun for is not yet in the rows; the counters have all, except
 *            what other threads count in the 10 us in which the preload module makes the page
 * Processes: a child of fork(2) has a page of its own, and counts from 0 in it. One made by
 *            _Fork(3) or clone(2) counts in its parent's: some of what both count is lost, and a
 *            counter may go back
 * Lifetime:  the file of a process that has died without exit(3) stays until the next reader, or
 *            the next process that makes one, removes it. As long as the process lives it holds a
 *            lock (F_OFD_SETLK in fcntl(2)) on the byte IPCWAIT_PAGE_LOCK
 * Since:     0.1
 */
#ifndef IPCWAIT_PAGE_H
#define IPCWAIT_PAGE_H

#include <ipcwait/stats.h>

/* For printf(), with the effective user of the process. Mode 0700. */
#define IPCWAIT_PAGE_FOLDER "/dev/shm/ipcwait-%u"

#define IPCWAIT_PAGE_LOCK (INT64_C(1) << 61)

#define IPCWAIT_PAGE_MAGIC   UINT64_C(0x0a65676170777069) /* "ipwpage\n" */
#define IPCWAIT_PAGE_VERSION 1

#define IPCWAIT_PAGE_NAME_BYTES 32

struct ipcwait_page_head {
	uint64_t magic;
	uint32_t version;
	uint32_t pid;      /* in the process's own PID namespace */
	uint64_t bytes;    /* of the file */
	uint64_t began_ns; /* when it was made, by CLOCK_REALTIME */
	uint64_t
		block_ns; /* B of the default preset, after the last wait that slept; or 0 */
	uint64_t samples;                      /* wakes that B was learned from */
	char program[IPCWAIT_PAGE_NAME_BYTES]; /* ends with a zero */
	char library[IPCWAIT_PAGE_NAME_BYTES]; /* its version, the same */
	uint64_t counters_at, objects_at, call_sites_at;
	uint32_t shards, shard_bytes;
	uint32_t kinds, kind_bytes;
	uint32_t events;
	uint32_t reasons, reasons_at;
	uint32_t rows, row_bytes;
	uint32_t moves;
};

struct ipcwait_page_row {
	uint64_t
		address; /* of the object's window, or of the call site; 0: the row is free */
	uint64_t waits;   /* that had to wait */
	uint64_t gave_up; /* of them, without success */
	uint64_t spun_useful_ns, spun_wasted_ns;
	uint64_t slept_ns;
	uint64_t reasons[IPCWAIT_REASON_SPACE]; /* [0]: waits that did not sleep */
	uint64_t window_ns;                     /* the last window; 0: it never had one */
	uint64_t bins;                          /* what has been learned, */
	uint32_t state;                         /* in the library's own form */
	uint32_t kind;                          /* enum ipcwait_kind + 1 */
	uint64_t site; /* where it was last waited for; 0: not known */
	uint32_t resumable, unused;
	char name[IPCWAIT_PAGE_NAME_BYTES]; /* ipcwait_object_set_name(); empty: none */
};

#endif
