/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "policy/hash.h"
#include "watch/objects.h"

/* How many entries are looked at for an object, so that a full table costs little. */
#define PROBES 16u

static struct iw_object objects[IW_OBJECTS];
static struct ipcwait_word64 missed;

static struct iw_object *probe(uint64_t window, unsigned i)
{
	uint64_t hash = iw_hash(window >> 3) >> 32;

	return &objects[(hash + i) % IW_OBJECTS];
}

struct iw_object *iw_object_find(const struct ipcwait_window *w)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct iw_object *o = probe((uintptr_t)w, i);
		/* ORD objects.X1: relaxed, statistic: the words of an entry need no order. */
		uint64_t window = ipcwait_impl_load64_relaxed(&o->window);

		if (window == (uintptr_t)w)
			return o;
		if (!window)
			return NULL;
	}
	return NULL;
}

struct iw_object *iw_object_get(const struct ipcwait_window *w)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct iw_object *o = probe((uintptr_t)w, i);
		/* ORD objects.X2: relaxed, re-checked by the CAS. */
		uint64_t window = ipcwait_impl_load64_relaxed(&o->window);

		/* ORD objects.X3: relaxed, statistic as objects.X1; free entries are zero. */
		if (!window &&
		    ipcwait_impl_cas64_relaxed(&o->window, &window, (uintptr_t)w))
			return o;
		if (window == (uintptr_t)w)
			return o;
	}
	/* ORD objects.X4: relaxed, statistic. */
	(void)ipcwait_impl_add64_relaxed(&missed, 1);
	return NULL;
}

struct iw_object *iw_object_at(unsigned i)
{
	/* ORD objects.X5: relaxed, statistic as objects.X1. */
	return ipcwait_impl_load64_relaxed(&objects[i].window) ? &objects[i] : NULL;
}

uint64_t iw_objects_missed(void)
{
	/* ORD objects.X6: relaxed, statistic. */
	return ipcwait_impl_load64_relaxed(&missed);
}

void iw_object_get_name(const struct iw_object *o, char name[IW_OBJECT_NAME_BYTES])
{
	for (unsigned i = 0; i < IW_OBJECT_NAME_BYTES / sizeof(uint64_t); i++) {
		/* ORD objects.X7: relaxed, statistic: half a name is no harm. */
		uint64_t part = ipcwait_impl_load64_relaxed(&o->name[i]);

		memcpy(name + i * sizeof(part), &part, sizeof(part));
	}
	name[IW_OBJECT_NAME_BYTES - 1] = '\0';
}
