/* SPDX-License-Identifier: MIT */
/*
 * What a wait for any of several objects asks of each kind of them: the steps of struct
 * iw_waitable for one object out of many.
 */
#ifndef IW_SYNC_ANY_H
#define IW_SYNC_ANY_H

#include <stdbool.h>

#include <ipcwait/wait_any.h>

#include "engine/wait.h"
#include "os/descriptor_watch.h"

struct iw_layout;

/* All descriptors of a set: the thread sleeps on one word for them. */
struct iw_any_fds {
	const struct ipcwait_waitable *set;
	unsigned n;
	unsigned announced;                   /* descriptors that are watched */
	const struct ipcwait_waitable *first; /* of those */
	struct iw_watch watch;                /* if there are any */
};

/* What the wait knows of one object. */
struct iw_any_state {
	/*
	 * What begin() or announce() has noted for the other functions. Before that, and of a
	 * descriptor always: a pointer to the set's struct iw_any_fds.
	 */
	uint64_t own;
	bool announced; /* the thread is counted among its sleepers, and may have been woken */
};

struct iw_any_kind {
	const struct iw_layout
		*layout; /* NULL: a raw word, a descriptor, or made by the library */

	/* What it sleeps on is the library's own, and whether that is private. */
	bool made;
	bool private_;

	/*
	 * What the program calls it, of an object that the library makes: it begins with a
	 * pointer to its kind, which comes from above.
	 */
	enum ipcwait_waitable_type type;

	/* 0, or the error of @call if threads cannot wait for it. NULL: they can for any. */
	int (*begin)(const struct ipcwait_waitable *o, struct iw_any_state *state,
		     const char *call);

	/* Take it if it is there; the thread is not counted then. Marks nothing. */
	bool (*take)(const struct ipcwait_waitable *o, const struct iw_any_state *state);

	/* Take it if it is there, else count the thread: how it would rest on this one alone. */
	struct iw_rest (*announce)(const struct ipcwait_waitable *o,
				   struct iw_any_state *state);

	/* Take it if it is there, else count the thread out. Only of one announced. */
	bool (*withdraw)(const struct ipcwait_waitable *o,
			 const struct iw_any_state *state);

	/*
	 * Count the thread out, which has taken another object. Whatever is there for a sleeper
	 * must be told to one: the wake for it may have reached this thread. Only of one
	 * announced.
	 */
	void (*retract)(const struct ipcwait_waitable *o, const struct iw_any_state *state);
};

/* Each in the file of its object, in lib/sync. */
extern const struct iw_any_kind iw_any_event, iw_any_eventcount, iw_any_fd, iw_any_futex,
	iw_any_sem;

/* Before there is the first object with a pointer to @kind, which is .made. */
void iw_any_admit(const struct iw_any_kind *kind);

/* The wait itself, in lib/sync/wait_any.c; @call is the public function's name. */
int iw_wait_any(const struct ipcwait_waitable *set, unsigned n, int64_t deadline_ns,
		struct ipcwait_window *w, uintptr_t site, const char *call);

/* 0, or the error of @call for a set that is NULL, empty or too large. */
int iw_wait_any_check(const void *set, unsigned n, const char *call);

#endif
