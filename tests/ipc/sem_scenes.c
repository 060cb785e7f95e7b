/* SPDX-License-Identifier: MIT */
/* Every call on a semaphore, in every state that it treats differently. */
#include "sem_scene.h"

#include <errno.h>

static void trywait(struct region *r)
{
	r->result = ipcwait_sem_trywait(&r->items);
}

static void wait_forever(struct region *r)
{
	r->result = ipcwait_sem_wait(&r->items);
}

static void wait_until(struct region *r)
{
	r->result =
		ipcwait_sem_wait_until(&r->items, ipcwait_deadline_in_ns(r->patience_ns));
}

static void post(struct region *r)
{
	r->result = ipcwait_sem_post(&r->items);
}

static void post_three(struct region *r)
{
	r->result = ipcwait_sem_post_n(&r->items, 3);
}

static void read_value(struct region *r)
{
	int tokens = ipcwait_sem_value(&r->items);

	r->result = tokens >= 0 && tokens <= 3 ? 0 : tokens;
}

/* Of an object of its own, as the handler may not use one before it is there. */
static void begin_and_end(struct region *r)
{
	r->result = ipcwait_sem_init(&r->space, 1, 0);
	if (r->result == 0)
		r->result = ipcwait_sem_fini(&r->space);
}

static void set_preset(struct region *r)
{
	r->result = ipcwait_window_set_preset(&r->items.window, IPCWAIT_SPIN);
}

static void stamp(struct region *r)
{
	ipcwait_window_stamp(&r->items.window);
}

static void read_clock(struct region *r)
{
	int64_t before = ipcwait_now_ns();

	r->result = ipcwait_deadline_in_ns(1) > before ? 0 : -EINVAL;
}

static const struct sem_scene scenes[] = {
	{
		.base = { .name = "sem_trywait, a token", .act = trywait },
		.role = SEM_WAITER,
		.tokens = 1,
	},
	{
		.base = { .name = "sem_trywait, none", .act = trywait },
		.role = SEM_WAITER,
		.fails = -EAGAIN,
	},
	{
		.base = { .name = "sem_post, nobody", .act = post },
		.role = SEM_POSTER,
		.adds = 1,
	},
	{
		.base = { .name = "sem_post_n, nobody", .act = post_three },
		.role = SEM_POSTER,
		.adds = 3,
	},
	{
		.base = { .name = "sem_post, one asleep", .act = post },
		.role = SEM_POSTER,
		.adds = 1,
		.sleepers = 1,
	},
	{
		.base = { .name = "sem_post, two asleep", .act = post },
		.role = SEM_POSTER,
		.adds = 1,
		.sleepers = 2,
	},
	{
		.base = { .name = "sem_post_n, two asleep", .act = post_three },
		.role = SEM_POSTER,
		.adds = 3,
		.sleepers = 2,
	},
	{
		.base = { .name = "sem_post, a wake under way",
			  .act = post,
			  .between = sem_keep_wakes_fresh },
		.role = SEM_POSTER,
		.adds = 1,
		.sleepers = 2,
		.held = true,
	},
	{
		.base = { .name = "sem_post, for the woken",
			  .act = post,
			  .silent = true,
			  .between = sem_keep_wakes_fresh },
		.role = SEM_POSTER,
		.adds = 1,
		.sleepers = 2,
		.held = true,
		.stolen = true,
	},
	{
		.base = { .name = "sem_post, a wake in doubt", .act = post },
		.role = SEM_POSTER,
		.adds = 1,
		.sleepers = 2,
		.held = true,
		.stolen = true,
		.doubted = true,
	},
	{
		.base = { .name = "sem_post, beside a spinner", .act = post },
		.role = SEM_POSTER,
		.adds = 1,
		.sleepers = 1,
		.spinner = true,
	},
	{
		.base = { .name = "sem_wait, a token",
			  .act = wait_forever,
			  .sleeps = true },
		.role = SEM_WAITER,
		.tokens = 1,
	},
	{
		.base = { .name = "sem_wait, woken", .act = wait_forever, .sleeps = true },
		.role = SEM_WAITER,
		.late = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "sem_wait, beside sleepers",
			  .act = wait_forever,
			  .sleeps = true },
		.role = SEM_WAITER,
		.sleepers = 2,
	},
	{
		.base = { .name = "sem_wait, woken for nothing",
			  .act = wait_forever,
			  .sleeps = true },
		.role = SEM_WAITER,
		.late = 1,
		.for_nothing = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "sem_wait, while it spins",
			  .act = wait_forever,
			  .sleeps = true,
			  .between = sem_feed_the_spinner },
		.role = SEM_WAITER,
		.sleepers = 1,
	},
	{
		.base = { .name = "sem_wait_until, expires",
			  .act = wait_until,
			  .sleeps = true },
		.role = SEM_WAITER,
		.fails = -ETIMEDOUT,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "sem_wait_until, with a sleeper",
			  .act = wait_until,
			  .sleeps = true },
		.role = SEM_WAITER,
		.fails = -ETIMEDOUT,
		.sleepers = 1,
	},
	{ .base = { .name = "sem_value", .act = read_value }, .tokens = 1 },
	{ .base = { .name = "sem_init, sem_fini", .act = begin_and_end } },
	{ .base = { .name = "window_set_preset", .act = set_preset } },
	{ .base = { .name = "window_stamp", .act = stamp } },
	{ .base = { .name = "now_ns, deadline_in_ns", .act = read_clock } },
};

static const struct scene *scene(unsigned i)
{
	return i < sizeof(scenes) / sizeof(scenes[0]) ? &scenes[i].base : NULL;
}

const struct suspect sem_suspect = {
	.name = "sem",
	.scene = scene,
	.prepare = sem_prepare,
	.meanwhile = sem_meanwhile,
	.interfere = sem_interfere,
	.mourn = sem_mourn,
	.audit = sem_audit,
};
