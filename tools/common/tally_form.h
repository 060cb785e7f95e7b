/* SPDX-License-Identifier: MIT */
/*
 * The tally: a file in which the preload modules of a whole tree of processes count, for one who
 * reads it when they are gone, `ipcwait run`. He makes it, unlinked, with a size of TALLY_BYTES and
 * the first two members of its head, keeps it open, and puts the path of his descriptor in /proc
 * into the environment.
 *
 * Each module that is loaded, and each child of fork(2), takes the next slot and maps it over its
 * library's counters. So nothing has to be written at the end: what a process has counted is there
 * however it ended, and whatever descriptors it closed. Who comes after the last slot shares the
 * first with an earlier process, which is as a rule gone.
 *
 * A program that another user runs, or that is in another PID namespace, cannot open the file. Its
 * module says so by a message without content to a datagram socket of the reader's.
 */
#ifndef TOOLS_TALLY_FORM_H
#define TOOLS_TALLY_FORM_H

#include <stdint.h>

/*
 * The file's inode, and the path. A process that outlives the reader may find another's file there,
 * as pids are used again.
 */
#define TALLY_VARIABLE "IPCWAIT_PRELOAD_TALLY"
#define TALLY_FORMAT   "%llu:/proc/%d/fd/%d"

/* The abstract name of that socket, by the file's inode. */
#define TALLY_SOCKET "ipcwait-tally/%llu"

/* "0": the programs that this one starts run without the module, and are not counted. */
#define FOLLOW_VARIABLE "IPCWAIT_PRELOAD_FOLLOW"

#define TALLY_MAGIC   UINT32_C(0x54575049) /* "IPWT" */
#define TALLY_VERSION 3

#define TALLY_SLOTS 1024

/* Of the head, with room for a page of any size, and of a slot. */
#define TALLY_HEAD_BYTES 65536
#define TALLY_SLOT_BYTES (UINT64_C(4) * 65536)
#define TALLY_BYTES      (TALLY_HEAD_BYTES + TALLY_SLOTS * TALLY_SLOT_BYTES)

/* What lies in a slot; written by all modules alike, 0 before the first. */
struct tally_shape {
	uint32_t shards, shard_bytes;
	uint32_t kinds, kind_bytes, events;
	uint32_t reasons, reasons_at;
	uint32_t moves;
};

struct tally_head {
	uint32_t magic, version;
	struct tally_shape shape;
	/* Only ever added to. */
	uint32_t taken;    /* slots; the next is this modulo TALLY_SLOTS */
	uint32_t programs; /* started with the module, by exec */
	uint32_t forks;    /* children of fork(2) in them */
	uint32_t unopened; /* of these, who count in the slot of their parent */
	uint32_t left_out; /* programs that were started without the module */
};

#endif
