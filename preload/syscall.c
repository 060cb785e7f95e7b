/* SPDX-License-Identifier: MIT */
/*
 * libc's syscall(), through which Rust, the atomics of C++20, abseil, folly, nsync and oneTBB
 * sleep on futexes: a spin while the word keeps the value that is expected, then the call. What
 * changes meanwhile is what the kernel would have found had the call come a little later: EAGAIN.
 * A wake finds threads that spin as it finds those that sleep. Everything else passes straight
 * through.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.h"
#include "front.h"
#include "module.h"
#include "original.h"
#include "os/seam.h"
#include "os/futex_waitv.h"
#include "readable.h"
#include "spinners.h"

/*
 * Wakes find a thread that spins after this many looks, 2 to 5 us. A hand-off is over before, and
 * does not take the line of the spinners from CPU to CPU, which would cost each wake 0.1 us. A
 * program that wakes without a change has to know that the thread waits, and knows it later.
 */
#define LOOKS_UNSEEN 64

/* What the program gave to futex(2), to wait. */
struct futex_front {
	struct front base;
	long op;
	uint32_t expected;
	long bits;
	const struct timespec *timeout;
	struct timespec until; /* when a timeout that is a length ends */
	unsigned looks;        /* without success, until it is seen */
	bool spins;            /* seen by wakes: spinners.h */
};

/* And to futex_waitv(2). */
struct waitv_front {
	struct front base;
	const struct iw_waitv *words;
	long n;
	clockid_t clock;
	long woken_on;
};

/* It waits for wakes of any class. */
static bool is_for_all(const struct futex_front *me)
{
	return (me->op & FUTEX_CMD_MASK) == FUTEX_WAIT ||
	       me->bits == FUTEX_BITSET_MATCH_ANY;
}

static bool is_expected(const struct futex_front *me)
{
	/* ORD syscall.X1: relaxed, no order promised: the program loads the word again. */
	return ipcwait_impl_load32_relaxed(me->base.object) == me->expected;
}

/* True if a wake has ended the wait. */
static bool end_spin(struct futex_front *me)
{
	bool spins = me->spins;

	me->spins = false;
	return spins && iw_spinners_leave(me->base.object);
}

/*
 * Wakes find the thread from now on. So it looks once more: what has changed before a wake looked
 * for it, it sees now.
 */
static int begin_spin(struct futex_front *me)
{
	me->spins = is_for_all(me) && iw_spinners_enter(me->base.object);
	return is_expected(me) ? EBUSY : EAGAIN;
}

static int take_word(const struct front *base)
{
	struct futex_front *me = (struct futex_front *)base;

	if (!is_expected(me))
		return EAGAIN;
	if (me->looks < LOOKS_UNSEEN)
		return ++me->looks < LOOKS_UNSEEN ? EBUSY : begin_spin(me);
	if (!me->spins || !iw_spinners_woken(base->object))
		return EBUSY;
	if (end_spin(me))
		return 0;
	/* The wake was another's. */
	return begin_spin(me);
}

static int block_on_word(const struct front *base)
{
	struct futex_front *me = (struct futex_front *)base;
	const struct timespec *timeout = me->timeout;
	struct timespec left;

	if (end_spin(me))
		return 0;
	if (base->limit.at == &me->until) {
		int64_t ns = base->base.deadline_ns - iw_clock_ns();

		left = iw_futex_deadline(ns < 0 ? 0 : ns);
		timeout = &left;
	}
	return original()->syscall(SYS_futex, (long)base->object, me->op,
				   (long)me->expected, (long)timeout, 0, me->bits) < 0
		       ? errno
		       : 0;
}

static const struct front_call word_call = {
	.waitable = { .kind = IPCWAIT_KIND_FUTEX,
		      .look = iw_front_look,
		      .settle = iw_front_settle },
	.take = take_word,
	.block = block_on_word,
};

