/* SPDX-License-Identifier: MIT */
/* The mutex's waiters. The state table is in <ipcwait/mutex.h>, the argument in
 * docs/design/mutex.md. */
#include "sync/mutex_word.h"

#include "os/seam.h"
#include "watch/stats.h"
#include "engine/wait.h"

/*
 * A waiter is overdue after so long, in ns, or after so many block/wake pairs: handing the mutex
 * to it may leave the mutex idle for one pair, so that is at most 1/20 of the time.
 */
#define PATIENCE_NS     1000000
#define PATIENCE_BLOCKS 20

/*
 * The shortest sleep but for naps, in ns. A timer that ends before the CPU's next tick, at most
 * 4 ms away where the CPU is busy, has to be programmed: in a guest an exit for each sleep and one
 * for each wake. Two threads on one CPU that hand a mutex back and forth took 9.9 us a hand-off
 * with 1 ms, 5.0 with 5.
 */
#define ALARM_LEAST_NS 5000000

/* The longest sleep without a look, in ns; and where a death would be noticed late by it. */
#define ALARM_MOST_NS   1000000000
#define ALARM_ROBUST_NS 100000000

/* The first nap of a waiter that was woken in vain, in ns, and a quarter more for each other. */
#define NAP_NS 50000

/* A spinner that has been overtaken so often gives up. */
#define PASSES_MANY (2 * MUTEX_PASS_ONE)

/* One thread in one wait. */
struct mutex_waiter {
	struct iw_waiter base;
	struct ipcwait_mutex *mutex;
	uint64_t owner;   /* this thread as owner, in its place in the word */
	int64_t began_ns; /* when it first went to sleep; 0: not yet */
	int64_t nap_ns;   /* length of its last nap */
	bool sleeper;     /* counted in SLEEPERS */
	bool spinner;     /* has set SPINNER */
	bool overdue;     /* has waited for longer than anybody should */
	bool expired;     /* looks for the last time: takes also what is kept for another */
	bool naps;        /* was woken in vain */
	int result;       /* of what was taken: 0, -EOWNERDEAD or -ENOTRECOVERABLE */
	struct mutex_doubt doubt;
};

/*
 * While the mutex is free, and kept for a waiter that is overdue or lost, WAKE stays: one who
 * announced a sleep before it was set must not find the same low half again.
 */
static uint64_t without_wake(uint64_t w)
{
	return w & MUTEX_OWNER_MASK ? w & ~MUTEX_WAKE : w;
}

/* The word without what this waiter has published in it. */
static uint64_t without_me(const struct mutex_waiter *me, uint64_t w)
{
	if (me->spinner || (me->sleeper && !me->base.woken))
		w &= ~MUTEX_SPINNER;
	if (me->sleeper && mutex_sleepers(w))
		w = without_wake(w - 1) & ~MUTEX_QUIET;
	if (!mutex_sleepers(w))
		w &= ~(MUTEX_WAKE | MUTEX_QUIET | MUTEX_PASSES_MASK);
	return me->overdue ? w & ~MUTEX_URGENT : w;
}

static bool is_free(const struct mutex_waiter *me, uint64_t w)
{
	if (w & (MUTEX_OWNER_MASK | MUTEX_LOST))
		return false;
	return !(w & MUTEX_URGENT) || me->overdue || me->expired;
}

/* t -> gone, where the mutex is lost for good: the wait is over too. */
static bool take_loss(struct mutex_waiter *me, uint64_t *w)
{
	/* ORD mutex_wait.X1: relaxed, no order needed: nothing was taken. */
	while (!ipcwait_impl_cas64_relaxed(&me->mutex->word, w, without_me(me, *w)))
		continue;
	me->result = -ENOTRECOVERABLE;
	return true;
}

/* 0,k,s -> t, without me. False if it is not free; *@w is then current. */
static bool take(struct mutex_waiter *me, uint64_t *w)
{
	while (is_free(me, *w)) {
		uint64_t mine = without_me(me, *w | me->owner);
		me->result = *w & MUTEX_DIED ? -EOWNERDEAD : 0;
		/*
		 * ORD mutex_wait.A1: acquire on success, as mutex.A1. Pairs with mutex.R1,
		 * mutex.R2, mutex.R3 and mutex_known.R1.
		 */
		if (ipcwait_impl_cas64_acquire(&me->mutex->word, w, mine))
			return true;
	}
	return *w & MUTEX_LOST && take_loss(me, w);
}

