/* SPDX-License-Identifier: MIT */
/*
 * A fixed table of the objects that somebody wants to hear about: those with a name, and with
 * IPCWAIT_EXPLAIN those that were waited on. An object is known by the address of its window;
 * one that is made where another has died goes on with that one's counters and name.
 *
 * Every member is a word of its own, read and written relaxed: a reader may see a wait counted
 * here and not yet there, and half of a name while it is changed.
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

struct iw_object {
	struct ipcwait_word64 window; /* its address; 0: this entry is free */
	struct ipcwait_word64 counts[IW_OBJECT_COUNTS];
	struct ipcwait_word64 reasons[IW_REASONS];
	struct ipcwait_word64 chosen_ns; /* the last spin that was chosen */
	struct ipcwait_word64 bins;      /* of the window, after the last wait: */
	struct ipcwait_word32 state;     /* it may be gone by now */
	struct ipcwait_word64 site;      /* of the last wait, 0: unknown */
	struct ipcwait_word32 resumable; /* such a wait may sleep on a timer */
	struct ipcwait_word32 kind;      /* enum ipcwait_kind + 1, 0: unknown */
	struct ipcwait_word64 name[IW_OBJECT_NAME_BYTES / 8]; /* ends with a zero */
} __attribute__((aligned(IW_ARCH_LINE_BYTES)));

/* The entry of an object; NULL if it has none. */
struct iw_object *iw_object_find(const struct ipcwait_window *w);

/* Likewise; NULL if there was no room for one. Counts those. */
struct iw_object *iw_object_get(const struct ipcwait_window *w);

/* Its name; empty if it has none. */
void iw_object_get_name(const struct iw_object *o, char name[IW_OBJECT_NAME_BYTES]);

/* Entry @i, below IW_OBJECTS; NULL if it is free. */
struct iw_object *iw_object_at(unsigned i);

/* How often iw_object_get() has found no room. */
uint64_t iw_objects_missed(void);

#endif
