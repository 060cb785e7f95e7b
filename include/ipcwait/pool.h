/* SPDX-License-Identifier: MIT */
/*
 * Pool: objects of one size, taken and put back without locks and, most of the time, without
 * meeting another thread. For what is allocated by one thread and freed by another, where a
 * general allocator is slowest; the library's queues take their memory from pools.
 *
 *	struct ipcwait_pool_params params = { .elem_size = sizeof(struct request) };
 *	struct ipcwait_pool *requests;
 *
 *	if (ipcwait_pool_create(&params, &requests))
 *		...
 *	struct request *r = ipcwait_pool_get(requests);     // thread A
 *	...
 *	ipcwait_pool_put(requests, r);                      // thread B
 *
 * How: each thread has two magazines of free objects for each pool that it uses. Only when
 * both are empty, or both full, it goes to the depot of its NUMA node, and changes a whole
 * magazine for another there. So does a thread that only takes, or only puts. Behind the depots
 * are slabs, which are mapped from the system and unmapped again. docs/design/pool.md
 *
 * Cost: about a nanosecond and a half each for get and put in the magazine; a depot visit in so
 * many calls as a magazine holds, 64 for objects up to 512 bytes and fewer for larger ones. A
 * thread has eight pools at hand; with more, a call for one that is not takes 16 ns more, and a
 * lock that is the whole process's.
 *
 * Contents: what an object holds after get is not defined: not zero, and not what it held when it
 * was put. A library that was built with AddressSanitizer tells of objects that are touched while
 * they are in the pool.
 *
 * Memory: what a burst has left goes back to the system by itself, after a second without need
 * for it, as objects are put; or at once with ipcwait_pool_trim(). Each thread that uses a pool may
 * keep two magazines of objects. The magazines themselves, eight bytes for each object that ever
 * lay in a depot, stay until the pool is destroyed.
 *
 * Ends: a thread that ends gives its magazines back, unless its first use of the pool is in the
 * last round of destructors of its keys, PTHREAD_DESTRUCTOR_ITERATIONS. Before the library is
 * unloaded its pools have been destroyed, and no thread that has used one is just ending.
 *
 * fork(2): the child has the pool, with the objects that it knows; those that other threads had in
 * hand are lost to it until it destroys the pool. A signal handler that may have interrupted a call
 * for a pool must not fork.
 *
 * Limits: one process. Elements of 1 to IPCWAIT_POOL_ELEM_MAX bytes.
 */
#ifndef IPCWAIT_POOL_H
#define IPCWAIT_POOL_H

#include <ipcwait/base.h>

/* Largest element, in bytes. */
#define IPCWAIT_POOL_ELEM_MAX 1048576

/* Largest alignment, in bytes. */
#define IPCWAIT_POOL_ALIGN_MAX 4096

struct ipcwait_pool;

/*
 * What the inline functions below see of a pool and of a thread; not API. The thread's magazine in
 * hand has objects from begin to top, and room from there to end. A pool's name is never used
 * again, and never 0. Under AddressSanitizer the library does it all, which marks free objects.
 */
struct ipcwait_impl_pool_head {
	uint64_t name;
};

struct ipcwait_impl_pool_cache {
	void **top, **begin, **end;
};

struct ipcwait_impl_pool_entry {
	uint64_t name;
	struct ipcwait_impl_pool_cache *cache;
};

#define IPCWAIT_IMPL_POOL_ENTRIES 8

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IPCWAIT_IMPL_POOL_INLINE 0
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define IPCWAIT_IMPL_POOL_INLINE 0
#endif
#ifndef IPCWAIT_IMPL_POOL_INLINE
#define IPCWAIT_IMPL_POOL_INLINE 1
#endif

/* Zero means defaults, but for the first. */
struct ipcwait_pool_params {
	size_t elem_size;  /* bytes of an element, 1 to IPCWAIT_POOL_ELEM_MAX */
	size_t elem_align; /* a power of two up to IPCWAIT_POOL_ALIGN_MAX; 0: as malloc(3) */
	uint64_t max_elems;   /* elements in use and in magazines, at most; 0: no bound */
	uint32_t magazine;    /* elements in a magazine, 1 to 64; 0: by the size */
	uint32_t reserved[3]; /* zero */
};

/* What a pool holds. Of a pool in use, sums of moments that lie close together. */
struct ipcwait_pool_stats {
	uint64_t size;    /* bytes of this struct that are filled in */
	uint64_t bytes;   /* mapped for elements */
	uint64_t used;    /* elements that the program has, or threads in their magazines */
	uint64_t cached;  /* elements in depots */
	uint64_t threads; /* that have magazines */
	uint64_t exchanges; /* magazines changed at depots */
	uint64_t refills;   /* magazines filled from slabs, or emptied into them */
	uint64_t trimmed;   /* elements that have gone from depots back to their slabs */
};

IPCWAIT_BEGIN_DECLS

