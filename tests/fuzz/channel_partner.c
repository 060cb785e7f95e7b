/* SPDX-License-Identifier: MIT */
#include "fuzz/channel_partner.h"

#include <sched.h>

#include "common/fuzz.h"

/* Yields: in most cases the partner waits then. Nothing depends on it. */
#define LATER 100

void channel_do(struct ipcwait_channel_case *c, bool selects)
{
	if (selects)
		FUZZ_CHECK(ipcwait_channel_select(c, 1, IPCWAIT_FOREVER) == 0);
	else if (c->op == IPCWAIT_CHANNEL_SEND)
		c->result = ipcwait_channel_send(c->channel, c->elem);
	else
		c->result = ipcwait_channel_recv(c->channel, c->elem);
}

static void wait_for_any(const struct partner *p)
{
	struct ipcwait_waitable set[PARTNER_CASES] = { 0 };

	for (unsigned i = 0; i < p->n; i++) {
		set[i].type = IPCWAIT_WAITABLE_CHANNEL;
		set[i].object = p->cases[i].channel;
	}
	FUZZ_CHECK(ipcwait_wait_any(set, p->n, IPCWAIT_FOREVER, NULL) == (int)p->does);
}

static void *be_partner(void *arg)
{
	struct partner *p = arg;

	(void)pthread_barrier_wait(&p->begin);
	if (p->how == SELECTS) {
		FUZZ_CHECK(ipcwait_channel_select(p->cases, p->n, IPCWAIT_FOREVER) ==
			   (int)p->does);
		return NULL;
	}
	if (p->how == AFTER_ANY)
		wait_for_any(p);
	channel_do(&p->cases[p->does], false);
	return NULL;
}

void partner_begin(struct partner *p, bool later)
{
	FUZZ_CHECK(pthread_barrier_init(&p->begin, NULL, 2) == 0);
	FUZZ_CHECK(pthread_create(&p->thread, NULL, be_partner, p) == 0);
	(void)pthread_barrier_wait(&p->begin);
	for (int n = later ? LATER : 0; n; n--)
		(void)sched_yield();
}

void partner_join(struct partner *p)
{
	FUZZ_CHECK(pthread_join(p->thread, NULL) == 0);
	FUZZ_CHECK(pthread_barrier_destroy(&p->begin) == 0);
}
