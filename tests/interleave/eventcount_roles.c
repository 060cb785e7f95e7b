/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include <ipcwait/eventcount.h>

#include "common/eventcount_word.h"
#include "interleave/eventcount_roles.h"

/* Long enough not to expire before somebody could run, in ns. */
#define SOON_NS 500000

/* More than all readings of the clock in an execution take, in ns. */
#define LATE_NS 300000

/* After so long wakes under way are stale, in ns. */
#define STALE_NS 2000000

/* Waits and notified units of an execution, at most. */
#define WAITS_MOST 32
#define UNITS_MOST 32

/* What threads share. */
static struct ipcwait_eventcount *ec;
static struct shared {
	uint32_t users;
	uint32_t data; /* of the notifier, for whoever was notified */
	struct ipcwait_word32 items;
} * shared;

/*
 * Notes of the test's own. Volatile: in the middle of a function other coroutines change them.
 * They follow the word, so they know who was counted when somebody notified.
 */
static volatile bool gone;
static volatile uint64_t final; /* the word when it was freed */
static volatile uint64_t last;  /* the word when it was last looked at */
static volatile bool finished;
static volatile bool healed; /* what a death has left behind has been put right */

static volatile unsigned waits;                      /* begun */
static volatile unsigned wait_of[MODEL_THREADS_MAX]; /* the wait that a thread is in */
static volatile bool counted[WAITS_MOST], returned[WAITS_MOST];
static volatile uint64_t key_of[WAITS_MOST];

static volatile unsigned units;
static volatile uint32_t eligible[UNITS_MOST]; /* mask of the waits that were asleep then */

static const struct ec_script *script(void)
{
	return model_script();
}

static bool waiting(enum ec_role role)
{
	return role != NOTHING && role <= FINISHES;
}

void ec_begin(void)
{
	const struct ec_script *s = script();

	engine_spins = s->spins;
	gone = finished = healed = false;
	waits = units = 0;
	ec = model_alloc(sizeof(*ec));
	if (!s->all_watched)
		model_quiet(&ec->window, sizeof(ec->window));
	model_name(&ec->word, "ec.word");
	model_assert(ipcwait_eventcount_init(ec, s->flags) == 0);
	/* Of no process yet, as one that was made without a call. */
	ec->reserved = 0;
	last = ec->word.v = s->word;
	shared = model_alloc(sizeof(*shared));
	model_name(&shared->items, "items");
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (waiting(s->role[i]) || (s->notifiers_stay && s->role[i] != NOTHING))
			shared->users++;
}

static void free_all(void)
{
	gone = true;
	final = model_peek(&ec->word);
	model_free(ec);
	model_free(shared);
}

/* The caller needs the event count no more; whoever is the last frees it at once. */
static void leave(void)
{
	if (script()->end_frees)
		return;
	if (__atomic_fetch_sub(&shared->users, 1, __ATOMIC_ACQ_REL) == 1)
		free_all();
}

static int commit(uint64_t key, int64_t deadline)
{
	unsigned me = model_thread(), wait = waits++;
	int r;

	model_assert(wait < WAITS_MOST);
	wait_of[me] = wait;
	counted[wait] = returned[wait] = false;
	key_of[wait] = key;
	r = ipcwait_eventcount_commit(ec, key, deadline);
	ec_look();
	returned[wait] = r == 0;
	model_assert(r != -ETIMEDOUT || model_now() >= deadline);
	model_assert(r != -ETIMEDOUT || !script()->punctual ||
		     model_now() < deadline + LATE_NS);
	return r;
}

static int64_t deadline_soon(void)
{
	return model_now() + (script()->deadline_ns ? script()->deadline_ns : SOON_NS);
}

/* Prepare; if that includes the only notification, what came before it can be seen. */
static uint64_t prepare(void)
{
	uint64_t key = ipcwait_eventcount_prepare(ec);

	if (script()->data && key != (uint32_t)script()->word)
		model_assert(shared->data == 1);
	return key;
}

static bool interrupted(int r)
{
	return r == -EINTR && script()->flags & IPCWAIT_INTERRUPTIBLE;
}

static void commit_once(bool timed)
{
	uint64_t key = prepare();
	int r;

	if (script()->data && key != (uint32_t)script()->word) {
		ipcwait_eventcount_cancel(ec);
		return;
	}
	r = commit(key, timed ? deadline_soon() : IPCWAIT_FOREVER);
	model_assert(r == 0 || interrupted(r) || (timed && r == -ETIMEDOUT));
	if (r == 0 && script()->data)
		model_assert(shared->data == 1);
}

/* Relaxed: what orders it is the event count. */
static bool take_item(void)
{
	uint32_t items = ipcwait_impl_load32_relaxed(&shared->items);

	while (items)
		if (ipcwait_impl_cas32_relaxed(&shared->items, &items, items - 1))
			return true;
	return false;
}

static void consume(bool timed)
{
	while (!take_item()) {
		uint64_t key = prepare();
		int r;

		if (take_item()) {
			ipcwait_eventcount_cancel(ec);
			return;
		}
		r = commit(key, timed ? deadline_soon() : IPCWAIT_FOREVER);
		model_assert(r == 0 || interrupted(r) || (timed && r == -ETIMEDOUT));
	}
}

