/* SPDX-License-Identifier: MIT */
/* Condition variables that lose a signal. Consumers wait for items that a producer makes. */
#include "interleave/past.h"

/* What each of the two consumers of the groups takes; with less the bug is far rarer. */
#define ITEMS 3

#define CLOSED 1u /* a bit of signals[], which are counted in steps of ... */
#define SIGNAL 2u

struct market {
	struct lock lock;
	unsigned items;
};

/*
 * A sequence number that comes round. The waiter notes it, gives the lock back and sleeps unless
 * it has changed; so many signals in between that it is the same again are missed. musl had that
 * until 37195db8 with 32 bits, and two bits show it; the repaired one has 32.
 */
struct sequence {
	struct market market;
	_Atomic uint32_t number;
};

static struct sequence *sequence;

static void wrap_begin(void)
{
	sequence = model_alloc(sizeof(*sequence));
	model_name(&sequence->number, "sequence");
}

static void wrap_thread(unsigned i)
{
	struct market *m = &sequence->market;

	for (unsigned n = 4; i == 0 && n; n--) {
		uint32_t next = atomic_load(&sequence->number) + 1;

		lock_take(&m->lock);
		m->items++;
		atomic_store(&sequence->number, repaired() ? next : next % 4);
		lock_give(&m->lock);
		wake(&sequence->number, 1);
	}
	if (i == 0)
		return;
	lock_take(&m->lock);
	while (!m->items) {
		uint32_t number = atomic_load(&sequence->number);

		lock_give(&m->lock);
		sleep_while(&sequence->number, number);
		lock_take(&m->lock);
	}
	lock_give(&m->lock);
}

static void wrap_end(void)
{
	model_free(sequence);
}

/*
 * glibc 25847, in 2.25 to 2.40. Waiters are in two groups, in slots 0 and 1: the older one is sent
 * signals until it has as many as members, then the slots change roles. A waiter that is slow to
 * take its signal may find its group gone, and the slot, and a signal there, of a newer group. It
 * gives that back; but by then the newer group may be full too, and the signal too many.
 */
struct groups {
	struct market market;
	struct lock lock;
	_Atomic uint32_t next;  /* place of the next waiter * 2 + slot of the newer group */
	_Atomic uint32_t start; /* first place of the older group * 2 + the same */
	_Atomic uint32_t signals[2]; /* by slot: not yet taken */
	_Atomic uint32_t inside[2];  /* by slot: about to sleep, * 2 + 1 if waited for */
	uint32_t members;            /* of the older group, when it became that */
	uint32_t left[2];            /* by slot: members without a signal */
};

static struct groups *groups;

static void groups_begin(void)
{
	groups = model_alloc(sizeof(*groups));
	model_name(&groups->market.lock, "mutex");
	model_name(&groups->lock, "lock");
	model_name(&groups->next, "next");
	model_name(&groups->start, "start");
	for (int g = 0; g < 2; g++) {
		model_name(&groups->signals[g], g ? "signals[1]" : "signals[0]");
		model_name(&groups->inside[g], g ? "inside[1]" : "inside[0]");
	}
}

/* False if the group is closed. */
static bool sleep_inside(uint32_t g, uint32_t place)
{
	bool open;

	atomic_fetch_add(&groups->inside[g], 2);
	open = !(atomic_load(&groups->signals[g]) & CLOSED) &&
	       place >= atomic_load(&groups->start) / 2;
	if (open)
		sleep_while(&groups->signals[g], 0);
	if (atomic_fetch_sub(&groups->inside[g], 2) == 3) {
		atomic_fetch_and(&groups->inside[g], ~1u);
		wake(&groups->inside[g], UINT32_MAX);
	}
	return open;
}

/* True if a signal was taken, of whatever group; false if its own has been closed. */
static bool take_signal(uint32_t g, uint32_t place)
{
	uint32_t seen = atomic_load(&groups->signals[g]);

	while (!(seen & CLOSED)) {
		if (!seen) {
			if (!sleep_inside(g, place))
				return false;
			seen = atomic_load(&groups->signals[g]);
		} else if (atomic_compare_exchange_strong(&groups->signals[g], &seen,
							  seen - SIGNAL)) {
			return true;
		}
	}
	return false;
}

static void give_back_if_stolen(uint32_t g, uint32_t place)
{
	uint32_t start = atomic_load(&groups->start), seen;

	if (place >= start / 2 || start % 2 == g)
		return;
	seen = atomic_load(&groups->signals[g]);
	while (atomic_load(&groups->start) == start)
		if (seen & CLOSED || atomic_compare_exchange_strong(&groups->signals[g],
								    &seen, seen + SIGNAL)) {
			wake(&groups->signals[g], 1);
			return;
		}
}

