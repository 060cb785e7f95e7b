/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "engine/migrate.h"
#include "engine/plan.h"
#include "engine/sleep.h"
#include "engine/spin.h"
#include "engine/wait.h"
#include "os/probes.h"
#include "os/seam.h"
#include "policy/call_cost.h"
#include "policy/cost.h"
#include "policy/policy.h"
#include "policy/window.h"
#include "watch/observe.h"
#include "watch/stats.h"

/* One sleep in so many is a sample of what a wake costs: a sample moves shared lines. */
#define SLEEPS_PER_SAMPLE 4

/* The course of a wait that is learned from. Times are those of CLOCK_MONOTONIC. */
struct course {
	bool dirty;         /* its length is not known */
	bool timed;         /* a timer of ours ended the last sleep */
	uint64_t spun_ns;   /* how long all spins took, of this thread's time ... */
	uint64_t took_ns;   /* ... and of all */
	uint64_t began_at;  /* when the wait began */
	uint64_t asleep_at; /* when the current sleep began, or the last one ended */
	uint64_t late_ns;   /* how long before that the waker stamped the object, or 0 */
	int64_t timer_at; /* when a timer of ours ends the next sleep; IPCWAIT_FOREVER: none */
	struct iw_timed_plan plan; /* if there is one */
	struct iw_outcome outcome;
};

/* @age_ns since the wake. One of a sleep that had just begun is no sample, see IW_ENTRY_NS. */
static void note_latency(const struct iw_waiter *me, uint64_t slept_ns, uint64_t age_ns)
{
	if (me->sleep && slept_ns - age_ns < IW_ENTRY_NS)
		return;
	if (iw_self()->sleeps++ % SLEEPS_PER_SAMPLE == 0 || me->reason == IW_PROBE)
		iw_cost_note_latency(age_ns);
}

/*
 * Nobody has put a stamp. If the wait slept where it could have spun, how much longer it took than
 * the last one that did is what sleeping costs.
 */
static uint64_t lateness_in_kernel(const struct iw_waiter *me, uint64_t slept_ns)
{
	const struct iw_thread *self = iw_self();

	if (me->reason == IW_PROBE && self->spun_on == me->window &&
	    slept_ns >= IW_ENTRY_NS)
		iw_call_cost_note(me->facts, iw_tick_now(&me->facts->rate), slept_ns,
				  self->spun_ns);
	return me->delay_ns < slept_ns ? me->delay_ns : slept_ns;
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
	if (me->what->in_kernel)
		return lateness_in_kernel(me, slept_ns);
	if (iw_window_stamp_age(me->window, iw_clock_common(now), slept_ns, &age_ns)) {
		note_latency(me, slept_ns, age_ns);
		return age_ns;
	}
	usual_ns = iw_cost_latency_ns(me->facts);
	return usual_ns < slept_ns ? usual_ns : slept_ns;
}

static void note_sleep(const struct iw_waiter *me, struct course *c)
{
	uint64_t now = iw_now_ns(), slept_ns = now > c->asleep_at ? now - c->asleep_at : 0;

	c->outcome.slept_ns += slept_ns;
	c->late_ns = lateness(me, now, slept_ns);
	c->asleep_at = now;
}

/*
 * How late the timer was: it ended the sleep, or had not yet when the waker came. Leaving out
 * the latter would leave out the latest.
 */
static void note_timer(const struct iw_waiter *me, const struct course *c)
{
	uint64_t ended_at = c->asleep_at - c->late_ns;

	iw_count(me->what->kind, IW_TIMED_SLEEPS, 1);
	if (ended_at > (uint64_t)c->timer_at)
		iw_cost_note_timer(ended_at - (uint64_t)c->timer_at);
}

