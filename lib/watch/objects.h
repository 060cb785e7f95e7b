/* SPDX-License-Identifier: MIT */
/*
 * Two fixed tables of what somebody wants to hear about. Objects are known by the address of their
 * window: those with a name and, where all waits are observed (watch/observe.h), those that were
 * waited on. Call sites are known by the address that the wait returns to. An object that is made
 * where another has died goes on with that one's counters and name.
 *
 * Every member is a word of its own, read and written relaxed: a reader may see a wait counted
 * here and not yet there, and half of a name while it is changed.
 *
 * Other processes may read both: <ipcwait/page.h>. A change here is a new version there.
 */
#ifndef IW_WATCH_OBJECTS_H
#define IW_WATCH_OBJECTS_H

#include <ipcwait/policy.h>

#include "os/seam.h"
#include "policy/reason.h"

#define IW_OBJECTS           256u
#define IW_OBJECT_NAME_BYTES 32u

enum iw_object_count {
	IW_OBJECT_WAITS,
	IW_OBJECT_GAVE_UP, /* waits that ended without success */
	IW_OBJECT_SPUN_USEFUL_NS,
	IW_OBJECT_SPUN_WASTED_NS,
	IW_OBJECT_SLEPT_NS,
	IW_OBJECT_COUNTS,
};

/* Of a call site the name stays empty, and what is of a window is of the last object there. */
struct iw_object {
	struct ipcwait_word64 address; /* 0: this entry is free */
	struct ipcwait_word64 counts[IW_OBJECT_COUNTS];
	struct ipcwait_word64 reasons[IPCWAIT_REASON_SPACE];
	struct ipcwait_word64 chosen_ns; /* the last spin that was chosen */
	struct ipcwait_word64 bins;      /* of the window, after the last wait: */
	struct ipcwait_word32 state;     /* it may be gone by now */
	struct ipcwait_word32 kind;      /* enum ipcwait_kind + 1, 0: unknown */
	struct ipcwait_word64 site;      /* of the last wait, 0: unknown */
	struct ipcwait_word32 resumable; /* such a wait may sleep on a timer */
	struct ipcwait_word64 name[IW_OBJECT_NAME_BYTES / 8]; /* ends with a zero */
} __attribute__((aligned(IW_ARCH_LINE_BYTES)));

/* Whole pages, as the counters of watch/stats.h. */
struct iw_objects {
	struct iw_object entry[IW_OBJECTS];
	struct ipcwait_word64 missed; /* waits for which there was no entry */
} __attribute__((aligned(4096)));

extern struct iw_objects iw_objects;
extern struct iw_objects iw_call_sites;

/* The entry of an address; NULL if it has none. */
struct iw_object *iw_object_find(struct iw_objects *t, uint64_t address);

/* Likewise; NULL if there was no room for one. */
struct iw_object *iw_object_get(struct iw_objects *t, uint64_t address);

/* Its name; empty if it has none. */
void iw_object_get_name(const struct iw_object *o, char name[IW_OBJECT_NAME_BYTES]);

/* Entry @i, below IW_OBJECTS; NULL if it is free. */
struct iw_object *iw_object_at(struct iw_objects *t, unsigned i);

#endif
