/* SPDX-License-Identifier: MIT */
#include <ipcwait/region.h>

#include "os/seam.h"
#include "sync/object.h"

#define MAGIC        UINT64_C(0x74696177637069) /* "ipcwait", its first byte the lowest */
#define LAYOUT_SHIFT 56

_Static_assert(sizeof(struct ipcwait_region) == IPCWAIT_REGION_BYTES, "in every layout");
_Static_assert(IPCWAIT_LAYOUT <= UINT8_MAX, "it has one byte");

static uint64_t stamp_of(unsigned layout)
{
	return MAGIC | (uint64_t)layout << LAYOUT_SHIFT;
}

static int layout_of(uint64_t stamp)
{
	return (stamp ^ MAGIC) << (64 - LAYOUT_SHIFT) == 0 ? (int)(stamp >> LAYOUT_SHIFT)
							   : -EINVAL;
}

/* A word of zeros may be the beginning of something else. */
static bool is_blank(const struct ipcwait_region *r)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < sizeof(r->reserved) / sizeof(r->reserved[0]); i++)
		sum |= r->reserved[i];
	return !sum;
}

static uint64_t read_stamp(const struct ipcwait_region *r)
{
	/* ORD region.X1: relaxed, no order needed: it guards no data. */
	return ipcwait_impl_load64_relaxed(&r->stamp);
}

/* 0 if @r is stamped with @layout now, or was. */
static int join(struct ipcwait_region *r, unsigned layout)
{
	uint64_t stamp;

	if (iw_is_misplaced(r))
		return -EINVAL;
	if (layout != IPCWAIT_LAYOUT)
		return -EPROTO;
	stamp = read_stamp(r);
	/* ORD region.X2: relaxed, no order needed as region.X1; who fails sees the other's. */
	if (!stamp && is_blank(r) &&
	    ipcwait_impl_cas64_relaxed(&r->stamp, &stamp, stamp_of(layout)))
		return 0;
	if (layout_of(stamp) < 0)
		return -EINVAL;
	return stamp == stamp_of(layout) ? 0 : -EPROTO;
}

int ipcwait_impl_region_attach(struct ipcwait_region *r, unsigned layout)
{
	int result = join(r, layout);

	if (result == 0)
		iw_clock_find_ahead();
	return result;
}

int ipcwait_region_layout(const struct ipcwait_region *r)
{
	return iw_is_misplaced(r) ? -EINVAL : layout_of(read_stamp(r));
}
