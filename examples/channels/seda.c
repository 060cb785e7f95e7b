/* SPDX-License-Identifier: MIT */
/*
 * A staged pipeline: four stages, each a thread, with a channel before each and one at the end.
 *
 *	seda [-count=ITEMS] [-capacity=N]
 *
 * A stage takes a number, writes 30 bytes to the null device, works for some microseconds, and
 * hands on the number and what its work came to. When there are no more, the first channel is
 * closed, and each stage that gets to the end of its own closes the next. With two CPUs the stages
 * share them; a channel that holds some numbers lets a stage work on while the next is not there.
 */
#include "work.h"
#include "../../tools/common/complain.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

const char program_name[] = "seda";

#define STAGES 4

struct stage {
	struct ipcwait_channel *in, *out;
	pthread_t thread;
};

static void *work(void *arg)
{
	const struct stage *s = arg;
	int null = open_null();
	int64_t i;

	while (!ipcwait_channel_recv(s->in, &i))
		send_number(s->out, plus(i, times(write_record(null), spin(1000))));
	ipcwait_channel_close(s->out);
	close(null);
	return NULL;
}

struct source {
	struct ipcwait_channel *out;
	uint64_t count;
};

static void *feed(void *arg)
{
	const struct source *s = arg;

	for (uint64_t i = 0; i < s->count; i++)
		send_number(s->out, (int64_t)i);
	ipcwait_channel_close(s->out);
	return NULL;
}

/* The sum of all that comes out at the end. */
static int64_t drain(struct ipcwait_channel *last)
{
	int64_t total = 0, i;

	while (!ipcwait_channel_recv(last, &i))
		total = plus(total, i);
	return total;
}

int main(int argc, char **argv)
{
	uint64_t count = 10000, capacity = 1;
	const struct option options[] = { { "count", 1, 1000000000, &count },
					  { "capacity", 0, 1000000, &capacity },
					  { 0 } };
	struct ipcwait_channel *link[STAGES + 1];
	struct stage stages[STAGES];
	struct source source;
	struct stopwatch began;
	pthread_t feeder;
	int64_t total;

	read_options(argc, argv, options);
	for (unsigned k = 0; k <= STAGES; k++)
		link[k] = new_channel(sizeof(int64_t), capacity);
	began = stopwatch_start();
	for (unsigned k = 0; k < STAGES; k++) {
		stages[k] = (struct stage){ .in = link[k], .out = link[k + 1] };
		stages[k].thread = start(work, &stages[k]);
	}
	source = (struct source){ link[0], count };
	feeder = start(feed, &source);
	total = drain(link[STAGES]);
	say(&began, count * (STAGES + 1), "message");
	printf("Final total: %" PRId64 "\n", total);
	pthread_join(feeder, NULL);
	for (unsigned k = 0; k < STAGES; k++)
		pthread_join(stages[k].thread, NULL);
	for (unsigned k = 0; k <= STAGES; k++)
		ipcwait_channel_destroy(link[k]);
	return 0;
}
