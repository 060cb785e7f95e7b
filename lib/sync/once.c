/* SPDX-License-Identifier: MIT */
/* Slow path of the once. The state table is in <ipcwait/once.h>, the argument in
 * docs/design/gates.md. */
#include <errno.h>
#include <unistd.h>

#include <ipcwait/once.h>

#include "os/life.h"
#include "os/seam.h"
#include "sync/object.h"

#ifndef __EXCEPTIONS
#error "without -fexceptions nobody ends the run of a function that is left"
#endif

IW_ASSERT_LAYOUT(struct ipcwait_once, 32);

#define SLEEPS       UINT64_C(1)
#define DONE         IPCWAIT_IMPL_ONCE_DONE
#define RUNNER_SHIFT 10
#define RUNNER_MASK  (UINT64_C(0x3fffff) << RUNNER_SHIFT)
#define BIRTH_SHIFT  32
#define WHO_MASK     (UINT64_MAX << BIRTH_SHIFT | RUNNER_MASK)

/* What ipcwait_once_fini() leaves: neither open nor done. */
#define FINISHED_WORD UINT64_MAX

/*
 * After so long a waiter looks whether the runner is alive, in ns, and then each time after twice
 * as long, up to the second: one look is some 10 us, so it costs 1/1000 of a CPU at most.
 */
#define SLEEP_FIRST_NS 10000000
#define SLEEP_MOST_NS  1000000000

static const struct iw_layout layout = {
	.kind = IPCWAIT_KIND_ONCE,
	.known_flags = IPCWAIT_PRIVATE,
	.flags = offsetof(struct ipcwait_once, flags),
	.flags_bytes = 4,
	.note = offsetof(struct ipcwait_once, reserved),
};

/*
 * The caller's process among those that have a copy of the same memory. Ids do not tell them apart
 * where a child is the first process of a PID namespace, as its parent may be of another.
 */
static uint32_t own_process(void)
{
	uint32_t generation = iw_process_generation();

	return generation ? generation : (uint32_t)getpid();
}

/*
 * The caller as a runner. A copy that fork() made of a private once names a thread of the parent,
 * which may live: what tells it from those of the child is the process.
 */
static uint64_t own_name(const struct ipcwait_once *o)
{
	uint32_t birth = o->flags & IPCWAIT_PRIVATE ? own_process() : iw_thread_birth();

	return (uint64_t)birth << BIRTH_SHIFT | (uint64_t)iw_thread_id() << RUNNER_SHIFT;
}

/* The caller is the runner in @w: what it is called may have been read better since. */
static bool is_own_run(const struct ipcwait_once *o, uint64_t name, uint64_t w)
{
	if ((w & WHO_MASK) == name)
		return true;
	return !(o->flags & IPCWAIT_PRIVATE) && !((w ^ name) & RUNNER_MASK) &&
	       iw_thread_has_birth((uint32_t)(w >> BIRTH_SHIFT));
}

/* One thread in one wait. */
struct once_waiter {
	struct iw_waiter base;
	struct ipcwait_once *once;
	uint64_t name;             /* this thread as runner, in its place in the word */
	struct iw_backoff backoff; /* of its sleeps */
	bool runs;                 /* it has to run the function */
};

/* The runner in @w will never end its run. Asks the kernel once it has had time to. */
static bool is_gone(const struct once_waiter *me, uint64_t w)
{
	uint32_t birth = (uint32_t)(w >> BIRTH_SHIFT);

	if (me->base.private_ && birth != (uint32_t)(me->name >> BIRTH_SHIFT))
		return true;
	if (!me->backoff.ns)
		return false;
	/* Of a thread of the own process only the birth's high part is known. */
	if (me->base.private_)
		birth = iw_thread_birth() & ~IW_BIRTH_BEGAN;
	return iw_thread_life((uint32_t)((w & RUNNER_MASK) >> RUNNER_SHIFT), birth) ==
	       IW_DEAD;
}

/* It is done, or it was open and this thread is the runner now. *@w is the word if not. */
static bool taken(struct once_waiter *me, bool doubts, uint64_t *w)
{
	do {
		/* ORD once.A2: acquire, as once.A1. Pairs with once.R1. */
		*w = ipcwait_impl_load64_acquire(&me->once->word);
		if (*w & DONE)
			return true;
		if (*w & RUNNER_MASK && !(doubts && is_gone(me, *w)))
			return false;
		/*
		 * ORD once.A3: acquire on success, so that a run sees what those did that failed
		 * or were left before, even since the load above. Pairs with once.R1.
		 */
	} while (!ipcwait_impl_cas64_acquire(&me->once->word, w, me->name | (*w & SLEEPS)));
	me->runs = true;
	return true;
}

static enum iw_seen look(struct iw_waiter *base)
{
	uint64_t w;

	return taken((struct once_waiter *)base, false, &w) ? IW_THERE : IW_AWAY;
}

/* SLEEPS 0 -> 1, or b,t -> b',t' */
static struct iw_rest settle(struct iw_waiter *base)
{
	struct once_waiter *me = (struct once_waiter *)base;
	struct iw_rest rest;
	uint64_t w;

