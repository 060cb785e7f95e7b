/* SPDX-License-Identifier: MIT */
#include "engine/spin.h"
#include "engine/plan.h"
#include "os/cpu.h"
#include "os/probes.h"
#include "os/seam.h"
#include "policy/ablation.h"
#include "policy/credit.h"

/*
 * Looks before anything is worked out: a wait that ends within them pays for nothing else. Some
 * 0.15 us on the project's guest, about what a round trip of a cache line takes.
 */
#define FIRST_LOOKS 4

/* A spin that lasts longer, in ns, rests until the line is written to, on CPUs that can. */
#define RESTLESS_NS 2000

/*
 * Two looks so far apart, in ns: the thread may not have been on its CPU. If the kernel has
 * switched it out, the sentinel tells. If not, it was an interrupt, some 10 us, or a rest that
 * arm64's event stream ended, 100 us; beyond that the hypervisor.
 */
#define SWITCHED_GAP_NS 10000
#define STOLEN_GAP_NS   200000

/*
 * Where looks are system calls the thread yields between them, after so many as long as nobody
 * takes the CPU: a yield costs as much as a look. Whether somebody took it the sentinel tells,
 * and where there is none, that the yield took longer than this, in ns: nobody's takes 0.25 to
 * 1.5 us. Whoever keeps the CPU for longer than the gap has work of its own. 4 and 16 looks were
 * worse for one pair of processes, of bench/descriptors' group "pairs".
 */
#define LOOKS_PER_YIELD 8
#define YIELD_NS        2500
#define TAKEN_GAP_NS    100000

/*
 * After whoever keeps the CPU has had it, no yields for so many times as long: what is lost to
 * them is one in a hundred of the thread's time. In ns: that much time without is saved up, so
 * that a short job now and then costs no more than itself, and a slice is not thought longer.
 */
#define KEPT_PAUSE    100
#define KEPT_SAVED_NS 200000000
#define KEPT_MOST_NS  20000000

/*
 * On a shared CPU, first looks in vain in a row from which the next are left out, and how many
 * are. A server whose calls of epoll_wait find something more often than not has no such row.
 */
#define VAIN_LOOKS 4
#define LEFT_OUT   16

/*
 * A gap that is longer, in ns, is none: the counter stepped, back or forth, or the machine stood
 * still. Of that the wait has not had anything.
 */
#define STEPPED_GAP_NS INT64_C(1000000000)

