/* SPDX-License-Identifier: MIT */
/*
 * Many small writes: 30 bytes each, to the null device, one by one and then in batches.
 *
 *	file [-count=RECORDS] [-batch=N]
 *
 * One by one is a system call for each record. In batches, the thread that has the records sends
 * them into a channel, N in a call, and another one takes whatever has come by then and writes it
 * with a single writev(2): while it writes, the next batch gathers. Both come to the same bytes.
 */
#include "work.h"
#include "../../tools/common/complain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

const char program_name[] = "file";

#define CAPACITY 1024 /* records; as many as Linux takes in one writev */

struct source {
	struct ipcwait_channel *out;
	uint64_t count, batch;
};

static int64_t write_one_by_one(int fd, uint64_t count)
{
	int64_t bytes = 0;

	for (uint64_t i = 0; i < count; i++)
		bytes += write_record(fd);
	return bytes;
}

static void *send_records(void *arg)
{
	const struct source *s = arg;
	char records[CAPACITY][RECORD];
	uint64_t left = s->count;

	memset(records, '.', sizeof(records));
	while (left) {
		uint64_t n = left < s->batch ? left : s->batch;
		int64_t sent =
			ipcwait_channel_send_n(s->out, records, (size_t)n, IPCWAIT_FOREVER);

		if (sent < 0)
			give_up("cannot send");
		left -= (uint64_t)sent;
	}
	ipcwait_channel_close(s->out);
	return NULL;
}

/* Returns the bytes written, and in @calls with how many calls. */
static int64_t write_what_comes(int fd, struct ipcwait_channel *in, uint64_t *calls)
{
	static char records[CAPACITY][RECORD];
	static struct iovec list[CAPACITY];
	int64_t bytes = 0, n;

	for (unsigned k = 0; k < CAPACITY; k++)
		list[k] = (struct iovec){ records[k], RECORD };
	while ((n = ipcwait_channel_recv_n(in, records, CAPACITY, IPCWAIT_FOREVER)) > 0) {
		bytes += writev(fd, list, (int)n);
		++*calls;
	}
	return bytes;
}

int main(int argc, char **argv)
{
	uint64_t count = 10000000, batch = 64, calls = 0;
	const struct option options[] = { { "count", 1, 1000000000, &count },
					  { "batch", 1, CAPACITY, &batch },
					  { 0 } };
	struct source source;
	struct stopwatch began;
	pthread_t sender;
	int64_t bytes;
	int fd;

	read_options(argc, argv, options);
	fd = open_null();
	began = stopwatch_start();
	bytes = write_one_by_one(fd, count);
	printf("one by one: %" PRId64 " bytes, ", bytes);
	say(&began, count, "record");

	source = (struct source){ new_channel(RECORD, CAPACITY), count, batch };
	began = stopwatch_start();
	sender = start(send_records, &source);
	bytes = write_what_comes(fd, source.out, &calls);
	pthread_join(sender, NULL);
	printf("in batches: %" PRId64 " bytes, %" PRIu64 " records a call, ", bytes,
	       count / calls);
	say(&began, count, "record");
	ipcwait_channel_destroy(source.out);
	close(fd);
	return 0;
}
