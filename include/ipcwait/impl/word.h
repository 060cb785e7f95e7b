/* SPDX-License-Identifier: MIT */
/*
 * Shared words and the only functions that touch them. Installed because inline
 * fast paths need it; not API.
 *
 * A word is a struct with one member, so that a plain access does not compile by
 * accident and the layout is the same in C, in C++ and across compilers. The memory
 * order is the last part of each function's name. A compare-and-swap that fails
 * loads relaxed: its caller looks at the value again before it believes it.
 *
 * This is the lower half of the seam (the upper half is lib/os/seam.h): a build that
 * defines IPCWAIT_IMPL_MODEL takes these functions from a checker instead.
 */
#ifndef IPCWAIT_IMPL_WORD_H
#define IPCWAIT_IMPL_WORD_H

#include <stdbool.h>
#include <stdint.h>

struct ipcwait_word32 {
	uint32_t v;
};

struct ipcwait_word64 {
	uint64_t v;
} __attribute__((aligned(8)));

struct ipcwait_wordptr {
	void *v;
};

#ifdef IPCWAIT_IMPL_MODEL
#include IPCWAIT_IMPL_MODEL
#else

/*
 * What a race detector is told that does not see these accesses: nothing in a program, which it was
 * compiled into. The library's own build names a header, lib/os/tell.h.
 */
#ifdef IPCWAIT_IMPL_TELL
#include IPCWAIT_IMPL_TELL
#else

/* An access to @w has acquired, if it is @done. Returns that. */
static inline bool ipcwait_impl_acquired(const void *w, bool done)
{
	(void)w;
	return done;
}

/* An access to @w is about to release. */
static inline void ipcwait_impl_releases(const void *w)
{
	(void)w;
}

#endif /* IPCWAIT_IMPL_TELL */

static inline uint32_t ipcwait_impl_load32_relaxed(const struct ipcwait_word32 *w)
{
	return __atomic_load_n(&w->v, __ATOMIC_RELAXED);
}

static inline uint32_t ipcwait_impl_load32_acquire(const struct ipcwait_word32 *w)
{
	uint32_t was = __atomic_load_n(&w->v, __ATOMIC_ACQUIRE);

	(void)ipcwait_impl_acquired(w, true);
	return was;
}

static inline void ipcwait_impl_store32_relaxed(struct ipcwait_word32 *w, uint32_t v)
{
	__atomic_store_n(&w->v, v, __ATOMIC_RELAXED);
}

static inline void ipcwait_impl_store32_release(struct ipcwait_word32 *w, uint32_t v)
{
	ipcwait_impl_releases(w);
	__atomic_store_n(&w->v, v, __ATOMIC_RELEASE);
}

static inline uint32_t ipcwait_impl_add32_relaxed(struct ipcwait_word32 *w, uint32_t v)
{
	return __atomic_fetch_add(&w->v, v, __ATOMIC_RELAXED);
}

static inline uint32_t ipcwait_impl_add32_release(struct ipcwait_word32 *w, uint32_t v)
{
	ipcwait_impl_releases(w);
	return __atomic_fetch_add(&w->v, v, __ATOMIC_RELEASE);
}

