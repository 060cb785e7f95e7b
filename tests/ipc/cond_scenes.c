/* SPDX-License-Identifier: MIT */
/*
 * Every call on a condition variable, and what a process may leave behind that is killed in one:
 * the table "Death" of docs/design/cond.md. The mutex is robust, so that it is in nobody's way.
 */
#include <errno.h>

#include "common/check.h"
#include "common/cond_word.h"
#include "process.h"
#include "stage.h"

struct cond_scene {
	struct scene base;
	unsigned releases; /* the victim, so many of those who sleep */
	bool waits;        /* ... or it may wait */
	bool spinner;      /* the tracer waits, and spins */
	int fails;         /* the result that is allowed besides 0 */
	unsigned sleepers; /* beside the victim from the beginning */
	unsigned late;     /* who join it when it sleeps */
	enum ipcwait_preset preset;
};

/* As the table in <ipcwait/mutex.h> has it. */
#define MUTEX_OWNER(w) ((w) >> 32 & 0x3fffff)

/* In which everybody must have come home, in ns. */
#define LONG_NS INT64_C(100000000000)

/* Less than the first alarm of a sleeper: who needed that has missed its wake. */
#define BEFORE_ALARMS_NS INT64_C(700000000)

/* The owner may have died in it. */
static void repair(struct region *r, int locked)
{
	if (locked == -EOWNERDEAD)
		CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), 0);
	else
		CHECK_EQ(locked, 0);
}

static void lock(struct region *r)
{
	repair(r, ipcwait_mutex_lock(&r->mutex));
}

static void unlock(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
}

static void signal_one(struct region *r)
{
	r->result = ipcwait_cond_signal(&r->cond);
}

static void broadcast(struct region *r)
{
	r->result = ipcwait_cond_broadcast(&r->cond);
}

/* The mutex was locked before. */
static void wait_forever(struct region *r)
{
	r->result = ipcwait_cond_wait(&r->cond, &r->mutex);
	unlock(r);
}

static void wait_until(struct region *r)
{
	r->result = ipcwait_cond_wait_until(&r->cond, &r->mutex,
					    ipcwait_deadline_in_ns(r->patience_ns));
	unlock(r);
}

static void begin_and_end(struct region *r)
{
	struct ipcwait_cond own;

	r->result = ipcwait_cond_init(&own, 0);
	if (r->result == 0)
		r->result = ipcwait_cond_fini(&own);
}

static void signal_for_the_spinner(struct stage *st);

static const struct cond_scene scenes[] = {
	{ .base = { .name = "cond_signal, nobody", .act = signal_one } },
	{
		.base = { .name = "cond_signal, one asleep", .act = signal_one },
		.releases = 1,
		.sleepers = 1,
	},
	{
		.base = { .name = "cond_signal, two asleep", .act = signal_one },
		.releases = 1,
		.sleepers = 2,
	},
	{
		.base = { .name = "cond_signal, beside a spinner", .act = signal_one },
		.spinner = true,
		.sleepers = 1,
	},
	{ .base = { .name = "cond_broadcast, nobody", .act = broadcast } },
	{
		.base = { .name = "cond_broadcast, two asleep", .act = broadcast },
		.releases = 2,
		.sleepers = 2,
	},
	{
		.base = { .name = "cond_broadcast, beside a spinner", .act = broadcast },
		.releases = 2,
		.spinner = true,
		.sleepers = 2,
	},
	{
		.base = { .name = "cond_wait, asleep",
			  .act = wait_forever,
			  .before = lock,
			  .sleeps = true,
			  .patient = true,
			  .asks = true,
			  .rare = 2 },
		.waits = true,
		.late = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "cond_wait, beside sleepers",
			  .act = wait_forever,
			  .before = lock,
			  .sleeps = true,
			  .patient = true,
			  .asks = true,
			  .rare = 4 },
		.waits = true,
		.sleepers = 2,
	},
	{
		.base = { .name = "cond_wait, while it spins",
			  .act = wait_forever,
			  .before = lock,
			  .sleeps = true,
			  .patient = true,
			  .asks = true,
			  .between = signal_for_the_spinner,
			  .rare = 4 },
		.waits = true,
		.sleepers = 1,
	},
	{
		.base = { .name = "cond_wait_until, expires",
			  .act = wait_until,
			  .before = lock,
			  .sleeps = true,
			  .asks = true,
			  .rare = 6 },
		.waits = true,
		.fails = -ETIMEDOUT,
		.preset = IPCWAIT_BLOCK,
	},
	{
		.base = { .name = "cond_wait_until, with a sleeper",
			  .act = wait_until,
			  .before = lock,
			  .sleeps = true,
			  .asks = true,
			  .rare = 6 },
		.waits = true,
		.fails = -ETIMEDOUT,
		.sleepers = 1,
		.preset = IPCWAIT_BLOCK,
	},
	{ .base = { .name = "cond_init, cond_fini", .act = begin_and_end } },
};

