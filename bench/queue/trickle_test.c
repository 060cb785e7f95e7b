/* SPDX-License-Identifier: MIT */
/*
 * trickle_test: an item now and then, to a consumer that waits for it.
 *
 *   trickle_test ipcwait|futex GAP_US COUNT
 *
 * The producer is busy between two items, on a CPU of its own. An item is the time at which it was
 * pushed: "latency_ns" is how long it took until the consumer had it, the median; the CPU time is
 * the consumer's. "futex" is the least that can wait: a ring, and futex(2) when it is empty.
 */
#include "../common/clock.h"
#include "../common/raw_futex.h"
#include "../seed/part.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/json_writer.h"
#include "../../tools/common/number.h"

#include <ipcwait/queue.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "trickle_test";

#define RING 1024 /* more than ever lie in it */

struct ring {
	int64_t slots[RING];
	_Alignas(128) uint32_t pushed; /* the futex */
	_Alignas(128) atomic_bool asleep;
	uint32_t popped;
};

static struct ring ring;
static struct ipcwait_queue *queue; /* NULL: the ring */
static uint64_t count, gap_us;

static void push(int64_t item)
{
	if (queue) {
		if (ipcwait_queue_push(queue, &item))
			give_up("cannot push");
		return;
	}
	ring.slots[ring.pushed % RING] = item;
	__atomic_store_n(&ring.pushed, ring.pushed + 1, __ATOMIC_SEQ_CST);
	if (atomic_load(&ring.asleep))
		raw_futex_wake_one(&ring.pushed);
}

static int64_t pop(void)
{
	int64_t item;

	if (queue) {
		if (ipcwait_queue_pop(queue, &item))
			give_up("cannot pop");
		return item;
	}
	while (__atomic_load_n(&ring.pushed, __ATOMIC_ACQUIRE) == ring.popped) {
		atomic_store(&ring.asleep, true);
		raw_futex_wait(&ring.pushed, ring.popped);
		atomic_store(&ring.asleep, false);
	}
	return ring.slots[ring.popped++ % RING];
}

static void *produce(void *unused)
{
	int64_t next_ns = clock_now_ns();

	part(1);
	for (uint64_t i = 0; i < count; i++) {
		next_ns += (int64_t)gap_us * 1000;
		clock_burn_until(next_ns);
		push(clock_now_ns());
	}
	return unused;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void measure(void)
{
	int64_t *latency = calloc(count, sizeof(*latency)), cpu_ns;
	struct json j = json_begin(stdout);
	pthread_t producer;

	if (!latency || pthread_create(&producer, NULL, produce, NULL))
		give_up("no memory, or no thread");
	part(0);
	cpu_ns = clock_thread_cpu_ns();
	for (uint64_t i = 0; i < count; i++) {
		int64_t pushed_ns = pop();

		latency[i] = clock_now_ns() - pushed_ns;
	}
	cpu_ns = clock_thread_cpu_ns() - cpu_ns;
	pthread_join(producer, NULL);
	qsort(latency, count, sizeof(*latency), by_size);
	json_number(&j, "latency_ns", (double)latency[count / 2]);
	json_number(&j, "latency_p99_ns", (double)latency[count - 1 - count / 100]);
	json_number(&j, "cpu_ns", (double)cpu_ns / (double)count);
	json_whole(&j, "items", count);
	json_end(&j);
	free(latency);
}

int main(int argc, char **argv)
{
	const struct ipcwait_queue_params params = { .elem_size = sizeof(int64_t) };

	if (argc != 4 || (strcmp(argv[1], "ipcwait") && strcmp(argv[1], "futex")) ||
	    number_parse(argv[2], 1, 1000000, &gap_us) ||
	    number_parse(argv[3], 1, 1000000, &count)) {
		complain(
			"want ipcwait or futex; GAP_US, 1 to 1000000; COUNT, 1 to 1000000");
		return EXIT_BAD_INPUT;
	}
	if (!strcmp(argv[1], "ipcwait") && !(queue = ipcwait_queue_create(&params)))
		give_up("cannot make a queue");
	measure();
	ipcwait_queue_destroy(queue);
	return EXIT_DONE;
}
