/* SPDX-License-Identifier: MIT */
/*
 * The seed's own queue, written anew after its description, for one producer and one consumer only:
 *
 *   seed_list    a linked list with new and delete for each item. Its second variant is the same
 *                with tcmalloc preloaded.
 *   seed_cache   nodes from a free list of the whole process, at most 1000 in it, behind a cache of
 *                32 in each thread, which is filled 16 single nodes at a time.
 *
 * With two consumers a node may be deleted while the other reads it, and a node that came back
 * unnoticed loses items; with two producers who take from the free list the same. The seed's
 * loops and its lack of padding are kept, as they are what it measured; its weak orders and the
 * writing past the cache's end are not.
 */
#include "queue_peers.h"

#include <atomic>
#include <new>

struct seed_node {
	uint64_t value;
	std::atomic<seed_node *> next;
};

/* Of the process, for all queues, as in the seed. */
struct free_list {
	~free_list()
	{
		while (seed_node *n = pop())
			delete n;
	}

	seed_node *acquire()
	{
		seed_node *n = pop();

		return n ? n : new (std::nothrow) seed_node;
	}

	void release(seed_node *n)
	{
		if (count.load(std::memory_order_relaxed) >= 1000) {
			delete n;
			return;
		}
		seed_node *old = head.load(std::memory_order_relaxed);
		do {
			n->next.store(old, std::memory_order_relaxed);
		} while (!head.compare_exchange_weak(old, n, std::memory_order_release,
						     std::memory_order_relaxed));
		count.fetch_add(1, std::memory_order_relaxed);
	}

	seed_node *pop()
	{
		seed_node *n = head.load(std::memory_order_acquire);

		while (n && !head.compare_exchange_weak(
				    n, n->next.load(std::memory_order_relaxed),
				    std::memory_order_acquire, std::memory_order_acquire))
			;
		if (n)
			count.fetch_sub(1, std::memory_order_relaxed);
		return n;
	}

	std::atomic<seed_node *> head{ nullptr };
	std::atomic<size_t> count{ 0 };
};

static free_list pool;

struct thread_cache {
	~thread_cache()
	{
		while (count)
			pool.release(nodes[--count]);
	}

	seed_node *acquire()
	{
		if (!count)
			refill();
		return count ? nodes[--count] : nullptr;
	}

	void release(seed_node *n)
	{
		if (count < 32)
			nodes[count++] = n;
		else
			pool.release(n);
	}

	void refill()
	{
		while (count < 16 && (nodes[count] = pool.acquire()))
			count++;
	}

	seed_node *nodes[32];
	unsigned count = 0;
};

static thread_local thread_cache cache;

struct from_new {
	static seed_node *acquire()
	{
		return new (std::nothrow) seed_node;
	}

	static void release(seed_node *n)
	{
		delete n;
	}
};

struct from_cache {
	static seed_node *acquire()
	{
		return cache.acquire();
	}

	static void release(seed_node *n)
	{
		cache.release(n);
	}
};

/* The first node is one whose value has been taken. */
struct seed_list {
	std::atomic<seed_node *> head, tail;
};

template <class Memory> static void *create(const queue_shape *)
{
	seed_list *q = new (std::nothrow) seed_list;
	seed_node *first = Memory::acquire();

	if (!q || !first) {
		delete q;
		return nullptr;
	}
	first->next.store(nullptr, std::memory_order_relaxed);
	q->head.store(first, std::memory_order_relaxed);
	q->tail.store(first, std::memory_order_relaxed);
	return q;
}

template <class Memory> static bool push(void *queue, uint64_t value)
{
	seed_list *q = static_cast<seed_list *>(queue);
	seed_node *n = Memory::acquire();

	if (!n)
		return false;
	n->value = value;
	n->next.store(nullptr, std::memory_order_relaxed);
	seed_node *last = q->tail.load(std::memory_order_acquire);
	while (!q->tail.compare_exchange_weak(last, n, std::memory_order_acq_rel,
					      std::memory_order_acquire))
		;
	last->next.store(n, std::memory_order_release);
	return true;
}

template <class Memory> static bool pop(void *queue, uint64_t *value)
{
	seed_list *q = static_cast<seed_list *>(queue);
	seed_node *first = q->head.load(std::memory_order_acquire), *next;

	do {
		next = first->next.load(std::memory_order_acquire);
		if (!next)
			return false;
	} while (!q->head.compare_exchange_weak(first, next, std::memory_order_acq_rel,
						std::memory_order_acquire));
	*value = next->value;
	Memory::release(first);
	return true;
}

template <class Memory> static void destroy(void *queue)
{
	seed_list *q = static_cast<seed_list *>(queue);
	uint64_t value;

	while (pop<Memory>(queue, &value))
		;
	Memory::release(q->head.load(std::memory_order_relaxed));
	delete q;
}

const queue_peer queue_seed_list = {
	"seed_list", "new per node",   nullptr,        true,          false,
	false,       create<from_new>, push<from_new>, pop<from_new>, destroy<from_new>,
	nullptr,     nullptr,          false,
};

const queue_peer queue_seed_cache = {
	"seed_cache",
	"free list and caches",
	nullptr,
	true,
	false,
	false,
	create<from_cache>,
	push<from_cache>,
	pop<from_cache>,
	destroy<from_cache>,
	nullptr,
	nullptr,
	false,
};
