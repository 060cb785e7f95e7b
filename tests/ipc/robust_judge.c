/* SPDX-License-Identifier: MIT */
/*
 * What a process may leave behind that is killed in a call on a robust mutex. Whether it owned
 * the mutex is seen before it dies; the next owner is told of just that, once, everybody who
 * waits has the mutex in the end, and nobody has it with another.
 */
#include <errno.h>
#include <sched.h>

#include "common/check.h"
#include "process.h"
#include "robust_scene.h"

/* The columns of the table in <ipcwait/mutex.h>. */
#define SLEEPERS(w) ((w)&0xffff)
#define OWNER(w)    ((w) >> 32 & 0x3fffff)
#define URGENT      (UINT64_C(1) << 54)
#define DIED        (UINT64_C(1) << 55)
#define LOST        (UINT64_C(1) << 56)
#define CHECKED     (UINT64_C(1) << 62)
#define SPINNER     (UINT64_C(1) << 63)

/* In which everybody must have had the mutex, in ns. */
#define LONG_NS INT64_C(100000000000)

/* For a wait with a deadline that is stepped: some alarms. */
#define PATIENCE_NS 20000000

static pid_t dead_owner;

static const struct robust_scene *row(const struct stage *st)
{
	return (const struct robust_scene *)st->scene;
}

static struct ipcwait_mutex *mutex(const struct stage *st)
{
	return &st->r->mutex;
}

static uint64_t word(const struct stage *st)
{
	return __atomic_load_n(&mutex(st)->word.v, __ATOMIC_ACQUIRE);
}

/* The work of everybody who waits for it. */
static void visit(struct region *r)
{
	int result = ipcwait_mutex_lock_until(&r->mutex, ipcwait_deadline_in_ns(LONG_NS));

	if (result == -ENOTRECOVERABLE) {
		__atomic_fetch_add(&r->interrupted, 1, __ATOMIC_RELAXED);
		return;
	}
	if (result == -EOWNERDEAD) {
		r->taken++;
		CHECK_EQ(ipcwait_mutex_consistent(&r->mutex), 0);
	} else {
		CHECK_EQ(result, 0);
	}
	guarded_begin(&r->guarded);
	guarded_end(&r->guarded);
	CHECK_EQ(ipcwait_mutex_unlock(&r->mutex), 0);
}

static void visit_once(struct stage *st)
{
	visit(st->r);
}

static void lock_once(struct stage *st)
{
	CHECK_EQ(ipcwait_mutex_lock(mutex(st)), 0);
}

static void unlock_once(struct stage *st)
{
	CHECK_EQ(ipcwait_mutex_unlock(mutex(st)), 0);
}

/* The tracer has the mutex until then, if it has it at all. */
static void let_go(struct stage *st)
{
	if (row(st)->owner == ROBUST_TRACER && !st->posted) {
		st->posted++;
		stage_call(st, unlock_once);
	}
}

static void own_and_end(struct region *r)
{
	CHECK_EQ(ipcwait_mutex_lock(&r->mutex), 0);
}

static void seat_sleepers(struct stage *st)
{
	for (unsigned i = 0; i < row(st)->sleepers; i++)
		stage_seat(st, visit);
}

void robust_prepare(struct stage *st)
{
	const struct robust_scene *scene = row(st);

	CHECK_EQ(ipcwait_mutex_init(mutex(st), IPCWAIT_ROBUST), 0);
	CHECK_EQ(ipcwait_window_set_preset(&mutex(st)->window, scene->preset), 0);
	if (!st->hurried)
		st->r->patience_ns = PATIENCE_NS;
	if (scene->owner == ROBUST_DEAD || scene->owner == ROBUST_BURIED ||
	    scene->inherited) {
		dead_owner = region_fork(st->r, own_and_end);
		region_join(dead_owner);
	}
	if (scene->owner == ROBUST_BURIED)
		mutex(st)->word.v = CHECKED | DIED;
	if (scene->owner == ROBUST_TRACER) {
		stage_call(st, lock_once);
		seat_sleepers(st);
	}
}

void robust_gather(struct stage *st)
{
	if (row(st)->owner == ROBUST_VICTIM)
		seat_sleepers(st);
}

void robust_meanwhile(struct stage *st)
{
	if (row(st)->result == -ETIMEDOUT)
		return;
	stage_let_pass(STAGE_LONG_NS);
	let_go(st);
}

void robust_free_for_the_spinner(struct stage *st)
{
	if (word(st) & SPINNER)
		let_go(st);
}

/*
 * A sleeper whose alarm goes off takes the mark for one that was left behind, and removes it; and
 * it goes off all the time while somebody steps through the call. So it is not in a hurry either.
 */
void robust_keep_the_mark(struct stage *st)
{
	uint64_t w = word(st);

	while (OWNER(w) == (uint64_t)st->victim &&
	       !__atomic_compare_exchange_n(&mutex(st)->word.v, &w, (w | SPINNER) & ~URGENT,
					    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}

/* No call on a mutex is allowed there: this one is on something else. */
void robust_interfere(struct region *r)
{
	CHECK_EQ(ipcwait_sem_post(&r->space), 0);
}

void robust_witness(struct stage *st)
{
	st->before = word(st);
}

/* They have had the mutex, or know that they cannot. */
static void await_others(const struct stage *st)
{
	for (unsigned i = 0; i < st->others; i++)
		while (process_state(st->other[i]) != 'Z')
			stage_let_pass(STAGE_LONG_NS);
}

/* Everybody goes on. @deaths: of owners, of which nobody knows yet. */
static void end(struct stage *st, bool lost, unsigned deaths, bool look)
{
	uint64_t w;

	let_go(st);
	if (look)
		stage_call(st, visit_once);
	await_others(st);
	stage_call(st, visit_once);
	CHECK_EQ(st->r->taken, lost ? 0 : deaths);
	CHECK_EQ(st->r->interrupted, lost ? st->others + 1 + look : 0);
	w = word(st);
	CHECK(!OWNER(w) && !(w & DIED) == !lost && !(w & LOST) == !lost);
	/* One that was killed is counted for ever. */
	CHECK(SLEEPERS(w) <= 1);
	CHECK_EQ(ipcwait_mutex_fini(mutex(st)), SLEEPERS(w) || w & SPINNER ? -EBUSY : 0);
}

static bool is_dead(const struct stage *st, uint64_t owner)
{
	return owner && (owner == (uint64_t)st->victim ||
			 (row(st)->owner == ROBUST_DEAD && owner == (uint64_t)dead_owner));
}

static const char *left(const struct stage *st, unsigned deaths)
{
	uint64_t w = st->before;

	if (w & LOST)
		return st->wake_pending ? "lost, wakes owed" : "lost";
	if (deaths)
		return OWNER(w) ? "owner" : "owner's mark";
	if (row(st)->owner == ROBUST_VICTIM && row(st)->sleepers)
		return st->wake_pending    ? "wake owed"
		       : st->scene->silent ? "no wake"
					   : "wake";
	return SLEEPERS(w) > row(st)->sleepers ? "sleeper" : "nothing";
}

const char *robust_mourn(struct stage *st, enum heal heal)
{
	bool lost = st->before & LOST;
	unsigned deaths = is_dead(st, OWNER(st->before)) || st->before & DIED;

	end(st, lost, deaths, heal == HEAL_BY_LOOK);
	return left(st, deaths);
}

void robust_audit(struct stage *st)
{
	const struct robust_scene *scene = row(st);

	CHECK_EQ(st->r->result, scene->result);
	end(st, scene->inherited && !scene->keeps, scene->keeps, false);
}