/* FUTEX_WAIT counts from now, and the engine until then. False: the kernel says what is wrong. */
static bool set_limit(struct futex_front *me)
{
	const struct timespec *timeout = me->timeout;
	int64_t ns, now;

	me->base.limit.clock =
		me->op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	me->base.limit.at = timeout;
	if (!timeout)
		return true;
	if (!iw_readable(timeout, sizeof(*timeout)) ||
	    !iw_front_deadline(&me->base.limit, &ns))
		return false;
	if ((me->op & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET)
		return true;
	now = iw_clock_ns();
	me->base.limit.at = ns < IW_DEADLINE_MOST_NS - now ? &me->until : NULL;
	me->until = iw_futex_deadline(now + ns);
	return true;
}

/* True if it can be spun for: for anything else the kernel has an answer at once. */
static bool is_wait(const struct futex_front *me)
{
	long command = me->op & FUTEX_CMD_MASK;
	long known = FUTEX_CMD_MASK | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME;

	if (command == FUTEX_WAIT)
		known &= ~FUTEX_CLOCK_REALTIME;
	return !(me->op & ~known) && (command == FUTEX_WAIT || me->bits) &&
	       iw_readable(me->base.object, sizeof(uint32_t));
}

static long result_of(int r)
{
	if (!r)
		return 0;
	errno = r;
	return -1;
}

static long wait_on_word(void *word, long op, long expected, long timeout, long word2,
			 long bits, uintptr_t site)
{
	struct futex_front me = {
		.base.object = word,
		.base.interrupts = timeout ? FRONT_ANY : FRONT_INTERRUPTING,
		.op = op,
		.expected = (uint32_t)expected,
		.bits = bits & UINT32_MAX,
		.timeout = (const struct timespec *)timeout,
	};
	int r;

	if (original()->race_detector || !is_wait(&me) || !set_limit(&me))
		return original()->syscall(SYS_futex, (long)word, op, expected, timeout,
					   word2, bits);
	r = iw_front_wait(&me.base, &word_call, site);
	return result_of(end_spin(&me) ? 0 : r);
}

static int take_any(const struct front *base)
{
	const struct waitv_front *me = (const struct waitv_front *)base;

	for (long i = 0; i < me->n; i++) {
		const struct iw_waitv *w = &me->words[i];
		const struct ipcwait_word32 *word =
			(const struct ipcwait_word32 *)(uintptr_t)w->address;

		/* ORD syscall.X2: relaxed, no order promised, as syscall.X1. */
		if (ipcwait_impl_load32_relaxed(word) != (uint32_t)w->expected)
			return EAGAIN;
	}
	return EBUSY;
}

static int block_on_any(const struct front *base)
{
	struct waitv_front *me = (struct waitv_front *)base;

	me->woken_on = original()->syscall(SYS_futex_waitv, (long)me->words, me->n, 0,
					   (long)base->limit.at, me->clock, 0);
	return me->woken_on < 0 ? errno : 0;
}

static const struct front_call any_call = {
	.waitable = { .kind = IPCWAIT_KIND_WAIT_ANY,
		      .look = iw_front_look,
		      .settle = iw_front_settle },
	.take = take_any,
	.block = block_on_any,
};

static bool is_wait_on_any(const struct waitv_front *me)
{
	int64_t deadline_ns;

	if (me->n < 1 || me->n > IW_WAITV_MAX ||
	    !iw_readable(me->words, (size_t)me->n * sizeof(*me->words)))
		return false;
	for (long i = 0; i < me->n; i++) {
		const struct iw_waitv *w = &me->words[i];

		if ((w->flags & ~(uint32_t)IW_WAITV_PRIVATE) != IW_WAITV_32 ||
		    w->reserved || w->expected > UINT32_MAX ||
		    !iw_readable((const void *)(uintptr_t)w->address, sizeof(uint32_t)))
			return false;
	}
	return !me->base.limit.at ||
	       (iw_readable(me->base.limit.at, sizeof(*me->base.limit.at)) &&
		iw_front_deadline(&me->base.limit, &deadline_ns));
}

static __attribute__((noinline)) long wait_on_any(long words, long n, long flags,
						  long timeout, long clock, uintptr_t site)
{
	struct waitv_front me = {
		.base.object = (void *)words,
		.base.interrupts = FRONT_INTERRUPTING,
		.base.limit = { (clockid_t)clock, (const struct timespec *)timeout },
		.words = (const struct iw_waitv *)words,
		.n = n & UINT32_MAX,
		.clock = (clockid_t)clock,
	};
	int r;

	if (original()->race_detector || flags || !is_wait_on_any(&me))
		return original()->syscall(SYS_futex_waitv, words, n, flags, timeout, clock,
					   0);
	me.base.object = (void *)(uintptr_t)me.words[0].address;
	r = iw_front_wait(&me.base, &any_call, site);
	return r ? result_of(r) : me.woken_on;
}

/*
 * Whom it wakes learns when from the stamp. Sleepers come first: a spinner that finds the word
 * changed goes on without a wake, and takes none from a sleeper.
 */
static long wake(long word, long op, long count, long d, long e, long bits)
{
	struct place *p = iw_place_of_sleepers((const void *)word);
	uint64_t stamped_at = iw_front_stamp(p);
	long r = original()->syscall(SYS_futex, word, op, count, d, e, bits);

	if (p)
		iw_note_wake(IPCWAIT_KIND_FUTEX, r > 0 ? (int)r : 0, stamped_at);
	if (r >= 0 && r < (int)count)
		r += iw_spinners_wake((const void *)word, (unsigned)((int)count - r));
	return r;
}

static __attribute__((noinline)) long call_futex(long word, long op, long value,
						 long timeout, long word2, long bits,
						 uintptr_t site)
{
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return wait_on_word((void *)word, op, value, timeout, word2, bits, site);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		return wake(word, op, value, timeout, word2, bits);
	default:
		return original()->syscall(SYS_futex, word, op, value, timeout, word2,
					   bits);
	}
}

/* A filter of system calls may begin. */
static __attribute__((noinline)) long call_with_filter(long number, long a, long b, long c,
						       long d, long e, long f)
{
	bool all_threads = number == SYS_seccomp && b & SECCOMP_FILTER_FLAG_TSYNC, noted;

	if (number == SYS_seccomp ? !iw_filter_begins(a, b, c)
				  : !iw_filter_begins_by_prctl(a, b, c))
		return original()->syscall(number, a, b, c, d, e, f);
	noted = iw_filter_before(all_threads);
	return iw_filter_after(original()->syscall(number, a, b, c, d, e, f), noted);
}

/*
 * With as many arguments as the program gives: of those that it does not, as libc does, something
 * is read, and nothing may be written there.
 */
IW_INTERPOSED long syscall(long number, ...)
{
	va_list rest;
	long a, b, c, d, e, f;

	va_start(rest, number);
	a = va_arg(rest, long);
	b = va_arg(rest, long);
	c = va_arg(rest, long);
	d = va_arg(rest, long);
	e = va_arg(rest, long);
	f = va_arg(rest, long);
	va_end(rest);
	if (number == SYS_futex)
		return call_futex(a, b, c, d, e, f, IW_CALL_SITE);
	if (number == SYS_futex_waitv)
		return wait_on_any(a, b, c, d, e, IW_CALL_SITE);
	if (number == SYS_seccomp || number == SYS_prctl)
		return call_with_filter(number, a, b, c, d, e, f);
	return original()->syscall(number, a, b, c, d, e, f);
}
