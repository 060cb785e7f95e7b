/* SPDX-License-Identifier: MIT */
/* What does it cost where nobody waits? One thread, one object, everything in the cache. */
#include "questions.h"
#include "../peers/peers.h"
#include "../shim/bench.h"

static void post_and_wait(struct bench_run *run, const void *arg)
{
	const struct sem_ops *ops = arg;
	uint64_t n = bench_operations(run);
	struct sem_room sem;

	ops->init(&sem);
	bench_begin(run);
	for (uint64_t i = 0; i < n; i++) {
		ops->post(&sem);
		ops->wait(&sem);
	}
	bench_end(run);
	if (ops->end)
		ops->end(&sem);
}

void add_uncontended(void)
{
	bench_add(post_and_wait, &sem_adaptive, "uncontended/op:sem/impl:ipcwait");
	bench_add(post_and_wait, &sem_glibc, "uncontended/op:sem/impl:glibc");
}