/*
 * Say that a waiter is awake, so that unlocks need not wake another: a sleeper by WAKE, with
 * URGENT if it has waited for too long, any other by SPINNER while there are sleepers. Not if it
 * may not take the mutex, because it is kept for another. One attempt per look.
 */
static void mark(struct mutex_waiter *me, uint64_t w)
{
	uint64_t marked = w;

	me->base.crowded =
		me->spinner ? (w & MUTEX_PASSES_MASK) >= PASSES_MANY : w & MUTEX_SPINNER;
	if (me->sleeper && (me->overdue || !(w & MUTEX_URGENT)))
		marked |= MUTEX_WAKE | (me->overdue ? MUTEX_URGENT : 0);
	else if (!me->sleeper && mutex_sleepers(w) && !(w & MUTEX_SPINNER))
		marked = (w & ~MUTEX_PASSES_MASK) | MUTEX_SPINNER;
	/* ORD mutex_wait.X2: relaxed, re-checked: an unlock reads the bits in its CAS. */
	if (marked == w || !ipcwait_impl_cas64_relaxed(&me->mutex->word, &w, marked))
		return;
	me->spinner = !me->sleeper;
}

static bool look(struct iw_waiter *base)
{
	struct mutex_waiter *me = (struct mutex_waiter *)base;
	/* ORD mutex_wait.X3: relaxed, re-checked by the CAS in take() or mark(). */
	uint64_t w = ipcwait_impl_load64_relaxed(&me->mutex->word);

	if (take(me, &w))
		return true;
	mark(me, w);
	return false;
}

static int64_t patience_ns(const struct mutex_waiter *me)
{
	int64_t blocks_ns = (int64_t)(PATIENCE_BLOCKS * me->base.block_ns);

	return blocks_ns > PATIENCE_NS ? blocks_ns : PATIENCE_NS;
}

/*
 * When to look again if nobody has woken it. A waiter that was woken in vain, because others had
 * the mutex before it was up, naps, each time twice as long. Every other sleeps until its turn:
 * so many times the patience as there are sleepers. Then it is overdue, and looks after a quarter
 * of the time it has waited: another one who is overdue may have been faster.
 */
static int64_t next_alarm(struct mutex_waiter *me, int64_t now_ns, uint64_t w)
{
	bool robust = me->mutex->flags & IPCWAIT_ROBUST;
	int64_t most_ns = robust ? ALARM_ROBUST_NS : ALARM_MOST_NS;
	int64_t sleepers = (int64_t)mutex_sleepers(w);
	int64_t waited_ns = now_ns - me->began_ns;
	int64_t sleep_ns = me->overdue ? waited_ns / 4 : patience_ns(me) * sleepers;

	if (!me->overdue && sleep_ns < ALARM_LEAST_NS)
		sleep_ns = ALARM_LEAST_NS;
	if (me->naps) {
		me->nap_ns = me->nap_ns ? 2 * me->nap_ns : NAP_NS * (4 + sleepers) / 4;
		if (me->nap_ns > PATIENCE_NS)
			me->nap_ns = PATIENCE_NS;
		sleep_ns = me->nap_ns;
	}
	return now_ns + (sleep_ns < most_ns ? sleep_ns : most_ns);
}

/* The word as this waiter leaves it to go to sleep. */
static uint64_t asleep_word(const struct mutex_waiter *me, uint64_t w)
{
	w = without_wake(without_me(me, w)) & ~MUTEX_PASSES_MASK;
	if (me->sleeper)
		w &= ~(MUTEX_SPINNER | MUTEX_QUIET);
	if (me->naps)
		w |= MUTEX_QUIET;
	if (me->overdue)
		w |= MUTEX_URGENT;
	return w + 1;
}

