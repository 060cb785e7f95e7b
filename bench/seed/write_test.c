/* SPDX-License-Identifier: MIT */
/*
 * write_test: the seed's Go program file in C, records of 30 bytes to the null device.
 *
 *   write_test COUNT [direct|channel|batches]
 *
 * "direct": a write for each record. "channel": one thread sends each record into a channel,
 * another takes all that have come and writes them with one writev. "batches": the same, with 64
 * records in a send.
 */
#include "figures.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/number.h"

#include <fcntl.h>
#include <ipcwait/channel.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

const char program_name[] = "write_test";

#define RECORD   30
#define BATCH    64
#define CAPACITY 1024 /* records; as many as Linux takes in one writev */

static const char record[RECORD + 1] = "a record of thirty characters.";

struct job {
	int fd;
	uint64_t count, bytes, calls;
	uint64_t batch; /* records in a send */
	struct ipcwait_channel *channel;
};

static void write_records(struct job *job)
{
	for (uint64_t i = 0; i < job->count; i++) {
		ssize_t n = write(job->fd, record, RECORD);

		if (n > 0)
			job->bytes += (uint64_t)n;
	}
	job->calls = job->count;
}

static void *send_records(void *arg)
{
	const struct job *job = arg;
	char records[BATCH][RECORD];

	for (unsigned k = 0; k < BATCH; k++)
		memcpy(records[k], record, RECORD);
	for (uint64_t sent = 0; sent < job->count;) {
		uint64_t left = job->count - sent,
			 n = left < job->batch ? left : job->batch;
		int64_t done;

		if (job->batch == 1)
			done = ipcwait_channel_send(job->channel, records) ? -1 : 1;
		else
			done = ipcwait_channel_send_n(job->channel, records, (size_t)n,
						      IPCWAIT_FOREVER);
		if (done < 0)
			give_up("cannot send");
		sent += (uint64_t)done;
	}
	(void)ipcwait_channel_close(job->channel);
	return NULL;
}

static void write_what_comes(struct job *job)
{
	static char records[CAPACITY][RECORD];
	static struct iovec list[CAPACITY];
	int64_t n;

	for (unsigned k = 0; k < CAPACITY; k++)
		list[k] = (struct iovec){ records[k], RECORD };
	while ((n = ipcwait_channel_recv_n(job->channel, records, CAPACITY,
					   IPCWAIT_FOREVER)) > 0) {
		ssize_t written = writev(job->fd, list, (int)n);

		if (written > 0)
			job->bytes += (uint64_t)written;
		job->calls++;
	}
}

static void write_by_channel(struct job *job)
{
	const struct ipcwait_channel_params params = { .elem_size = RECORD,
						       .capacity = CAPACITY };
	pthread_t sender;

	job->channel = ipcwait_channel_create(&params);
	if (!job->channel)
		give_up("no memory");
	if (pthread_create(&sender, NULL, send_records, job))
		give_up("cannot make a thread");
	write_what_comes(job);
	pthread_join(sender, NULL);
	ipcwait_channel_destroy(job->channel);
}

static int run(struct job *job)
{
	struct figures f;
	struct json j;

	job->fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (job->fd < 0) {
		complain("cannot open the null device");
		return EXIT_FAILED;
	}
	figures_begin(&f);
	if (job->batch)
		write_by_channel(job);
	else
		write_records(job);
	j = json_begin(stdout);
	figures_end(&f, &j);
	json_whole(&j, "writes", job->count);
	json_whole(&j, "calls", job->calls);
	json_whole(&j, "bytes", job->bytes);
	json_end(&j);
	close(job->fd);
	return EXIT_DONE;
}

int main(int argc, char **argv)
{
	struct job job = { .fd = -1 };

	if (argc < 2 || argc > 3 || number_parse(argv[1], 1, 1000000000, &job.count)) {
		complain("want the number of writes, 1 to 1000000000");
		return EXIT_BAD_INPUT;
	}
	if (argc == 3 && !strcmp(argv[2], "channel")) {
		job.batch = 1;
	} else if (argc == 3 && !strcmp(argv[2], "batches")) {
		job.batch = BATCH;
	} else if (argc == 3 && strcmp(argv[2], "direct") != 0) {
		complain("want direct, channel or batches, not '%s'", shown(argv[2], 40));
		return EXIT_BAD_INPUT;
	}
	return run(&job);
}
