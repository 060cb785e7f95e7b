/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "os/cpu.h"
#include "os/seam.h"
#include "wait/cost.h"
#include "wait/policy.h"
#include "wait/stats.h"
#include "wait/wait.h"
#include "wait/window.h"

/* How often a waiter that could not be published looks, in ns. */
#define NAP_NS 1000000

/*
 * How long a wake may be under way before it is doubted, in ns: twenty times the slowest
 * wake-up of an idle CPU on the project's guest. One that queues for a CPU may take longer;
 * doubting it costs a needless wake per millisecond.
 */
#define WAKE_FRESH_NS 1000000

/* What the sleeps of one wait leave behind. */
struct sleep {
	bool learning;      /* there is a second CPU, so the clock is worth reading */
	uint64_t asleep_at; /* when the current sleep began, or the last one ended */
	uint64_t late_ns;   /* how long before that the waker stamped the object, or 0 */
};

static uint64_t now_ns(void)
{
	return (uint64_t)iw_clock_ns();
}

int iw_sleep_once(enum ipcwait_kind kind, const uint32_t *futex, uint32_t expected,
		  int64_t deadline_ns, bool private_)
{
	iw_count(kind, IW_FUTEX_WAITS, 1);
	return iw_futex_wait(futex, expected, deadline_ns < 0 ? 0 : deadline_ns, private_);
}

/*
 * The futex word is a local one that nobody wakes: on the object's word the nap could take a
 * wake that is meant for a published sleeper.
 */
static int nap(struct iw_waiter *me, struct sleep *s)
{
	int64_t until = iw_clock_ns() + NAP_NS;
	bool last = me->deadline_ns < until;
	uint32_t nobody = 0;
	int r = iw_sleep_once(me->what->kind, &nobody, 0, last ? me->deadline_ns : until,
			      true);

	if (s->learning)
		*s = (struct sleep){ .learning = true, .asleep_at = now_ns() };
	return r == -ETIMEDOUT && !last ? 0 : r;
}

/*
 * How long before @now the wait really ended. The waker's stamp tells, if it was put during
 * this sleep: then it is a sample of the machine's wake latency too. Else the usual latency
 * is taken, since a sleeper never runs at once.
 */
static uint64_t lateness(const struct iw_waiter *me, uint64_t now, uint64_t slept_ns)
{
	uint64_t age_ns, usual_ns;

	if (!me->woken)
		return 0;
	if (iw_window_stamp_age(me->window, now, slept_ns, &age_ns)) {
		iw_cost_note_latency(age_ns);
		return age_ns;
	}
	usual_ns = iw_cost_latency_ns(me->facts);
	return usual_ns < slept_ns ? usual_ns : slept_ns;
}

static int sleep_published(struct iw_waiter *me, uint32_t expected, struct sleep *s)
{
	int r = iw_sleep_once(me->what->kind, me->futex, expected, me->deadline_ns,
			      me->private_);
	uint64_t now, slept_ns;

	me->woken = r == 0;
	if (!s->learning)
		return r;
	now = now_ns();
	slept_ns = now - s->asleep_at;
	iw_count(me->what->kind, IW_SLEPT_NS, slept_ns);
	s->late_ns = lateness(me, now, slept_ns);
	s->asleep_at = now;
	return r;
}

/*
 * A thread that wakes its partner and then waits for it, waits for the partner's wake-up
 * too. Two threads that hand work back and forth would each learn from that that waits are
 * long, and go on sleeping for good, although either of them could end it by spinning once.
 * So the part of the wait that comes from our own wake is not learned, and a spin that
 * would pay without it is lengthened by it. Returns what is left of the wake-up by now.
 */
static uint64_t delay_from_own_wake(const struct iw_facts *facts)
{
	struct iw_thread *self = iw_self();
	uint64_t awake_at, now;

	if (!self->woke_at_ns)
		return 0;
	awake_at = self->woke_at_ns + iw_cost_latency_ns(facts);
	self->woke_at_ns = 0;
	now = now_ns();
	return awake_at > now ? awake_at - now : 0;
}

static void record(const struct iw_waiter *me, uint64_t wait_ns)
{
	iw_window_record(me->window, wait_ns > me->delay_ns ? wait_ns - me->delay_ns : 0,
			 me->block_ns);
}

/* The wait ends without success, for the reason @r, unless it is there at the last moment. */
static int give_up(struct iw_waiter *me, int r)
{
	if (me->what->withdraw(me))
		r = 0;
	if (r == 0)
		iw_count(me->what->kind, IW_SLEPT, 1);
	else if (r == -ETIMEDOUT)
		iw_count(me->what->kind, IW_EXPIRED, 1);
	else if (r == -EINTR)
		iw_count(me->what->kind, IW_INTERRUPTED, 1);
	return r;
}

