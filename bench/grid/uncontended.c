/* SPDX-License-Identifier: MIT */
/*
 * What does it cost where nobody waits?
 *
 * One thread, one object, everything in the cache. One operation is a post and a wait that
 * finds the token; a lock and an unlock; a wake of a word on which nobody sleeps (always a
 * system call, which a primitive avoids by knowing that); a push and a pop.
 *
 * Not measured: the first use of an object, lines that another CPU had last.
 */
#include "impls.h"
#include "questions.h"
#include "../common/raw_futex.h"
#include "../seed/queue_peer.h"

#include <ipcwait/futex.h>

static void post_and_wait(struct bench_run *run, const void *arg)
{
	const struct sem_peer *peer = arg;
	uint64_t n = bench_operations(run);
	struct sem_room sem;

	if (is_missing(run, peer->missing))
		return;
	peer->ops->init(&sem);
	bench_begin(run);
	for (uint64_t i = 0; i < n; i++) {
		peer->ops->post(&sem);
		peer->ops->wait(&sem);
	}
	bench_end(run);
	if (peer->ops->end)
		peer->ops->end(&sem);
}

static void lock_and_unlock(struct bench_run *run, const void *arg)
{
	const struct lock_peer *peer = arg;
	uint64_t n = bench_operations(run);
	struct lock_hold hold = { { 0 } };
	struct lock_room lock;

	if (is_missing(run, peer->missing))
		return;
	peer->ops->init(&lock);
	bench_begin(run);
	for (uint64_t i = 0; i < n; i++) {
		peer->ops->lock(&lock, &hold);
		peer->ops->unlock(&lock, &hold);
	}
	bench_end(run);
	if (peer->ops->end)
		peer->ops->end(&lock);
}

static void wake_nobody(struct bench_run *run, const void *arg)
{
	uint64_t n = bench_operations(run);
	uint32_t word = 0;

	(void)arg;
	bench_begin(run);
	for (uint64_t i = 0; i < n; i++)
		ipcwait_futex_wake(&word, 1, IPCWAIT_PRIVATE);
	bench_end(run);
}

static void wake_nobody_raw(struct bench_run *run, const void *arg)
{
	uint64_t n = bench_operations(run);
	uint32_t word = 0;

	(void)arg;
	bench_begin(run);
	for (uint64_t i = 0; i < n; i++)
		raw_futex_wake_one(&word);
	bench_end(run);
}

static void push_and_pop(struct bench_run *run, const void *arg)
{
	const struct queue_peer *peer = arg;
	const struct queue_shape shape = { 1024, 1, 1 };
	uint64_t n = bench_operations(run), value;
	void *queue;

	if (is_missing(run, peer->missing))
		return;
	queue = peer->create(&shape);
	if (!queue) {
		bench_skip(run, "failed: no memory");
		return;
	}
	bench_begin(run);
	for (uint64_t i = 0; i < n; i++) {
		peer->push(queue, i);
		peer->pop(queue, &value);
	}
	bench_end(run);
	peer->destroy(queue);
}

static void add_queues(void)
{
	for (unsigned i = 0; i < queue_peer_count; i++)
		bench_add(push_and_pop, queue_peers[i], "uncontended/op:queue/impl:%s",
			  queue_peers[i]->name);
}

void add_uncontended(void)
{
	for (const struct sem_peer *p = sem_peers; p->name; p++)
		bench_add(post_and_wait, p, "uncontended/op:sem/impl:%s", p->name);
	for (const struct lock_peer *p = lock_peers; p->name; p++)
		bench_add(lock_and_unlock, p, "uncontended/op:lock/impl:%s", p->name);
	bench_add(wake_nobody, NULL, "uncontended/op:wake/impl:ipcwait");
	bench_add(wake_nobody_raw, NULL, "uncontended/op:wake/impl:futex");
	add_queues();
}
