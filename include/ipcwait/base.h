/* SPDX-License-Identifier: MIT */
/*
 * What every other header of libipcwait builds on: results, deadlines, flags.
 *
 * Results. Success is 0 or a count; failure is a NEGATIVE errno value. `errno` itself
 * is never touched. Compare with `r == -ETIMEDOUT`, never with `ETIMEDOUT`.
 *
 * Deadlines are absolute CLOCK_MONOTONIC nanoseconds in an int64_t. IPCWAIT_FOREVER
 * never expires. A deadline in the past makes a call look once and return without a
 * system call, but for descriptors, where the look is one. There are no relative time-outs:
 * a caller that loops would restart them.
 *
 * Objects live where the caller puts them. All bytes zero is a valid, empty object with
 * the default policy that works between processes which map it, at any address.
 * IPCWAIT_PRIVATE restricts an object to one process and makes its sleeping a little
 * cheaper (no look-up of the mapping; 0.26 instead of 0.37 us for a futex wake on the
 * project's 2-vCPU guest). The kernel then knows sleepers by the address at which they
 * waited: if one page is mapped twice, a post by the other address wakes nobody. A child of
 * fork(2) has a copy of such an object as if none of the parent's threads waited: tokens, counts
 * and locks are there, and those who waited are not; a barrier's round begins anew. A mutex works
 * too, but counts them; ipcwait_mutex_fini() says -EBUSY. (Since Linux 4.14.)
 *
 * Limits: 64-bit little-endian Linux; programs that share an object must have the same
 * IPCWAIT_LAYOUT. <ipcwait/region.h> tells those that have not.
 */
#ifndef IPCWAIT_BASE_H
#define IPCWAIT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "libipcwait needs a little-endian CPU: the kernel sleeps on the low half of 64-bit words"
#endif

/* The casts between them are those of C. g++ knows that, clang++ would warn of them. */
#if defined(__cplusplus) && defined(__clang__)
/* clang-format off */
#define IPCWAIT_BEGIN_DECLS \
	extern "C" { \
	_Pragma("clang diagnostic push") \
	_Pragma("clang diagnostic ignored \"-Wold-style-cast\"")
#define IPCWAIT_END_DECLS _Pragma("clang diagnostic pop") }
/* clang-format on */
#elif defined(__cplusplus)
#define IPCWAIT_BEGIN_DECLS extern "C" {
#define IPCWAIT_END_DECLS   }
#else
#define IPCWAIT_BEGIN_DECLS
#define IPCWAIT_END_DECLS
#endif

#define IPCWAIT_API __attribute__((visibility("default")))

/*
 * Whose result nobody may ignore. Marked is what can say no to a correct program, or gives the
 * caller something: what makes or sets up (init, create, attach, a policy, a calibration), what
 * tries, what has a deadline, what moves elements, and ipcwait_mutex_consistent().
 *
 * Not marked is what has 0 to say to most correct programs, so that it is written as with POSIX:
 * plain lock and wait, unlock, post, set, signal, notify, close, fini. A program looks at the
 * result nevertheless
 *   - of a wait for an object with IPCWAIT_INTERRUPTIBLE: -EINTR;
 *   - of a robust mutex's lock: its owner may have died, or (-ENOTSUP) not be known here;
 *   - of a lock that may come to its limit (-EAGAIN): a recursive mutex, one of very many readers;
 *   - of all that may have to wait (-ENOSYS), if a filter may forbid it futex(2).
 * A lock that fails is not held, but for -EOWNERDEAD, and after ipcwait_cond_wait() has failed the
 * mutex may not be.
 */
#define IPCWAIT_MUST_CHECK __attribute__((warn_unused_result))

/*
 * Functions marked IPCWAIT_INLINE are compiled into the caller. The library also
 * exports each of them under the same name, for callers that cannot read C headers.
 */
#ifndef IPCWAIT_INLINE
#define IPCWAIT_INLINE static inline
#endif

#define IPCWAIT_LIKELY(x) __builtin_expect(!!(x), 1)

/*
 * Whether an inline fast path may be taken; @x is likely, and its first condition. With a
 * library built with -Dchecked=true, whose pkg-config file defines IPCWAIT_CHECKED, it may not:
 * each call then goes into the library, which looks for misuse. @x is not evaluated there.
 */
#ifdef IPCWAIT_CHECKED
#define IPCWAIT_IMPL_FAST(x) (false && (x))
#else
#define IPCWAIT_IMPL_FAST(x) IPCWAIT_LIKELY(x)
#endif

/* The deadline that never expires. */
#define IPCWAIT_FOREVER INT64_MAX

/*
 * Layout number of objects: it changes when programs with and without the change cannot share them.
 * Every program has that of the headers it was compiled with. CHANGELOG.md
 */
#define IPCWAIT_LAYOUT 0

/* Object flag: only threads of one process use the object, and all by one address. */
#define IPCWAIT_PRIVATE 1u

/*
 * Object flag of semaphores, events and event counts, and flag of ipcwait_futex_wait(): a signal
 * handler that runs in a wait ends it with -EINTR, with SA_RESTART or without. No other wait is
 * ended by one, but for descriptors': <ipcwait/fd.h>. A wait with the flag does not spin, where a
 * handler would leave no trace: it costs a sleep and a wake. As with every such call, a handler
 * that runs right before the thread sleeps, or when something else has woken it already, goes
 * unnoticed.
 */
#define IPCWAIT_INTERRUPTIBLE 2u

IPCWAIT_BEGIN_DECLS

/**
 * ipcwait_version() - the version of the library that is loaded
 *
 * Return: a static string such as "0.1.0".
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    not shared
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     the string lives as long as the library is loaded
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API const char *ipcwait_version(void);

/**
 * ipcwait_now_ns() - the clock that deadlines refer to
 *
 * Return: CLOCK_MONOTONIC in nanoseconds, never negative.
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    the same clock in all processes of one time namespace
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     none
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int64_t ipcwait_now_ns(void);

/**
 * ipcwait_deadline_in_ns() - make a deadline from a relative time
 * @ns: nanoseconds from now; zero or negative gives a deadline that has passed
 *
 * Return: the absolute deadline, IPCWAIT_FOREVER if it would lie beyond the clock.
 *
 * Ordering:     none
 * Threads:      any
 * Processes:    the deadline means the same in all processes of one time namespace
 * Signals:      async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     none
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int64_t ipcwait_deadline_in_ns(int64_t ns);

IPCWAIT_END_DECLS

#endif
