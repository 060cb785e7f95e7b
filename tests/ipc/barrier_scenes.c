/* SPDX-License-Identifier: MIT */
/* Every call on a barrier, and what a process may leave behind that is killed in one: the table in
 * docs/design/gates.md. */
#include <errno.h>

#include "common/check.h"
#include "common/gates_word.h"
#include "stage.h"

struct barrier_scene {
	struct scene base;
	bool bystands; /* the victim is no party */
	unsigned parties;
	unsigned sleepers; /* parties that have arrived before the victim */
	int fails;         /* the result that is allowed besides 0 */
	enum ipcwait_preset preset;
};

static void wait_forever(struct region *r)
{
	r->result = ipcwait_barrier_wait(&r->barrier);
}

static void wait_until(struct region *r)
{
	r->result = ipcwait_barrier_wait_until(&r->barrier,
					       ipcwait_deadline_in_ns(r->patience_ns));
}

static void begin_and_end(struct region *r)
{
	struct ipcwait_barrier own;

	r->result = ipcwait_barrier_init(&own, 2, 0);
	if (r->result == 0)
		r->result = ipcwait_barrier_fini(&own);
}

static const struct barrier_scene scenes[] = {
	{
		.base = { .name = "barrier_wait, alone", .act = wait_forever },
		.parties = 1,
	},
	{
		.base = { .name = "barrier_wait, last, one asleep", .act = wait_forever },
		.parties = 2,
		.sleepers = 1,
	},
	{
		.base = { .name = "barrier_wait, last, two asleep", .act = wait_forever },
		.parties = 3,
		.sleepers = 2,
	},
	{
		.base = { .name = "barrier_wait, first",
			  .act = wait_forever,
			  .sleeps = true,
			  .patient = true },
		.parties = 3,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "barrier_wait, second",
			  .act = wait_forever,
			  .sleeps = true,
			  .patient = true,
			  .rare = 4 },
		.parties = 3,
		.sleepers = 1,
	},
	{
		.base = { .name = "barrier_wait_until, first, expires",
			  .act = wait_until,
			  .sleeps = true,
			  .rare = 6 },
		.parties = 2,
		.fails = -ETIMEDOUT,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "barrier_wait_until, second, expires",
			  .act = wait_until,
			  .sleeps = true,
			  .rare = 6 },
		.parties = 3,
		.sleepers = 1,
		.fails = -ETIMEDOUT,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "barrier_init, barrier_fini", .act = begin_and_end },
		.bystands = true,
		.parties = 2,
		.sleepers = 1,
	},
};

static const struct scene *scene(unsigned i)
{
	return i < sizeof(scenes) / sizeof(scenes[0]) ? &scenes[i].base : NULL;
}

static const struct barrier_scene *row(const struct stage *st)
{
	return (const struct barrier_scene *)st->scene;
}

static struct ipcwait_barrier *barrier(const struct stage *st)
{
	return &st->r->barrier;
}

static uint64_t word(const struct stage *st)
{
	return gate_word(&barrier(st)->word);
}

/* The last to arrive is the victim or the tracer. */
static void take_part(struct region *r)
{
	CHECK_EQ(ipcwait_barrier_wait(&r->barrier), 0);
}

static void be_the_last(struct stage *st)
{
	CHECK_EQ(ipcwait_barrier_wait(barrier(st)), IPCWAIT_BARRIER_SERIAL);
}

static void prepare(struct stage *st)
{
	CHECK_EQ(ipcwait_barrier_init(barrier(st), row(st)->parties, 0), 0);
	st->r->patience_ns = STAGE_PATIENCE_NS;
	for (unsigned i = 0; i < row(st)->sleepers; i++)
		stage_seat(st, take_part);
	CHECK_EQ(ipcwait_window_set_preset(&barrier(st)->window, row(st)->preset), 0);
}

