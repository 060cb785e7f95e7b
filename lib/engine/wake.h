/* SPDX-License-Identifier: MIT */
/* The waker's side: stamping, waking, and learning what that costs. */
#ifndef IW_ENGINE_WAKE_H
#define IW_ENGINE_WAKE_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/impl/word.h>
#include <ipcwait/policy.h>
#include <ipcwait/stats.h>

/*
 * A waker is about to publish what a sleeper waits for. Returns the time for iw_wake(),
 * 0 if there is nothing to learn. Async-signal-safe.
 */
uint64_t iw_stamp(struct ipcwait_window *w);

/* True if the last stamp is so young that its wake may still be under way. */
bool iw_stamp_fresh(const struct ipcwait_window *w);

/*
 * Wake up to @count sleepers and learn what it cost since @stamped_at, if that is not 0. Uses
 * only the address: the object may be gone. Async-signal-safe. Returns the number woken or a
 * negative errno.
 */
int iw_wake(enum ipcwait_kind kind, const uint32_t *futex, uint32_t count, bool private_,
	    uint64_t stamped_at);

/* The same for sleepers whose iw_rest.bits have a bit in common with @bits, not 0. */
int iw_wake_bits(enum ipcwait_kind kind, const uint32_t *futex, uint32_t count,
		 bool private_, uint32_t bits, uint64_t stamped_at);

/*
 * A wake that one thread is still to make, of all sleepers in a class of @bits. The object may be
 * gone by then. A signal handler of that thread may find it at any moment.
 */
struct iw_due_wake {
	struct ipcwait_wordptr futex; /* NULL: none is due */
	uint32_t bits;
	enum ipcwait_kind kind;
	bool private_;
	uint64_t left_ns; /* when it was left there, by iw_now_ns() */
};

/* Leave it there. */
void iw_leave_wake(struct iw_due_wake *due, enum ipcwait_kind kind, const uint32_t *futex,
		   bool private_, uint32_t bits);

static inline bool iw_is_due(const struct iw_due_wake *due)
{
	/* ORD wake.X1: relaxed, no order needed: the thread's own. */
	return ipcwait_impl_loadptr_relaxed(&due->futex);
}

/* Make it, and learn what it costs. Async-signal-safe. */
void iw_make_wake(struct iw_due_wake *due);

/*
 * Somebody else, another library's unlock, has just woken @woken sleepers, as far as is known:
 * learn from it. 0: nothing is learned.
 */
void iw_note_wake(enum ipcwait_kind kind, int woken, uint64_t stamped_at);

#endif
