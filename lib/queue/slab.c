/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "os/pages.h"
#include "queue/lock.h"
#include "queue/poison.h"
#include "queue/slab.h"

/* A slab is at least so large, and has room for so many objects at least. */
#define SLAB_BYTES    65536
#define OBJECTS_LEAST 8

struct iw_slab {
	struct iw_link of_all;
	struct iw_link of_some; /* of those that have objects to give */
	void *back;             /* objects that have come back, linked */
	uint32_t fresh;         /* objects that were given at some time */
	uint32_t out;
};

static size_t round_up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

void iw_slabs_init(struct iw_slabs *s, size_t elem_bytes, size_t align, uint64_t most)
{
	static const struct ipcwait_mutex unlocked = { .flags = IPCWAIT_PRIVATE };

	if (align < sizeof(void *))
		align = sizeof(void *);
	*s = (struct iw_slabs){ .lock = unlocked, .slab_bytes = SLAB_BYTES };
	s->most = most ? most : UINT64_MAX;
	s->stride = round_up(elem_bytes, align);
	s->first = round_up(sizeof(struct iw_slab), align);
	while ((s->slab_bytes - s->first) / s->stride < OBJECTS_LEAST)
		s->slab_bytes *= 2;
	s->per_slab = (uint32_t)((s->slab_bytes - s->first) / s->stride);
}

/* A slab lies at a multiple of its size. */
static struct iw_slab *slab_of(const struct iw_slabs *s, void *object)
{
	return (void *)((char *)object - ((uintptr_t)object & (s->slab_bytes - 1)));
}

static struct iw_slab *make_slab(struct iw_slabs *s)
{
	struct iw_slab *slab = iw_pages_get(s->slab_bytes, s->slab_bytes);

	if (!slab)
		return NULL;
	iw_link_in(&slab->of_all, &s->all);
	iw_link_in(&slab->of_some, &s->some);
	s->slabs++;
	iw_poison((char *)slab + s->first, s->slab_bytes - s->first);
	return slab;
}

static void free_slab(struct iw_slabs *s, struct iw_slab *slab)
{
	iw_link_out(&slab->of_all);
	iw_link_out(&slab->of_some);
	s->slabs--;
	s->unmapped++;
	iw_unpoison(slab, s->slab_bytes);
	iw_pages_put(slab, s->slab_bytes);
}

/* One that has been used before, if there is one: it may still be in a cache. */
static void *take_one(struct iw_slabs *s, struct iw_slab *slab)
{
	void *object = slab->back;

	if (slab == s->idle)
		s->idle = NULL;
	if (object) {
		iw_unpoison(object, sizeof(void *));
		slab->back = *(void **)object;
		iw_poison(object, sizeof(void *));
	} else {
		object = (char *)slab + s->first + slab->fresh++ * s->stride;
	}
	if (++slab->out == s->per_slab)
		iw_link_out(&slab->of_some);
	return object;
}

uint32_t iw_slabs_take(struct iw_slabs *s, void **objects, uint32_t n)
{
	uint32_t got = 0;

	iw_lock(&s->lock);
	for (; got < n && s->out < s->most; got++, s->out++) {
		if (!s->some && !make_slab(s))
			break;
		objects[got] = take_one(s, IW_LINKED(struct iw_slab, of_some, s->some));
	}
	iw_unlock(&s->lock);
	return got;
}

/*
 * A slab that has all of its own again: one is kept, so that a pool at its edge does not map and
 * unmap in turn.
 */
static void retire_slab(struct iw_slabs *s, struct iw_slab *slab)
{
	if (s->idle)
		free_slab(s, slab);
	else
		s->idle = slab;
}

static void give_one(struct iw_slabs *s, void *object)
{
	struct iw_slab *slab = slab_of(s, object);

	iw_unpoison(object, sizeof(void *));
	*(void **)object = slab->back;
	iw_poison(object, s->stride);
	slab->back = object;
	if (!slab->of_some.at)
		iw_link_in(&slab->of_some, &s->some);
	if (--slab->out == 0)
		retire_slab(s, slab);
}

void iw_slabs_give(struct iw_slabs *s, void *const *objects, uint32_t n)
{
	iw_lock(&s->lock);
	for (uint32_t i = 0; i < n; i++)
		give_one(s, objects[i]);
	s->out -= n;
	iw_unlock(&s->lock);
}

void iw_slabs_trim(struct iw_slabs *s)
{
	iw_lock(&s->lock);
	if (s->idle)
		free_slab(s, s->idle);
	s->idle = NULL;
	iw_unlock(&s->lock);
}

void iw_slabs_free(struct iw_slabs *s)
{
	while (s->all)
		free_slab(s, IW_LINKED(struct iw_slab, of_all, s->all));
}
