/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "policy/hash.h"
#include "watch/objects.h"

/* How many entries are looked at for an address, so that a full table costs little. */
#define PROBES 16u

_Static_assert((int)IW_REASONS <= IPCWAIT_REASON_SPACE, "a place for each reason");

struct iw_objects iw_objects;
struct iw_objects iw_call_sites;

/* Windows are aligned, call sites are not: all bits of the address take part. */
static struct iw_object *probe(struct iw_objects *t, uint64_t address, unsigned i)
{
	return &t->entry[((iw_hash(address) >> 32) + i) % IW_OBJECTS];
}

struct iw_object *iw_object_find(struct iw_objects *t, uint64_t address)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct iw_object *o = probe(t, address, i);
		/* ORD objects.X1: relaxed, statistic: the words of an entry need no order. */
		uint64_t found = ipcwait_impl_load64_relaxed(&o->address);

		if (found == address)
			return o;
		if (!found)
			return NULL;
	}
	return NULL;
}

struct iw_object *iw_object_get(struct iw_objects *t, uint64_t address)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct iw_object *o = probe(t, address, i);
		/* ORD objects.X2: relaxed, re-checked by the CAS. */
		uint64_t found = ipcwait_impl_load64_relaxed(&o->address);

		/* ORD objects.X3: relaxed, statistic as objects.X1; free entries are zero. */
		if (!found && ipcwait_impl_cas64_relaxed(&o->address, &found, address))
			return o;
		if (found == address)
			return o;
	}
	return NULL;
}

struct iw_object *iw_object_at(struct iw_objects *t, unsigned i)
{
	/* ORD objects.X4: relaxed, statistic as objects.X1. */
	return ipcwait_impl_load64_relaxed(&t->entry[i].address) ? &t->entry[i] : NULL;
}

void iw_object_get_name(const struct iw_object *o, char name[IW_OBJECT_NAME_BYTES])
{
	for (unsigned i = 0; i < IW_OBJECT_NAME_BYTES / sizeof(uint64_t); i++) {
		/* ORD objects.X5: relaxed, statistic: half a name is no harm. */
		uint64_t part = ipcwait_impl_load64_relaxed(&o->name[i]);

		memcpy(name + i * sizeof(part), &part, sizeof(part));
	}
	name[IW_OBJECT_NAME_BYTES - 1] = '\0';
}
