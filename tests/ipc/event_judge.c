/* SPDX-License-Identifier: MIT */
/*
 * What a process may leave behind that is killed in a call on an event: the table "Death" of
 * docs/design/event.md. The word counts how often the event was set, so each time is accounted for:
 * somebody was let through, or somebody reset it, or it is set.
 */
#include <errno.h>

#include "common/check.h"
#include "common/event_word.h"
#include "event_scene.h"

static const struct event_scene *row(const struct stage *st)
{
	return (const struct event_scene *)st->scene;
}

static struct ipcwait_event *event(const struct stage *st)
{
	return &st->r->event;
}

static void pass(struct region *r)
{
	CHECK_EQ(ipcwait_event_wait(&r->event), 0);
}

static void set_it(struct stage *st)
{
	CHECK_EQ(ipcwait_event_set(event(st)), 0);
	if (row(st)->pulse)
		CHECK_EQ(ipcwait_event_reset(event(st)), 0);
}

static void set(struct stage *st)
{
	stage_call(st, set_it);
	st->posted++;
}

void event_prepare(struct stage *st)
{
	const struct event_scene *scene = row(st);

	CHECK_EQ(ipcwait_event_init(event(st), scene->auto_ ? IPCWAIT_AUTO_RESET : 0), 0);
	st->r->patience_ns = STAGE_PATIENCE_NS;
	if (scene->set)
		CHECK_EQ(ipcwait_event_set(event(st)), 0);
	for (unsigned i = 0; i < scene->sleepers; i++)
		stage_seat(st, pass);
	CHECK_EQ(ipcwait_window_set_preset(&event(st)->window, scene->preset), 0);
	if (scene->spinner || scene->left)
		event_fabricate(event(st), event_word(event(st)) | EVENT_SPINNER);
	if (scene->left)
		CHECK_EQ(ipcwait_event_set(event(st)), 0);
	st->before = event_word(event(st));
}

/* The word when nobody is on the way any more, and how many of the others sleep then. */
static uint64_t at_rest(struct stage *st, unsigned *asleep)
{
	uint64_t w;

	do {
		*asleep = stage_asleep(st);
		w = event_word(event(st));
	} while (stage_asleep(st) != *asleep || event_word(event(st)) != w);
	st->served = st->others - *asleep;
	CHECK(!(w & EVENT_WAKE) || event_sleepers(w));
	CHECK(!(w & EVENT_SPINNER) || event_sleepers(w));
	return w;
}

static unsigned times_set(uint64_t w)
{
	return (unsigned)((w & EVENT_EPOCHS) / EVENT_EPOCH(1));
}

/* How often it was reset by the victim, or has let it through. */
static unsigned taken_by_victim(const struct stage *st, uint64_t w)
{
	unsigned taken =
		times_set(w) - (w & EVENT_SET ? 1 : 0) - st->taken - st->r->handler_taken;

	return row(st)->auto_ ? taken - st->served : taken;
}

static bool was_set(const struct stage *st, uint64_t w)
{
	return times_set(w) != times_set(st->before);
}

/* Nobody sleeps beside it, or beside what has been. */
static bool is_owed(const struct stage *st, uint64_t w)
{
	return row(st)->auto_ ? w & EVENT_SET : w & EVENT_SET || was_set(st, w);
}

void event_meanwhile(struct stage *st)
{
	const struct event_scene *scene = row(st);
	unsigned asleep;

	if (st->slept == 1)
		for (unsigned i = 0; i < scene->late; i++)
			stage_seat(st, pass);
	CHECK(!(at_rest(st, &asleep) & EVENT_SET));
	if (scene->fails == -ETIMEDOUT)
		return;
	stage_let_pass(STAGE_LONG_NS);
	set(st);
	CHECK(st->posted <= 3 + scene->sleepers + scene->late);
}

void event_set_for_the_spinner(struct stage *st)
{
	if (event_word(event(st)) & EVENT_SPINNER && !st->posted)
		set(st);
}