static const struct scene *scene(unsigned i)
{
	return i < sizeof(scenes) / sizeof(scenes[0]) ? &scenes[i].base : NULL;
}

static const struct cond_scene *row(const struct stage *st)
{
	return (const struct cond_scene *)st->scene;
}

static struct ipcwait_cond *cond(const struct stage *st)
{
	return &st->r->cond;
}

static void be_released(struct region *r)
{
	lock(r);
	repair(r, ipcwait_cond_wait(&r->cond, &r->mutex));
	unlock(r);
}

static void signal_once(struct stage *st)
{
	CHECK_EQ(ipcwait_cond_signal(cond(st)), 0);
}

static void tell(struct stage *st)
{
	stage_call(st, signal_once);
	st->posted++;
}

static void broadcast_once(struct stage *st)
{
	CHECK_EQ(ipcwait_cond_broadcast(cond(st)), 0);
}

static void lock_and_unlock(struct stage *st)
{
	lock(st->r);
	unlock(st->r);
}

/* As the tracer's wait begins, in the word, and ends. */
static void begin_to_spin(struct stage *st)
{
	__atomic_store_n(&cond(st)->arrivals.v,
			 cond_arrivals(cond(st)) + COND_ARRIVALS(1, 1, 0),
			 __ATOMIC_SEQ_CST);
}

static void end_to_spin(struct stage *st)
{
	CHECK(!arrivals_spinner(cond_arrivals(cond(st))));
	__atomic_fetch_add(&cond(st)->out.v, 1, __ATOMIC_RELEASE);
}

static void prepare(struct stage *st)
{
	CHECK_EQ(ipcwait_mutex_init(&st->r->mutex, IPCWAIT_ROBUST), 0);
	CHECK_EQ(ipcwait_cond_init(cond(st), 0), 0);
	st->r->patience_ns = STAGE_PATIENCE_NS;
	for (unsigned i = 0; i < row(st)->sleepers; i++)
		stage_seat(st, be_released);
	CHECK_EQ(ipcwait_window_set_preset(&cond(st)->window, row(st)->preset), 0);
	if (row(st)->spinner)
		begin_to_spin(st);
	st->before = cond_word(cond(st));
}

static void meanwhile(struct stage *st)
{
	if (st->slept == 1)
		for (unsigned i = 0; i < row(st)->late; i++)
			stage_seat(st, be_released);
	if (row(st)->fails == -ETIMEDOUT)
		return;
	stage_let_pass(STAGE_LONG_NS);
	tell(st);
}

static void signal_for_the_spinner(struct stage *st)
{
	uint64_t mutex = __atomic_load_n(&st->r->mutex.word.v, __ATOMIC_ACQUIRE);

	if (arrivals_spinner(cond_arrivals(cond(st))) && !MUTEX_OWNER(mutex) && !st->posted)
		tell(st);
}

static void interfere(struct region *r)
{
	CHECK_EQ(ipcwait_cond_signal(&r->cond), 0);
	r->handler_woke++;
}

/* Those who have been chosen, by the word. */
static unsigned released(const struct stage *st)
{
	return (unsigned)((cond_word(cond(st)) & SERVED_MASK) - (st->before & SERVED_MASK));
}

/* Who has been released may have to wait for the mutex, which others have first. */
static unsigned asleep_at_most(struct stage *st, unsigned most)
{
	int64_t until_ns = ipcwait_deadline_in_ns(BEFORE_ALARMS_NS);
	unsigned asleep;

	while ((asleep = stage_asleep(st)) > most && ipcwait_now_ns() < until_ns)
		stage_let_pass(STAGE_LONG_NS);
	return asleep;
}

