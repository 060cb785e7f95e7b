/* SPDX-License-Identifier: MIT */
/* Those who wait for a reader-writer lock. The state table is in <ipcwait/rwlock.h>, the argument
 * in docs/design/rwlock.md. */
#include <errno.h>
#include <limits.h>

#include "os/seam.h"
#include "sync/object.h"
#include "sync/rwlock_word.h"
#include "policy/pace.h"
#include "policy/window.h"

/*
 * A waiter is overdue after so long at least, in ns. Keeping the lock for it leaves the lock idle
 * for some 50 us; many of them can have it in turn before the first is overdue again.
 */
#define PATIENCE_NS 4000000

/* The longest sleep without a look, in ns. */
#define SLEEP_MOST_NS 1000000000

/*
 * A nap, in ns: some wakes. Sixteen threads, half of them writers, with sections of 1 us: 1.2 us an
 * operation for 2.2 of CPU time, and without naps 1.5 for 2.8.
 */
#define NAP_NS 100000

/*
 * How long a wake that the lock is kept for is believed before those whom it is for are taken for
 * dead, in ns: a hundred times the slowest wake-up of an idle CPU on the project's guest. To the
 * living who queue for a CPU for longer it costs the place among the waiters, and a wake each.
 */
#define DOUBT_NS 5000000

/*
 * Counted in the word, and not only announced in it: after a roll call it is not, until it goes
 * to sleep again.
 */
static bool counted(const struct rwlock_waiter *me, uint64_t w)
{
	return me->sleeper && (w & RWLOCK_EPOCH_MASK) == me->epoch;
}

static int64_t patience_ns(const struct rwlock_waiter *me)
{
	return iw_patience_ns(PATIENCE_NS, me->base.block_ns);
}

static uint64_t load_word(const struct rwlock_waiter *me)
{
	/* ORD rwlock_wait.X1: relaxed, re-checked by whatever CAS comes of it. */
	return ipcwait_impl_load64_relaxed(&me->lock->word);
}

/*
 * When to look again if nobody has woken it: when it will be overdue, and then after a quarter of
 * the time it has waited, as another overdue writer may have taken the URGENT of both along. Not at
 * all for an overdue reader in private: the next turn is its own, and nobody dies.
 */
static int64_t next_alarm(const struct rwlock_waiter *me, bool writer, int64_t now_ns)
{
	int64_t sleep_ns = (now_ns - me->began_at) / 4;

	if (!me->overdue)
		return me->began_at + patience_ns(me);
	if (!writer && me->base.private_)
		return IPCWAIT_FOREVER;
	return now_ns + (sleep_ns < SLEEP_MOST_NS ? sleep_ns : SLEEP_MOST_NS);
}

/* What this waiter knows of the time when it goes to sleep. */
static void note_time(struct rwlock_waiter *me, bool writer)
{
	int64_t now_ns = iw_clock_ns();

	me->rang = me->sleeper && now_ns >= me->until_ns;
	if (!me->began_at)
		me->began_at = now_ns;
	me->overdue = now_ns - me->began_at >= patience_ns(me);
	me->until_ns = next_alarm(me, writer, now_ns);
}

/*
 * The waiter is counted in @w, and woken by wakes of these classes. It has paid for a sleep: if
 * the lock is not its own then, it looks on for as long as a wake takes, and as closely as can be.
 */
static struct iw_rest announced(struct rwlock_waiter *me, uint64_t w, uint32_t bits)
{
	struct iw_rest rest = iw_rest_on((const uint32_t *)&me->lock->word, (uint32_t)w);

	me->sleeper = true;
	me->base.apart_ns = 0;
	me->epoch = w & RWLOCK_EPOCH_MASK;
	rest.bits = bits;
	rest.spin_ns = me->base.block_ns;
	rest.until_ns = me->until_ns;
	return rest;
}

/*
 * n,all -> n,0, EPOCH -> +1, and wake all: the living announce themselves anew, and know by the
 * epoch that they have to.
 */
bool iw_rwlock_doubt(struct rwlock_waiter *me, uint64_t w)
{
	uint64_t age_ns, none = w + RWLOCK_EPOCH_ONE;

	if (me->base.private_ || w & RWLOCK_WRITER || !(w & (RWLOCK_RWAKE | RWLOCK_WAKE)) ||
	    iw_window_stamp_age(&me->lock->window, iw_clock_common((uint64_t)iw_clock_ns()),
				DOUBT_NS, &age_ns))
		return false;
	none = (w & RWLOCK_READERS_MASK) | (none & RWLOCK_EPOCH_MASK);
	/* ORD rwlock_wait.X2: relaxed, no order needed: nothing was taken. */
	if (ipcwait_impl_cas64_relaxed(&me->lock->word, &w, none))
		(void)iw_wake_bits(IPCWAIT_KIND_RWLOCK, me->base.futex, INT_MAX,
				   me->base.private_, RWLOCK_BITS_ALL, 0);
	return true;
}

