/* SPDX-License-Identifier: MIT */
/*
 * queue_test: numbers go through a queue, from producers to consumers, who yield when they
 * find it empty, or wait for the next one. What arrives is checked: the sum of all, and the order
 * of each producer.
 */
#include "figures.h"
#include "part.h"
#include "queue_peer.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/number.h"

#include <ipcwait/stats.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

const char program_name[] = "queue_test";

#define THREADS_MOST 64
#define CAPACITY     4096 /* the seed's ring */
#define SEQUENCE     40   /* bits of a number; above them stands its producer */

struct run {
	const struct queue_peer *peer;
	void *queue;
	uint64_t each; /* numbers per producer */
	unsigned producers, consumers;
	bool wait; /* consumers do, where they would yield */
	pthread_barrier_t start;
	atomic_bool produced; /* all producers have ended */
};

struct worker {
	_Alignas(128) struct run *run;
	unsigned index;
	uint64_t count, sum, yields;
	bool disorder;
};

static void *produce(void *arg)
{
	struct worker *w = arg;
	struct run *r = w->run;
	uint64_t base = (uint64_t)w->index << SEQUENCE;

	part(w->index);
	pthread_barrier_wait(&r->start);
	for (uint64_t i = 1; i <= r->each; i++) {
		while (!r->peer->push(r->queue, base | i)) {
			w->yields++;
			sched_yield();
		}
	}
	return NULL;
}

static void take(struct worker *w, uint64_t *last, uint64_t value)
{
	uint64_t from = value >> SEQUENCE, number = value & ((1ULL << SEQUENCE) - 1);

	w->count++;
	w->sum += value;
	if (from >= w->run->producers || number <= last[from])
		w->disorder = true;
	else
		last[from] = number;
}

static void consume_waiting(struct worker *w, uint64_t *last)
{
	struct run *r = w->run;
	uint64_t value;

	while (r->peer->take(r->queue, &value))
		take(w, last, value);
}

static void consume_yielding(struct worker *w, uint64_t *last)
{
	struct run *r = w->run;
	uint64_t value;

	for (;;) {
		/* Looked at before the pop: what is pushed afterwards does not exist. */
		bool produced = atomic_load_explicit(&r->produced, memory_order_acquire);

		if (r->peer->pop(r->queue, &value)) {
			take(w, last, value);
			continue;
		}
		if (produced)
			return;
		w->yields++;
		sched_yield();
	}
}

static void *consume(void *arg)
{
	struct worker *w = arg;
	uint64_t last[THREADS_MOST] = { 0 };

	part(w->index + 1);
	pthread_barrier_wait(&w->run->start);
	if (w->run->wait)
		consume_waiting(w, last);
	else
		consume_yielding(w, last);
	return NULL;
}

static void start(pthread_t *thread, void *(*body)(void *), struct worker *w)
{
	if (pthread_create(thread, NULL, body, w))
		give_up("cannot make a thread");
}

static void run_threads(struct run *r, struct worker *workers, struct figures *f)
{
	unsigned n = r->producers + r->consumers;
	pthread_t threads[2 * THREADS_MOST];

	pthread_barrier_init(&r->start, NULL, n + 1);
	for (unsigned i = 0; i < n; i++) {
		bool producer = i < r->producers;

		workers[i].run = r;
		workers[i].index = producer ? i : i - r->producers;
		start(&threads[i], producer ? produce : consume, &workers[i]);
	}
	figures_begin(f);
	pthread_barrier_wait(&r->start);
	for (unsigned i = 0; i < r->producers; i++)
		pthread_join(threads[i], NULL);
	atomic_store_explicit(&r->produced, true, memory_order_release);
	if (r->wait)
		r->peer->close(r->queue);
	for (unsigned i = r->producers; i < n; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&r->start);
}

/* In wrapping arithmetic, as the consumers add. */
static uint64_t expected_sum(const struct run *r)
{
	uint64_t sum = 0;

	for (uint64_t p = 0; p < r->producers; p++)
		for (uint64_t i = 1; i <= r->each; i++)
			sum += p << SEQUENCE | i;
	return sum;
}

struct sums {
	uint64_t count, sum, empty, full;
	bool disorder;
};

static struct sums add_up(const struct run *r, const struct worker *workers)
{
	struct sums s = { 0, 0, 0, 0, false };

