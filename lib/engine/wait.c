/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "os/seam.h"
#include "engine/admit.h"
#include "policy/cost.h"
#include "watch/observe.h"
#include "policy/policy.h"
#include "watch/stats.h"
#include "engine/wait.h"
#include "policy/window.h"

/* How often a waiter that could not be published looks, in ns. */
#define NAP_NS 1000000

/* The course of one wait. Times are those of CLOCK_MONOTONIC, and 0 if not learning. */
struct course {
	bool learning;      /* there is a second CPU, so the clock is worth reading */
	bool dirty;         /* its length is not known */
	bool timed;         /* a timer of ours ended the last sleep */
	uint64_t spun_ns;   /* how long all spins took */
	uint64_t began_at;  /* when the wait began */
	uint64_t asleep_at; /* when the current sleep began, or the last one ended */
	uint64_t late_ns;   /* how long before that the waker stamped the object, or 0 */
	int64_t timer_ns;   /* deadline of the next sleep, 0 if only a wake ends it */
	struct iw_outcome outcome;
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
static int nap(struct iw_waiter *me, struct course *c)
{
	int64_t until = iw_clock_ns() + NAP_NS;
	bool last = me->deadline_ns < until;
	uint32_t nobody = 0;
	int r = iw_sleep_once(me->what->kind, &nobody, 0, last ? me->deadline_ns : until,
			      true);

	if (c->learning)
		c->began_at = c->asleep_at = now_ns();
	c->timed = false;
	c->late_ns = 0;
	c->timer_ns = 0;
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

/*
 * How late the timer was: it ended the sleep, or had not yet when the waker came. Leaving out
 * the latter would leave out the latest.
 */
static void note_timer(const struct course *c)
{
	uint64_t ended_at = c->asleep_at - c->late_ns;

	if (c->timer_ns && ended_at > (uint64_t)c->timer_ns)
		iw_cost_note_timer(ended_at - (uint64_t)c->timer_ns);
}

static void note_sleep(const struct iw_waiter *me, struct course *c)
{
	uint64_t now = now_ns(), slept_ns = now - c->asleep_at;

	c->outcome.slept_ns += slept_ns;
	iw_count(me->what->kind, IW_SLEPT_NS, slept_ns);
	c->late_ns = lateness(me, now, slept_ns);
	c->asleep_at = now;
}

/* Sleep in the way of the primitive. */
static int sleep_once(struct iw_waiter *me, uint32_t expected, int64_t until_ns)
{
	if (me->what->sleep)
		return me->what->sleep(me, expected, until_ns);
	if (!me->bits)
		return iw_sleep_once(me->what->kind, me->futex, expected, until_ns,
				     me->private_);
	iw_count(me->what->kind, IW_FUTEX_WAITS, 1);
	return iw_futex_wait_bits(me->futex, expected, until_ns < 0 ? 0 : until_ns,
				  me->private_, me->bits);
}

static int64_t sooner(int64_t deadline_ns, int64_t alarm_ns)
{
	return alarm_ns && alarm_ns < deadline_ns ? alarm_ns : deadline_ns;
}

static int sleep_published(struct iw_waiter *me, uint32_t expected, struct course *c)
{
	int64_t timer_ns = c->timer_ns;
	int64_t until_ns = timer_ns ? timer_ns : sooner(me->deadline_ns, me->alarm_ns);
	int r = sleep_once(me, expected, until_ns);

	me->woken = r == 0;
	c->timed = timer_ns && r == -ETIMEDOUT;
	if (c->learning)
		note_sleep(me, c);
	if (timer_ns && r != -EAGAIN) {
		iw_count(me->what->kind, IW_TIMED_SLEEPS, 1);
		note_timer(c);
		c->timer_ns = 0;
	}
	return r == -ETIMEDOUT && until_ns < me->deadline_ns ? 0 : r;
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

static void record(const struct iw_waiter *me, struct course *c, uint64_t wait_ns)
{
	c->outcome.wait_ns = wait_ns > me->delay_ns ? wait_ns - me->delay_ns : 0;
	iw_window_record(me->window, c->outcome.wait_ns, me->behind_ns, me->block_ns);
}

/* The next wait on the object may be regular only if counted from the end of this one. */
static void note_lateness(const struct iw_waiter *me, const struct course *c)
{
	struct iw_thread *self = iw_self();

	self->late_on = me->window;
	self->late_ns = c->late_ns;
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

static void count_spin(enum ipcwait_kind kind, bool taken, const struct iw_spun *spun,
		       struct iw_outcome *o)
{
	uint64_t cpu_ns = spun->ns - spun->lost_ns;

	if (cpu_ns)
		iw_count(kind, taken ? IW_SPUN_USEFUL_NS : IW_SPUN_WASTED_NS, cpu_ns);
	if (spun->reason == IW_PREEMPTED)
		iw_count(kind, IW_SPINS_PREEMPTED, 1);
	else if (spun->reason == IW_STOLEN)
		iw_count(kind, IW_SPINS_STOLEN, 1);
	*(taken ? &o->spun_useful_ns : &o->spun_wasted_ns) += cpu_ns;
	/* Why it slept is why the first one ended, whatever comes of those after the sleep. */
	if (o->reason)
		return;
	o->window_ns = spun->window_ns;
	o->reason = spun->reason;
}

/* For @limit_ns, or the window if that is 0. */
static bool spin(struct iw_waiter *me, struct course *c, uint64_t limit_ns)
{
	struct iw_spun spun;
	bool taken = iw_spin(me, limit_ns, &spun);

	count_spin(me->what->kind, taken, &spun, &c->outcome);
	me->reason = spun.reason;
	c->dirty = taken && spun.dirty;
	c->spun_ns += spun.ns;
	c->asleep_at += spun.ns;
	if (taken)
		c->late_ns = 0;
	return taken;
}

/* @after_ns after the beginning of a usual wait. */
static uint64_t expected_at(const struct iw_waiter *me, const struct course *c,
			    uint64_t after_ns)
{
	return c->began_at + me->delay_ns + after_ns - me->behind_ns;
}

/* The timer ended the sleep before a wake did: the rest is worth spinning. */
static bool taken_after_timer(struct iw_waiter *me, struct course *c)
{
	uint64_t until = expected_at(me, c, me->plan.sleep.until_ns), left_ns;

	if (me->what->withdraw(me))
		return true;
	if (c->asleep_at >= until)
		return false;
	left_ns = until - c->asleep_at;
	if (left_ns > me->plan.spin_again_ns)
		left_ns = me->plan.spin_again_ns;
	return left_ns && spin(me, c, left_ns);
}

/*
 * Looks after a sleep that ended with @r. A waiter that paid for a sleep in vain spins before
 * the next: whoever overtook it may be done soon. Then the wait lasted beyond the stamp.
 */
static bool taken_after(struct iw_waiter *me, int r, struct course *c)
{
	if (c->timed)
		return taken_after_timer(me, c);
	return me->what->look(me) || (r == 0 && c->learning && spin(me, c, me->again_ns));
}

/*
 * Where waits are regular, the first sleep ends shortly before its expected end. There is no
 * timer if that is past, where something has gone wrong with the spin, nor if the caller's
 * deadline comes first.
 */
static void set_timer(const struct iw_waiter *me, struct course *c)
{
	uint64_t wake_at = expected_at(me, c, me->plan.sleep.wake_ns);

	if (c->learning && me->plan.timed && wake_at > c->asleep_at &&
	    (int64_t)wake_at < me->deadline_ns)
		c->timer_ns = (int64_t)wake_at;
}

/*
 * Go to sleep, and again whenever somebody else was faster after the wake.
 *
 * The true length of the wait ends at the waker's stamp, which is late_ns before the last
 * reading of the clock. A thread that has no second CPU will not spin whatever it learns, so
 * it learns nothing and spares itself the clock, 22 ns a reading on the project's guest.
 */
static int sleep_until_taken(struct iw_waiter *me, struct course *c)
{
	uint64_t waited_ns;
	int r = 0;

	c->learning = me->facts && !iw_self()->alone;
	c->asleep_at = c->learning ? now_ns() : 0;
	c->began_at = c->asleep_at - c->spun_ns;
	set_timer(me, c);
	do {
		uint32_t expected;
		enum iw_settled how = me->what->settle(me, &expected);

		if (how == IW_TAKEN)
			break;
		r = how == IW_SLEEP ? sleep_published(me, expected, c) : nap(me, c);
		if (r == -EINTR && me->what->restarts)
			r = -EAGAIN;
	} while ((r == 0 || r == -EAGAIN) && !taken_after(me, r, c));

	waited_ns = c->asleep_at - c->began_at - c->late_ns;
	if (r != 0 && r != -EAGAIN) {
		/* Nobody ended it: it lasted at least this long, which says enough beyond 2B. */
		if (c->learning && waited_ns >= 2 * me->block_ns) {
			c->outcome.wait_ns = waited_ns;
			iw_window_record_unended(me->window);
		}
		return give_up(me, r);
	}
	if (c->learning && !c->dirty)
		record(me, c, waited_ns);
	iw_count(me->what->kind, IW_SLEPT, 1);
	return 0;
}

/* What the engine knows before the wait. */
static void prepare(struct iw_waiter *me)
{
	if (!me->facts)
		return;
	me->preset = iw_policy_preset(me->facts, me->window);
	me->block_ns = iw_cost_block_ns(me->facts, me->preset);
	me->delay_ns = delay_from_own_wake(me->facts);
	me->behind_ns = iw_self()->late_on == me->window ? iw_self()->late_ns : 0;
}

/* Spins, unless it is known without asking that spinning is of no use. */
static bool taken_at_once(struct iw_waiter *me, struct course *c)
{
	me->facts = iw_facts();
	c->outcome.reason = iw_admit_still_alone(me);
	if (c->outcome.reason)
		return false;
	prepare(me);
	return spin(me, c, 0);
}

/*
 * Every function between the system call and the caller costs: the processor has lost its
 * stack of return addresses when a thread runs again. So there are few.
 */
static int wait_through(struct iw_waiter *me, struct course *c)
{
	if (!taken_at_once(me, c))
		return sleep_until_taken(me, c);
	if (!c->dirty)
		record(me, c, c->spun_ns);
	iw_count(me->what->kind, IW_SPUN, 1);
	return 0;
}

int iw_wait(struct iw_waiter *me)
{
	struct course c = { .outcome = { .window = me->window, .kind = me->what->kind } };

	if (me->deadline_ns != IPCWAIT_FOREVER && me->deadline_ns <= iw_clock_ns()) {
		if (me->what->withdraw(me))
			return 0;
		iw_count(me->what->kind, IW_EXPIRED, 1);
		return -ETIMEDOUT;
	}
	c.outcome.result = wait_through(me, &c);
	note_lateness(me, &c);
	iw_observe(me->facts, &c.outcome);
	return c.outcome.result;
}
