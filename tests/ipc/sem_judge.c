/* SPDX-License-Identifier: MIT */
/*
 * What a process may leave behind that is killed in a call on a semaphore: the table "Death" of
 * docs/design/sem.md, to the letter. And what a signal handler may not bring about.
 */
#include <errno.h>
#include <string.h>

#include "common/check.h"
#include "common/sem_word.h"
#include "sem_scene.h"

static const struct sem_scene *row(const struct stage *st)
{
	return (const struct sem_scene *)st->scene;
}

static struct ipcwait_sem *sem(const struct stage *st)
{
	return &st->r->items;
}

static void take_one(struct region *r)
{
	CHECK_EQ(ipcwait_sem_wait(&r->items), 0);
}

static void post_one(struct stage *st)
{
	CHECK_EQ(ipcwait_sem_post(sem(st)), 0);
}

static void post(struct stage *st)
{
	stage_call(st, post_one);
	st->posted++;
}

static void wake_for_nothing(struct stage *st)
{
	CHECK_EQ(ipcwait_futex_wake((uint32_t *)&sem(st)->word, 1, 0), 1);
}

/* The kernel wakes the first sleeper first, in which nothing but this relies on it. */
static void wake_the_first(struct stage *st)
{
	post(st);
	stage_hold(st);
	if (row(st)->stolen) {
		CHECK_EQ(ipcwait_sem_trywait(sem(st)), 0);
		st->taken++;
	}
}

void sem_prepare(struct stage *st)
{
	const struct sem_scene *scene = row(st);

	CHECK_EQ(ipcwait_sem_init(sem(st), scene->tokens, 0), 0);
	for (unsigned i = 0; i < scene->sleepers; i++) {
		if (scene->held && i == 0)
			stage_seat_traced(st, take_one);
		else
			stage_seat(st, take_one);
	}
	CHECK_EQ(ipcwait_window_set_preset(&sem(st)->window, scene->preset), 0);
	if (scene->held)
		wake_the_first(st);
	if (scene->doubted)
		sem(st)->window.stamp.v = 0;
	if (scene->spinner)
		sem_fabricate(sem(st), sem_word(sem(st)) | WORD_SPINNER);
	st->before = sem_word(sem(st));
}

/* Nobody is on the way any more. Returns how many of the others sleep. */
static unsigned asleep(struct stage *st)
{
	unsigned n = stage_asleep(st);

	st->served = st->others - st->held - n;
	return n;
}

/* A token for each, the victim included; nobody may sleep beside one that is not on its way. */
void sem_meanwhile(struct stage *st)
{
	const struct sem_scene *scene = row(st);

	if (st->slept == 1)
		for (unsigned i = 0; i < scene->late; i++)
			stage_seat(st, take_one);
	(void)asleep(st);
	CHECK_EQ(ipcwait_sem_value(sem(st)), 0);
	if (scene->fails == -ETIMEDOUT)
		return;
	stage_let_pass(STAGE_LONG_NS);
	if (st->slept <= scene->for_nothing)
		stage_call(st, wake_for_nothing);
	else
		post(st);
	CHECK(st->posted <= 1 + scene->sleepers + scene->late);
}

void sem_feed_the_spinner(struct stage *st)
{
	if (sem_word(sem(st)) & WORD_SPINNER && !st->posted)
		post(st);
}

void sem_keep_wakes_fresh(struct stage *st)
{
	if (st->between_over)
		return;
	ipcwait_window_stamp(&sem(st)->window);
	st->between_over = trace_at_clock(st->victim);
}

void sem_interfere(struct region *r)
{
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	r->handler_posted++;
}

/* The transition "post" of the state table; the wakes under way are doubted, or not. */
static uint64_t posted(uint64_t w, unsigned n, bool doubted, unsigned *wakes)
{
	unsigned k = doubted ? 0 : word_wakes(w), spinner = w & WORD_SPINNER ? 1 : 0;
	unsigned unwoken = word_sleepers(w) - k, tokens = word_value(w) + n;
	unsigned spare = tokens > k + spinner ? tokens - k - spinner : 0;

	*wakes = spare < unwoken ? spare : unwoken;
	return WORD(tokens, k + *wakes, word_sleepers(w));
}

/* A poster's traces: none; the new word, and its wakes owed; or all that it had to do. */
static const char *left_by_poster(struct stage *st, unsigned sleepers)
{
	uint64_t w = sem_word(sem(st));

	if (w == st->before && st->served == 0)
		return "nothing";
	st->change = (int)row(st)->adds;
	for (int doubted = 0; doubted < 2; doubted++) {
		unsigned wakes, woken, reachable = sleepers + st->served;
		uint64_t told = posted(st->before, row(st)->adds, doubted, &wakes);

		woken = wakes < reachable ? wakes : reachable;
		if (wakes && st->wake_pending && st->served == 0 && w == told)
			return "tokens + wakes owed";
		if ((!wakes || !st->wake_pending) && st->served == woken &&
		    w == told - WORD(woken, woken, woken))
			return wakes ? "tokens + wakes" : "tokens";
	}
	check_failed(__FILE__, __LINE__, "a trace that no poster leaves");
}

