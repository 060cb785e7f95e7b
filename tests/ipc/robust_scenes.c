/* SPDX-License-Identifier: MIT */
/* Every call on a robust mutex, in every state that it treats differently. */
#include "robust_scene.h"

#include <errno.h>

#include "common/check.h"

static void trylock(struct region *r)
{
	r->result = ipcwait_mutex_trylock(&r->mutex);
}

static void lock(struct region *r)
{
	r->result = ipcwait_mutex_lock(&r->mutex);
}

static void lock_until(struct region *r)
{
	r->result =
		ipcwait_mutex_lock_until(&r->mutex, ipcwait_deadline_in_ns(r->patience_ns));
}

static void unlock(struct region *r)
{
	r->result = ipcwait_mutex_unlock(&r->mutex);
}

static void repair(struct region *r)
{
	r->result = ipcwait_mutex_consistent(&r->mutex);
}

static void own(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
}

static void inherit(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), -EOWNERDEAD);
}

static const struct robust_scene scenes[] = {
	{
		.base = { .name = "mutex_trylock, free", .act = trylock },
		.keeps = true,
	},
	{
		.base = { .name = "mutex_trylock, owned", .act = trylock },
		.owner = ROBUST_TRACER,
		.result = -EBUSY,
	},
	{
		.base = { .name = "mutex_lock, free", .act = lock, .sleeps = true },
		.keeps = true,
	},
	{
		.base = { .name = "mutex_lock, asleep",
			  .act = lock,
			  .sleeps = true,
			  .patient = true,
			  .rare = 4 },
		.owner = ROBUST_TRACER,
		.keeps = true,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "mutex_lock, beside sleepers",
			  .act = lock,
			  .sleeps = true,
			  .patient = true,
			  .rare = 6 },
		.owner = ROBUST_TRACER,
		.sleepers = 2,
		.keeps = true,
	},
	{
		.base = { .name = "mutex_lock, while it spins",
			  .act = lock,
			  .sleeps = true,
			  .between = robust_free_for_the_spinner,
			  .rare = 6 },
		.owner = ROBUST_TRACER,
		.sleepers = 1,
		.keeps = true,
	},
	{
		.base = { .name = "mutex_lock, owner dead",
			  .act = lock,
			  .sleeps = true,
			  .asks = true,
			  .skip = 2,
			  .rare = 6 },
		.owner = ROBUST_DEAD,
		.result = -EOWNERDEAD,
		.keeps = true,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "mutex_lock, owner buried", .act = lock, .sleeps = true },
		.owner = ROBUST_BURIED,
		.result = -EOWNERDEAD,
		.keeps = true,
	},
	{
		.base = { .name = "mutex_lock_until, expires",
			  .act = lock_until,
			  .sleeps = true,
			  .asks = true,
			  .rare = 8 },
		.owner = ROBUST_TRACER,
		.result = -ETIMEDOUT,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "mutex_unlock, nobody", .act = unlock, .before = own },
		.owner = ROBUST_VICTIM,
	},
	{
		.base = { .name = "mutex_unlock, one asleep",
			  .act = unlock,
			  .before = own },
		.owner = ROBUST_VICTIM,
		.sleepers = 1,
	},
	{
		.base = { .name = "mutex_unlock, two asleep",
			  .act = unlock,
			  .before = own },
		.owner = ROBUST_VICTIM,
		.sleepers = 2,
	},
	{
		.base = { .name = "mutex_unlock, beside a spinner",
			  .act = unlock,
			  .before = own,
			  .silent = true,
			  .between = robust_keep_the_mark },
		.owner = ROBUST_VICTIM,
		.sleepers = 1,
	},
	{
		.base = { .name = "mutex_unlock, not repaired",
			  .act = unlock,
			  .before = inherit },
		.owner = ROBUST_VICTIM,
		.inherited = true,
		.sleepers = 2,
	},
	{
		.base = { .name = "mutex_consistent", .act = repair, .before = inherit },
		.owner = ROBUST_VICTIM,
		.inherited = true,
		.sleepers = 1,
		.keeps = true,
	},
};

static const struct scene *scene(unsigned i)
{
	return i < sizeof(scenes) / sizeof(scenes[0]) ? &scenes[i].base : NULL;
}

const struct suspect robust_suspect = {
	.name = "robust",
	.calm = 4,
	.scene = scene,
	.prepare = robust_prepare,
	.gather = robust_gather,
	.meanwhile = robust_meanwhile,
	.interfere = robust_interfere,
	.witness = robust_witness,
	.mourn = robust_mourn,
	.audit = robust_audit,
};
