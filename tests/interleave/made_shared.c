/* SPDX-License-Identifier: MIT */
/* A channel between processes, each thread in one of its own, with memory instead of a file. */
#include <stdlib.h>
#include <string.h>

#include "interleave/made_objects.h"
#include "interleave/model.h"

static void *allocate(size_t n, size_t bytes)
{
	return memset(model_alloc(n * bytes), 0, n * bytes);
}

#define calloc allocate
#define free   model_free

#include "queue/channel_shared.c"

#define HOST MODEL_THREADS_MAX

static struct iw_shared_head *file;
static struct ipcwait_channel *parts[MODEL_THREADS_MAX + 1];
static uint32_t
	*gone; /* participant 0 is: the kernel's, which frees the locks of the dead */

/* Whoever finds a lock free sees what its holder has done. */
bool iw_shared_is_gone(const struct iw_shared *s, uint32_t owner)
{
	(void)s;
	return !owner && __atomic_load_n(gone, __ATOMIC_ACQUIRE);
}

bool iw_shared_is_mine(const struct iw_shared *s)
{
	(void)s;
	return true;
}

bool iw_shared_keeps_lock(const struct iw_shared *s)
{
	(void)s;
	return true;
}

void iw_shared_detach(struct iw_shared *s)
{
	(void)s;
}

/* Nobody makes one of a file. */
int iw_shared_create(int fd, const struct iw_shared_geometry *g)
{
	(void)fd;
	(void)g;
	return -1;
}

int iw_shared_attach(struct iw_shared *s, int fd)
{
	(void)s;
	return fd;
}

bool iw_shared_measure(uint64_t elem_bytes, uint64_t capacity, struct iw_shared_geometry *g)
{
	(void)g;
	return elem_bytes && !capacity;
}

static struct ipcwait_channel *take_part(uint32_t me, uint64_t capacity)
{
	struct iw_shared s = {
		.head = file,
		.slots = (unsigned char *)(file + 1),
		.is = { .elem_bytes = sizeof(struct made_elem),
			.capacity = capacity,
			.stride = sizeof(uint64_t) + sizeof(struct made_elem) },
		.index_bits = capacity > 1,
		.lap_bits = IW_SHARED_LAP_BITS,
		.me = me,
	};

	return as_channel(&s);
}

void made_shared_begin(uint64_t capacity)
{
	model_assert(capacity <= 2);
	gone = allocate(1, sizeof(*gone));
	file = allocate(1,
			sizeof(*file) + 2 * (sizeof(uint64_t) + sizeof(struct made_elem)));
	model_quiet(&file->elements.window, sizeof(file->elements.window));
	model_quiet(&file->room.window, sizeof(file->room.window));
	model_quiet(&file->lost, 2 * sizeof(file->lost));
	model_name(&file->tail, "s.tail");
	model_name(&file->head, "s.head");
	model_name(&file->closed, "s.closed");
	model_name(&file->elements.word, "s.line");
	model_name(&file->room.word, "s.room");
	for (unsigned i = 0; i <= HOST; i++)
		parts[i] = take_part(i, capacity);
}

struct ipcwait_channel *made_shared(void)
{
	return parts[model_thread()];
}

void made_shared_died(unsigned process)
{
	model_assert(!process);
	__atomic_store_n(gone, 1, __ATOMIC_RELEASE);
}

void made_shared_bury(void)
{
	(void)iw_shared_inherit(part_of(parts[HOST]), 0);
}

void made_shared_end(void)
{
	for (unsigned i = 0; i <= HOST; i++)
		ipcwait_channel_destroy(parts[i]);
	model_free(file);
	model_free(gone);
}