/* A waiter's traces, of which it leaves one. */
static const char *left_by_waiter(struct stage *st, unsigned sleepers)
{
	uint64_t w = sem_word(sem(st));
	unsigned tokens = row(st)->tokens + st->posted - st->served;
	unsigned counted = word_sleepers(w) - sleepers;
	bool marked = w & WORD_SPINNER;

	CHECK(word_sleepers(w) >= sleepers && counted <= 1);
	CHECK(word_wakes(w) <= counted && (st->posted || !word_wakes(w)));
	CHECK(!marked || (sleepers && !counted));
	if (word_value(w) + 1 == tokens) {
		CHECK(!counted && !marked);
		st->change = -1;
		return "token taken";
	}
	CHECK_EQ(word_value(w), tokens);
	if (marked)
		return "spinner's mark";
	if (!counted)
		return "nothing";
	return word_wakes(w) ? "sleeper + its wake" : "sleeper";
}

/* Tokens that there must be. */
static unsigned tokens_due(const struct stage *st)
{
	return row(st)->tokens + st->posted + st->r->handler_posted - st->taken -
	       st->r->handler_taken - st->served + (unsigned)st->change;
}

/*
 * A post that comes when no wake is fresh any more reaches as many as there are tokens, but
 * for one if a mark promises it to a spinner.
 */
static void post_until_all_are_served(struct stage *st)
{
	unsigned sleepers = asleep(st);

	while (sleepers) {
		uint64_t w = sem_word(sem(st));
		unsigned tokens = word_value(w) + (w & WORD_SPINNER ? 0 : 1);
		unsigned reached = tokens < sleepers ? tokens : sleepers;

		if (word_wakes(w))
			region_let_wakes_go_stale();
		post(st);
		CHECK_EQ(sleepers - asleep(st), reached);
		sleepers -= reached;
	}
}

/* Whoever looks finds every token; who sleeps then puts in order what the dead has left. */
static void look_and_sleep(struct stage *st, unsigned dead)
{
	for (unsigned i = tokens_due(st); i; i--) {
		CHECK_EQ(ipcwait_sem_trywait(sem(st)), 0);
		st->taken++;
	}
	CHECK_EQ(ipcwait_sem_trywait(sem(st)), -EAGAIN);
	stage_seat(st, take_one);
	CHECK_EQ(sem_word(sem(st)), WORD(0, 0, asleep(st) + dead));
}

/* All have got what they came for, and each token is accounted for. */
static void end(struct stage *st, unsigned dead)
{
	uint64_t w;

	post_until_all_are_served(st);
	w = sem_word(sem(st));
	CHECK_EQ(word_value(w), tokens_due(st));
	CHECK_EQ(word_sleepers(w), dead);
	CHECK(word_wakes(w) <= dead && !(w & WORD_SPINNER));
	CHECK_EQ(ipcwait_sem_fini(sem(st)), dead ? -EBUSY : 0);
}

static void release_the_held(struct stage *st)
{
	if (st->held)
		stage_release(st);
	(void)asleep(st);
}

const char *sem_mourn(struct stage *st, enum heal heal)
{
	unsigned sleepers = asleep(st);
	unsigned dead = word_sleepers(sem_word(sem(st))) - sleepers - st->held;
	const char *left;

	if (row(st)->role == SEM_WAITER)
		left = left_by_waiter(st, sleepers);
	else
		left = left_by_poster(st, sleepers);
	CHECK_EQ(dead, strncmp(left, "sleeper", 7) == 0);
	release_the_held(st);
	if (heal == HEAL_BY_LOOK || !st->others)
		look_and_sleep(st, dead);
	end(st, dead);
	return left;
}

/* Only a wait that slept when the signal came is interrupted by it. */
static void check_result(const struct stage *st)
{
	int result = st->r->result;

	if (result == -EINTR)
		CHECK(st->asleep);
	else if (result == -EAGAIN)
		CHECK(!row(st)->tokens || st->r->handler_taken);
	else if (result)
		CHECK_EQ(result, row(st)->fails);
}

void sem_audit(struct stage *st)
{
	uint64_t w;

	check_result(st);
	if (st->r->result == 0 && row(st)->role == SEM_POSTER)
		st->change = (int)row(st)->adds;
	if (st->r->result == 0 && row(st)->role == SEM_WAITER)
		st->change = -1;
	release_the_held(st);
	if (row(st)->spinner) {
		CHECK_EQ(ipcwait_sem_trywait(sem(st)), 0);
		st->taken++;
	}
	w = sem_word(sem(st));
	CHECK_EQ(w, WORD(tokens_due(st), 0, asleep(st)));
	CHECK(!word_value(w) || !word_sleepers(w));
	end(st, 0);
}