/* The word without what this reader has published in it. */
static uint64_t without_reader(const struct rwlock_waiter *me, uint64_t w)
{
	if (counted(me, w) && w & RWLOCK_RSLEEPERS_MASK)
		w -= RWLOCK_RSLEEPER_ONE;
	return w & RWLOCK_RSLEEPERS_MASK ? w : w & ~(RWLOCK_RWAKE | RWLOCK_RURGENT);
}

/*
 * n -> n+1, without me. Each that takes the lock clears NEXT, so that one that was killed, or has
 * lost its CPU, makes others wait for one spin only. False if readers are kept out; *@w is then
 * current.
 */
static bool read_lock(struct rwlock_waiter *me, uint64_t *w)
{
	while (rwlock_lets_readers_in(*w)) {
		bool full = (*w & RWLOCK_READERS_MASK) == RWLOCK_READERS_MASK;
		uint64_t next = (without_reader(me, *w) & ~RWLOCK_NEXT) +
				(full ? 0 : RWLOCK_READER_ONE);

		me->result = full ? -EAGAIN : 0;
		/*
		 * ORD rwlock_wait.A1: acquire on success, so that the reader sees what the last
		 * writer did. Pairs with rwlock.R2 and rwlock.R3.
		 */
		if (ipcwait_impl_cas64_acquire(&me->lock->word, w, next))
			return true;
	}
	return false;
}

/* The same, but lets a writer that has slept go first. */
static bool read_lock_in_turn(struct rwlock_waiter *me, uint64_t *w)
{
	return (!(*w & RWLOCK_NEXT) || rwlock_is_readers_turn(*w)) && read_lock(me, w);
}

static enum iw_seen reader_look(struct iw_waiter *base)
{
	struct rwlock_waiter *me = (struct rwlock_waiter *)base;
	uint64_t w = load_word(me);

	return read_lock_in_turn(me, &w) ? IW_THERE : IW_AWAY;
}

/*
 * A reader was kept out for a whole sleep by writers who only wait: does any of them live? One
 * that does comes back from the wake and goes to sleep again, which clears WAKE.
 */
static bool asks_for_writers(const struct rwlock_waiter *me, uint64_t w)
{
	return me->rang && !me->base.private_ && !(w & (RWLOCK_WRITER | RWLOCK_WAKE));
}

/*
 * r -> r+1 or r, RWAKE -> 0. As in the semaphore, to forget the wake under way lets a reader sleep
 * only where RWAKE is zero, which makes RWAKE safe.
 */
static uint64_t reader_asleep(const struct rwlock_waiter *me, uint64_t w)
{
	w += counted(me, w) ? 0 : RWLOCK_RSLEEPER_ONE;
	w &= ~RWLOCK_RWAKE;
	if (me->overdue)
		w |= RWLOCK_RURGENT;
	return asks_for_writers(me, w) ? w | RWLOCK_WAKE : w;
}

static struct iw_rest reader_settle(struct iw_waiter *base)
{
	struct rwlock_waiter *me = (struct rwlock_waiter *)base;
	uint64_t w = load_word(me);

	note_time(me, false);
	for (;;) {
		if (read_lock(me, &w))
			return iw_rest_taken();
		if (iw_rwlock_doubt(me, w)) {
			w = load_word(me);
			continue;
		}
		if (!counted(me, w) && (w & RWLOCK_RSLEEPERS_MASK) == RWLOCK_RSLEEPERS_MASK)
			return iw_rest_unpublished();
		if (asks_for_writers(me, w))
			(void)iw_stamp(base->window);
		/*
		 * ORD rwlock_wait.X3: relaxed, no order needed: holders and sleepers are in one
		 * word, so either this CAS sees the lock free or the unlock sees the sleeper.
		 */
		if (w == reader_asleep(me, w) ||
		    ipcwait_impl_cas64_relaxed(&me->lock->word, &w, reader_asleep(me, w)))
			break;
	}
	if (asks_for_writers(me, w))
		(void)iw_wake_bits(IPCWAIT_KIND_RWLOCK, base->futex, 1, base->private_,
				   RWLOCK_BITS_WRITER, 0);
	return announced(me, reader_asleep(me, w), RWLOCK_BITS_READER);
}

