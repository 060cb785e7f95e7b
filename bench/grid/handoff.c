/* SPDX-License-Identifier: MIT */
/*
 * What does a hand-off cost, by how long the other has waited?
 *
 * One operation is one hand-off by a semaphore. For "wait:5us" and the like the waiter says
 * that it is ready, and a busy thread on another CPU posts 5 us later: waits.h says what is
 * measured and what is not.
 *
 * "wait:0" is ping-pong as fast as it goes, by two semaphores, fresh in each run. An operation
 * is half a round trip, and so is the latency. The two begin on different CPUs, if there are
 * two, and are free to move: the scheduler likes to bring those together that sleep, which is
 * fast in its way, and same_cpu_share says how often it did. Neither the posts nor the CPU time
 * of one side are measured: reading clocks would be most of the time. The latency is that of some
 * of the round trips only (volley.h).
 */
#include "impls.h"
#include "questions.h"
#include "volley.h"
#include "waits.h"

#define US INT64_C(1000)
#define MS (1000 * US)

static const int64_t waits_ns[] = { 500,      2 * US,   5 * US, 20 * US, 50 * US,
				    100 * US, 500 * US, 1 * MS, 10 * MS };

#define WAITS (sizeof(waits_ns) / sizeof(*waits_ns))

static void ping_pong(struct bench_run *run, const void *arg)
{
	const struct sem_peer *peer = arg;
	struct volley v = { .ops = peer->ops, .pairs = 1, .per_trip = 2 };

	v.place = PLACE_APART;
	v.futexes = futexes_of(peer->name);
	if (!is_missing(run, peer->missing))
		volley_time(run, &v);
}

static void add_impl(const struct sem_peer *peer)
{
	char text[DURATION_SIZE];

	bench_add(ping_pong, peer, "handoff/impl:%s/wait:0", peer->name);
	for (unsigned i = 0; i < WAITS; i++) {
		struct waits *w = waits_new(peer);

		w->wait_ns = waits_ns[i];
		bench_add(time_waits, w, "handoff/impl:%s/wait:%s", peer->name,
			  duration(text, w->wait_ns));
	}
}

void add_handoff(void)
{
	const struct sem_peer *peer;

	for (unsigned i = 0; (peer = sem_impl(i)); i++)
		add_impl(peer);
}