/* Whoever is missing in this round arrives; all who wait go on, at once. */
static void end_round(struct stage *st)
{
	uint32_t round = barrier_round(word(st));

	for (unsigned i = barrier_arrived(word(st)); i + 1 < row(st)->parties; i++)
		stage_seat(st, take_part);
	stage_call(st, be_the_last);
	CHECK_EQ(barrier_round(word(st)), round + 1);
	CHECK_EQ(stage_asleep(st), 0);
	st->posted++;
}

static bool is_last(const struct stage *st)
{
	return !row(st)->bystands && row(st)->sleepers + 1 == row(st)->parties;
}

/* The victim is a party of the round that goes on, and waits in it. */
static unsigned has_arrived(const struct stage *st)
{
	return barrier_arrived(word(st)) - row(st)->sleepers;
}

static void meanwhile(struct stage *st)
{
	if (row(st)->fails == -ETIMEDOUT)
		return;
	CHECK_EQ(st->posted, 0);
	stage_let_pass(STAGE_LONG_NS);
	end_round(st);
}

/* No call on a barrier is allowed there: this one is on something else. */
static void interfere(struct region *r)
{
	CHECK_EQ(ipcwait_sem_post(&r->space), 0);
}

/* Rounds go on as if nothing had been, but that a dead may be on its way out for ever. */
static void end(struct stage *st, bool dead)
{
	if (barrier_round(word(st)) == 0)
		end_round(st);
	if (st->others + row(st)->parties <= STAGE_OTHERS + 1)
		end_round(st);
	CHECK_EQ(stage_asleep(st), 0);
	CHECK_EQ(barrier_arrived(word(st)), 0);
	CHECK(!(word(st) & BARRIER_SLEEPS));
	CHECK(barrier_leaving(word(st)) <= dead);
	if (!barrier_leaving(word(st)))
		CHECK_EQ(ipcwait_barrier_fini(barrier(st)), 0);
}

static const char *left(const struct stage *st, uint64_t w, unsigned arrived)
{
	if (barrier_round(w) == 0)
		return arrived ? "arrival" : "nothing";
	if (!st->posted)
		return st->wake_pending ? "round + wake owed" : "round";
	return barrier_leaving(w) ? "one on its way out" : "out";
}

/* Who was killed waiting has arrived. Who was killed as the last may not have told the others. */
static const char *mourn(struct stage *st, enum heal heal)
{
	unsigned asleep = stage_asleep(st), arrived = 0;
	uint64_t w = word(st);
	const char *what;

	if (barrier_round(w) == 0) {
		CHECK_EQ(asleep, st->others);
		arrived = has_arrived(st);
		CHECK(arrived <= (!is_last(st) && !row(st)->bystands));
	} else if (st->posted || !st->wake_pending) {
		CHECK_EQ(asleep, 0);
	} else if (heal == HEAL_BY_LOOK) {
		stage_await_home(st, 0, &barrier(st)->word);
	}
	what = left(st, w, arrived);
	end(st, arrived || barrier_leaving(w));
	return what;
}

/* The others end the round without it, if it has arrived. */
static void detour(struct stage *st)
{
	if (barrier_round(word(st)) == 0 && has_arrived(st) == 1)
		end_round(st);
}

static void audit(struct stage *st)
{
	int result = st->r->result;

	if (is_last(st)) {
		CHECK_EQ(result, IPCWAIT_BARRIER_SERIAL);
		CHECK_EQ(stage_asleep(st), 0);
	} else if (result) {
		CHECK_EQ(result, row(st)->fails);
		CHECK_EQ(has_arrived(st), 0);
	} else {
		CHECK(row(st)->bystands || st->posted);
	}
	end(st, false);
}

const struct suspect barrier_suspect = {
	.name = "barrier",
	.scene = scene,
	.prepare = prepare,
	.meanwhile = meanwhile,
	.interfere = interfere,
	.mourn = mourn,
	.detour = detour,
	.audit = audit,
};
