/* SPDX-License-Identifier: MIT */
/* A channel's file: made, believed, joined, left. */
#include <errno.h>
#include <string.h>

#include "os/life.h"
#include "os/seam.h"
#include "os/shared_file.h"
#include "queue/shared.h"

/* The lock of who makes a channel. The numbers below it are those that control words can name. */
#define MAKER (1u << IW_SHARED_OWNER_BITS)

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
	r = r == -EAGAIN ? -EEXIST : r ? r : create_alone(own, g);
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

/* The description @own is the caller's, who closes it: the mapping keeps it, and so the lock. */
static int begin_life(struct iw_shared *s, int own, uint64_t file_bytes)
{
	int r;

	s->life = iw_shared_file_map(own, sizeof(*s->head), false);
	if (!s->life)
		return -ENOMEM;
	r = read_head(s->life, file_bytes, &s->is);
	if (!r)
		r = take_number(s, own);
	if (!r)
		s->head = iw_shared_file_map(s->fd, s->is.bytes, true);
	if (!r && s->head)
		return 0;
	iw_shared_file_unmap(s->life, sizeof(*s->head));
	return r ? r : -ENOMEM;
}

static int join(struct iw_shared *s, int fd, uint64_t file_bytes)
{
	int own, r;

	if (file_bytes < sizeof(*s->head))
		return file_bytes ? -EBADMSG : -EAGAIN;
	own = iw_shared_file_open_anew(fd);
	if (own < 0)
		return own;
	s->fd = iw_shared_file_keep(fd);
	r = s->fd < 0 ? s->fd : 0;
	if (!r && !iw_shared_file_identify(s->fd, &s->file))
		r = -EBADF;
	if (!r)
		r = begin_life(s, own, file_bytes);
	iw_shared_file_close(own);
	if (r && s->fd >= 0)
		iw_shared_file_close(s->fd);
	return r;
}

int iw_shared_attach(struct iw_shared *s, int fd)
{
	uint64_t file_bytes;
	int r = iw_shared_file_size(fd, &file_bytes);

	*s = (struct iw_shared){ .fd = -1 };
	if (!r)
		r = join(s, fd, file_bytes);
	if (r)
		return r;
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

/* Programs close what they do not know, and then the descriptor may be another file's. */
static bool knows_file(const struct iw_shared *s)
{
	struct iw_shared_file_id id;

	return iw_shared_file_identify(s->fd, &id) && id.device == s->file.device &&
	       id.inode == s->file.inode;
}

/* The lock goes last: until then somebody of this process may still be at the end of a call. */
void iw_shared_detach(struct iw_shared *s)
{
	iw_shared_file_unmap(s->head, s->is.bytes);
	if (knows_file(s))
		iw_shared_file_close(s->fd);
	if (iw_shared_is_mine(s))
		iw_shared_file_unmap(s->life, sizeof(*s->head));
}

/*
 * The description behind fd is not the one that has this process's lock, nor that of anybody: each
 * participant's is its own. A number that cannot be is nobody's.
 */
bool iw_shared_is_gone(const struct iw_shared *s, uint32_t owner)
{
	return iw_shared_file_lock_is_free(s->fd, owner) && knows_file(s);
}