	for (unsigned i = 0; i < r->producers + r->consumers; i++) {
		const struct worker *w = &workers[i];

		s.count += w->count;
		s.sum += w->sum;
		s.disorder |= w->disorder;
		*(i < r->producers ? &s.full : &s.empty) += w->yields;
	}
	return s;
}

/* Of the process, which has no other object that somebody waits for. */
static void report_sleeps(struct json *j)
{
	struct ipcwait_stats st;
	uint64_t sleeps = 0, wakes = 0;

	if (ipcwait_stats_get(&st, sizeof(st)) <= 0)
		give_up("no counters");
	for (unsigned i = 0; i < IPCWAIT_KIND_COUNT; i++) {
		sleeps += st.kind[i].futex_waits;
		wakes += st.kind[i].futex_wakes;
	}
	json_whole(j, "futex_waits", sleeps);
	json_whole(j, "futex_wakes", wakes);
}

/* Return: an exit status. */
static int report(struct run *r, const struct worker *workers, struct json *j)
{
	struct sums s = add_up(r, workers);
	bool right = s.sum == expected_sum(r) && s.count == r->each * r->producers;

	json_text(j, "queue", r->peer->name);
	json_whole(j, "producers", r->producers);
	json_whole(j, "consumers", r->consumers);
	json_whole(j, "items", s.count);
	json_whole(j, "yields_empty", s.empty);
	json_whole(j, "yields_full", s.full);
	if (r->wait)
		report_sleeps(j);
	json_boolean(j, "sum_right", right);
	json_boolean(j, "order_right", !s.disorder);
	json_end(j);
	if (!right)
		complain("%s: numbers were lost, changed or came twice", r->peer->name);
	else if (s.disorder)
		complain("%s: numbers of one producer came out of order", r->peer->name);
	return right && !s.disorder ? 0 : 1;
}

static int run(struct run *r)
{
	static struct worker workers[2 * THREADS_MOST];
	struct queue_shape shape = { CAPACITY, r->producers, r->consumers };
	struct figures f;
	struct json j;
	int status;

	r->queue = r->peer->create(&shape);
	if (!r->queue) {
		complain("no memory");
		return 1;
	}
	run_threads(r, workers, &f);
	j = json_begin(stdout);
	figures_end(&f, &j);
	status = report(r, workers, &j);
	r->peer->destroy(r->queue);
	return status;
}

/* Who may use it. */
static const char *use_of(const struct queue_peer *q)
{
	if (q->one_to_one)
		return "1:1";
	if (q->one_consumer)
		return "n:1";
	return q->in_turn ? "in turn" : "n:n";
}

static int list(void)
{
	for (unsigned i = 0; i < queue_peer_count; i++) {
		const struct queue_peer *q = queue_peers[i];

		printf("%s\t%s\t%s\t%s\n", q->name, q->nodes, use_of(q),
		       q->missing ? q->missing : "");
	}
	return 0;
}

static int read_arguments(int argc, char **argv, struct run *r)
{
	uint64_t items, n = 1, m = 1;

	if (argc != 3 && argc != 5 && (argc != 6 || strcmp(argv[5], "wait") != 0))
		return complain(
			"want QUEUE ITEMS [PRODUCERS CONSUMERS ['wait']], or --list");
	r->peer = queue_peer_find(argv[1]);
	if (!r->peer)
		return complain("no queue '%s', see --list", shown(argv[1], 40));
	if (r->peer->missing)
		return complain("%s: %s", r->peer->name, r->peer->missing);
	if (number_parse(argv[2], 1, 1000000000, &items))
		return complain("ITEMS: want 1 to 1000000000, not '%s'",
				shown(argv[2], 40));
	if (argc > 3 && (number_parse(argv[3], 1, THREADS_MOST, &n) ||
			 number_parse(argv[4], 1, THREADS_MOST, &m)))
		return complain("PRODUCERS and CONSUMERS: want 1 to %d", THREADS_MOST);
	if (r->peer->one_to_one && (n > 1 || m > 1))
		return complain("%s is for one producer and one consumer", r->peer->name);
	if (r->peer->one_consumer && m > 1)
		return complain("%s is for one consumer", r->peer->name);
	if (argc == 6 && !r->peer->take)
		return complain("%s: its consumers cannot wait", r->peer->name);
	r->wait = argc == 6;
	r->producers = (unsigned)n;
	r->consumers = (unsigned)m;
	r->each = (items + n - 1) / n;
	return 0;
}

int main(int argc, char **argv)
{
	static struct run r;

	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list();
	return read_arguments(argc, argv, &r) ? 2 : run(&r);
}
