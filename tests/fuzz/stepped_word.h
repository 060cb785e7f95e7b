/* SPDX-License-Identifier: MIT */
/*
 * The lower half of the seam, <ipcwait/impl/word.h>, with a step before each access to a
 * shared word: there others may run. IPCWAIT_IMPL_MODEL of targets that want that.
 */
#ifndef TESTS_FUZZ_STEPPED_WORD_H
#define TESTS_FUZZ_STEPPED_WORD_H

/* What the target defines. */
void fuzz_step(void);

static inline uint32_t ipcwait_impl_load32_relaxed(const struct ipcwait_word32 *w)
{
	fuzz_step();
	return __atomic_load_n(&w->v, __ATOMIC_RELAXED);
}

static inline uint32_t ipcwait_impl_load32_acquire(const struct ipcwait_word32 *w)
{
	return ipcwait_impl_load32_relaxed(w);
}

static inline void ipcwait_impl_store32_relaxed(struct ipcwait_word32 *w, uint32_t v)
{
	fuzz_step();
	__atomic_store_n(&w->v, v, __ATOMIC_RELAXED);
}

static inline void ipcwait_impl_store32_release(struct ipcwait_word32 *w, uint32_t v)
{
	ipcwait_impl_store32_relaxed(w, v);
}

static inline uint32_t ipcwait_impl_add32_relaxed(struct ipcwait_word32 *w, uint32_t v)
{
	fuzz_step();
	return __atomic_fetch_add(&w->v, v, __ATOMIC_RELAXED);
}

static inline bool ipcwait_impl_cas32_relaxed(struct ipcwait_word32 *w, uint32_t *expected,
					      uint32_t desired)
{
	fuzz_step();
	return __atomic_compare_exchange_n(&w->v, expected, desired, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static inline bool ipcwait_impl_cas32_release(struct ipcwait_word32 *w, uint32_t *expected,
					      uint32_t desired)
{
	return ipcwait_impl_cas32_relaxed(w, expected, desired);
}

static inline uint64_t ipcwait_impl_load64_relaxed(const struct ipcwait_word64 *w)
{
	fuzz_step();
	return __atomic_load_n(&w->v, __ATOMIC_RELAXED);
}

static inline uint64_t ipcwait_impl_load64_acquire(const struct ipcwait_word64 *w)
{
	return ipcwait_impl_load64_relaxed(w);
}

static inline void ipcwait_impl_store64_relaxed(struct ipcwait_word64 *w, uint64_t v)
{
	fuzz_step();
	__atomic_store_n(&w->v, v, __ATOMIC_RELAXED);
}

static inline uint64_t ipcwait_impl_add64_relaxed(struct ipcwait_word64 *w, uint64_t v)
{
	fuzz_step();
	return __atomic_fetch_add(&w->v, v, __ATOMIC_RELAXED);
}

static inline bool ipcwait_impl_cas64_relaxed(struct ipcwait_word64 *w, uint64_t *expected,
					      uint64_t desired)
{
	fuzz_step();
	return __atomic_compare_exchange_n(&w->v, expected, desired, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static inline bool ipcwait_impl_cas64_acquire(struct ipcwait_word64 *w, uint64_t *expected,
					      uint64_t desired)
{
	return ipcwait_impl_cas64_relaxed(w, expected, desired);
}

static inline bool ipcwait_impl_cas64_release(struct ipcwait_word64 *w, uint64_t *expected,
					      uint64_t desired)
{
	return ipcwait_impl_cas64_relaxed(w, expected, desired);
}

static inline uint32_t ipcwait_impl_add32_release(struct ipcwait_word32 *w, uint32_t v)
{
	return ipcwait_impl_add32_relaxed(w, v);
}

static inline bool ipcwait_impl_cas32_acquire(struct ipcwait_word32 *w, uint32_t *expected,
					      uint32_t desired)
{
	return ipcwait_impl_cas32_relaxed(w, expected, desired);
}

static inline void ipcwait_impl_store64_release(struct ipcwait_word64 *w, uint64_t v)
{
	ipcwait_impl_store64_relaxed(w, v);
}

static inline uint64_t ipcwait_impl_add64_release(struct ipcwait_word64 *w, uint64_t v)
{
	return ipcwait_impl_add64_relaxed(w, v);
}

static inline uint64_t ipcwait_impl_add64_acq_rel(struct ipcwait_word64 *w, uint64_t v)
{
	return ipcwait_impl_add64_relaxed(w, v);
}

static inline bool ipcwait_impl_cas64_acq_rel(struct ipcwait_word64 *w, uint64_t *expected,
					      uint64_t desired)
{
	return ipcwait_impl_cas64_relaxed(w, expected, desired);
}

static inline uint64_t ipcwait_impl_load64_seq_cst(const struct ipcwait_word64 *w)
{
	return ipcwait_impl_load64_relaxed(w);
}

static inline bool ipcwait_impl_cas64_seq_cst(struct ipcwait_word64 *w, uint64_t *expected,
					      uint64_t desired)
{
	return ipcwait_impl_cas64_relaxed(w, expected, desired);
}

static inline uint64_t ipcwait_impl_swap64_seq_cst(struct ipcwait_word64 *w, uint64_t v)
{
	fuzz_step();
	return __atomic_exchange_n(&w->v, v, __ATOMIC_RELAXED);
}

static inline void *ipcwait_impl_loadptr_relaxed(const struct ipcwait_wordptr *w)
{
	fuzz_step();
	return __atomic_load_n(&w->v, __ATOMIC_RELAXED);
}

static inline void *ipcwait_impl_loadptr_acquire(const struct ipcwait_wordptr *w)
{
	return ipcwait_impl_loadptr_relaxed(w);
}

static inline void ipcwait_impl_storeptr_relaxed(struct ipcwait_wordptr *w, void *v)
{
	fuzz_step();
	__atomic_store_n(&w->v, v, __ATOMIC_RELAXED);
}

static inline void ipcwait_impl_storeptr_release(struct ipcwait_wordptr *w, void *v)
{
	ipcwait_impl_storeptr_relaxed(w, v);
}

#endif
