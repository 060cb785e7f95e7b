/* SPDX-License-Identifier: MIT */
/*
 * Descriptors as something that a futex word tells of. No system call sleeps on both, so one thread
 * of the library's sleeps on the descriptors, and wakes those who sleep on the words. It is made at
 * the first use, and no child of fork(2) has it. docs/design/wait_any.md
 *
 * errno is preserved.
 */
#ifndef IW_OS_DESCRIPTOR_WATCH_H
#define IW_OS_DESCRIPTOR_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* How many threads can have one at a time. Each takes a descriptor, which is kept; one for all. */
#define IW_WATCHES 64

struct iw_watch_slot;

/* What one thread watches while it sleeps. */
struct iw_watch {
	struct iw_watch_slot *slot;
	uint32_t process; /* in which that is its own: fork(2) makes another */

	/* Private. It differs from this, and is woken, once a descriptor is ready. */
	const uint32_t *word;
	uint32_t value;
};

/*
 * Nothing is watched yet. False, and nothing is to be ended, if it cannot be had: all are in use,
 * there is no thread or descriptor to be had for it, another thread makes that thread just now, or
 * the program has closed the library's.
 */
bool iw_watch_begin(struct iw_watch *w);

/* Again, with the same descriptors, after the word has changed or not. False as above. */
bool iw_watch_again(struct iw_watch *w);

/*
 * @events as in poll(2), of which POLLERR and POLLHUP always are. If it is ready already the word
 * differs soon. @merge: it may be watched; then that is replaced.
 *
 * 0; -EEXIST: it is watched; or another negative errno: it cannot be.
 */
int iw_watch_add(struct iw_watch *w, int fd, uint32_t events, bool merge);

/* What has been added, or closed since then. */
void iw_watch_remove(struct iw_watch *w, int fd);

/* After all have been removed. Nobody sleeps on the word. */
void iw_watch_end(struct iw_watch *w);

#endif
