/* SPDX-License-Identifier: MIT */
#include "interleave/queue_segments.h"

#include "interleave/model.h"
#include "interleave/rcu.h"
#include "queue/segment.h"
#include "queue/slot.h"

static volatile unsigned slots_of_each, left;

void segments_begin(unsigned slots)
{
	slots_of_each = slots;
	left = 0;
}

unsigned segments_left(void)
{
	return left;
}

struct iw_segment *iw_segment_get(uint32_t bytes, size_t stride, size_t beside)
{
	unsigned slots = slots_of_each;
	size_t size = sizeof(struct iw_segment) + slots * (stride + beside);
	struct iw_segment *s = model_alloc(size);

	(void)bytes;
	model_assert(!rcu_inside());
	s->slots = slots;
	s->bytes = (uint32_t)size;
	for (unsigned i = 0; i < slots; i++)
		*(struct ipcwait_word64 *)(void *)(s->slot + i * stride) =
			(struct ipcwait_word64){ IW_SLOT_EMPTY };
	left++;
	return s;
}

void iw_segment_put(struct iw_segment *s)
{
	left--;
	model_free(s);
}

static void give_back(struct iw_rcu_head *head)
{
	iw_segment_put((void *)((char *)head - offsetof(struct iw_segment, retired)));
}

void iw_segment_retire(struct iw_segment *s)
{
	model_assert(!rcu_inside());
	iw_rcu_retire(&s->retired, give_back);
}

size_t iw_segments_trim(void)
{
	return 0;
}

uint64_t iw_segments_in_limbo(void)
{
	return 0;
}
