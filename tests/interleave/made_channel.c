/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "interleave/made_objects.h"
#include "interleave/model.h"
#include "os/eventfd.h"
#include "queue/channel_select.h"

static void *allocate(size_t bytes)
{
	return model_alloc(bytes);
}

static void *allocate_aligned(size_t align, size_t bytes)
{
	(void)align;
	return model_alloc(bytes);
}

#define aligned_alloc allocate_aligned
#define malloc        allocate
#define free          model_free

#include "queue/channel_ring.c"

#include "queue/channel_meet.c"

/* A thread's wait on a channel without a buffer: its partner looks into it. */
static struct desk {
	struct ipcwait_channel_case of;
	struct iw_place place;
	struct iw_waitv word[2];
	struct iw_select select;
} * desks;

void made_desks_begin(void)
{
	desks = model_alloc((MODEL_THREADS_MAX + 1) * sizeof(*desks));
	memset(desks, 0, (MODEL_THREADS_MAX + 1) * sizeof(*desks));
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		model_name(&desks[i].select.party.state, "party");
}

void made_desks_end(void)
{
	model_free(desks);
}

/* As in lib/queue/channel_cases.c, of one case. */
int iw_channel_select(struct ipcwait_channel_case *cases, unsigned n, int64_t deadline_ns,
		      struct ipcwait_window *w, uintptr_t site)
{
	struct desk *d = &desks[model_thread()];
	int r;

	model_assert(n == 1);
	d->of = *cases;
	d->select = (struct iw_select){
		.base = { .window = w, .deadline_ns = deadline_ns, .site = site },
		.cases = &d->of,
		.n = 1,
		.place = &d->place,
		.word = d->word,
	};
	r = iw_select_run(&d->select);
	*cases = d->of;
	/* The stack is used for something else from now on. */
	memset(&d->select, 0x5a, sizeof(d->select));
	memset(&d->place, 0x5a, sizeof(d->place));
	return r;
}

/* Nobody asks for one. */
struct iw_eventfd *iw_eventfd_new(void)
{
	return NULL;
}

int iw_eventfd_number(struct iw_eventfd *e)
{
	(void)e;
	model_fail(MODEL_ASSERTION, "no eventfd");
}

void iw_eventfd_set(struct iw_eventfd *e)
{
	(void)e;
}

void iw_eventfd_clear(struct iw_eventfd *e)
{
	(void)e;
}

void iw_eventfd_end(struct iw_eventfd *e)
{
	(void)e;
}

static void name_all(struct ipcwait_channel *ch)
{
	model_name(&ch->elements->word, ch->meeting ? "m.line" : "r.line");
	model_name(&ch->room->word, ch->meeting ? "m.room" : "r.room");
	if (ch->meeting) {
		model_quiet(&ch->meeting->lock.window, sizeof(ch->meeting->lock.window));
		model_name(&ch->meeting->lock.word, "m.lock");
		model_name(&ch->meeting->sending, "m.sending");
		return;
	}
	model_name(&ring_of(ch)->tail, "r.tail");
	model_name(&ring_of(ch)->head, "r.head");
	model_name(&ring_of(ch)->closed, "r.closed");
	model_name(&slot_at(ring_of(ch), 0)->stamp, "r.stamp");
}

struct ipcwait_channel *made_channel(uint64_t capacity)
{
	const struct ipcwait_channel_params params = { .elem_size =
							       sizeof(struct made_elem),
						       .capacity = capacity };
	struct ipcwait_channel *ch = ipcwait_channel_create(&params);

	model_assert(ch);
	model_quiet(&ch->elements->window, sizeof(ch->elements->window));
	model_quiet(&ch->room->window, sizeof(ch->room->window));
	name_all(ch);
	return ch;
}