/* r -> r-1 */
static bool reader_withdraw(struct iw_waiter *base)
{
	struct rwlock_waiter *me = (struct rwlock_waiter *)base;
	uint64_t w = load_word(me);

	do {
		if (read_lock(me, &w))
			return true;
		/* ORD rwlock_wait.X4: relaxed, no order needed: nothing was taken. */
	} while (w != without_reader(me, w) &&
		 !ipcwait_impl_cas64_relaxed(&me->lock->word, &w, without_reader(me, w)));
	return false;
}

static bool lets_in_writer(const struct rwlock_waiter *me, uint64_t w)
{
	return rwlock_is_free(w) && (!(w & RWLOCK_URGENT) || me->overdue);
}

/*
 * QUIET is this writer's own, or no wake has ended its sleep: one that naps would have been up
 * before its alarm, and may be dead. After a signal that is not so, and costs a wake.
 */
static bool ends_quiet(const struct rwlock_waiter *me)
{
	return me->naps || (me->sleeper && !me->base.woken);
}

/*
 * The word without what this writer has published in it. A wake that was for it is over, unless
 * the lock is free: then the wake is for an overdue writer, and this one is not.
 */
static uint64_t without_writer(const struct rwlock_waiter *me, uint64_t w)
{
	if (ends_quiet(me))
		w &= ~RWLOCK_QUIET;
	if (me->overdue)
		w &= ~RWLOCK_URGENT;
	if (!counted(me, w) || !(w & RWLOCK_WSLEEPERS_MASK))
		return w;
	w -= RWLOCK_WSLEEPER_ONE;
	return rwlock_is_free(w) ? w : w & ~RWLOCK_WAKE;
}

/* 0,s -> WRITER, without me. False if the lock is not free; *@w is then current. */
static bool write_lock(struct rwlock_waiter *me, uint64_t *w)
{
	while (lets_in_writer(me, *w)) {
		/*
		 * ORD rwlock_wait.A2: acquire on success, so that the writer sees what those
		 * before did, and writes after the readers have read. Pairs with rwlock.R1,
		 * rwlock.R2 and rwlock.R3.
		 */
		if (ipcwait_impl_cas64_acquire(
			    &me->lock->word, w,
			    without_writer(me, (*w | RWLOCK_WRITER) & ~RWLOCK_NEXT) |
				    me->timed))
			return true;
	}
	return false;
}

/* The same, but lets another one that has slept go first. */
static bool write_lock_in_turn(struct rwlock_waiter *me, uint64_t *w)
{
	return (!(*w & RWLOCK_NEXT) || me->next) && write_lock(me, w);
}

/*
 * NEXT 0 -> 1 by one that has slept: those who come let it go first. A wake that is under way is
 * over, unless the lock is free: then it is for an overdue writer.
 *
 * SPINNER 0 -> 1 by another one while some sleep, so that an unlock leaves the lock to it instead
 * of waking one of them. Where a wake is under way that is not needed, nor right: the lock may be
 * free, for an overdue writer. A writer that finds no room among the sleepers will not be woken,
 * and must not keep the lock waiting for so long.
 */
static uint64_t marked(const struct rwlock_waiter *me, uint64_t w)
{
	uint64_t sleepers = w & RWLOCK_WSLEEPERS_MASK;

	if (counted(me, w) && !rwlock_is_free(w))
		return (w & ~RWLOCK_WAKE) | RWLOCK_NEXT;
	if (w & (RWLOCK_WAKE | RWLOCK_SPINNER) || !sleepers ||
	    sleepers == RWLOCK_WSLEEPERS_MASK)
		return w;
	return w | RWLOCK_SPINNER;
}

/* One attempt per look. */
static void mark(struct rwlock_waiter *me, uint64_t w)
{
	uint64_t next = marked(me, w);

	/* ORD rwlock_wait.X5: relaxed, re-checked: an unlock reads the bits in its CAS. */
	if (next == w || !ipcwait_impl_cas64_relaxed(&me->lock->word, &w, next))
		return;
	me->next = next & RWLOCK_NEXT;
	me->spinner = next & RWLOCK_SPINNER;
}

/* Another one looks whom the lock will be left to. One that has slept comes before a SPINNER. */
static bool is_behind(const struct rwlock_waiter *me, uint64_t w)
{
	if (w & RWLOCK_NEXT)
		return !me->next;
	return w & RWLOCK_SPINNER && !me->spinner && !counted(me, w);
}

static enum iw_seen writer_look(struct iw_waiter *base)
{
	struct rwlock_waiter *me = (struct rwlock_waiter *)base;
	uint64_t w = load_word(me);

	if (write_lock_in_turn(me, &w))
		return IW_THERE;
	if (is_behind(me, w))
		return IW_AWAY_CROWDED;
	mark(me, w);
	return IW_AWAY;
}