struct spin {
	const struct iw_tick_rate *rate;
	uint64_t start;     /* ticks */
	uint64_t last;      /* ticks at the last look */
	uint64_t gap;       /* ticks between the last two */
	uint64_t most;      /* ticks from the start until the end */
	uint64_t restless;  /* ticks from the start without a rest */
	uint64_t apart;     /* ticks between two looks, at least */
	uint64_t switched;  /* a gap that is worth asking about */
	uint64_t given;     /* ticks of the yields that somebody took, ... */
	uint64_t gap_given; /* ... and of those in the gap */
	uint64_t deadline;  /* ticks from the start, also of others */
	bool to_deadline;   /* that comes before the window is over */
	unsigned looks;     /* where the thread yields after some */
	bool monitored; /* the CPU watches the object's line since before the last look */
	bool yields;    /* between looks, to whoever else is to run on this CPU, ... */
	bool taken;     /* ... and somebody took the last */
	enum iw_reason reason; /* why it goes on no more */
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static enum iw_reason reason_of(enum iw_seen seen)
{
	if (seen == IW_AWAY_CROWDED)
		return IW_CROWDED;
	return seen == IW_AWAY_OVERTAKEN ? IW_OVERTAKEN : IW_NO_REASON;
}

/*
 * On a shared CPU whoever brings it has not run yet, as a rule: so the thread yields before it
 * looks. But what a server reads is there already, as another call has told it.
 */
static bool leaves_look_out(struct iw_thread *self, const struct iw_waiter *me)
{
	if (!self->shares_cpu || self->vain_on != me->window || self->vain < VAIN_LOOKS ||
	    self->vain == VAIN_LOOKS + LEFT_OUT)
		return false;
	self->vain++;
	return true;
}

/* One look, as it costs as much as the call itself. */
static bool first_look_in_kernel(struct iw_waiter *me)
{
	struct iw_thread *self = iw_self();
	bool same = self->vain_on == me->window;

	if (leaves_look_out(self, me))
		return false;
	if (me->what->look(me) == IW_THERE) {
		self->vain = same ? 0 : self->vain;
		return true;
	}
	self->vain = !same ? 1 : self->vain < VAIN_LOOKS ? self->vain + 1 : VAIN_LOOKS;
	self->vain_on = me->window;
	return false;
}

bool iw_first_looks(struct iw_waiter *me, enum iw_reason *why)
{
	*why = IW_NO_REASON;
	if (me->what->in_kernel)
		return first_look_in_kernel(me);
	if (iw_without(IW_FIRST_LOOKS))
		return false;
	for (int i = 0; i < FIRST_LOOKS && !*why && !me->apart_ns; i++) {
		enum iw_seen seen = me->what->look(me);

		if (seen == IW_THERE)
			return true;
		*why = reason_of(seen);
		iw_pause();
	}
	return false;
}

/* Ticks until the deadline. */
static uint64_t until_deadline(const struct iw_waiter *me, const struct spin *s)
{
	int64_t left_ns;

	if (me->deadline_ns == IPCWAIT_FOREVER)
		return UINT64_MAX;
	left_ns = me->deadline_ns - iw_clock_ns();
	return left_ns < 0 ? 0 : iw_tick_from_ns(s->rate, (uint64_t)left_ns);
}

static bool somebody_ran(uint64_t yield_ns)
{
	return iw_rseq_offset ? iw_rseq_disturbed() : yield_ns > YIELD_NS;
}

/*
 * Who sleeps is let run when it is woken, before those that compute; who yields waits until they
 * have had their time. So that costs the thread what a plain call would not, whatever the next
 * look finds, and there is no yield until it has been so long without as makes it a small share.
 */
static void note_kept(const struct spin *s, uint64_t now, uint64_t ticks)
{
	uint64_t *until = &iw_self()->kept_until;
	uint64_t most = iw_tick_from_ns(s->rate, KEPT_MOST_NS);
	uint64_t saved = iw_tick_from_ns(s->rate, KEPT_SAVED_NS);
	uint64_t end = now + KEPT_PAUSE * most;

	/* Further ahead than any pause: the counter stepped back. */
	if (*until + saved < now || *until > end)
		*until = now - saved;
	*until = least(*until + KEPT_PAUSE * least(ticks, most), end);
}

/* What others have of the CPU meanwhile costs nothing, and is no part of the spin. */
static void yield(struct spin *s)
{
	uint64_t before = iw_tick_now(s->rate), now, ticks;

	iw_cpu_yield();
	now = iw_tick_now(s->rate);
	ticks = now - before;
	s->taken = somebody_ran(iw_tick_to_ns(s->rate, ticks));
	iw_self()->shares_cpu = s->taken;
	if (!s->taken)
		return;
	s->given += ticks;
	s->gap_given += ticks;
	if (iw_tick_to_ns(s->rate, ticks) >= TAKEN_GAP_NS)
		note_kept(s, now, ticks);
	iw_rseq_arm();
}

static bool yields_now(struct spin *s)
{
	return s->yields && (s->taken || ++s->looks % LOOKS_PER_YIELD == 0);
}

/*
 * Time between two looks. The length of a pause is not known and need not be. A long spin
 * rests until the object's line is written to, on CPUs that can: it comes no later for that
 * and leaves power and the core to the sibling thread. Whoever is waited for in the kernel may be
 * ready to run on this very CPU, in any process, and shows no sign of it: so it is let run.
 */
static void pause_between(struct spin *s)
{
	uint64_t before = s->last;

	s->gap_given = 0;
	if (s->monitored)
		iw_monitor_wait(s->start + s->most);
	do {
		if (yields_now(s))
			yield(s);
		else if (!s->monitored)
			iw_pause();
		s->last = iw_tick_now(s->rate);
		s->gap = s->last - before;
	} while (s->gap < s->apart);
}

static enum iw_seen look(struct iw_waiter *me, struct spin *s)
{
	s->monitored = me->facts->monitor && s->last - s->start > s->restless;
	if (s->monitored)
		iw_monitor(me->futex);
	return me->what->look(me);
}

/*
 * A second look without reading the counter, which takes about as long as a look and a half. Not
 * where looks are to be rare, and not where one is a system call, of whatever length.
 */
static enum iw_seen look_twice(struct iw_waiter *me, struct spin *s)
{
	enum iw_seen seen = look(me, s);

