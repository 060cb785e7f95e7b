/* SPDX-License-Identifier: MIT */
/* A channel's file: made, believed, joined, left. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/fork_hold.h"
#include "os/life.h"
#include "os/seam.h"
#include "os/shared_file.h"
#include "queue/shared.h"

/* The lock of who makes a channel. The numbers below it are those that control words can name. */
#define MAKER (1u << IW_SHARED_OWNER_BITS)

/* The participant with a number tries with the lock behind this by so much. */
#define TRIAL (MAKER + 1)

/* Elements are copied; this is for the control words. */
#define SLOT_ALIGN sizeof(uint64_t)

bool iw_shared_measure(uint64_t elem_bytes, uint64_t capacity, struct iw_shared_geometry *g)
{
	uint64_t bytes;

	if (!elem_bytes || elem_bytes > UINT32_MAX || !capacity ||
	    capacity > UINT64_C(1) << 32)
		return false;
	*g = (struct iw_shared_geometry){
		.elem_bytes = elem_bytes,
		.capacity = capacity,
		.stride = sizeof(uint64_t) +
			  (elem_bytes + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN,
		.slots_at = sizeof(struct iw_shared_head),
	};
	if (__builtin_mul_overflow(g->stride, capacity, &bytes) ||
	    __builtin_add_overflow(bytes, g->slots_at, &g->bytes))
		return false;
	return g->bytes <= PTRDIFF_MAX;
}

static void fill_in(struct iw_shared_head *head, const struct iw_shared_geometry *g)
{
	memcpy(head->magic, IW_SHARED_MAGIC, sizeof(head->magic));
	head->layout = IPCWAIT_LAYOUT;
	head->byte_order = IW_SHARED_BYTE_ORDER;
	head->elem_bytes = g->elem_bytes;
	head->capacity = g->capacity;
	head->stride = g->stride;
	head->slots_at = g->slots_at;
	head->bytes = g->bytes;
	/* ORD shared_life.R1: release: who sees it sees the rest. Pairs with shared_life.A1. */
	ipcwait_impl_store32_release(&head->ready, 1);
}

/*
 * All else is zero, as it is in a file that has just grown. What cannot be mapped as a whole here
 * could not be anywhere.
 */
static int fill(int fd, const struct iw_shared_geometry *g)
{
	struct iw_shared_head *head;
	int r = iw_shared_file_set_size(fd, g->bytes);

	if (r)
		return r;
	head = iw_shared_file_map(fd, g->bytes, false);
	if (!head)
		return -ENOMEM;
	iw_shared_file_seal(fd);
	fill_in(head, g);
	iw_shared_file_unmap(head, g->bytes);
	return 0;
}

static int create_alone(int fd, const struct iw_shared_geometry *g)
{
	uint64_t bytes;
	int r = iw_shared_file_size(fd, &bytes);

	if (r || bytes)
		return r ? r : -EEXIST;
	r = fill(fd, g);
	if (r)
		(void)iw_shared_file_set_size(fd, 0);
	return r;
}

int iw_shared_create(int fd, const struct iw_shared_geometry *g)
{
	uint64_t bytes;
	int r = iw_shared_file_size(fd, &bytes), own;

	if (r)
		return r;
	own = iw_shared_file_open_anew(fd);
	if (own < 0)
		return own;
	r = iw_shared_file_lock(own, MAKER);
	if (!r) {
		r = create_alone(own, g);
		/* A child that was forked meanwhile has the description too. */
		iw_shared_file_unlock(own, MAKER);
	} else if (r == -EAGAIN) {
		r = -EEXIST;
	}
	iw_shared_file_close(own);
	return r;
}

/* Whatever a head says is measured anew, and has to be the same. */
static int read_head(const struct iw_shared_head *head, uint64_t file_bytes,
		     struct iw_shared_geometry *g)
{
	struct iw_shared_geometry said;

	/* ORD shared_life.A1: acquire, before the rest is read. Pairs with shared_life.R1. */
	if (!ipcwait_impl_load32_acquire(&head->ready))
		return -EAGAIN;
	said = (struct iw_shared_geometry){ head->elem_bytes, head->capacity, head->stride,
					    head->slots_at, head->bytes };
	if (memcmp(head->magic, IW_SHARED_MAGIC, sizeof(head->magic)) != 0)
		return -EBADMSG;
	if (head->layout != IPCWAIT_LAYOUT)
		return -EPROTO;
	if (head->byte_order != IW_SHARED_BYTE_ORDER ||
	    !iw_shared_measure(said.elem_bytes, said.capacity, g) ||
	    memcmp(&said, g, sizeof(said)) != 0 || file_bytes != g->bytes)
		return -EBADMSG;
	return 0;
}

static unsigned bits_for(uint64_t numbers)
{
	unsigned n = 0;

	while (UINT64_C(1) << n < numbers)
		n++;
	return n;
}

static int take_number(struct iw_shared *s, int own)
{
	int r = -EAGAIN;

	for (s->me = 0; s->me < IW_SHARED_PARTICIPANTS; s->me++) {
		r = iw_shared_file_lock(own, s->me);
		if (r != -EAGAIN)
			return r;
	}
	return -EUSERS;
}

/* A number, and the lock of it in the description @own, which a mapping refers to. */
static int begin_life(struct iw_shared *s, int own, uint64_t file_bytes)
{
	int r;

	s->life = iw_shared_file_map(own, sizeof(*s->head), false);
	if (!s->life)
		return -ENOMEM;
	r = read_head(s->life, file_bytes, &s->is);
	return r ? r : take_number(s, own);
}

/* The mapping keeps the lock where the file system is such a one, and otherwise a descriptor. */
static int keep_life(struct iw_shared *s, int own)
{
	int asks = iw_unforked_fd(&s->fds->asks);
	int r = iw_shared_file_mapping_keeps_lock(asks, TRIAL + s->me), fd;

	if (r)
		return r < 0 ? r : 0;
	fd = iw_shared_file_keep(own);
	if (fd < 0)
		return fd;
	r = iw_unforked_enter(&s->fds->keeps, fd);
	s->by_descriptor = !r;
	return r;
}

/* Two descriptions: one to ask with, and one that has the lock, which is returned. */
static int open_both(struct iw_shared *s, int fd)
{
	int asks = iw_shared_file_open_anew(fd);
	int r = asks < 0 ? asks : iw_unforked_enter(&s->fds->asks, asks);

	return r ? r : iw_shared_file_open_anew(fd);
}

/*
 * While fork is held: a child that had the own description would have the lock for its life.
 * Nothing is allocated meanwhile, as allocators too have locks that they take before a fork.
 */
static int join_held(struct iw_shared *s, int fd, uint64_t file_bytes)
{
	struct iw_fork_hold hold;
	int own, r;

	iw_fork_hold(&hold);
	own = open_both(s, fd);
	r = own < 0 ? own : begin_life(s, own, file_bytes);
	if (!r)
		r = keep_life(s, own);
	if (own >= 0)
		iw_shared_file_close(own);
	iw_fork_let(&hold);
	return r;
}

static int join(struct iw_shared *s, int fd, uint64_t file_bytes)
{
	if (file_bytes < sizeof(*s->head))
		return file_bytes ? -EBADMSG : -EAGAIN;
	s->fds = calloc(1, sizeof(*s->fds));
	if (!s->fds)
		return -ENOMEM;
	iw_unforked_note_closed(&s->fds->asks);
	iw_unforked_note_closed(&s->fds->keeps);
	return join_held(s, fd, file_bytes);
}

/* The lock goes last: until then a thread of this process may still be at the end of a call. */
static void leave(struct iw_shared *s, bool alive)
{
	if (s->head)
		iw_shared_file_unmap(s->head, s->is.bytes);
	if (s->life && alive)
		iw_shared_file_unmap(s->life, sizeof(*s->head));
	if (!s->fds)
		return;
	iw_unforked_leave(&s->fds->asks);
	iw_unforked_leave(&s->fds->keeps);
	free(s->fds);
}

int iw_shared_attach(struct iw_shared *s, int fd)
{
	uint64_t file_bytes;
	int r = iw_shared_file_size(fd, &file_bytes);

	*s = (struct iw_shared){ 0 };
	if (!r)
		r = join(s, fd, file_bytes);
	if (!r) {
		s->head = iw_shared_file_map(iw_unforked_fd(&s->fds->asks), s->is.bytes,
					     true);
		r = s->head ? 0 : -ENOMEM;
	}
	if (r) {
		leave(s, true);
		return r;
	}
	s->slots = (unsigned char *)s->head + s->is.slots_at;
	s->index_bits = bits_for(s->is.capacity);
	s->lap_bits = 64 - s->index_bits < IW_SHARED_LAP_BITS ? 64 - s->index_bits
							      : IW_SHARED_LAP_BITS;
	s->generation = iw_process_generation();
	(void)iw_shared_inherit(s, s->me);
	return 0;
}

bool iw_shared_is_mine(const struct iw_shared *s)
{
	return s->generation == iw_process_generation();
}

bool iw_shared_keeps_lock(const struct iw_shared *s)
{
	return !s->by_descriptor || iw_unforked_is_open(&s->fds->keeps);
}

void iw_shared_detach(struct iw_shared *s)
{
	leave(s, iw_shared_is_mine(s));
}

/*
 * The description to ask with is not the one that has this process's lock, nor anybody's: each
 * participant's is its own. A number that cannot be is nobody's.
 */
bool iw_shared_is_gone(const struct iw_shared *s, uint32_t owner)
{
	const struct iw_unforked *asks = &s->fds->asks;

	return iw_shared_file_lock_is_free(iw_unforked_fd(asks), owner) &&
	       iw_unforked_is_open(asks);
}