/* A sleeper that looks by itself takes the mark for one that was left behind. */
void event_keep_the_mark(struct stage *st)
{
	uint64_t w = event_word(event(st));

	while (!was_set(st, w) &&
	       !__atomic_compare_exchange_n(&event(st)->word.v, &w, w | EVENT_SPINNER,
					    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}

void event_interfere(struct region *r)
{
	CHECK_EQ(ipcwait_event_set(&r->event), 0);
	r->handler_woke++;
}

/*
 * Each set that comes when no wake is fresh any more lets one through, all if it is manual; but for
 * one that a mark promises to a spinner.
 */
static void set_until_all_are_home(struct stage *st)
{
	unsigned asleep;
	uint64_t w = at_rest(st, &asleep);

	while (asleep) {
		unsigned before = asleep;
		bool marked = w & EVENT_SPINNER;

		if (w & EVENT_WAKE)
			region_let_wakes_go_stale();
		set(st);
		w = at_rest(st, &asleep);
		CHECK(asleep < before || marked);
		CHECK(!asleep || row(st)->auto_);
	}
}

static void take_if_set(struct stage *st)
{
	if (!(event_word(event(st)) & EVENT_SET))
		return;
	CHECK_EQ(ipcwait_event_reset(event(st)), 0);
	st->taken++;
}

/* Whoever looks finds it set; who sleeps then puts in order what the dead has left. */
static void look_and_sleep(struct stage *st)
{
	unsigned asleep;

	take_if_set(st);
	CHECK_EQ(ipcwait_event_trywait(event(st)), -EAGAIN);
	stage_seat(st, pass);
	CHECK(!(at_rest(st, &asleep) & (EVENT_WAKE | EVENT_SPINNER)));
	CHECK(asleep);
}

/* All have been let through, and each time that it was set is accounted for. */
static void end(struct stage *st, unsigned dead, unsigned taken)
{
	unsigned asleep;
	uint64_t w;

	set_until_all_are_home(st);
	take_if_set(st);
	w = at_rest(st, &asleep);
	if (!row(st)->pulse)
		CHECK_EQ(taken_by_victim(st, w), taken);
	CHECK_EQ(event_sleepers(w), dead);
	CHECK_EQ(ipcwait_event_fini(event(st)), dead ? -EBUSY : 0);
}

/* Who was let through by a dead setter, who is not in the middle of it. */
static void check_woken(const struct stage *st, uint64_t w)
{
	unsigned woken = row(st)->auto_ && row(st)->sleepers ? 1 : row(st)->sleepers;

	if (row(st)->left)
		CHECK(st->wake_pending || st->served);
	else if (!was_set(st, w))
		CHECK_EQ(st->served, 0);
	else if (row(st)->spinner)
		CHECK(st->served <= 1);
	else if (!st->wake_pending)
		CHECK_EQ(st->served, woken);
	else
		CHECK(st->served <= woken);
}

static const char *left_by_setter(const struct stage *st, uint64_t w)
{
	if (w == st->before)
		return "nothing";
	return st->wake_pending ? "set + wake owed" : "set";
}

static const char *left_by_taker(unsigned taken, unsigned dead, uint64_t w)
{
	if (dead)
		return w & EVENT_WAKE ? "sleeper + its wake" : "sleeper";
	if (taken)
		return "taken";
	return w & EVENT_SPINNER ? "spinner's mark" : "nothing";
}

const char *event_mourn(struct stage *st, enum heal heal)
{
	unsigned asleep, dead, taken;
	uint64_t w = at_rest(st, &asleep);
	const char *left;

	dead = event_sleepers(w) - asleep;
	taken = row(st)->pulse ? 0 : taken_by_victim(st, w);
	CHECK(dead <= (row(st)->role == EVENT_TAKER) && dead + taken <= 1);
	if (row(st)->role == EVENT_TAKER) {
		left = left_by_taker(taken, dead, w);
	} else {
		CHECK_EQ(taken, 0);
		check_woken(st, w);
		left = left_by_setter(st, w);
	}
	if (heal == HEAL_BY_LOOK) {
		if (asleep && is_owed(st, w))
			stage_await_home(st, row(st)->auto_ ? asleep - 1 : 0,
					 &event(st)->word);
		look_and_sleep(st);
	}
	end(st, dead, taken);
	return left;
}

/* A stopped one is taken for dead; a set that was left to it is there when it goes on. */
void event_detour(struct stage *st)
{
	region_let_wakes_go_stale();
	set_until_all_are_home(st);
}

/* Only a wait that slept when the signal came is interrupted by it. */
static void check_result(const struct stage *st)
{
	int result = st->r->result;
	bool set_meanwhile = st->posted || st->r->handler_woke;

	if (result == -EINTR)
		CHECK(st->asleep);
	else if (result)
		CHECK_EQ(result, row(st)->fails);
	else if (row(st)->fails)
		CHECK(set_meanwhile);
}

void event_audit(struct stage *st)
{
	bool takes = row(st)->role == EVENT_TAKER && st->r->result == 0;
	unsigned asleep, taken;
	uint64_t w;

	check_result(st);
	if (row(st)->spinner)
		take_if_set(st);
	w = at_rest(st, &asleep);
	CHECK(!asleep || !is_owed(st, w));
	CHECK_EQ(event_sleepers(w), asleep);
	CHECK(row(st)->auto_ || row(st)->role != EVENT_SETTER || was_set(st, w));
	taken = row(st)->pulse ? 0 : taken_by_victim(st, w);
	CHECK(taken <= takes && (taken == takes || !row(st)->auto_));
	end(st, 0, taken);
}