static void notify(uint32_t n)
{
	int r;

	if (script()->data)
		shared->data = 1;
	r = n == UINT32_MAX ? ipcwait_eventcount_notify_all(ec)
			    : ipcwait_eventcount_notify(ec, n);
	model_assert(r == 0);
}

static unsigned deaths(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		n += model_dead(i);
	return n;
}

/* Whatever the dead have left, after this one it is put right. */
static void notify_late(void)
{
	bool after = deaths() > 0;

	model_elapse(STALE_NS);
	notify(1);
	healed = after;
}

static void act(enum ec_role role)
{
	switch (role) {
	case NOTHING:
		break;
	case LOOKS:
		(void)prepare();
		ipcwait_eventcount_cancel(ec);
		break;
	case CONSUMES:
	case CONSUMES_TIMED:
		consume(role == CONSUMES_TIMED);
		break;
	case NOTIFIES:
		notify(1);
		break;
	case NOTIFIES_LATE:
		notify_late();
		break;
	case NOTIFIES_TWO:
		notify(2);
		break;
	case NOTIFIES_ALL:
		notify(UINT32_MAX);
		break;
	case PRODUCES:
		(void)ipcwait_impl_add32_relaxed(&shared->items, 1);
		notify(1);
		break;
	default:
		commit_once(role == COMMITS_UNTIL);
	}
}

void ec_thread(unsigned i)
{
	const struct ec_script *s = script();
	bool last_one = waiting(s->role[i]) || s->notifiers_stay;

	for (unsigned n = 0; n < (s->rounds ? s->rounds : 1); n++)
		act(s->role[i]);
	if (s->role[i] == FINISHES) {
		finished = true;
		model_assert(ipcwait_eventcount_fini(ec) == 0);
	}
	if (last_one)
		leave();
}

/* A handler may notify wherever the thread was. */
void ec_handler(unsigned i)
{
	(void)i;
	(void)ipcwait_impl_add32_relaxed(&shared->items, 1);
	notify(1);
}

/* For how many the thread notifies. */
static unsigned units_of(unsigned i)
{
	switch (i < MODEL_THREADS_MAX ? script()->role[i] : NOTIFIES) {
	case NOTIFIES_TWO:
		return 2;
	case NOTIFIES_ALL:
		return MODEL_THREADS_MAX;
	default:
		return 1;
	}
}

static void note_notification(unsigned n)
{
	uint32_t mask = 0;

	for (unsigned w = 0; w < waits; w++)
		mask |= counted[w] && !returned[w] ? 1u << w : 0;
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		mask |= model_asleep(i) ? 1u << wait_of[i] : 0;
	while (n--) {
		model_assert(units < UNITS_MOST);
		eligible[units++] = mask;
	}
}

static void note_sleeper(unsigned wait, bool asleep, uint64_t w)
{
	model_assert(!asleep || key_of[wait] == (uint32_t)w);
	counted[wait] = asleep;
}

/* What the running thread has done to the word since the last look. */
void ec_look(void)
{
	unsigned me = model_thread();
	uint64_t w;

	if (gone || finished)
		return;
	w = model_peek(&ec->word);
	model_assert(ec_gone(w) <= ec_line(w));
	if ((uint32_t)w != (uint32_t)last)
		note_notification(units_of(me));
	else if (w != last)
		note_sleeper(wait_of[me], ec_line(w) > ec_line(last), w);
	last = w;
}

/*
 * Whether the units from @u on can have ended waits one after the other, each one that was counted
 * when it came and that no unit before has ended, if there was one. @ended: by those before.
 */
static bool ended_in_order(unsigned u, uint32_t ended)
{
	uint32_t left;

	if (u == units)
		return true;
	left = eligible[u] & ~ended;
	if (!left)
		return ended_in_order(u + 1, ended);
	for (unsigned w = 0; w < waits; w++)
		if (left >> w & 1 && returned[w] && ended_in_order(u + 1, ended | 1u << w))
			return true;
	return false;
}

/* No unit is lost, nor used up by a wait that was prepared later. */
static bool units_are_used(void)
{
	return ended_in_order(0, 0);
}

static unsigned returned_ones(void)
{
	unsigned n = 0;

	for (unsigned w = 0; w < waits; w++)
		n += returned[w];
	return n;
}

/* By the test itself, with an item for who needs one. */
static void notify_from_outside(void)
{
	(void)ipcwait_impl_add32_relaxed(&shared->items, 1);
	notify(1);
	ec_look();
}

void ec_at_rest(void)
{
	bool unpublished = !gone && model_sleepers() > model_sleepers_on(&ec->word);

	if (gone || unpublished)
		return;
	model_assert(units_are_used());
	if (script()->exact)
		model_assert(returned_ones() <= units);
	for (unsigned n = 0; n < script()->rest; n++)
		notify_from_outside();
}

/*
 * A process may have died. What <ipcwait/eventcount.h> promises then: a notification that comes
 * when wakes under way are stale ends the wait of a sleeper.
 */
void ec_rescue(void)
{
	unsigned before = model_sleepers();

	model_assert((deaths() && !healed) || units_are_used());
	model_elapse(STALE_NS);
	notify_from_outside();
	model_assert(model_sleepers() < before);
}

void ec_end(void)
{
	uint64_t w = gone ? final : model_peek(&ec->word);

	/* Nobody has left anything behind. */
	if (!deaths() && !finished && !ec_busy(script()->word))
		model_assert(!ec_busy(w));
	if (!gone)
		free_all();
}
