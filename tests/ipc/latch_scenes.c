/* SPDX-License-Identifier: MIT */
/* Every call on a latch, and what a process may leave behind that is killed in one: the table in
 * docs/design/gates.md. */
#include <errno.h>

#include "common/check.h"
#include "common/gates_word.h"
#include "stage.h"

struct latch_scene {
	struct scene base;
	unsigned count;    /* before the call */
	unsigned counts;   /* the victim, so many */
	bool waits;        /* the victim, perhaps after that */
	bool bounded;      /* the others wait with a deadline, again and again */
	int fails;         /* the result that is allowed besides 0 */
	unsigned sleepers; /* beside the victim from the beginning */
	unsigned late;     /* who join it when it sleeps */
	enum ipcwait_preset preset;
};

/* The deadlines of those who expect deaths, in ns. */
#define BOUND_NS 5000000

static void trywait(struct region *r)
{
	r->result = ipcwait_latch_trywait(&r->latch);
}

static void wait_forever(struct region *r)
{
	r->result = ipcwait_latch_wait(&r->latch);
}

static void wait_until(struct region *r)
{
	r->result =
		ipcwait_latch_wait_until(&r->latch, ipcwait_deadline_in_ns(r->patience_ns));
}

static void arrive(struct region *r)
{
	r->result = ipcwait_latch_arrive_and_wait(&r->latch);
}

static void count_down(struct region *r)
{
	r->result = ipcwait_latch_count_down(&r->latch, 1);
}

static void count_down_two(struct region *r)
{
	r->result = ipcwait_latch_count_down(&r->latch, 2);
}

static void read_count(struct region *r)
{
	r->result = ipcwait_latch_count(&r->latch) <= 1 ? 0 : -EINVAL;
}

static void begin_and_end(struct region *r)
{
	struct ipcwait_latch own;

	r->result = ipcwait_latch_init(&own, 1, 0);
	if (r->result == 0)
		r->result = ipcwait_latch_fini(&own);
}

static const struct latch_scene scenes[] = {
	{ .base = { .name = "latch_trywait, open", .act = trywait } },
	{
		.base = { .name = "latch_trywait, closed", .act = trywait },
		.count = 1,
		.fails = -EAGAIN,
	},
	{
		.base = { .name = "latch_count_down, not the last", .act = count_down },
		.count = 3,
		.counts = 1,
		.sleepers = 1,
	},
	{
		.base = { .name = "latch_count_down, nobody", .act = count_down },
		.count = 1,
		.counts = 1,
	},
	{
		.base = { .name = "latch_count_down, one asleep", .act = count_down },
		.count = 1,
		.counts = 1,
		.sleepers = 1,
	},
	{
		.base = { .name = "latch_count_down by 2, two asleep",
			  .act = count_down_two },
		.count = 2,
		.counts = 2,
		.sleepers = 2,
	},
	{
		.base = { .name = "latch_count_down, with deadlines",
			  .act = count_down,
			  .rare = 8 },
		.count = 1,
		.counts = 1,
		.bounded = true,
		.sleepers = 1,
	},
	{ .base = { .name = "latch_wait, open", .act = wait_forever }, .waits = true },
	{
		.base = { .name = "latch_wait, asleep",
			  .act = wait_forever,
			  .sleeps = true,
			  .patient = true },
		.count = 2,
		.waits = true,
		.late = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "latch_wait, beside sleepers",
			  .act = wait_forever,
			  .sleeps = true,
			  .patient = true,
			  .rare = 4 },
		.count = 1,
		.waits = true,
		.sleepers = 2,
	},
	{
		.base = { .name = "latch_wait_until, expires",
			  .act = wait_until,
			  .sleeps = true,
			  .rare = 6 },
		.count = 1,
		.waits = true,
		.fails = -ETIMEDOUT,
		.sleepers = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "latch_arrive_and_wait",
			  .act = arrive,
			  .sleeps = true,
			  .patient = true },
		.count = 2,
		.counts = 1,
		.waits = true,
		.sleepers = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "latch_arrive_and_wait, last",
			  .act = arrive,
			  .sleeps = true },
		.count = 1,
		.counts = 1,
		.sleepers = 2,
	},
	{ .base = { .name = "latch_count", .act = read_count }, .count = 1 },
	{ .base = { .name = "latch_init, latch_fini", .act = begin_and_end } },
};

static const struct scene *scene(unsigned i)
{
	return i < sizeof(scenes) / sizeof(scenes[0]) ? &scenes[i].base : NULL;
}

static const struct latch_scene *row(const struct stage *st)
{
	return (const struct latch_scene *)st->scene;
}

static struct ipcwait_latch *latch(const struct stage *st)
{
	return &st->r->latch;
}

static void pass(struct region *r)
{
	CHECK_EQ(ipcwait_latch_wait(&r->latch), 0);
}