static int64_t sooner(int64_t a_ns, int64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* When a sleep ends at the latest, if no timer of ours ends it. */
static int64_t ends_at(const struct iw_waiter *me, const struct iw_rest *rest)
{
	int64_t until_ns = sooner(me->deadline_ns, rest->until_ns);
	int64_t ns = iw_sleep_look_ns(me, rest);

	return ns ? sooner(until_ns, iw_clock_ns() + ns) : until_ns;
}

static int sleep_until(struct iw_waiter *me, const struct iw_rest *rest, int64_t until_ns)
{
	int r;

	iw_probe_sleep(me->window, me->site, me->what->kind, me->reason);
	r = iw_sleep_as(me, rest, until_ns);
	iw_probe_woken(me->window, r < 0 ? r : 0);
	me->woken = r >= 0;
	me->woken_on = r > 0 ? (unsigned)r : 0;
	return r;
}

/* The sleep until @until_ns ended with @r: was that its alarm? The next comes later. */
static bool alarm_rang(struct iw_waiter *me, const struct iw_rest *rest, int64_t until_ns,
		       int r)
{
	int64_t ns = iw_sleep_look_ns(me, rest);

	if (r != -ETIMEDOUT || until_ns >= me->deadline_ns || !ns)
		return false;
	me->alarm_ns = ns;
	return rest->word;
}

/* What a sleep until @until_ns that ended with @r means for the wait. 0, -EAGAIN: go on. */
static int after_sleep(const struct iw_waiter *me, int64_t until_ns, int r)
{
	if (r == -EINTR && !me->interruptible)
		return -EAGAIN;
	return r > 0 || (r == -ETIMEDOUT && until_ns < me->deadline_ns) ? 0 : r;
}

static bool goes_on(int r)
{
	return r == 0 || r == -EAGAIN;
}

/* Until a wake, the deadline, the primitive's own time or our timer: whichever comes first. */
static int sleep_through(struct iw_waiter *me, const struct iw_rest *rest, struct course *c)
{
	int64_t until_ns = ends_at(me, rest);
	bool timed = c->timer_at < until_ns && rest->may_spin && rest->word;
	int r;

	if (timed)
		until_ns = c->timer_at;
	r = sleep_until(me, rest, until_ns);
	c->timed = timed && r == -ETIMEDOUT;
	/* What an alarm finds may have been there for long. */
	c->dirty = !timed && alarm_rang(me, rest, until_ns, r);
	note_sleep(me, c);
	if (timed && r != -EAGAIN)
		note_timer(me, c);
	if (r != -EAGAIN)
		c->timer_at = IPCWAIT_FOREVER;
	return after_sleep(me, until_ns, r);
}

static bool taken_in_withdrawing(struct iw_waiter *me)
{
	return me->what->withdraw ? me->what->withdraw(me) : me->what->look(me) == IW_THERE;
}

/* Why it slept is why the first spin ended, whatever comes of those after the sleep. */
static void note_spin(struct course *c, bool taken, const struct iw_spun *spun)
{
	struct iw_outcome *o = &c->outcome;
	uint64_t cpu_ns = spun->ns - spun->lost_ns;

	*(taken ? &o->spun_useful_ns : &o->spun_wasted_ns) += cpu_ns;
	if (cpu_ns)
		iw_count(o->kind, taken ? IW_SPUN_USEFUL_NS : IW_SPUN_WASTED_NS, cpu_ns);
	if (spun->reason == IW_PREEMPTED)
		iw_count(o->kind, IW_SPINS_PREEMPTED, 1);
	else if (spun->reason == IW_STOLEN)
		iw_count(o->kind, IW_SPINS_STOLEN, 1);
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

	note_spin(c, taken, &spun);
	me->reason = spun.reason;
	c->dirty = taken && spun.dirty;
	c->spun_ns += spun.ns;
	c->took_ns += spun.ns + spun.given_ns;
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
	uint64_t until = expected_at(me, c, c->plan.sleep.until_ns), left_ns;

	if (taken_in_withdrawing(me))
		return true;
	if (c->asleep_at >= until)
		return false;
	left_ns = until - c->asleep_at;
	return spin(me, c, left_ns < c->plan.spin_ns ? left_ns : c->plan.spin_ns);
}

/*
 * Looks after a sleep that ended with @r. A waiter that was woken for what another took spins
 * before the next sleep, if it may; if it is overdue even where waits are long.
 */
static bool taken_after(struct iw_waiter *me, const struct iw_rest *rest, int r,
			struct course *c)
{
	uint64_t spin_ns = rest->spin_ns;
	enum iw_seen seen;
	bool spins;

	if (c->timed)
		return taken_after_timer(me, c);
	seen = me->what->look(me);
	if (seen != IW_AWAY)
		return seen == IW_THERE;
	spins = me->woken && (me->share || me->preset > IPCWAIT_POWER);
	if (me->woken && !spins && !spin_ns)
		spin_ns = iw_plan_overdue_ns(me, c->asleep_at - c->began_at, c->spun_ns);
	return r == 0 && rest->may_spin && (spins || spin_ns) && spin(me, c, spin_ns);
}

/*
 * Where waits are regular, the first sleep ends shortly before its expected end. There is no
 * timer if that is past, where something has gone wrong with the spin.
 */
static void set_timer(struct iw_waiter *me, struct course *c)
{
	uint64_t wake_at;

	c->timer_at = IPCWAIT_FOREVER;
	if (!iw_plan_timed(me, c->spun_ns, &c->plan))
		return;
	wake_at = expected_at(me, c, c->plan.sleep.wake_ns);
	if (wake_at > c->asleep_at)
		c->timer_at = (int64_t)wake_at;
}

/* What can be counted before a sleep is: afterwards somebody waits for this thread. */
static void count_sleep(const struct iw_waiter *me, enum iw_reason why)
{
	iw_count(me->what->kind, IW_SLEPT, 1);
	if (why)
		iw_count_reason(why);
}

/* The first sleep is near. */
static void begin_sleeping(struct iw_waiter *me, struct course *c)
{
	count_sleep(me, c->outcome.reason);
	c->timer_at = IPCWAIT_FOREVER;
	c->asleep_at = iw_now_ns();
	c->began_at = c->asleep_at - c->spun_ns;
	if (me->preset == IPCWAIT_LATENCY)
		set_timer(me, c);
}

/* The wait ends without success, for the reason @r, unless it is there at the last moment. */
static int give_up(struct iw_waiter *me, int r)
{
	if (taken_in_withdrawing(me))
		return 0;
	iw_count(me->what->kind, IW_SLEPT, (uint64_t)-1);
	if (r == -ETIMEDOUT)
		iw_count(me->what->kind, IW_EXPIRED, 1);
	else if (r == -EINTR)
		iw_count(me->what->kind, IW_INTERRUPTED, 1);
	return r;
}

/*
 * Learn from the length of a wait that slept. It ends at the waker's stamp, which is late_ns
 * before the last reading of the clock. One that nobody ended lasted at least so long, which says
 * enough beyond 2B; but a deadline that always passes is no rhythm.
 */
static void learn(struct iw_waiter *me, struct course *c, bool ended)
{
	uint64_t waited_ns = c->asleep_at - c->began_at - c->late_ns;

	iw_count(me->what->kind, IW_SLEPT_NS, c->outcome.slept_ns);
	if (c->dirty || (!ended && waited_ns < 2 * me->block_ns))
		return;
	/* The call that was to sleep found it. */
	if (me->what->in_kernel && c->outcome.slept_ns < IW_ENTRY_NS)
		return;
	c->outcome.wait_ns = waited_ns;
	c->outcome.caused_ns = waited_ns < me->delay_ns ? waited_ns : me->delay_ns;
	iw_plan_learn_slept(me, waited_ns, c->spun_ns, ended);
}

/* Go to sleep, and again whenever somebody else was faster after the wake. */
static int sleep_until_taken(struct iw_waiter *me, struct course *c)
{
	struct iw_rest rest;
	int r = 0;

	begin_sleeping(me, c);
	do {
		rest = me->what->settle(me);
		if (rest.taken)
			break;
		r = sleep_through(me, &rest, c);
	} while (goes_on(r) && !taken_after(me, &rest, r, c));

	learn(me, c, goes_on(r));
	return goes_on(r) ? 0 : give_up(me, r);
}

/*
 * The same where spinning could not pay, whatever was learned: no spin, nothing of it is
 * remembered, and no clock is read but for @woken_at.
 */
static int sleep_plainly(struct iw_waiter *me, uint64_t *woken_at)
{
	int r = 0;

	count_sleep(me, me->reason);
	do {
		struct iw_rest rest = me->what->settle(me);
		int64_t until_ns;

		if (rest.taken)
			break;
		until_ns = ends_at(me, &rest);
		r = sleep_until(me, &rest, until_ns);
		if (woken_at)
			*woken_at = iw_now_ns();
		(void)alarm_rang(me, &rest, until_ns, r);
		r = after_sleep(me, until_ns, r);
	} while (goes_on(r) && me->what->look(me) != IW_THERE);
	return goes_on(r) ? 0 : give_up(me, r);
}

/* The deadline is past: what is there is taken, and nothing else is done. */
static int poll(struct iw_waiter *me)
{
	if (taken_in_withdrawing(me))
		return 0;
	iw_count(me->what->kind, IW_EXPIRED, 1);
	return -ETIMEDOUT;
}

/* It spun, and did not sleep. */
static int end_spinning(struct iw_waiter *me, struct course *c)
{
	iw_count(me->what->kind, IW_SPUN, 1);
	c->outcome.wait_ns = c->dirty ? 0 : c->spun_ns;
	if (me->what->in_kernel && !c->dirty) {
		iw_self()->spun_on = me->window;
		iw_self()->spun_ns = c->took_ns;
	}
	if (!c->dirty)
		iw_plan_learn_spun(me, c->spun_ns);
	return 0;
}

static struct iw_outcome outcome_of(const struct iw_waiter *me)
{
	return (struct iw_outcome){ .window = me->window,
				    .site = me->site,
				    .kind = me->what->kind,
				    .resumable = me->what->resumable };
}

/*
 * A deadline that passes in the spin ends the wait at once: the kernel would set a timer for it,
 * which comes some 50 us late. What a spinner has marked goes as if it had slept.
 */
static int end_at_deadline(struct iw_waiter *me, struct course *c)
{
	c->outcome.reason = IW_NO_REASON;
	if (me->what->settle(me).taken || taken_in_withdrawing(me))
		return end_spinning(me, c);
	iw_count(me->what->kind, IW_EXPIRED, 1);
	return -ETIMEDOUT;
}

static int spin_then_sleep(struct iw_waiter *me, struct course *c)
{
	if (!me->reason && spin(me, c, 0))
		return end_spinning(me, c);
	if (me->reason == IW_DEADLINE && me->deadline_ns <= iw_clock_ns())
		return end_at_deadline(me, c);
	return sleep_until_taken(me, c);
}

static int tell(const struct iw_waiter *me, const struct iw_outcome *o)
{
	if (me->facts && iw_is_observed(me->facts))
		iw_observe(me->facts, o);
	return o->result;
}

/* Plan, spin, sleep: the first looks were in vain, or said @why not to look any more. */
static int wait_in_earnest(struct iw_waiter *me, enum iw_reason why)
{
	struct course c = { .outcome = outcome_of(me) };

	c.outcome.reason = me->reason = me->reason ? me->reason : why;
	iw_plan_costs(me);
	c.outcome.result = spin_then_sleep(me, &c);
	if (me->preset == IPCWAIT_LATENCY)
		iw_plan_note_lateness(me, c.late_ns);
	return tell(me, &c.outcome);
}

static int wait_plainly(struct iw_waiter *me)
{
	bool observed = me->facts && iw_is_observed(me->facts);
	uint64_t began_at = observed ? iw_now_ns() : 0, woken_at = began_at;
	struct iw_outcome o = outcome_of(me);

	o.reason = me->reason;
	o.result = sleep_plainly(me, observed ? &woken_at : NULL);
	o.slept_ns = woken_at > began_at ? woken_at - began_at : 0;
	if (me->preset == IPCWAIT_LATENCY)
		iw_plan_note_lateness(me, 0);
	return tell(me, &o);
}

/*
 * Most waits that are worth a look are over here, and nothing has been worked out for them. What
 * the kernel had already was not waited for.
 */
static int end_at_once(struct iw_waiter *me)
{
	struct iw_outcome o = outcome_of(me);

	iw_migrate_short(me);
	if (me->what->in_kernel)
		return 0;
	iw_count(me->what->kind, IW_SPUN, 1);
	iw_plan_learn_spun(me, 0);
	return tell(me, &o);
}

/* As iw_plan() has said. */
static int wait_as_planned(struct iw_waiter *me, enum iw_reason why)
{
	if (me->reason && me->reason != IW_LEARNED_LONG)
		return wait_plainly(me);
	return wait_in_earnest(me, why);
}

/* Few functions are between it and the system call: each costs a return that is mispredicted. */
int iw_wait(struct iw_waiter *me)
{
	enum iw_reason why = IW_NO_REASON;
	uint64_t began_at;
	int r;

	if (me->deadline_ns != IPCWAIT_FOREVER && me->deadline_ns <= iw_clock_ns())
		return poll(me);
	me->facts = iw_facts();
	if (iw_self()->migration.home && me->facts)
		iw_migrate_judge(me->facts);
	if (iw_plan_worth_a_look(me) && iw_first_looks(me, &why))
		return end_at_once(me);
	me->reason = iw_plan(me);
	if (!iw_may_migrate(me))
		return wait_as_planned(me, why);
	began_at = iw_migrate_before(me);
	r = wait_as_planned(me, why);
	iw_migrate_after(me, began_at);
	return r;
}
