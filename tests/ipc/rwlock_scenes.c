/* SPDX-License-Identifier: MIT */
/* Every call on a reader-writer lock, in every state that it treats differently. */
#include "rwlock_scene.h"

#include <errno.h>

#include "common/check.h"

static void tryrdlock(struct region *r)
{
	r->result = ipcwait_rwlock_tryrdlock(&r->rwlock);
}

static void trywrlock(struct region *r)
{
	r->result = ipcwait_rwlock_trywrlock(&r->rwlock);
}

static void rdlock(struct region *r)
{
	r->result = ipcwait_rwlock_rdlock(&r->rwlock);
}

static void wrlock(struct region *r)
{
	r->result = ipcwait_rwlock_wrlock(&r->rwlock);
}

static void rdlock_until(struct region *r)
{
	r->result = ipcwait_rwlock_rdlock_until(&r->rwlock,
						ipcwait_deadline_in_ns(r->patience_ns));
}

static void wrlock_until(struct region *r)
{
	r->result = ipcwait_rwlock_wrlock_until(&r->rwlock,
						ipcwait_deadline_in_ns(r->patience_ns));
}

static void rdunlock(struct region *r)
{
	r->result = ipcwait_rwlock_rdunlock(&r->rwlock);
}

static void wrunlock(struct region *r)
{
	r->result = ipcwait_rwlock_wrunlock(&r->rwlock);
}

static void read_before(struct region *r)
{
	CHECK_EQ(ipcwait_rwlock_rdlock(&r->rwlock), 0);
}

static void write_before(struct region *r)
{
	CHECK_EQ(ipcwait_rwlock_wrlock(&r->rwlock), 0);
}

static void begin_and_end(struct region *r)
{
	struct ipcwait_rwlock own;

	r->result = ipcwait_rwlock_init(&own, 0);
	if (r->result == 0)
		r->result = ipcwait_rwlock_fini(&own);
}