	if (seen != IW_AWAY || s->monitored || s->apart || s->yields)
		return seen;
	iw_pause();
	return me->what->look(me);
}

/*
 * The thread lost its CPU between the last two looks, to whom? A counter that stepped back did so
 * with the machine that it is on: the gap is very large then. Of a look that is a system call
 * nobody knows how long it may take.
 */
static enum iw_reason cpu_lost(const struct spin *s)
{
	if (IPCWAIT_LIKELY(s->gap < s->switched) || iw_without(IW_SWITCHED_OUT))
		return IW_NO_REASON;
	if (s->taken || iw_rseq_disturbed())
		return IW_PREEMPTED;
	return s->yields || iw_tick_to_ns(s->rate, s->gap) < STOLEN_GAP_NS ? IW_NO_REASON
									   : IW_STOLEN;
}

/* Others' time is no part of the window, but deadlines pass. */
static enum iw_reason time_over(const struct spin *s)
{
	uint64_t ticks = s->last - s->start;

	if (ticks - s->given >= s->most)
		return s->to_deadline ? IW_DEADLINE : IW_WINDOW_OVER;
	return ticks >= s->deadline ? IW_DEADLINE : IW_NO_REASON;
}

static bool goes_on(struct spin *s, enum iw_seen seen)
{
	s->reason = cpu_lost(s);
	if (!s->reason && seen != IW_AWAY)
		s->reason = reason_of(seen);
	if (!s->reason)
		s->reason = time_over(s);
	return !s->reason;
}

/* Sets how long it may last. False if it may not begin. */
static bool begin(struct iw_waiter *me, struct spin *s, uint64_t limit_ns)
{
	s->rate = &me->facts->rate;
	/* Before the start: who spins until the deadline is not to end a little before it. */
	s->deadline = until_deadline(me, s);
	s->start = s->last = iw_tick_now(s->rate);
	s->reason = iw_plan_admit(me, s->start);
	if (s->reason)
		return false;
	s->most = iw_tick_from_ns(s->rate, iw_plan_window_ns(me, limit_ns));
	me->expects_mover = false;
	s->to_deadline = s->deadline < s->most;
	if (s->to_deadline)
		s->most = s->deadline;
	s->restless = me->futex ? iw_tick_from_ns(s->rate, RESTLESS_NS) : UINT64_MAX;
	s->yields = me->what->in_kernel;
	s->apart = iw_tick_from_ns(s->rate, me->apart_ns);
	s->switched = s->apart +
		      iw_tick_from_ns(s->rate, s->yields ? TAKEN_GAP_NS : SWITCHED_GAP_NS);
	return true;
}

static bool lost_cpu(enum iw_reason reason)
{
	return reason == IW_PREEMPTED || reason == IW_STOLEN;
}

/*
 * How long it took; *@lost of that, at its end, the thread was off its CPU. Where the counter
 * stepped, until the look before.
 */
static uint64_t duration(const struct spin *s, uint64_t *lost)
{
	uint64_t ticks = s->last - s->start - s->given;
	uint64_t gap = least(s->gap - least(s->gap, s->gap_given), ticks);

	*lost = 0;
	if (iw_tick_to_ns(s->rate, s->gap) > STEPPED_GAP_NS)
		return ticks - gap;
	if (lost_cpu(s->reason))
		*lost = gap;
	return ticks;
}

/* The time before the CPU was lost is what a spin in vain has cost. */
static void charge(const struct iw_waiter *me, const struct spin *s, uint64_t ticks)
{
	if (me->preset > IPCWAIT_POWER || me->facts->dedicated)
		return;
	iw_credit_charge(me->facts, &iw_self()->credit_full_at, s->last, ticks);
}

bool iw_spin(struct iw_waiter *me, uint64_t limit_ns, struct iw_spun *spun)
{
	struct spin s = { .reason = IW_NO_REASON };
	enum iw_seen seen = IW_AWAY;
	uint64_t lost, ticks;

	*spun = (struct iw_spun){ .reason = IW_NO_REASON };
	if (begin(me, &s, limit_ns)) {
		iw_rseq_arm();
		s.taken = s.yields && iw_self()->shares_cpu;
		if (s.taken)
			pause_between(&s);
		while ((seen = look_twice(me, &s)) != IW_THERE && goes_on(&s, seen))
			pause_between(&s);
		spun->dirty = seen == IW_THERE && cpu_lost(&s);
		iw_rseq_disarm();
	}
	ticks = duration(&s, &lost);
	if (seen != IW_THERE && ticks)
		charge(me, &s, ticks - lost);
	spun->ns = iw_tick_to_ns(s.rate, ticks);
	spun->given_ns = iw_tick_to_ns(s.rate, s.given);
	spun->lost_ns = iw_tick_to_ns(s.rate, lost);
	spun->window_ns = iw_tick_to_ns(s.rate, s.most);
	spun->reason = s.reason;
	iw_probe_spin_end(me->window, spun->ns - spun->lost_ns, seen == IW_THERE, s.reason);
	return seen == IW_THERE;
}