static void pass_with_deadlines(struct region *r)
{
	int result;

	do
		result = ipcwait_latch_wait_until(&r->latch,
						  ipcwait_deadline_in_ns(BOUND_NS));
	while (result == -ETIMEDOUT);
	CHECK_EQ(result, 0);
}

static void count_one(struct stage *st)
{
	CHECK_EQ(ipcwait_latch_count_down(latch(st), 1), 0);
}

static void count_once(struct stage *st)
{
	stage_call(st, count_one);
	st->posted++;
}

static void prepare(struct stage *st)
{
	CHECK_EQ(ipcwait_latch_init(latch(st), row(st)->count, 0), 0);
	st->r->patience_ns = STAGE_PATIENCE_NS;
	for (unsigned i = 0; i < row(st)->sleepers; i++)
		stage_seat(st, row(st)->bounded ? pass_with_deadlines : pass);
	CHECK_EQ(ipcwait_window_set_preset(&latch(st)->window, row(st)->preset), 0);
}

static uint64_t word(const struct stage *st)
{
	return gate_word(&latch(st)->word);
}

/* It is closed as long as the victim sleeps. */
static void meanwhile(struct stage *st)
{
	if (st->slept == 1)
		for (unsigned i = 0; i < row(st)->late; i++)
			stage_seat(st, pass);
	if (row(st)->fails == -ETIMEDOUT)
		return;
	CHECK_EQ(stage_asleep(st), st->others);
	stage_let_pass(STAGE_LONG_NS);
	CHECK(latch_count(word(st)));
	count_once(st);
}

static void interfere(struct region *r)
{
	int result = ipcwait_latch_count_down(&r->latch, 1);

	CHECK(result == 0 || result == -EOVERFLOW);
	r->handler_woke += result == 0;
}

static unsigned counted_by_victim(const struct stage *st)
{
	return row(st)->count - latch_count(word(st)) - st->posted - st->r->handler_woke;
}

/* Their deadlines are alarm enough. */
static void await_deadlines(struct stage *st)
{
	while (stage_asleep(st))
		stage_let_pass(STAGE_LONG_NS);
}

/* All are through; who comes now goes through, and the dead is forgotten. */
static void end(struct stage *st)
{
	while (latch_count(word(st)))
		count_once(st);
	if (row(st)->bounded)
		await_deadlines(st);
	CHECK_EQ(stage_asleep(st), 0);
	CHECK_EQ(word(st), 0);
	CHECK_EQ(ipcwait_latch_trywait(latch(st)), 0);
}

static const char *left(const struct stage *st, unsigned counted, bool opened,
			unsigned dead)
{
	if (dead)
		return counted ? "count + sleeper" : "sleeper";
	if (!counted)
		return "nothing";
	return opened && st->wake_pending ? "count + wake owed" : "count";
}

static const char *mourn(struct stage *st, enum heal heal)
{
	unsigned asleep = stage_asleep(st), counted = counted_by_victim(st), dead = 0;
	bool open = !latch_count(word(st)), opened = open && counted;

	CHECK(!counted || counted == row(st)->counts);
	if (!open && !row(st)->bounded) {
		CHECK_EQ(asleep, st->others);
		dead = latch_sleepers(word(st)) - asleep;
		CHECK(dead <= row(st)->waits);
		if (asleep + dead)
			CHECK_EQ(ipcwait_latch_fini(latch(st)), -EBUSY);
	} else if (row(st)->bounded && open) {
		await_deadlines(st);
	} else if (opened && st->wake_pending) {
		stage_await_home(st, 0, &latch(st)->word);
	} else if (open) {
		CHECK_EQ(asleep, 0);
	}
	if (heal == HEAL_BY_LOOK && !open)
		stage_seat(st, pass);
	end(st);
	CHECK_EQ(ipcwait_latch_fini(latch(st)), 0);
	return left(st, counted, opened && asleep, dead);
}

/* No signal ends a wait; a handler that counts down may be the last. */
static void audit(struct stage *st)
{
	int result = st->r->result;
	unsigned done = result == 0 ? row(st)->counts : 0;

	if (row(st)->counts && result)
		CHECK(result == -EOVERFLOW && st->r->handler_woke);
	else if (result)
		CHECK_EQ(result, row(st)->fails);
	CHECK_EQ(counted_by_victim(st), done);
	if (!row(st)->bounded)
		CHECK_EQ(stage_asleep(st), latch_count(word(st)) ? st->others : 0);
	if (!row(st)->bounded)
		CHECK_EQ(latch_sleepers(word(st)), stage_asleep(st));
	end(st);
	CHECK_EQ(ipcwait_latch_fini(latch(st)), 0);
}

const struct suspect latch_suspect = {
	.name = "latch",
	.scene = scene,
	.prepare = prepare,
	.meanwhile = meanwhile,
	.interfere = interfere,
	.mourn = mourn,
	.audit = audit,
};
