/* SPDX-License-Identifier: MIT */
/*
 * One process's part in a channel between processes: attempts that never wait. The file is
 * described in shared_head.h. Whatever somebody has scribbled there, no call leaves the mapping,
 * and all return.
 */
#ifndef IW_QUEUE_SHARED_H
#define IW_QUEUE_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "os/fork_hold.h"
#include "os/shared_file.h"
#include "queue/shared_head.h"

/*
 * Whoever meets a claim in its way looks after its owner, at most so often, in ns. Sleepers attempt
 * again at the same pace. A look takes a system call, half a microsecond.
 */
#define IW_SHARED_LOOK_NS 250000000

/* Sizes and places in the file. */
struct iw_shared_geometry {
	uint64_t elem_bytes, capacity, stride, slots_at, bytes;
};

/* Descriptors. A child of fork(2) has none of them. */
struct iw_shared_fds {
	struct iw_unforked asks;  /* about locks: its description has none */
	struct iw_unforked keeps; /* the lock, where a mapping does not */
};

struct iw_shared {
	struct iw_shared_head *head;
	unsigned char *slots;

	/* This process's own copy. */
	struct iw_shared_geometry is;
	unsigned index_bits; /* of a position */
	unsigned lap_bits;   /* of a lap, in a position and in a control word */

	uint32_t me;         /* its number among the participants */
	uint32_t generation; /* of the process: a child of fork(2) has another */
	struct iw_shared_fds *fds;
	void *life;                      /* a mapping, which keeps the lock ... */
	bool by_descriptor;              /* ... or a descriptor does */
	struct ipcwait_word64 looked_ns; /* when it last looked after an owner */
};

/* shared_life.c. What a channel of @capacity takes; false if it cannot be. */
bool iw_shared_measure(uint64_t elem_bytes, uint64_t capacity,
		       struct iw_shared_geometry *g);

/*
 * Make a channel in an empty file.
 *   -EBADF, -EINVAL, -EACCES  as iw_shared_file_size()
 *   -EEXIST  the file is not empty, or somebody makes a channel of it just now
 *   others   as iw_shared_file_set_size() and open(2) say
 */
int iw_shared_create(int fd, const struct iw_shared_geometry *g);

/*
 * Take part. @fd may be closed afterwards.
 *   -EAGAIN   there is no channel yet
 *   -EBADMSG  the file is none of ours, or not as long as it says
 *   -EPROTO   it is a channel of another layout
 *   -EUSERS   IW_SHARED_PARTICIPANTS do already
 *   -ENOMEM   no memory
 *   others    as iw_shared_file_size() and open(2) say
 */
int iw_shared_attach(struct iw_shared *s, int fd);

/* Take part no more. In a child of fork(2) too, which never has. */
void iw_shared_detach(struct iw_shared *s);

/* The participant with that number is gone, and does nothing more: proven. */
bool iw_shared_is_gone(const struct iw_shared *s, uint32_t owner);

/* The calling process is the one that takes part. */
bool iw_shared_is_mine(const struct iw_shared *s);

/*
 * Others can see that this process lives. False: the program has closed the descriptor that shows
 * it, where it takes one (.by_descriptor): others may take its claims. 0.3 us then.
 */
bool iw_shared_keeps_lock(const struct iw_shared *s);

/*
 * shared.c.
 *   -EAGAIN   no room; no element yet
 *   -EPIPE    closed; closed and drained
 *   -EBADMSG  somebody has scribbled in the file, or taken this process for dead
 */
int iw_shared_trysend(struct iw_shared *s, const void *elem);
int iw_shared_tryrecv(struct iw_shared *s, void *elem);

/* An element may be there, or it is closed. */
bool iw_shared_is_ready(struct iw_shared *s);

/* 0, or -EALREADY; waiters are told in both cases. */
int iw_shared_close(struct iw_shared *s);

/*
 * Between what and what the number of elements was: of sends that have begun, and receives that
 * have not.
 */
void iw_shared_length(const struct iw_shared *s, uint64_t *lo, uint64_t *hi);

/*
 * shared_bury.c. @owner's claims are taken from it, whoever is gone or not: only by who has its
 * number now. Returns how many there were.
 */
uint64_t iw_shared_inherit(struct iw_shared *s, uint32_t owner);

/*
 * A claim @control was in the way. If it is time to look, and its owner is gone, its claims are
 * taken from it. True: try again.
 */
bool iw_shared_look_after(struct iw_shared *s, uint64_t control);

/* The control word of a slot; the element lies behind it. */
static inline struct ipcwait_word64 *iw_shared_slot(const struct iw_shared *s,
						    uint64_t index)
{
	return (struct ipcwait_word64 *)(void *)(s->slots + index * s->is.stride);
}

static inline uint64_t iw_shared_stage(uint64_t control)
{
	return control >> IW_SHARED_OWNER_BITS;
}

static inline uint32_t iw_shared_owner(uint64_t control)
{
	return (uint32_t)(control & ((1u << IW_SHARED_OWNER_BITS) - 1));
}

/* Somebody puts in, or takes out. */
static inline bool iw_shared_is_claimed(uint64_t control)
{
	return iw_shared_stage(control) % 2;
}

/* The word of a slot in that stage, of which laps come round. */
static inline uint64_t iw_shared_control(const struct iw_shared *s, uint64_t stage,
					 uint32_t owner)
{
	stage &= (UINT64_C(4) << s->lap_bits) - 1;
	return stage << IW_SHARED_OWNER_BITS | owner;
}

#endif
