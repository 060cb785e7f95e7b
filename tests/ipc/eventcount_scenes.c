/* SPDX-License-Identifier: MIT */
/* Every call on an event count, and what a process may leave behind that is killed in one: the
 * table "Death" of docs/design/eventcount.md. */
#include <errno.h>

#include "common/check.h"
#include "common/eventcount_word.h"
#include "stage.h"

struct ec_scene {
	struct scene base;
	unsigned notifies; /* the victim, so many */
	bool waits;        /* ... or it may be in line */
	bool own;          /* it notifies itself */
	int fails;         /* the result that is allowed besides 0 */
	unsigned sleepers; /* beside the victim from the beginning */
	unsigned late;     /* who join it when it sleeps */
	enum ipcwait_preset preset;
};

static void notify_one(struct region *r)
{
	r->result = ipcwait_eventcount_notify(&r->eventcount, 1);
}

static void notify_all(struct region *r)
{
	r->result = ipcwait_eventcount_notify_all(&r->eventcount);
}

static void prepare_and_cancel(struct region *r)
{
	r->ring[0] = ipcwait_eventcount_prepare(&r->eventcount);
	ipcwait_eventcount_cancel(&r->eventcount);
	r->result = 0;
}

static void wait_forever(struct region *r)
{
	uint64_t key = ipcwait_eventcount_prepare(&r->eventcount);

	r->result = ipcwait_eventcount_commit(&r->eventcount, key, IPCWAIT_FOREVER);
}

static void wait_notified(struct region *r)
{
	uint64_t key = ipcwait_eventcount_prepare(&r->eventcount);

	CHECK_EQ(ipcwait_eventcount_notify(&r->eventcount, 1), 0);
	r->result = ipcwait_eventcount_commit(&r->eventcount, key, IPCWAIT_FOREVER);
}

static void wait_until(struct region *r)
{
	uint64_t key = ipcwait_eventcount_prepare(&r->eventcount);

	r->result = ipcwait_eventcount_commit(&r->eventcount, key,
					      ipcwait_deadline_in_ns(r->patience_ns));
}

static void begin_and_end(struct region *r)
{
	struct ipcwait_eventcount own;

	r->result = ipcwait_eventcount_init(&own, 0);
	if (r->result == 0)
		r->result = ipcwait_eventcount_fini(&own);
}

static const struct ec_scene scenes[] = {
	{ .base = { .name = "notify, nobody", .act = notify_one }, .notifies = 1 },
	{
		.base = { .name = "notify, one asleep", .act = notify_one },
		.notifies = 1,
		.sleepers = 1,
	},
	{
		.base = { .name = "notify, two asleep", .act = notify_one },
		.notifies = 1,
		.sleepers = 2,
	},
	{
		.base = { .name = "notify_all, two asleep", .act = notify_all },
		.notifies = 2,
		.sleepers = 2,
	},
	{ .base = { .name = "prepare, cancel", .act = prepare_and_cancel } },
	{
		.base = { .name = "commit, notified", .act = wait_notified },
		.own = true,
	},
	{
		.base = { .name = "commit, asleep",
			  .act = wait_forever,
			  .sleeps = true,
			  .patient = true },
		.waits = true,
		.late = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "commit, beside sleepers",
			  .act = wait_forever,
			  .sleeps = true,
			  .patient = true,
			  .rare = 4 },
		.waits = true,
		.sleepers = 2,
	},
	{
		.base = { .name = "commit, expires",
			  .act = wait_until,
			  .sleeps = true,
			  .rare = 6 },
		.waits = true,
		.fails = -ETIMEDOUT,
		.late = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "commit, expires beside a sleeper",
			  .act = wait_until,
			  .sleeps = true,
			  .rare = 6 },
		.waits = true,
		.fails = -ETIMEDOUT,
		.sleepers = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{ .base = { .name = "eventcount_init, eventcount_fini", .act = begin_and_end } },
};

static const struct scene *scene(unsigned i)
{
	return i < sizeof(scenes) / sizeof(scenes[0]) ? &scenes[i].base : NULL;
}

static const struct ec_scene *row(const struct stage *st)
{
	return (const struct ec_scene *)st->scene;
}

static struct ipcwait_eventcount *ec(const struct stage *st)
{
	return &st->r->eventcount;
}

static void be_notified(struct region *r)
{
	uint64_t key = ipcwait_eventcount_prepare(&r->eventcount);

	CHECK_EQ(ipcwait_eventcount_commit(&r->eventcount, key, IPCWAIT_FOREVER), 0);
}

static void notify_once(struct stage *st)
{
	CHECK_EQ(ipcwait_eventcount_notify(ec(st), 1), 0);
}

static void notify(struct stage *st)
{
	stage_call(st, notify_once);
	st->posted++;
}