/*
 * A wake of an unlock would come too late: others had the lock before this writer was up from its
 * last wake or nap, or another one looks, or it would rather have spun. One that naps is enough, as
 * it looks soon. Short sections are over before a nap: there are no naps then.
 */
static bool would_nap(const struct rwlock_waiter *me, uint64_t w)
{
	if (me->overdue || (w & RWLOCK_QUIET && !me->naps) ||
	    iw_pace_apart_ns(rwlock_pace(me->lock)))
		return false;
	return me->naps || (me->sleeper && me->base.woken) ||
	       me->base.reason == IW_CROWDED || me->base.reason == IW_BUDGET_EMPTY;
}

/*
 * s -> s+1 or s, WAKE -> 0, SPINNER -> 0. As in the semaphore, to forget the wake under way lets
 * a writer sleep only where WAKE is zero, which makes WAKE safe. While the lock is free, for an
 * overdue writer, WAKE is that one's, and stays.
 */
static uint64_t writer_asleep(const struct rwlock_waiter *me, uint64_t w, bool naps)
{
	uint64_t asleep = w + (counted(me, w) ? 0 : RWLOCK_WSLEEPER_ONE);

	if (me->next)
		asleep &= ~RWLOCK_NEXT;
	if (!rwlock_is_free(w))
		asleep &= ~(RWLOCK_WAKE | RWLOCK_SPINNER);
	if (ends_quiet(me))
		asleep &= ~RWLOCK_QUIET;
	if (naps)
		asleep |= RWLOCK_QUIET;
	return me->overdue ? asleep | RWLOCK_URGENT : asleep;
}

static struct iw_rest writer_settle(struct iw_waiter *base)
{
	struct rwlock_waiter *me = (struct rwlock_waiter *)base;
	uint64_t w = load_word(me), asleep;
	bool naps;

	note_time(me, true);
	for (;;) {
		if (write_lock(me, &w))
			return iw_rest_taken();
		if (iw_rwlock_doubt(me, w)) {
			w = load_word(me);
			continue;
		}
		if (!counted(me, w) && (w & RWLOCK_WSLEEPERS_MASK) == RWLOCK_WSLEEPERS_MASK)
			return iw_rest_unpublished();
		naps = would_nap(me, w);
		asleep = writer_asleep(me, w, naps);
		/* ORD rwlock_wait.X6: relaxed, no order needed, as rwlock_wait.X3. */
		if (w == asleep || ipcwait_impl_cas64_relaxed(&me->lock->word, &w, asleep))
			break;
	}
	me->spinner = me->next = false;
	me->naps = naps;
	if (naps)
		me->until_ns = iw_clock_ns() + NAP_NS;
	return announced(me, asleep,
			 RWLOCK_BITS_WRITER | (me->overdue ? RWLOCK_BITS_OVERDUE : 0));
}

/* s -> s-1, and RWAKE -> 1 if that lets readers in who sleep. */
static bool writer_withdraw(struct iw_waiter *base)
{
	struct rwlock_waiter *me = (struct rwlock_waiter *)base;
	struct iw_waker waker = iw_waker_on(&rwlock_layout, me->lock);
	uint64_t w = load_word(me), next;
	bool due;

	do {
		if (write_lock(me, &w))
			return true;
		next = without_writer(me, w);
		due = rwlock_lets_readers_in(next) && next & RWLOCK_RSLEEPERS_MASK &&
		      !(next & RWLOCK_RWAKE);
		iw_waker_stamp(&waker, due);
		if (due)
			next |= RWLOCK_RWAKE;
		/* ORD rwlock_wait.X7: relaxed, no order needed: nothing was taken. */
	} while (w != next && !ipcwait_impl_cas64_relaxed(&me->lock->word, &w, next));
	if (due)
		(void)iw_waker_wake_bits(&waker, INT_MAX, RWLOCK_BITS_READER);
	return false;
}

bool iw_rwlock_take(struct rwlock_waiter *me)
{
	uint64_t w = load_word(me);

	return me->base.what == &iw_rwlock_reader ? read_lock_in_turn(me, &w)
						  : write_lock_in_turn(me, &w);
}

const struct iw_waitable iw_rwlock_reader = {
	.kind = IPCWAIT_KIND_RWLOCK,
	.look = reader_look,
	.settle = reader_settle,
	.withdraw = reader_withdraw,
};

const struct iw_waitable iw_rwlock_writer = {
	.kind = IPCWAIT_KIND_RWLOCK,
	.look = writer_look,
	.settle = writer_settle,
	.withdraw = writer_withdraw,
};
