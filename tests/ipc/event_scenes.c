/* SPDX-License-Identifier: MIT */
/* Every call on an event, in every state that it treats differently. */
#include "event_scene.h"

#include <errno.h>

static void trywait(struct region *r)
{
	r->result = ipcwait_event_trywait(&r->event);
}

static void wait_forever(struct region *r)
{
	r->result = ipcwait_event_wait(&r->event);
}

static void wait_until(struct region *r)
{
	r->result =
		ipcwait_event_wait_until(&r->event, ipcwait_deadline_in_ns(r->patience_ns));
}

static void set(struct region *r)
{
	r->result = ipcwait_event_set(&r->event);
}

static void reset(struct region *r)
{
	r->result = ipcwait_event_reset(&r->event);
}

static void look(struct region *r)
{
	(void)ipcwait_event_is_set(&r->event);
	r->result = 0;
}

/* Of an object of its own, as the handler may not use one before it is there. */
static void begin_and_end(struct region *r)
{
	struct ipcwait_event own;

	r->result = ipcwait_event_init(&own, IPCWAIT_AUTO_RESET);
	if (r->result == 0)
		r->result = ipcwait_event_fini(&own);
}

static const struct event_scene scenes[] = {
	{
		.base = { .name = "event_trywait, set", .act = trywait },
		.role = EVENT_TAKER,
		.auto_ = true,
		.set = true,
	},
	{
		.base = { .name = "event_trywait, not set", .act = trywait },
		.role = EVENT_TAKER,
		.auto_ = true,
		.fails = -EAGAIN,
	},
	{
		.base = { .name = "event_set, nobody", .act = set },
		.role = EVENT_SETTER,
	},
	{
		.base = { .name = "event_set, one asleep", .act = set },
		.role = EVENT_SETTER,
		.auto_ = true,
		.sleepers = 1,
	},
	{
		.base = { .name = "event_set, two asleep", .act = set },
		.role = EVENT_SETTER,
		.auto_ = true,
		.sleepers = 2,
	},
	{
		.base = { .name = "event_set, manual, two asleep", .act = set },
		.role = EVENT_SETTER,
		.sleepers = 2,
	},
	{
		.base = { .name = "event_set, beside a spinner",
			  .act = set,
			  .between = event_keep_the_mark },
		.role = EVENT_SETTER,
		.auto_ = true,
		.sleepers = 1,
		.spinner = true,
	},
	{
		.base = { .name = "event_set, left to a spinner", .act = set },
		.role = EVENT_SETTER,
		.auto_ = true,
		.sleepers = 2,
		.left = true,
	},
	{
		.base = { .name = "event_reset, set", .act = reset },
		.role = EVENT_TAKER,
		.set = true,
	},
	{ .base = { .name = "event_reset, not set", .act = reset }, .role = EVENT_TAKER },
	{ .base = { .name = "event_is_set", .act = look }, .set = true },
	{
		.base = { .name = "event_wait, set", .act = wait_forever, .sleeps = true },
		.role = EVENT_TAKER,
		.auto_ = true,
		.set = true,
	},
	{
		.base = { .name = "event_wait, woken",
			  .act = wait_forever,
			  .sleeps = true,
			  .patient = true },
		.role = EVENT_TAKER,
		.auto_ = true,
		.late = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "event_wait, manual, woken",
			  .act = wait_forever,
			  .sleeps = true,
			  .patient = true },
		.role = EVENT_TAKER,
		.sleepers = 1,
		.late = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "event_wait, pulsed",
			  .act = wait_forever,
			  .sleeps = true,
			  .patient = true },
		.role = EVENT_TAKER,
		.sleepers = 1,
		.pulse = true,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "event_wait, beside sleepers",
			  .act = wait_forever,
			  .sleeps = true,
			  .patient = true,
			  .rare = 4 },
		.role = EVENT_TAKER,
		.auto_ = true,
		.sleepers = 2,
	},
	{
		.base = { .name = "event_wait, while it spins",
			  .act = wait_forever,
			  .sleeps = true,
			  .patient = true,
			  .between = event_set_for_the_spinner,
			  .rare = 2 },
		.role = EVENT_TAKER,
		.auto_ = true,
		.sleepers = 1,
	},
	{
		.base = { .name = "event_wait_until, expires",
			  .act = wait_until,
			  .sleeps = true,
			  .rare = 6 },
		.role = EVENT_TAKER,
		.fails = -ETIMEDOUT,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "event_wait_until, with a sleeper",
			  .act = wait_until,
			  .sleeps = true,
			  .rare = 6 },
		.role = EVENT_TAKER,
		.auto_ = true,
		.fails = -ETIMEDOUT,
		.sleepers = 1,
	},
	{ .base = { .name = "event_init, event_fini", .act = begin_and_end } },
};

static const struct scene *scene(unsigned i)
{
	return i < sizeof(scenes) / sizeof(scenes[0]) ? &scenes[i].base : NULL;
}

const struct suspect event_suspect = {
	.name = "event",
	.scene = scene,
	.prepare = event_prepare,
	.meanwhile = event_meanwhile,
	.interfere = event_interfere,
	.mourn = event_mourn,
	.detour = event_detour,
	.audit = event_audit,
};