static void prepare(struct stage *st)
{
	CHECK_EQ(ipcwait_eventcount_init(ec(st), 0), 0);
	st->r->patience_ns = STAGE_PATIENCE_NS;
	for (unsigned i = 0; i < row(st)->sleepers; i++)
		stage_seat(st, be_notified);
	CHECK_EQ(ipcwait_window_set_preset(&ec(st)->window, row(st)->preset), 0);
}

/* The word when nobody is on the way any more, and how many of the others sleep then. */
static uint64_t at_rest(struct stage *st, unsigned *asleep)
{
	uint64_t w;

	do {
		*asleep = stage_asleep(st);
		w = ec_word(ec(st));
	} while (stage_asleep(st) != *asleep || ec_word(ec(st)) != w);
	CHECK(ec_gone(w) <= ec_line(w));
	return w;
}

static void meanwhile(struct stage *st)
{
	if (st->slept == 1)
		for (unsigned i = 0; i < row(st)->late; i++)
			stage_seat(st, be_notified);
	if (row(st)->fails == -ETIMEDOUT)
		return;
	(void)stage_asleep(st);
	stage_let_pass(STAGE_LONG_NS);
	notify(st);
	CHECK(st->posted <= 2 + row(st)->sleepers + row(st)->late);
}

static void interfere(struct region *r)
{
	CHECK_EQ(ipcwait_eventcount_notify(&r->eventcount, 1), 0);
	r->handler_woke++;
}

/*
 * Each notification reaches one, but for those that the @dead, or somebody stopped, has taken
 * along; and all, where somebody who was reached before has not come back.
 */
static void notify_until_all_are_home(struct stage *st, unsigned dead)
{
	unsigned asleep;
	uint64_t w = at_rest(st, &asleep);

	while (asleep) {
		unsigned before = asleep;
		bool doubted = ec_wakes(w);

		if (doubted)
			region_let_wakes_go_stale();
		notify(st);
		w = at_rest(st, &asleep);
		CHECK(!doubted || !asleep);
		if (asleep == before)
			CHECK(dead-- > 0);
	}
}

/* Every notification is counted. */
static unsigned by_victim(const struct stage *st)
{
	return (uint32_t)ec_word(ec(st)) - st->posted - st->r->handler_woke;
}

static const char *mourn(struct stage *st, enum heal heal)
{
	unsigned asleep, notified = by_victim(st), owed;
	uint64_t w = at_rest(st, &asleep);
	bool in_line = ec_line(w) > asleep || ec_wakes(w);

	CHECK(notified <= (row(st)->notifies || row(st)->own));
	owed = notified && row(st)->notifies < row(st)->sleepers ? row(st)->notifies
	       : notified                                        ? row(st)->sleepers
								 : 0;
	if (!row(st)->waits)
		CHECK(st->others - asleep >= (st->wake_pending ? 0 : owed));
	if (!row(st)->waits && !notified)
		CHECK_EQ(asleep, st->others);
	if (heal == HEAL_BY_LOOK) {
		stage_await_home(st, row(st)->waits ? asleep : row(st)->sleepers - owed,
				 &ec(st)->word);
		stage_seat(st, be_notified);
	}
	notify_until_all_are_home(st, row(st)->waits);
	CHECK_EQ(by_victim(st), notified);
	if (!row(st)->waits)
		CHECK_EQ(ipcwait_eventcount_fini(ec(st)), 0);
	if (row(st)->waits)
		return in_line ? "a place" : "nothing";
	return !notified ? "nothing" : st->wake_pending && owed ? "wake owed" : "notified";
}

static void detour(struct stage *st)
{
	region_let_wakes_go_stale();
	notify_until_all_are_home(st, 1);
}

static void audit(struct stage *st)
{
	unsigned asleep, due = row(st)->notifies + st->r->handler_woke;
	int result = st->r->result;

	if (result == -EINTR)
		CHECK(st->asleep);
	else if (result)
		CHECK_EQ(result, row(st)->fails);
	else if (row(st)->fails)
		CHECK(st->posted || st->r->handler_woke);
	CHECK_EQ(by_victim(st), row(st)->notifies || row(st)->own);
	(void)at_rest(st, &asleep);
	if (!row(st)->waits)
		CHECK(st->others - asleep >= (due < st->others ? due : st->others));
	notify_until_all_are_home(st, 0);
	CHECK_EQ(ipcwait_eventcount_fini(ec(st)), 0);
}

const struct suspect eventcount_suspect = {
	.name = "eventcount",
	.scene = scene,
	.prepare = prepare,
	.meanwhile = meanwhile,
	.interfere = interfere,
	.mourn = mourn,
	.detour = detour,
	.audit = audit,
};
