/* SPDX-License-Identifier: MIT */
/* A plugin with a copy of the library in it: two_copies_test.c. */
#include <ipcwait/queue.h>

void two_copies_use(int rounds);

static struct ipcwait_queue *queue;

void two_copies_use(int rounds)
{
	struct ipcwait_queue_params params = { .elem_size = 8 };
	uint64_t x = 1;

	if (!queue)
		queue = ipcwait_queue_create(&params);
	for (int i = 0; queue && i < rounds; i++)
		if (ipcwait_queue_push(queue, &x) || ipcwait_queue_trypop(queue, &x))
			return;
}