/* Each signal releases one. */
static void signal_until_all_are_home(struct stage *st)
{
	unsigned asleep = asleep_at_most(st, cond_tickets(cond(st)));

	while (asleep) {
		tell(st);
		asleep--;
		CHECK_EQ(asleep_at_most(st, asleep), asleep);
	}
}

/* ... but for one that the dead uses up. Somebody may have to find out first who owns the mutex. */
static void signal_beside_the_dead(struct stage *st)
{
	int64_t until_ns = ipcwait_deadline_in_ns(LONG_NS);
	unsigned tells = stage_asleep(st) + 1;

	while (cond_tickets(cond(st)) || arrivals_spinner(cond_arrivals(cond(st)))) {
		CHECK(tells-- > 0);
		tell(st);
	}
	while (stage_asleep(st)) {
		CHECK(ipcwait_now_ns() < until_ns);
		stage_let_pass(STAGE_LONG_NS);
	}
}

static void end(struct stage *st, bool dead)
{
	stage_call(st, lock_and_unlock);
	CHECK_EQ(stage_asleep(st), 0);
	if (dead)
		return;
	CHECK_EQ(cond_tickets(cond(st)), 0);
	CHECK_EQ(cond_inside(cond(st)), 0);
	CHECK_EQ(ipcwait_cond_fini(cond(st)), 0);
}

static void broadcast_to_all(struct stage *st)
{
	region_let_wakes_go_stale();
	stage_call(st, broadcast_once);
	CHECK_EQ(stage_asleep(st), 0);
}

/* A dead waker may have released somebody and not told. */
static const char *mourn_waker(struct stage *st, enum heal heal)
{
	unsigned chosen = released(st), asleep = stage_asleep(st);
	bool owed = st->wake_pending && chosen;

	CHECK(chosen <= row(st)->releases);
	if (!owed)
		CHECK_EQ(st->others - asleep, chosen);
	if (heal == HEAL_BY_LOOK) {
		stage_await_home(st, row(st)->sleepers - chosen, &cond(st)->word);
	} else {
		broadcast_to_all(st);
	}
	if (row(st)->spinner && arrivals_spinner(cond_arrivals(cond(st))))
		tell(st);
	if (row(st)->spinner)
		end_to_spin(st);
	signal_until_all_are_home(st);
	end(st, false);
	return !chosen ? "nothing" : owed ? "wake owed" : "released";
}

static const char *mourn_waiter(struct stage *st, enum heal heal)
{
	unsigned inside = cond_inside(cond(st));
	bool waited;

	stage_call(st, lock_and_unlock);
	waited = inside > stage_asleep(st);
	if (heal == HEAL_BY_LOOK)
		stage_seat(st, be_released);
	signal_beside_the_dead(st);
	end(st, true);
	return waited ? "a turn or ticket" : "nothing";
}

static const char *mourn(struct stage *st, enum heal heal)
{
	return row(st)->waits ? mourn_waiter(st, heal) : mourn_waker(st, heal);
}

/* Others are released, one signal is for who is stopped; it may have the mutex, which is not told
 * from a long section. */
static void detour(struct stage *st)
{
	unsigned asleep = stage_asleep(st);

	for (unsigned i = 0; i < asleep + 1; i++)
		tell(st);
}

static void audit(struct stage *st)
{
	bool all_told = row(st)->releases + st->r->handler_woke + st->posted >= st->others;

	if (st->r->result)
		CHECK_EQ(st->r->result, row(st)->fails);
	if (row(st)->spinner && arrivals_spinner(cond_arrivals(cond(st))))
		tell(st);
	if (row(st)->spinner)
		end_to_spin(st);
	if (!row(st)->waits && !row(st)->spinner && all_told)
		CHECK_EQ(stage_asleep(st), 0);
	signal_until_all_are_home(st);
	end(st, false);
}

const struct suspect cond_suspect = {
	.name = "cond",
	.calm = 2,
	.scene = scene,
	.prepare = prepare,
	.meanwhile = meanwhile,
	.interfere = interfere,
	.mourn = mourn,
	.detour = detour,
	.audit = audit,
};
