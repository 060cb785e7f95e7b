/* SPDX-License-Identifier: MIT */
/*
 * burst_test: what a queue keeps of the memory that a burst has needed.
 *
 *   burst_test COUNT
 *
 * A thousand items go through the queue, so that it has what it always needs; then COUNT are
 * pushed, all popped, and the queue is trimmed. The resident memory of the process, in kB, at the
 * start, at the peak and at the end.
 */
#include "../../tools/common/complain.h"
#include "../../tools/common/json_writer.h"
#include "../../tools/common/number.h"

#include <ipcwait/queue.h>

#include <stdio.h>
#include <unistd.h>

const char program_name[] = "burst_test";

static uint64_t resident_kb(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long all, resident;

	if (!f || fscanf(f, "%lu %lu", &all, &resident) != 2)
		give_up("not available: /proc/self/statm");
	fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static void push(struct ipcwait_queue *q, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (ipcwait_queue_push(q, &i))
			give_up("cannot push");
}

static void pop(struct ipcwait_queue *q, uint64_t count)
{
	uint64_t item;

	for (uint64_t i = 0; i < count; i++)
		if (ipcwait_queue_trypop(q, &item) || item != i)
			give_up("an item was lost, or came too early");
}

int main(int argc, char **argv)
{
	const struct ipcwait_queue_params params = { .elem_size = sizeof(uint64_t) };
	uint64_t count, start, peak;
	struct ipcwait_queue *q;
	struct json j;

	if (argc != 2 || number_parse(argv[1], 1, 1000000000, &count)) {
		complain("want COUNT, 1 to 1000000000");
		return EXIT_BAD_INPUT;
	}
	q = ipcwait_queue_create(&params);
	if (!q)
		give_up("cannot make a queue");
	push(q, 1000);
	pop(q, 1000);
	start = resident_kb();
	push(q, count);
	peak = resident_kb();
	pop(q, count);
	j = json_begin(stdout);
	json_whole(&j, "start_kb", start);
	json_whole(&j, "peak_kb", peak);
	json_whole(&j, "drained_kb", resident_kb());
	(void)ipcwait_queue_trim(q);
	json_whole(&j, "trimmed_kb", resident_kb());
	json_end(&j);
	ipcwait_queue_destroy(q);
	return EXIT_DONE;
}