static bool spin(struct iw_waiter *me, uint64_t *spun_ns)
{
	bool taken = iw_spin(me, spun_ns);

	if (*spun_ns)
		iw_count(me->what->kind, taken ? IW_SPUN_USEFUL_NS : IW_SPUN_WASTED_NS,
			 *spun_ns);
	return taken;
}

/*
 * Looks after a sleep that ended with @r. A waiter that paid for a sleep in vain spins before
 * the next: whoever overtook it may be done soon. Then the wait lasted beyond the stamp.
 */
static bool taken_after(struct iw_waiter *me, int r, struct sleep *s)
{
	uint64_t spun_ns;

	if (me->what->look(me))
		return true;
	if (r != 0 || !spin(me, &spun_ns))
		return false;
	s->asleep_at += spun_ns;
	s->late_ns = 0;
	return true;
}

/*
 * Go to sleep, and again whenever somebody else was faster after the wake.
 *
 * The true length of the wait ends at the waker's stamp, which is late_ns before the last
 * reading of the clock. A thread that has no second CPU will not spin whatever it learns, so
 * it learns nothing and spares itself the clock, 22 ns a reading on the project's guest.
 */
static int sleep_until_taken(struct iw_waiter *me, uint64_t spun_ns)
{
	bool learning = me->facts && !iw_self()->alone;
	struct sleep s = { .learning = learning, .asleep_at = learning ? now_ns() : 0 };
	uint64_t start_ns = s.asleep_at - spun_ns, waited_ns;
	int r = 0;

	do {
		uint32_t expected;
		enum iw_settled how = me->what->settle(me, &expected);

		if (how == IW_TAKEN)
			break;
		r = how == IW_SLEEP ? sleep_published(me, expected, &s) : nap(me, &s);
	} while ((r == 0 || r == -EAGAIN) && !taken_after(me, r, &s));

	waited_ns = s.asleep_at - start_ns - s.late_ns;
	if (r != 0 && r != -EAGAIN) {
		/* Nobody ended it: it lasted at least this long, which says enough beyond 2B. */
		if (learning && waited_ns >= 2 * me->block_ns)
			record(me, waited_ns);
		return give_up(me, r);
	}
	if (learning)
		record(me, waited_ns);
	iw_count(me->what->kind, IW_SLEPT, 1);
	return 0;
}

int iw_wait(struct iw_waiter *me)
{
	uint64_t spun_ns;

	if (me->deadline_ns != IPCWAIT_FOREVER && me->deadline_ns <= iw_clock_ns()) {
		if (me->what->withdraw(me))
			return 0;
		iw_count(me->what->kind, IW_EXPIRED, 1);
		return -ETIMEDOUT;
	}
	me->facts = iw_facts();
	if (me->facts) {
		me->preset = iw_policy_preset(me->facts, me->window);
		me->block_ns = iw_cost_block_ns(me->facts, me->preset);
		me->delay_ns = delay_from_own_wake(me->facts);
	}
	if (!spin(me, &spun_ns))
		return sleep_until_taken(me, spun_ns);
	record(me, spun_ns);
	iw_count(me->what->kind, IW_SPUN, 1);
	return 0;
}

/* Put also where nothing is learned from it: iw_stamp_fresh() depends on it. */
uint64_t iw_stamp(struct ipcwait_window *w)
{
	uint64_t now = now_ns();

	iw_window_put_stamp(w, now, iw_cpu_current());
	return iw_self()->alone ? 0 : now;
}

bool iw_stamp_fresh(const struct ipcwait_window *w)
{
	uint64_t age_ns;

	return iw_window_stamp_age(w, now_ns(), WAKE_FRESH_NS, &age_ns);
}

/* Every fourth wake is timed: the clock costs as much as the rest of the book-keeping. */
static void learn_from_wake(uint64_t begin_ns, unsigned woken)
{
	struct iw_thread *self = iw_self();

	self->woke_at_ns = begin_ns;
	if (self->wakes++ % 4 == 0)
		iw_cost_note_waker((now_ns() - begin_ns) / woken);
}

int iw_wake(enum ipcwait_kind kind, const uint32_t *futex, uint32_t count, bool private_,
	    uint64_t begin_ns)
{
	int woken = iw_futex_wake(futex, count, private_);

	iw_count(kind, IW_FUTEX_WAKES, 1);
	if (woken > 0 && begin_ns)
		learn_from_wake(begin_ns, (unsigned)woken);
	return woken;
}
