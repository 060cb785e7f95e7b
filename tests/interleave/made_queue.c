/* SPDX-License-Identifier: MIT */
#include "interleave/made_objects.h"
#include "interleave/model.h"

static void *allocate(size_t align, size_t bytes)
{
	(void)align;
	return model_alloc(bytes);
}

#define aligned_alloc allocate
#define free          model_free

#include "queue/queue.c"

struct ipcwait_queue *made_queue(unsigned flags)
{
	const struct ipcwait_queue_params params = { .elem_size = sizeof(struct made_elem),
						     .flags = flags };
	struct ipcwait_queue *q = ipcwait_queue_create(&params);

	model_assert(q);
	model_quiet(&q->elements.window, sizeof(q->elements.window));
	model_name(&q->chain.head, "q.head");
	model_name(&q->chain.tail, "q.tail");
	model_name(&q->elements.word, "q.line");
	return q;
}

struct ipcwait_eventcount *made_queue_line(struct ipcwait_queue *q)
{
	return &q->elements;
}
