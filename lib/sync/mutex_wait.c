/* SPDX-License-Identifier: MIT */
/* The mutex's waiters. The state table is in <ipcwait/mutex.h>, the argument in
 * docs/design/mutex.md. */
#include "sync/mutex_word.h"

#include "os/seam.h"
#include "policy/pace.h"
#include "sync/object.h"

/* A waiter is overdue after so long at least, in ns. */
#define PATIENCE_NS 1000000

/*
 * The shortest sleep but for naps, in ns. A timer that ends before the CPU's next tick, at most
 * 4 ms away where the CPU is busy, has to be programmed: in a guest an exit for each sleep and one
 * for each wake. Two threads on one CPU that hand a mutex back and forth took 9.9 us a hand-off
 * with 1 ms, 5.0 with 5.
 */
#define SLEEP_LEAST_NS 5000000

/* The longest sleep without a look, in ns; and where a death would be noticed late by it. */
#define SLEEP_MOST_NS        1000000000
#define SLEEP_MOST_ROBUST_NS 100000000

/* The first nap of a waiter that was woken in vain, in ns, and a quarter more for each other. */
#define NAP_NS 50000

/* A spinner that has been overtaken so often gives up. */
#define PASSES_MANY (2 * MUTEX_PASS_ONE)

/* If it was unlocked so often during a sleep, others have had it again and again. */
#define PASSES_BUSY (3 * MUTEX_PASS_ONE)

/* One thread in one wait. */
struct mutex_waiter {
	struct iw_waiter base;
	struct ipcwait_mutex *mutex;
	uint64_t owner;   /* this thread as owner, in its places in the word */
	uint64_t timed;   /* TIMED, if its section is to be measured */
	int64_t began_at; /* when it first went to sleep; 0: not yet */
	int64_t turn_at;  /* when it has waited for longer than anybody should */
	int64_t alarm_at; /* when its last sleep was to end if nobody woke it, or would have been */
	struct iw_backoff nap;
	uint32_t pace; /* what the mutex had learned when it came */
	bool sleeper;  /* counted in SLEEPERS */
	bool left_out; /* sleeps, and is not counted, because there was no room */
	bool spinner;  /* has set SPINNER */
	bool naps;     /* has set QUIET */
	bool asleep;   /* announced, and has not looked since */
	bool rang;     /* nobody woke it from its last sleep */
	bool busy;     /* others had the mutex again and again during it */
	bool overdue;  /* its turn has come */
	bool expired;  /* looks for the last time: takes also what is kept for another */
	int result;    /* of what was taken: 0, -EOWNERDEAD or -ENOTRECOVERABLE */
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
		w = without_wake(w - 1);
	if (me->naps || me->rang)
		w &= ~MUTEX_QUIET;
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
		uint64_t mine = without_me(me, mutex_owned(*w, me->owner)) | me->timed;
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

	if (me->sleeper && (me->overdue || !(w & MUTEX_URGENT)))
		marked |= MUTEX_WAKE | (me->overdue ? MUTEX_URGENT : 0);
	else if (!me->sleeper && mutex_sleepers(w) && !(w & MUTEX_SPINNER) &&
		 !iw_pace_full(me->pace))
		marked = (w & ~MUTEX_PASSES_MASK) | MUTEX_SPINNER;
	/* ORD mutex_wait.X2: relaxed, re-checked: an unlock reads the bits in its CAS. */
	if (marked == w || !ipcwait_impl_cas64_relaxed(&me->mutex->word, &w, marked))
		return;
	me->spinner = !me->sleeper;
}

/*
 * Whether to look on. One spinner is enough, and where the mutex goes on without it, none; those
 * who sleep do not see that it is overtaken.
 */
static enum iw_seen away(const struct mutex_waiter *me, uint64_t w)
{
	if (me->spinner)
		return (w & MUTEX_PASSES_MASK) >= PASSES_MANY ? IW_AWAY_OVERTAKEN : IW_AWAY;
	if (!me->sleeper && mutex_sleepers(w) && iw_pace_full(me->pace))
		return IW_AWAY_OVERTAKEN;
	return w & MUTEX_SPINNER ? IW_AWAY_CROWDED : IW_AWAY;
}