static const struct rwlock_scene scenes[] = {
	{ .base = { .name = "tryrdlock, free", .act = tryrdlock }, .reads = true },
	{ .base = { .name = "trywrlock, free", .act = trywrlock }, .writes = true },
	{
		.base = { .name = "tryrdlock, kept for a dead reader", .act = tryrdlock },
		.holder = RWLOCK_DEAD_READER,
		.reads = true,
	},
	{
		.base = { .name = "trywrlock, kept for a dead reader", .act = trywrlock },
		.holder = RWLOCK_DEAD_READER,
		.writes = true,
	},
	{
		.base = { .name = "tryrdlock, kept for a dead writer", .act = tryrdlock },
		.holder = RWLOCK_DEAD_WRITER,
		.reads = true,
	},
	{
		.base = { .name = "trywrlock, written", .act = trywrlock },
		.holder = RWLOCK_TRACER_WRITES,
		.result = -EBUSY,
	},
	{
		.base = { .name = "rdlock, free", .act = rdlock, .sleeps = true },
		.reads = true,
	},
	{
		.base = { .name = "wrlock, free", .act = wrlock, .sleeps = true },
		.writes = true,
	},
	{
		.base = { .name = "rdlock, asleep",
			  .act = rdlock,
			  .sleeps = true,
			  .patient = true,
			  .rare = 2 },
		.holder = RWLOCK_TRACER_WRITES,
		.reads = true,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "rdlock, behind a writer",
			  .act = rdlock,
			  .sleeps = true,
			  .patient = true,
			  .rare = 4 },
		.holder = RWLOCK_TRACER_READS,
		.writers = 1,
		.reads = true,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "rdlock, beside sleepers",
			  .act = rdlock,
			  .sleeps = true,
			  .patient = true,
			  .rare = 6 },
		.holder = RWLOCK_TRACER_WRITES,
		.readers = 1,
		.writers = 1,
		.reads = true,
	},
	{
		.base = { .name = "wrlock, asleep",
			  .act = wrlock,
			  .sleeps = true,
			  .patient = true,
			  .rare = 2 },
		.holder = RWLOCK_TRACER_READS,
		.writes = true,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "wrlock, beside sleepers",
			  .act = wrlock,
			  .sleeps = true,
			  .patient = true,
			  .rare = 6 },
		.holder = RWLOCK_TRACER_WRITES,
		.readers = 1,
		.writers = 1,
		.writes = true,
	},
	{
		.base = { .name = "wrlock, woken too early",
			  .act = wrlock,
			  .sleeps = true,
			  .patient = true,
			  .rare = 6 },
		.holder = RWLOCK_TRACER_WRITES,
		.extra_wake = true,
		.writes = true,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "wrlock, overdue",
			  .act = wrlock,
			  .sleeps = true,
			  .patient = true,
			  .rare = 8 },
		.holder = RWLOCK_TRACER_READS,
		.extra_wake = true,
		.overdue = true,
		.writes = true,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "rdlock, overdue",
			  .act = rdlock,
			  .sleeps = true,
			  .patient = true,
			  .rare = 8 },
		.holder = RWLOCK_TRACER_WRITES,
		.extra_wake = true,
		.overdue = true,
		.reads = true,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "wrlock, while it spins",
			  .act = wrlock,
			  .sleeps = true,
			  .between = rwlock_free_for_the_spinner,
			  .rare = 6 },
		.holder = RWLOCK_TRACER_WRITES,
		.writers = 1,
		.writes = true,
	},
	{
		.base = { .name = "rdlock_until, expires",
			  .act = rdlock_until,
			  .sleeps = true,
			  .rare = 6 },
		.holder = RWLOCK_TRACER_WRITES,
		.result = -ETIMEDOUT,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "wrlock_until, expires",
			  .act = wrlock_until,
			  .sleeps = true,
			  .rare = 6 },
		.holder = RWLOCK_TRACER_READS,
		.result = -ETIMEDOUT,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "rdunlock, nobody",
			  .act = rdunlock,
			  .before = read_before },
		.holder = RWLOCK_VICTIM_READS,
	},
	{
		.base = { .name = "rdunlock, a writer asleep",
			  .act = rdunlock,
			  .before = read_before },
		.holder = RWLOCK_VICTIM_READS,
		.writers = 1,
	},
	{
		.base = { .name = "rdunlock, both asleep",
			  .act = rdunlock,
			  .before = read_before },
		.holder = RWLOCK_VICTIM_READS,
		.writers = 1,
		.readers = 1,
	},
	{
		.base = { .name = "wrunlock, nobody",
			  .act = wrunlock,
			  .before = write_before },
		.holder = RWLOCK_VICTIM_WRITES,
	},
	{
		.base = { .name = "wrunlock, two readers asleep",
			  .act = wrunlock,
			  .before = write_before },
		.holder = RWLOCK_VICTIM_WRITES,
		.readers = 2,
	},
	{
		.base = { .name = "wrunlock, two writers asleep",
			  .act = wrunlock,
			  .before = write_before },
		.holder = RWLOCK_VICTIM_WRITES,
		.writers = 2,
	},
	{
		.base = { .name = "wrunlock, both asleep",
			  .act = wrunlock,
			  .before = write_before },
		.holder = RWLOCK_VICTIM_WRITES,
		.readers = 1,
		.writers = 1,
	},
	{
		.base = { .name = "wrunlock, beside a spinner",
			  .act = wrunlock,
			  .before = write_before,
			  .silent = true,
			  .between = rwlock_keep_the_mark },
		.holder = RWLOCK_VICTIM_WRITES,
		.writers = 1,
	},
	{
		.base = { .name = "rwlock_init, rwlock_fini", .act = begin_and_end },
		.bystands = true,
	},
};

static const struct scene *scene(unsigned i)
{
	return i < sizeof(scenes) / sizeof(scenes[0]) ? &scenes[i].base : NULL;
}

const struct suspect rwlock_suspect = {
	.name = "rwlock",
	.calm = 4,
	.scene = scene,
	.prepare = rwlock_prepare,
	.gather = rwlock_gather,
	.meanwhile = rwlock_meanwhile,
	.interfere = rwlock_interfere,
	.mourn = rwlock_mourn,
	.detour = rwlock_detour,
	.audit = rwlock_audit,
};