/*
 * Others would have the mutex before this waiter is up, as after the last wake, or while it was
 * spinning; or it would rather have spun. One that naps is enough.
 */
static bool naps(const struct mutex_waiter *me, uint64_t w)
{
	if (me->overdue || me->naps || w & MUTEX_QUIET)
		return me->naps && !me->overdue;
	return me->base.woken || (me->spinner && me->base.crowded) ||
	       me->base.reason == IW_BUDGET_EMPTY;
}

/* What this waiter knows of the time when it goes to sleep. */
static int64_t note_time(struct mutex_waiter *me)
{
	int64_t now_ns = iw_clock_ns();

	if (!me->began_ns)
		me->began_ns = now_ns;
	me->overdue = now_ns - me->began_ns >= patience_ns(me);
	me->base.bits = me->overdue ? MUTEX_BITS_OVERDUE : MUTEX_BITS_PATIENT;
	me->base.again_ns = me->overdue ? me->base.block_ns : 0;
	return now_ns;
}

/*
 * t,k,s -> t,0,s+1 or t,0,s. As in the semaphore, nobody sleeps on a low half whose WAKE is not
 * zero, so that no wake can be on its way to somebody who has not yet fallen asleep.
 */
static enum iw_settled settle(struct iw_waiter *base, uint32_t *expected)
{
	struct mutex_waiter *me = (struct mutex_waiter *)base;
	uint64_t w, asleep;
	int64_t now_ns;
	bool full;

	if (me->mutex->flags & IPCWAIT_ROBUST && me->sleeper)
		iw_mutex_bury(me->mutex, &me->doubt);
	now_ns = note_time(me);
	/* ORD mutex_wait.X4: relaxed, re-checked by the CAS below or in take(). */
	w = ipcwait_impl_load64_relaxed(&me->mutex->word);
	do {
		if (take(me, &w))
			return IW_TAKEN;
		/* One that is not counted must not leave its mark for as long as it naps. */
		full = !me->sleeper && mutex_sleepers(w) == MUTEX_SLEEPERS_MASK;
		me->naps = naps(me, w);
		asleep = full ? without_me(me, w) : asleep_word(me, w);
		/*
		 * ORD mutex_wait.X5: relaxed, no order needed: owner and sleepers are in one
		 * word, so either this CAS sees it free or the unlock sees the sleeper.
		 */
	} while (w != asleep && !ipcwait_impl_cas64_relaxed(&me->mutex->word, &w, asleep));
	me->spinner = false;
	if (full)
		return IW_NAP;
	me->sleeper = true;
	base->alarm_ns = next_alarm(me, now_ns, asleep);
	*expected = (uint32_t)asleep;
	return IW_SLEEP;
}

/* t,k,s -> t,0,s-1 */
static bool withdraw(struct iw_waiter *base)
{
	struct mutex_waiter *me = (struct mutex_waiter *)base;
	/* ORD mutex_wait.X6: relaxed, re-checked by the CAS below or in take(). */
	uint64_t w = ipcwait_impl_load64_relaxed(&me->mutex->word);

	me->expired = true;
	do {
		if (take(me, &w))
			return true;
		/* ORD mutex_wait.X7: relaxed, no order needed: nothing was taken. */
	} while (w != without_me(me, w) &&
		 !ipcwait_impl_cas64_relaxed(&me->mutex->word, &w, without_me(me, w)));
	me->sleeper = me->spinner = false;
	return false;
}

static const struct iw_waitable mutex_waitable = {
	.kind = IPCWAIT_KIND_MUTEX,
	.restarts = true,
	.look = look,
	.settle = settle,
	.withdraw = withdraw,
};

int iw_mutex_wait(struct ipcwait_mutex *m, uint64_t owner, int64_t deadline_ns)
{
	struct mutex_waiter me = {
		.base = {
			.what = &mutex_waitable,
			.window = &m->window,
			.futex = (const uint32_t *)&m->word,
			.deadline_ns = deadline_ns,
			.private_ = m->flags & IPCWAIT_PRIVATE,
		},
		.mutex = m,
		.owner = owner,
	};
	int r = iw_wait(&me.base);

	return r ? r : me.result;
}