/* The first look after a sleep: @w shows what became of the mutex meanwhile. */
static void note_sleep(struct mutex_waiter *me, uint64_t w)
{
	if (!me->asleep)
		return;
	me->asleep = false;
	me->rang = !me->base.woken && iw_clock_ns() >= me->alarm_at;
	me->busy = (w & MUTEX_PASSES_MASK) >= PASSES_BUSY;
}

static enum iw_seen look(struct iw_waiter *base)
{
	struct mutex_waiter *me = (struct mutex_waiter *)base;
	/* ORD mutex_wait.X3: relaxed, re-checked by the CAS in take() or mark(). */
	uint64_t w = ipcwait_impl_load64_relaxed(&me->mutex->word);
	enum iw_seen seen;

	note_sleep(me, w);
	if (take(me, &w))
		return IW_THERE;
	seen = away(me, w);
	mark(me, w);
	return seen;
}

static int64_t patience_ns(const struct mutex_waiter *me)
{
	return iw_patience_ns(PATIENCE_NS, me->base.block_ns);
}

/*
 * How long a waiter may be overtaken that finds the mutex so: as many times the patience as there
 * are sleepers, so that about one of them is due in each.
 */
static int64_t turn_ns(const struct mutex_waiter *me, uint64_t w)
{
	int64_t turn_ns = patience_ns(me) * (int64_t)(mutex_sleepers(w) + 1);

	return turn_ns < SLEEP_MOST_NS ? turn_ns : SLEEP_MOST_NS;
}

/*
 * When to look again if nobody has woken it. A waiter that naps does so for twice as long each
 * time. Every other sleeps until its turn. Then it is overdue, and looks after a quarter of the
 * time it has waited: another one who is overdue may have been faster.
 */
static int64_t next_alarm(struct mutex_waiter *me, int64_t now_ns, uint64_t w)
{
	bool robust = me->mutex->flags & IPCWAIT_ROBUST;
	int64_t most_ns = robust ? SLEEP_MOST_ROBUST_NS : SLEEP_MOST_NS;
	int64_t sleepers = (int64_t)mutex_sleepers(w);
	int64_t sleep_ns = me->overdue ? (now_ns - me->began_at) / 4 : me->turn_at - now_ns;

	if (!me->overdue && sleep_ns < SLEEP_LEAST_NS)
		sleep_ns = SLEEP_LEAST_NS;
	if (me->naps && (me->rang || !me->nap.ns))
		(void)iw_back_off(&me->nap, NAP_NS * (4 + sleepers) / 4, PATIENCE_NS);
	if (me->naps)
		sleep_ns = me->nap.ns;
	return now_ns + (sleep_ns < most_ns ? sleep_ns : most_ns);
}

/* The word as this waiter leaves it to go to sleep. */
static uint64_t asleep_word(const struct mutex_waiter *me, uint64_t w, bool naps)
{
	w = without_wake(without_me(me, w)) & ~MUTEX_PASSES_MASK;
	if (me->sleeper)
		w &= ~MUTEX_SPINNER;
	if (naps)
		w |= MUTEX_QUIET;
	if (me->overdue)
		w |= MUTEX_URGENT;
	return w + 1;
}

/*
 * Others would have the mutex before this waiter is up: they had after its last sleep, or while it
 * was spinning, or do so as a rule; or it would rather have spun. One that naps is enough.
 */
static bool would_nap(const struct mutex_waiter *me, uint64_t w)
{
	if (me->overdue || me->naps || w & MUTEX_QUIET)
		return me->naps && !me->overdue;
	return me->sleeper || iw_pace_busy(me->pace) || me->base.reason == IW_OVERTAKEN ||
	       me->base.reason == IW_BUDGET_EMPTY;
}

/* What this waiter knows of the time when it goes to sleep. */
static int64_t note_time(struct mutex_waiter *me, uint64_t w)
{
	int64_t now_ns = iw_clock_ns();

	if (!me->began_at) {
		me->began_at = now_ns;
		me->turn_at = now_ns + turn_ns(me, w);
	}
	me->overdue = now_ns >= me->turn_at;
	return now_ns;
}

/* Of a waiter that left @w. One that is overdue looks on for as long as a wake takes. */
static struct iw_rest announced(struct mutex_waiter *me, int64_t now_ns, uint64_t w)
{
	struct iw_rest rest = iw_rest_on(me->base.futex, (uint32_t)w);

