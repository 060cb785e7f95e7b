/* SPDX-License-Identifier: MIT */
/*
 * The record: every wait that had to wait, in a file.
 *
 * A process that is started with IPCWAIT_RECORD=PATH writes 72 bytes to that file for each of its
 * waits, and so do the programs that it starts; `ipcwait record` sets that up, and `ipcwait report`
 * reads it. This header is for whoever writes another reader.
 *
 *	offset 0               struct ipcwait_record_head
 *	head.first_at          records of head.record_bytes each, in the order in which they were
 *	                       begun: min(head.used, head.room) of them
 *
 * Each record begins with its type, an enum ipcwait_record_type, which is written last, with
 * release. What has the type 0 was begun and not completed: a process was killed there, or still
 * runs. A reader believes nothing: it checks the magic, the version and the sizes against the
 * file's, and skips types that it does not know.
 *
 * A process is told of by IPCWAIT_RECORD_PROCESS before anything else of it. Numbers of processes
 * come again; what follows such a record is about that process, until the next with its number.
 * exec(3) begins another process in that sense. Where several threads of a child of fork(2) make
 * its first waits at once, some may come before its own record, and under its parent's number.
 *
 * Ordering:  the records of one thread are in the order of its waits, those of different threads in
 *            the order of their ends but for the time between reading the clock and writing
 * Processes: all that have the file open write to it. A child of fork(2) is a process of its own;
 *            one of _Fork(3) or clone(2) writes with its parent's number
 * Lifetime:  complete at any time, whatever its processes do: nothing has to happen at exit. It
 *            grows while they live, to head.most records; do not cut it short meanwhile
 * Since:     0.1
 */
#ifndef IPCWAIT_RECORD_H
#define IPCWAIT_RECORD_H

#include <ipcwait/impl/word.h>
#include <ipcwait/stats.h>

#define IPCWAIT_RECORD_MAGIC   UINT64_C(0x0a64726365777069) /* "ipwecrd\n" */
#define IPCWAIT_RECORD_VERSION 1

#define IPCWAIT_RECORD_NAME_BYTES 32
#define IPCWAIT_RECORD_TEXT_BYTES 64

enum ipcwait_record_type {
	IPCWAIT_RECORD_NOTHING,
	IPCWAIT_RECORD_PROCESS, /* struct ipcwait_record_process */
	IPCWAIT_RECORD_WAIT,    /* struct ipcwait_record_wait */
	IPCWAIT_RECORD_NAME,    /* struct ipcwait_record_name */
	IPCWAIT_RECORD_COST,    /* struct ipcwait_record_cost */
	IPCWAIT_RECORD_MAPPING, /* struct ipcwait_record_mapping, and its texts behind it */
	IPCWAIT_RECORD_TEXT,    /* struct ipcwait_record_text */
};

struct ipcwait_record_head {
	uint64_t magic;
	uint32_t version, record_bytes;
	uint64_t first_at;
	uint64_t most; /* records that there can be */
	uint64_t began_ns,
		began_at_ns; /* one moment, by CLOCK_REALTIME and CLOCK_MONOTONIC */
	char library[IPCWAIT_RECORD_NAME_BYTES]; /* its version, ends with a zero */
	uint64_t used;                           /* records that were begun */
	uint64_t room;    /* records that the file has room for by now */
	uint64_t lost;    /* for which there was none */
	uint64_t stopped; /* why the file cannot grow any more, an errno; 0: it can */
};

struct ipcwait_record_process {
	uint32_t type, pid; /* in the process's own PID namespace */
	uint32_t
		parent; /* of whom it is a copy by fork(2), with its memory; 0: of nobody */
	uint32_t unused;
	uint64_t at_ns;                          /* when, by CLOCK_MONOTONIC */
	char program[IPCWAIT_RECORD_NAME_BYTES]; /* ends with a zero */
	/* Another after exec(3). Two copies of the library in a process tell of it twice, alike. */
	uint64_t identity;
	uint64_t unused_too;
};

/* The time that the true length does not say was spent on waking. */
struct ipcwait_record_wait {
	uint32_t type, pid, tid;
	uint8_t kind;       /* enum ipcwait_kind */
	uint8_t reason;     /* enum ipcwait_reason; 0: it did not sleep */
	uint8_t error;      /* ETIMEDOUT, EINTR, ...; 0: it got what it waited for */
	uint8_t known;      /* 1: length_ns is its true length; 0: that is not known */
	uint64_t ended_ns;  /* when it was over, by CLOCK_MONOTONIC */
	uint64_t object;    /* address of the object's window */
	uint64_t site;      /* where the program waited; 0: not known */
	uint64_t length_ns; /* until what it waited for was there */
	uint64_t slept_ns;  /* from before to after its sleeps */
	uint32_t spun_ns;   /* CPU time */
	uint32_t window_ns; /* how long it would have spun at most; 0: it did not */
	/*
	 * Of the length of one that slept: what the thread had caused itself, as it had just woken
	 * whom it waited for; where the kernel wakes, what a wake takes as a rule.
	 */
	uint64_t caused_ns;
};

struct ipcwait_record_name {
	uint32_t type, pid;
	uint64_t object;
	char name
		[IPCWAIT_RECORD_NAME_BYTES]; /* ipcwait_object_set_name(), ends with a zero */
	uint64_t unused[3];
};

/* What a sleep and its wake cost here, by what had been learned. */
struct ipcwait_record_cost {
	uint32_t type, pid;
	uint64_t at_ns;
	uint64_t block_ns;   /* B of IPCWAIT_ADAPTIVE */
	uint64_t samples;    /* wakes that B was learned from */
	uint64_t waker_ns;   /* CPU time of who wakes, a part of B */
	uint64_t sleeper_ns; /* CPU time of who sleeps, no part of B */
	uint64_t unused[3];
};

/*
 * Code that the process has mapped; the addresses of call sites lie in such. Its path follows in
 * texts, the first of which is the next record.
 */
struct ipcwait_record_mapping {
	uint32_t type, pid;
	uint64_t begin, end; /* addresses */
	uint64_t offset;     /* in the file */
	uint32_t length;     /* of the path */
	uint32_t unused;
	uint64_t unused_too, unused_three[3];
};

struct ipcwait_record_text {
	uint32_t type, pid;
	char text[IPCWAIT_RECORD_TEXT_BYTES];
};

IPCWAIT_BEGIN_DECLS

/* The type of a mapped record; what else is in it may be read afterwards. */
static inline uint32_t ipcwait_impl_record_type(const void *record)
{
	/* ORD record.A2: acquire, the record is complete. Pairs with record_place.R7. */
	return ipcwait_impl_load32_acquire((const struct ipcwait_word32 *)record);
}

IPCWAIT_END_DECLS

#endif