	do {
		if (taken(me, true, &w))
			return iw_rest_taken();
		/*
		 * ORD once.X1: relaxed, no order needed: sleeper and runner are in one word, so
		 * either this CAS sees the end of the run or that sees the sleeper.
		 */
	} while (!(w & SLEEPS) &&
		 !ipcwait_impl_cas64_relaxed(&me->once->word, &w, w | SLEEPS));
	rest = iw_rest_on((const uint32_t *)&me->once->word, (uint32_t)(w | SLEEPS));
	/* Nobody need be told that a runner has died, but somebody has to see it. */
	rest.until_ns =
		iw_clock_ns() + iw_back_off(&me->backoff, SLEEP_FIRST_NS, SLEEP_MOST_NS);
	/* Who was woken in vain, or by the alarm, has a run to wait for. */
	rest.may_spin = false;
	return rest;
}

/* Others may sleep: SLEEPS stays. */
static const struct iw_waitable once_waitable = {
	.kind = IPCWAIT_KIND_ONCE,
	.look = look,
	.settle = settle,
};

/*
 * b,t -> 0,0, with DONE if it has succeeded; wake all who sleep. The CAS is the last access. If
 * another name stands there, this is the thread of a child that was forked inside the function,
 * and its copy was taken over meanwhile.
 */
static void end_run(struct ipcwait_once *o, uint64_t name, bool succeeded)
{
	/* ORD once.X2: relaxed, re-checked by the CAS below. */
	uint64_t w = ipcwait_impl_load64_relaxed(&o->word);
	struct iw_waker waker = iw_waker_on(&layout, o);

	do {
		if ((w & WHO_MASK) != name)
			return;
		iw_waker_stamp(&waker, w & SLEEPS);
		/*
		 * ORD once.R1: release on success, so that those who wait see what the function
		 * did, and so does a run after one that failed or was left. Pairs with once.A1,
		 * once.A2 and once.A3.
		 */
	} while (!ipcwait_impl_cas64_release(&o->word, &w, succeeded ? DONE : 0));

	/* From here on another caller may have freed the once. */
	if (w & SLEEPS)
		iw_waker_wake(&waker, UINT32_MAX);
}

/* A run of the function. Until that returns 0 it is no success. */
struct once_run {
	struct ipcwait_once *once;
	uint64_t name;
	bool succeeded;
};

static void leave_run(struct once_run *run)
{
	end_run(run->once, run->name, run->succeeded);
}

/*
 * An exception, a cancellation and pthread_exit() leave the function without a return. They unwind
 * the stack, and a cleanup is run by that too: nobody waits for a run that goes on no more.
 */
static int run_function(struct ipcwait_once *o, uint64_t name, int (*fn)(void *), void *arg)
{
	struct once_run run __attribute__((cleanup(leave_run))) = { o, name, false };
	int r = fn(arg);

	run.succeeded = r == 0;
	return r;
}

/* 0 if it is done or this thread has to run it, which me->runs tells. */
static int wait_for_turn(struct once_waiter *me)
{
	/* ORD once.X3: relaxed, hint: a thread knows what it has written itself. */
	uint64_t w = ipcwait_impl_load64_relaxed(&me->once->word);

	if (is_own_run(me->once, me->name, w))
		return iw_misuse(-EDEADLK, IPCWAIT_KIND_ONCE, me->once, "ipcwait_once_run",
				 "called from inside its function");
	/* What is open teaches nothing. */
	return look(&me->base) == IW_THERE ? 0 : iw_wait(&me->base);
}

int ipcwait_impl_once_run_slow(struct ipcwait_once *o, int (*fn)(void *), void *arg)
{
	struct once_waiter me = { .once = o };
	int r = iw_check(&layout, o, "ipcwait_once_run");

	if (r)
		return r;
	if (!fn)
		return iw_misuse(-EINVAL, IPCWAIT_KIND_ONCE, o, "ipcwait_once_run",
				 "no function");
	me.name = own_name(o);
	iw_waiter_begin(&me.base, &layout, o, &once_waitable, IPCWAIT_FOREVER,
			IW_CALL_SITE);
	r = wait_for_turn(&me);
	if (r || !me.runs)
		return r;
	return run_function(o, me.name, fn, arg);
}

int ipcwait_once_init(struct ipcwait_once *o, unsigned flags)
{
	struct ipcwait_once fresh = { .flags = flags };
	int r = iw_check_init(&layout, o, flags, true, "ipcwait_once_init");

	if (r)
		return r;
	fresh.reserved = iw_private_owner(o, flags);
	*o = fresh;
	return 0;
}

int ipcwait_once_fini(struct ipcwait_once *o)
{
	int r = iw_check(&layout, o, "ipcwait_once_fini");

	if (r)
		return r;
	/* ORD once.X4: relaxed, protected by the caller: nobody else uses it. */
	if (ipcwait_impl_load64_relaxed(&o->word) & RUNNER_MASK)
		return -EBUSY;
	/* ORD once.X5: relaxed, protected by the caller, as once.X4. */
	ipcwait_impl_store64_relaxed(&o->word, FINISHED_WORD);
	o->flags = IW_FLAGS_FINISHED;
	return 0;
}