/* Closes the older group, and waits until nobody sleeps in its slot. */
static void close_older(uint32_t g)
{
	uint32_t inside;

	atomic_fetch_or(&groups->signals[g], CLOSED);
	while (atomic_load(&groups->inside[g]) / 2) {
		inside = atomic_fetch_or(&groups->inside[g], 1) | 1;
		if (inside / 2)
			sleep_while(&groups->inside[g], inside);
	}
	atomic_fetch_add(&groups->start, groups->members * 2 + (g ? 1 : -1u));
	atomic_store(&groups->signals[g], 0);
}

/* As repaired in 2.41: signals count from the start of the group, so none is another's. */
static void take_own_signal(uint32_t g, uint32_t place)
{
	for (;;) {
		uint32_t seen = atomic_load(&groups->signals[g]);
		uint32_t start = atomic_load(&groups->start);

		if (place < start)
			return;
		if ((int32_t)(seen - start) <= 0)
			sleep_while(&groups->signals[g], seen);
		else if (atomic_compare_exchange_strong(&groups->signals[g], &seen,
							seen - 1))
			return;
	}
}

static void groups_wait(void)
{
	uint32_t ticket = atomic_fetch_add(&groups->next, 2);
	uint32_t g = ticket % 2, place = ticket / 2;

	lock_give(&groups->market.lock);
	if (repaired())
		take_own_signal(g, place);
	else if (take_signal(g, place))
		give_back_if_stolen(g, place);
	lock_take(&groups->market.lock);
}

/* The newer group becomes the older one, if anybody is in it. */
static bool change_roles(uint32_t older)
{
	uint32_t scale = repaired() ? 1 : 2, newer = !older;
	uint32_t start = atomic_load(&groups->start) / scale + groups->members;

	if (atomic_load(&groups->next) / 2 == start)
		return false;
	if (repaired()) {
		atomic_store(&groups->start, start);
		atomic_store(&groups->signals[newer], start);
	} else {
		close_older(older);
	}
	groups->members = atomic_fetch_xor(&groups->next, 1) / 2 - start;
	groups->left[newer] = groups->members;
	return true;
}

static void groups_signal(void)
{
	uint32_t older;
	bool due;

	lock_take(&groups->lock);
	older = !(atomic_load(&groups->next) % 2);
	due = groups->left[older];
	if (!due && change_roles(older)) {
		older = !older;
		due = true;
	}
	if (due) {
		groups->left[older]--;
		atomic_fetch_add(&groups->signals[older], repaired() ? 1 : SIGNAL);
	}
	lock_give(&groups->lock);
	if (due)
		wake(&groups->signals[older], 1);
}

static void groups_thread(unsigned i)
{
	struct market *m = &groups->market;

	for (unsigned n = i == 0 ? 2 * ITEMS : ITEMS; n; n--) {
		lock_take(&m->lock);
		while (i && !m->items)
			groups_wait();
		m->items += i ? -1u : 1;
		lock_give(&m->lock);
		if (i == 0)
			groups_signal();
	}
}

static void groups_end(void)
{
	model_free(groups);
}

const struct model_scenario past_cond[] = {
	{ .name = "musl 37195db8",
	  .threads = 2,
	  .about = "a sequence number comes round while a waiter falls asleep",
	  .begin = wrap_begin,
	  .thread = wrap_thread,
	  .end = wrap_end,
	  .search = { .bound = 2, .weak_bound = 2 },
	  .expect = { MODEL_DEADLOCK, MODEL_DEADLOCK, MODEL_DEADLOCK } },
	{ .name = "musl 37195db8, repaired",
	  .threads = 2,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = wrap_begin,
	  .thread = wrap_thread,
	  .end = wrap_end,
	  .search = { .bound = 2, .weak_bound = 2 } },
	{ .name = "glibc 25847",
	  .threads = 3,
	  .about = "a signal is stolen from a newer group and given back too late",
	  .begin = groups_begin,
	  .thread = groups_thread,
	  .end = groups_end,
	  .search = { .sc_only = true, .pct_depth = 7, .pct_runs = 600000 },
	  .expect = { MODEL_DEADLOCK } },
	{ .name = "glibc 25847, repaired",
	  .threads = 3,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = groups_begin,
	  .thread = groups_thread,
	  .end = groups_end,
	  .search = { .sc_only = true, .pct_depth = 7, .pct_runs = 600000 } },
	{ 0 },
};