static inline bool ipcwait_impl_cas32_relaxed(struct ipcwait_word32 *w, uint32_t *expected,
					      uint32_t desired)
{
	return __atomic_compare_exchange_n(&w->v, expected, desired, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static inline bool ipcwait_impl_cas32_release(struct ipcwait_word32 *w, uint32_t *expected,
					      uint32_t desired)
{
	ipcwait_impl_releases(w);
	return __atomic_compare_exchange_n(&w->v, expected, desired, false,
					   __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static inline uint64_t ipcwait_impl_load64_relaxed(const struct ipcwait_word64 *w)
{
	return __atomic_load_n(&w->v, __ATOMIC_RELAXED);
}

static inline void ipcwait_impl_store64_relaxed(struct ipcwait_word64 *w, uint64_t v)
{
	__atomic_store_n(&w->v, v, __ATOMIC_RELAXED);
}

static inline uint64_t ipcwait_impl_add64_relaxed(struct ipcwait_word64 *w, uint64_t v)
{
	return __atomic_fetch_add(&w->v, v, __ATOMIC_RELAXED);
}

static inline bool ipcwait_impl_cas64_relaxed(struct ipcwait_word64 *w, uint64_t *expected,
					      uint64_t desired)
{
	return __atomic_compare_exchange_n(&w->v, expected, desired, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static inline bool ipcwait_impl_cas64_acquire(struct ipcwait_word64 *w, uint64_t *expected,
					      uint64_t desired)
{
	bool done = __atomic_compare_exchange_n(&w->v, expected, desired, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED);

	return ipcwait_impl_acquired(w, done);
}

static inline bool ipcwait_impl_cas64_release(struct ipcwait_word64 *w, uint64_t *expected,
					      uint64_t desired)
{
	ipcwait_impl_releases(w);
	return __atomic_compare_exchange_n(&w->v, expected, desired, false,
					   __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static inline bool ipcwait_impl_cas32_acquire(struct ipcwait_word32 *w, uint32_t *expected,
					      uint32_t desired)
{
	bool done = __atomic_compare_exchange_n(&w->v, expected, desired, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED);

	return ipcwait_impl_acquired(w, done);
}

static inline bool ipcwait_impl_cas64_acq_rel(struct ipcwait_word64 *w, uint64_t *expected,
					      uint64_t desired)
{
	bool done;

	ipcwait_impl_releases(w);
	done = __atomic_compare_exchange_n(&w->v, expected, desired, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	return ipcwait_impl_acquired(w, done);
}

static inline uint64_t ipcwait_impl_load64_acquire(const struct ipcwait_word64 *w)
{
	uint64_t was = __atomic_load_n(&w->v, __ATOMIC_ACQUIRE);

	(void)ipcwait_impl_acquired(w, true);
	return was;
}

static inline void ipcwait_impl_store64_release(struct ipcwait_word64 *w, uint64_t v)
{
	ipcwait_impl_releases(w);
	__atomic_store_n(&w->v, v, __ATOMIC_RELEASE);
}

static inline uint64_t ipcwait_impl_add64_acq_rel(struct ipcwait_word64 *w, uint64_t v)
{
	uint64_t was;

	ipcwait_impl_releases(w);
	was = __atomic_fetch_add(&w->v, v, __ATOMIC_ACQ_REL);
	(void)ipcwait_impl_acquired(w, true);
	return was;
}

static inline uint64_t ipcwait_impl_add64_release(struct ipcwait_word64 *w, uint64_t v)
{
	ipcwait_impl_releases(w);
	return __atomic_fetch_add(&w->v, v, __ATOMIC_RELEASE);
}

static inline uint64_t ipcwait_impl_load64_seq_cst(const struct ipcwait_word64 *w)
{
	uint64_t was = __atomic_load_n(&w->v, __ATOMIC_SEQ_CST);

	(void)ipcwait_impl_acquired(w, true);
	return was;
}

static inline void ipcwait_impl_store64_seq_cst(struct ipcwait_word64 *w, uint64_t v)
{
	ipcwait_impl_releases(w);
	__atomic_store_n(&w->v, v, __ATOMIC_SEQ_CST);
}

static inline uint64_t ipcwait_impl_add64_seq_cst(struct ipcwait_word64 *w, uint64_t v)
{
	uint64_t was;

	ipcwait_impl_releases(w);
	was = __atomic_fetch_add(&w->v, v, __ATOMIC_SEQ_CST);
	(void)ipcwait_impl_acquired(w, true);
	return was;
}

static inline bool ipcwait_impl_cas64_seq_cst(struct ipcwait_word64 *w, uint64_t *expected,
					      uint64_t desired)
{
	bool done;

	ipcwait_impl_releases(w);
	done = __atomic_compare_exchange_n(&w->v, expected, desired, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	return ipcwait_impl_acquired(w, done);
}

static inline uint64_t ipcwait_impl_or64_seq_cst(struct ipcwait_word64 *w, uint64_t v)
{
	uint64_t was;

	ipcwait_impl_releases(w);
	was = __atomic_fetch_or(&w->v, v, __ATOMIC_SEQ_CST);
	(void)ipcwait_impl_acquired(w, true);
	return was;
}

static inline uint64_t ipcwait_impl_swap64_acquire(struct ipcwait_word64 *w, uint64_t v)
{
	uint64_t was = __atomic_exchange_n(&w->v, v, __ATOMIC_ACQUIRE);

	(void)ipcwait_impl_acquired(w, true);
	return was;
}

static inline uint64_t ipcwait_impl_swap64_seq_cst(struct ipcwait_word64 *w, uint64_t v)
{
	uint64_t was;

	ipcwait_impl_releases(w);
	was = __atomic_exchange_n(&w->v, v, __ATOMIC_SEQ_CST);
	(void)ipcwait_impl_acquired(w, true);
	return was;
}

static inline void *ipcwait_impl_loadptr_relaxed(const struct ipcwait_wordptr *w)
{
	return __atomic_load_n(&w->v, __ATOMIC_RELAXED);
}

static inline void *ipcwait_impl_loadptr_acquire(const struct ipcwait_wordptr *w)
{
	void *was = __atomic_load_n(&w->v, __ATOMIC_ACQUIRE);

	(void)ipcwait_impl_acquired(w, true);
	return was;
}

static inline void ipcwait_impl_storeptr_relaxed(struct ipcwait_wordptr *w, void *v)
{
	__atomic_store_n(&w->v, v, __ATOMIC_RELAXED);
}

static inline void ipcwait_impl_storeptr_release(struct ipcwait_wordptr *w, void *v)
{
	ipcwait_impl_releases(w);
	__atomic_store_n(&w->v, v, __ATOMIC_RELEASE);
}

#endif /* IPCWAIT_IMPL_MODEL */

#endif
