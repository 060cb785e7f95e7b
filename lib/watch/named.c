/* SPDX-License-Identifier: MIT */
/* Names and counters of single objects, by the address of their window. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <ipcwait/explain.h>

#include "watch/objects.h"
#include "watch/observe.h"
#include "watch/record.h"

#define DELETE 0x7f

_Static_assert(IPCWAIT_NAME_BYTES + 1 == IW_OBJECT_NAME_BYTES, "the table holds the name");

static bool is_window(const struct ipcwait_window *w)
{
	return w && (uintptr_t)w % 8 == 0;
}

/* False: it is no name. */
static bool take_name(char copy[IW_OBJECT_NAME_BYTES], const char *name)
{
	size_t n = 0;

	memset(copy, 0, IW_OBJECT_NAME_BYTES);
	for (; name[n]; n++) {
		if (n == IPCWAIT_NAME_BYTES || (unsigned char)name[n] < ' ' ||
		    name[n] == DELETE)
			return false;
		copy[n] = name[n];
	}
	return true;
}

int ipcwait_object_set_name(const struct ipcwait_window *w, const char *name)
{
	char copy[IW_OBJECT_NAME_BYTES];
	struct iw_object *o;

	if (!is_window(w) || !name || !take_name(copy, name))
		return -EINVAL;
	o = iw_object_get(&iw_objects, (uintptr_t)w);
	if (!o)
		return -ENOSPC;
	for (unsigned i = 0; i < IW_OBJECT_NAME_BYTES / sizeof(uint64_t); i++) {
		uint64_t part;

		memcpy(&part, copy + i * sizeof(part), sizeof(part));
		/* ORD named.X1: relaxed, statistic as objects.X5. */
		ipcwait_impl_store64_relaxed(&o->name[i], part);
	}
	iw_observe_more(IW_OBSERVE_NAMED);
	iw_record_name((uintptr_t)w, copy);
	return 0;
}

static uint64_t value(const struct ipcwait_word64 *w)
{
	/* ORD named.X2: relaxed, statistic. */
	return ipcwait_impl_load64_relaxed(w);
}

static void gather(struct ipcwait_object_stats *st, const struct iw_object *o)
{
	st->waits = value(&o->counts[IW_OBJECT_WAITS]);
	st->gave_up = value(&o->counts[IW_OBJECT_GAVE_UP]);
	st->spun_useful_ns = value(&o->counts[IW_OBJECT_SPUN_USEFUL_NS]);
	st->spun_wasted_ns = value(&o->counts[IW_OBJECT_SPUN_WASTED_NS]);
	st->slept_ns = value(&o->counts[IW_OBJECT_SLEPT_NS]);
	st->window_ns = value(&o->chosen_ns);
	for (unsigned i = 0; i < IW_REASONS; i++)
		st->reasons[i] = value(&o->reasons[i]);
}

int ipcwait_object_stats_get(const struct ipcwait_window *w,
			     struct ipcwait_object_stats *st, size_t size)
{
	struct ipcwait_object_stats all = { 0 };
	const struct iw_object *o;

	if (!is_window(w) || !st || size < offsetof(struct ipcwait_object_stats, reasons))
		return -EINVAL;
	iw_observe_all_told();
	o = iw_object_find(&iw_objects, (uintptr_t)w);
	if (!o)
		return -ENOENT;
	all.size = size < sizeof(all) ? size : sizeof(all);
	gather(&all, o);
	memcpy(st, &all, all.size);
	return (int)all.size;
}