extern IPCWAIT_API __thread struct ipcwait_impl_pool_entry
	ipcwait_impl_pool_entries[IPCWAIT_IMPL_POOL_ENTRIES]
	__attribute__((tls_model("initial-exec")));

IPCWAIT_API IPCWAIT_MUST_CHECK void *ipcwait_impl_pool_get_slow(struct ipcwait_pool *pool);
IPCWAIT_API void ipcwait_impl_pool_put_slow(struct ipcwait_pool *pool, void *elem);

/* The thread's own, if it is at hand. */
static inline struct ipcwait_impl_pool_entry *ipcwait_impl_pool_at_hand(
	const struct ipcwait_pool *pool)
{
	uint64_t name = ((const struct ipcwait_impl_pool_head *)(const void *)pool)->name;
	struct ipcwait_impl_pool_entry *e =
		&ipcwait_impl_pool_entries[name % IPCWAIT_IMPL_POOL_ENTRIES];

	return IPCWAIT_LIKELY(IPCWAIT_IMPL_POOL_INLINE && e->name == name) ? e : NULL;
}

/**
 * ipcwait_pool_create() - make a pool
 * @params: what of
 * @pool:   is set to the new pool
 *
 * Return: 0.
 *   -EINVAL  @params or @pool is NULL, or a member is out of its range
 *   -ENOMEM  no memory, or no key for the ends of threads
 *
 * Ordering:     none; publish the pool to other threads yourself
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     begins here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API IPCWAIT_MUST_CHECK int ipcwait_pool_create(
	const struct ipcwait_pool_params *params, struct ipcwait_pool **pool);

/**
 * ipcwait_pool_destroy() - end a pool, with all memory that has come from it
 * @pool: pool that nobody uses any more, or NULL, which does nothing
 *
 * Elements need not have been put back: all are gone. Threads that have used the pool may live on.
 *
 * Ordering:     none
 * Threads:      one, after every other call on @pool has returned
 * Processes:    one; a forked child destroys its own copy
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     ends here
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API void ipcwait_pool_destroy(struct ipcwait_pool *pool);

/**
 * ipcwait_pool_get() - take an element
 * @pool: pool
 *
 * Return: memory for one element, or NULL: there is no memory, or max_elems are in use, in the
 *   magazines of threads, or on their way between them.
 *
 * Ordering:     sees what came before the put of the element
 * Threads:      any
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     the element is the caller's until it is put, or the pool destroyed
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE IPCWAIT_MUST_CHECK void *ipcwait_pool_get(struct ipcwait_pool *pool)
{
	struct ipcwait_impl_pool_entry *e;

	if (IPCWAIT_IMPL_FAST((e = ipcwait_impl_pool_at_hand(pool)) &&
			      e->cache->top != e->cache->begin))
		return *--e->cache->top;
	return ipcwait_impl_pool_get_slow(pool);
}

/**
 * ipcwait_pool_put() - put an element back
 * @pool: the pool that it came from
 * @elem: element, or NULL, which does nothing
 *
 * Ordering:     what came before it is seen by whoever gets the element
 * Threads:      any, whoever got it
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     the element is not the caller's any more
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_INLINE void ipcwait_pool_put(struct ipcwait_pool *pool, void *elem)
{
	struct ipcwait_impl_pool_entry *e;

	if (IPCWAIT_IMPL_FAST((e = ipcwait_impl_pool_at_hand(pool)) && elem &&
			      e->cache->top != e->cache->end))
		*e->cache->top++ = elem;
	else
		ipcwait_impl_pool_put_slow(pool, elem);
}

/**
 * ipcwait_pool_trim() - give memory back to the system
 * @pool: pool
 *
 * All elements in depots, and in the magazines of the calling thread, go back to their slabs, and
 * slabs of which no element is missing are unmapped. The magazines of other threads stay.
 *
 * Return: how many bytes have been unmapped meanwhile.
 *
 * Ordering:     none
 * Threads:      any, beside every other call but ipcwait_pool_destroy()
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API size_t ipcwait_pool_trim(struct ipcwait_pool *pool);

/**
 * ipcwait_pool_stats_get() - what a pool holds
 * @pool: pool
 * @st:   is filled in
 * @size: sizeof(*st)
 *
 * Return: how many bytes of @st were filled in, which may be fewer than @size.
 *   -EINVAL  @pool or @st is NULL, or @size is below that of the first member
 *
 * Ordering:     none
 * Threads:      any, beside every other call but ipcwait_pool_destroy()
 * Processes:    one
 * Signals:      not async-signal-safe
 * Cancellation: not a cancellation point
 * Lifetime:     unchanged
 * errno:        untouched
 * Since:        0.1
 */
IPCWAIT_API int ipcwait_pool_stats_get(struct ipcwait_pool *pool,
				       struct ipcwait_pool_stats *st, size_t size);

IPCWAIT_END_DECLS

#endif
