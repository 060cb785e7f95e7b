/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include <ipcwait/record.h>

#include "os/life.h"
#include "os/seam.h"
#include "watch/observe.h"
#include "watch/record.h"
#include "watch/record_begin.h"
#include "watch/record_place.h"

/* A price is written again when it has changed by one part in so many. */
#define COST_STEP 8

static uint32_t spun_ns(const struct iw_outcome *o)
{
	uint64_t ns = o->spun_useful_ns + o->spun_wasted_ns;

	return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* What the first looks found took no time. */
static bool is_known(const struct iw_outcome *o)
{
	return o->wait_ns || (!o->reason && !o->result && !o->spun_useful_ns);
}

void iw_record_wait(const char *path, const struct iw_outcome *o)
{
	union iw_record r = { .wait = {
				      .type = IPCWAIT_RECORD_WAIT,
				      .kind = (uint8_t)o->kind,
				      .reason = (uint8_t)o->reason,
				      .error = (uint8_t)-o->result,
				      .known = is_known(o),
				      .object = (uintptr_t)o->window,
				      .site = o->site,
				      .length_ns = o->wait_ns,
				      .caused_ns = o->caused_ns,
				      .slept_ns = o->slept_ns,
				      .spun_ns = spun_ns(o),
				      .window_ns = o->window_ns < UINT32_MAX
							   ? (uint32_t)o->window_ns
							   : UINT32_MAX,
			      } };

	if (!iw_record_is_open(path))
		return;
	r.wait.tid = iw_thread_id();
	r.wait.ended_ns = iw_now_ns();
	iw_record_put(&r, 1);
}

static bool hardly_changed(uint64_t now, uint64_t then)
{
	return now - then + then / COST_STEP < 2 * (then / COST_STEP);
}

void iw_record_cost(const struct ipcwait_record_cost *c)
{
	static struct ipcwait_word64 last;
	union iw_record r = { .cost = *c };

	/* ORD record.X1: relaxed, statistic: two threads may both write it. */
	if (hardly_changed(c->block_ns, ipcwait_impl_load64_relaxed(&last)) ||
	    !iw_record_is_open(NULL))
		return;
	ipcwait_impl_store64_relaxed(&last, c->block_ns);
	r.cost.type = IPCWAIT_RECORD_COST;
	r.cost.at_ns = iw_now_ns();
	iw_record_put(&r, 1);
}

void iw_record_end(void)
{
	if (iw_record_is_told())
		iw_record_tell_more_code();
}

void iw_record_name(uint64_t window, const char name[IW_OBJECT_NAME_BYTES])
{
	union iw_record r = { .name = { .type = IPCWAIT_RECORD_NAME, .object = window } };

	_Static_assert(IW_OBJECT_NAME_BYTES == IPCWAIT_RECORD_NAME_BYTES, "it fits");
	if (!iw_record_is_open(NULL))
		return;
	memcpy(r.name.name, name, IW_OBJECT_NAME_BYTES);
	iw_record_put(&r, 1);
}