	me->sleeper = me->asleep = true;
	me->left_out = false;
	me->base.apart_ns = me->overdue ? 0 : iw_pace_apart_ns(me->pace);
	rest.bits = me->overdue ? MUTEX_BITS_OVERDUE : MUTEX_BITS_PATIENT;
	rest.until_ns = me->alarm_at = next_alarm(me, now_ns, w);
	rest.spin_ns = me->overdue ? me->base.block_ns : 0;
	return rest;
}

/* Of one that may not announce itself: it looks soon, but asks about a death when others would. */
static struct iw_rest left_out(struct mutex_waiter *me, int64_t now_ns, uint64_t w)
{
	if (!me->left_out || now_ns >= me->alarm_at)
		me->alarm_at = next_alarm(me, now_ns, w);
	me->left_out = true;
	return iw_rest_unpublished();
}

/* An alarm has rung, as far as this waiter has one: the owner may be dead. */
static void look_after_owner(struct mutex_waiter *me)
{
	if (me->sleeper || (me->left_out && iw_clock_ns() >= me->alarm_at))
		iw_mutex_bury(me->mutex, &me->doubt);
}

/*
 * t,k,s -> t,0,s+1 or t,0,s. As in the semaphore, nobody sleeps on a low half whose WAKE is not
 * zero, so that no wake can be on its way to somebody who has not yet fallen asleep.
 */
static struct iw_rest settle(struct iw_waiter *base)
{
	struct mutex_waiter *me = (struct mutex_waiter *)base;
	uint64_t w, asleep;
	int64_t now_ns;
	bool full, naps;

	if (me->mutex->flags & IPCWAIT_ROBUST)
		look_after_owner(me);
	/* ORD mutex_wait.X4: relaxed, re-checked by the CAS below or in take(). */
	w = ipcwait_impl_load64_relaxed(&me->mutex->word);
	now_ns = note_time(me, w);
	do {
		if (take(me, &w))
			return iw_rest_taken();
		/* One that is not counted must not leave its mark for as long as it naps. */
		full = !me->sleeper && mutex_sleepers(w) == MUTEX_SLEEPERS_MASK;
		naps = would_nap(me, w);
		asleep = full ? without_me(me, w) : asleep_word(me, w, naps);
		/*
		 * ORD mutex_wait.X5: relaxed, no order needed: owner and sleepers are in one
		 * word, so either this CAS sees it free or the unlock sees the sleeper.
		 */
	} while (w != asleep && !ipcwait_impl_cas64_relaxed(&me->mutex->word, &w, asleep));
	me->spinner = false;
	me->naps = naps && !full;
	return full ? left_out(me, now_ns, asleep) : announced(me, now_ns, asleep);
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
	me->sleeper = me->spinner = me->naps = false;
	return false;
}

static const struct iw_waitable mutex_waitable = {
	.kind = IPCWAIT_KIND_MUTEX,
	.look = look,
	.settle = settle,
	.withdraw = withdraw,
};

/* The owner writes down what its wait has taught. */
static void learn(const struct mutex_waiter *me)
{
	uint32_t pace = iw_pace_waited(mutex_pace(me->mutex));

	if (me->sleeper)
		pace = iw_pace_slept(pace, me->busy);
	if (me->timed)
		pace = iw_pace_began(pace, (uint64_t)iw_clock_ns());
	mutex_set_pace(me->mutex, pace);
}

int iw_mutex_wait(struct ipcwait_mutex *m, uint64_t owner, int64_t deadline_ns,
		  uintptr_t site)
{
	struct mutex_waiter me = { .mutex = m, .owner = owner, .pace = mutex_pace(m) };
	int r;

	iw_waiter_begin(&me.base, &mutex_layout, m, &mutex_waitable, deadline_ns, site);
	me.base.apart_ns = iw_pace_apart_ns(me.pace);
	if (mutex_learns(m) && iw_pace_due(me.pace))
		me.timed = MUTEX_TIMED;
	r = iw_wait(&me.base);
	if (r == 0 && mutex_learns(m))
		learn(&me);
	return r ? r : me.result;
}
