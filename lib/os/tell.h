/* SPDX-License-Identifier: MIT */
/*
 * Programs that are compiled with -fsanitize=thread see their own accesses, those of the inline
 * functions too, and not those of the library, which is not compiled so. Where only the library
 * has released or acquired they would see a race. So it tells them, at each access that is ordered:
 * all are in <ipcwait/impl/word.h>, which includes this. ThreadSanitizer's runtime keeps what it is
 * told under the address, in the same place as the program's own atomics.
 *
 * The functions are weak: without that runtime, a load and a branch that is not taken, and cold, so
 * that registers are saved only there. That is too much where every operation has many accesses and
 * none is inline: such a file defines IW_TELLS_BY_HAND, and calls the functions below for those
 * that a program can rely on.
 *
 * A release is told before it is made, even if it then fails and is made again, and an acquire
 * after it: between them others may release more. Both order more than there is, never less: some
 * races beside a contended object are not found. No mutexes are told, so nothing is reported of
 * the order of locks.
 */
#ifndef IW_OS_TELL_H
#define IW_OS_TELL_H

#include <stdbool.h>

#include <ipcwait/base.h>

#ifdef IPCWAIT_IMPL_TELL

/* NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming) */
extern void __tsan_acquire(const void *at) __attribute__((weak, cold));
extern void __tsan_release(const void *at) __attribute__((weak, cold));
/* NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming) */

/*
 * The thread has acquired what was released by that name, an address. By the program's inline
 * functions too, perhaps, and the runtime of clang 14 looks whether there ever was a release
 * before it waits for the one that is under way: so that there is one, the thread releases.
 */
static inline void iw_tell_acquired(const void *at)
{
	if (__builtin_expect_with_probability(!!__tsan_acquire, 0, 1.0)) {
		/* Both are there, or none. */
		__tsan_release(at); /* NOLINT(clang-analyzer-core.CallAndMessage) */
		__tsan_acquire(at);
	}
}

/* It is about to release. */
static inline void iw_tell_releases(const void *at)
{
	if (__builtin_expect_with_probability(!!__tsan_release, 0, 1.0))
		__tsan_release(at);
}

#ifdef IW_TELLS_BY_HAND
#define IW_TELLS_ALL false
#else
#define IW_TELLS_ALL true
#endif

/* An access to @w has acquired, if it is @done. Returns that. */
static inline bool ipcwait_impl_acquired(const void *w, bool done)
{
	if (IW_TELLS_ALL && done)
		iw_tell_acquired(w);
	return done;
}

/* An access to @w is about to release. */
static inline void ipcwait_impl_releases(const void *w)
{
	if (IW_TELLS_ALL)
		iw_tell_releases(w);
}

#else

static inline void iw_tell_acquired(const void *at)
{
	(void)at;
}

static inline void iw_tell_releases(const void *at)
{
	(void)at;
}

#endif /* IPCWAIT_IMPL_TELL */

#endif
