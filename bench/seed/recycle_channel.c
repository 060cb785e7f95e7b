/* SPDX-License-Identifier: MIT */
/*
 * Buffers lie in libipcwait's channel, each as its number. One thread receives some, or waits for
 * them, and hands them over as in recycle_pool.c; the other collects a batch and sends it back in
 * one call.
 */
#include "figures.h"
#include "part.h"
#include "recycle.h"
#include "../../tools/common/complain.h"

#include <ipcwait/channel.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define NAME "ipcwait"

struct store {
	struct ipcwait_channel *free;
	const struct recycle *plan;
	uint64_t uses[BUFFERS];
	/* From the taker to the giver; as many slots as buffers, so it is never full. */
	uint32_t slots[BUFFERS];
	_Alignas(128) atomic_uint_fast64_t handed;
	_Alignas(128) struct takes takes;
	_Alignas(128) uint64_t gives;
};

static struct store store;

static void *take(void *arg)
{
	struct store *s = arg;
	uint64_t most = s->plan->take ? s->plan->take : BUFFERS, handed = 0;
	uint32_t found[BUFFERS];

	part(1);
	while (handed < s->plan->items) {
		uint64_t left = s->plan->items - handed;
		int64_t n = ipcwait_channel_recv_n(
			s->free, found, left < most ? left : most, IPCWAIT_FOREVER);

		if (n <= 0)
			give_up("cannot receive");
		for (int64_t i = 0; i < n; i++) {
			s->slots[handed % BUFFERS] = found[i];
			atomic_store_explicit(&s->handed, ++handed, memory_order_release);
		}
		takes_add(&s->takes, (uint64_t)n);
	}
	return NULL;
}

/* The channel has room for all buffers: nobody waits. */
static void give(struct store *s, const uint32_t *buffers, uint64_t n)
{
	if (ipcwait_channel_send_n(s->free, buffers, n, IPCWAIT_FOREVER) != (int64_t)n)
		give_up("cannot send");
	s->gives++;
}

static void give_all(struct store *s)
{
	uint32_t batch[BATCH_MOST];
	uint64_t collected = 0;

	for (uint64_t n = 0; n < s->plan->items; n++) {
		while (atomic_load_explicit(&s->handed, memory_order_acquire) <= n)
			sched_yield();
		batch[collected] = s->slots[n % BUFFERS];
		s->uses[batch[collected++]]++;
		if (collected < s->plan->give && n + 1 < s->plan->items)
			continue;
		give(s, batch, collected);
		collected = 0;
	}
}

static void fill(struct store *s)
{
	const struct ipcwait_channel_params params = { .elem_size = sizeof(uint32_t),
						       .capacity = BUFFERS };

	s->free = ipcwait_channel_create(&params);
	if (!s->free)
		give_up("no memory");
	for (uint32_t i = 0; i < BUFFERS; i++)
		if (ipcwait_channel_send(s->free, &i))
			give_up("cannot send");
}

static bool uses_right(const struct store *s)
{
	uint64_t uses = 0;

	for (unsigned i = 0; i < BUFFERS; i++)
		uses += s->uses[i];
	return uses == s->plan->items;
}

int recycle_channel(const struct recycle *r, struct json *j)
{
	struct figures f;
	pthread_t taker;
	bool right;

	store.plan = r;
	fill(&store);
	part(0);
	figures_begin(&f);
	if (pthread_create(&taker, NULL, take, &store))
		give_up("cannot make a thread");
	give_all(&store);
	pthread_join(taker, NULL);
	figures_end(&f, j);
	ipcwait_channel_destroy(store.free);
	takes_write(&store.takes, j);
	json_whole(j, "gives", store.gives);
	right = uses_right(&store);
	json_boolean(j, "count_right", right);
	if (!right)
		complain("%s: buffers were lost or used twice", r->how);
	return right ? 0 : 1;
}

void recycle_channel_list(void)
{
	printf("channel\t%s\t\n", NAME);
}

const char *recycle_channel_refuses(const char *how)
{
	return strcmp(how, NAME) ? "there is no such channel, see --list" : NULL;
}
