/* SPDX-License-Identifier: MIT */
#include "ask.h"
#include "work.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define WORKERS 50

struct worker {
	struct ipcwait_channel *in, *out;
	bool writes;
	pthread_t thread;
};

static void *answer(void *arg)
{
	const struct worker *w = arg;
	int null = w->writes ? open_null() : -1;
	int64_t i;

	while (!ipcwait_channel_recv(w->in, &i)) {
		int64_t bytes = w->writes ? write_record(null) : RECORD;

		send_number(w->out, times(times(i, 2 * bytes), spin(100)));
	}
	if (w->writes)
		close(null);
	return NULL;
}

static int64_t ask(const struct worker *workers, uint64_t rounds, int null)
{
	int64_t total = 0;

	for (uint64_t i = 0; i < rounds; i++) {
		for (unsigned k = 0; k < WORKERS; k++)
			send_number(workers[k].in, (int64_t)i);
		for (unsigned k = 0; k < WORKERS && null >= 0; k++)
			(void)write_record(null);
		for (unsigned k = 0; k < WORKERS; k++)
			total = plus(total, receive_number(workers[k].out));
	}
	return total;
}

static void start_workers(struct worker *workers, uint64_t capacity, bool writes)
{
	for (unsigned k = 0; k < WORKERS; k++) {
		struct worker *w = &workers[k];

		w->in = new_channel(sizeof(int64_t), capacity);
		w->out = new_channel(sizeof(int64_t), capacity);
		w->writes = writes;
		w->thread = start(answer, w);
	}
}

static void end_workers(struct worker *workers)
{
	for (unsigned k = 0; k < WORKERS; k++) {
		ipcwait_channel_close(workers[k].in);
		pthread_join(workers[k].thread, NULL);
		ipcwait_channel_destroy(workers[k].in);
		ipcwait_channel_destroy(workers[k].out);
	}
}

int ask_workers(int argc, char **argv, bool writes)
{
	static struct worker workers[WORKERS];
	uint64_t rounds = 100000, capacity = 1;
	const struct option options[] = { { "count", 1, 1000000000, &rounds },
					  { "capacity", 0, 1000000, &capacity },
					  { 0 } };
	struct stopwatch began;
	int64_t total;
	int null;

	read_options(argc, argv, options);
	null = writes ? open_null() : -1;
	start_workers(workers, capacity, writes);
	began = stopwatch_start();
	total = ask(workers, rounds, null);
	say(&began, rounds * 2 * WORKERS, "message");
	printf("Final total: %" PRId64 "\n", total);
	end_workers(workers);
	if (writes)
		close(null);
	return 0;
}
