/* SPDX-License-Identifier: MIT */
/*
 * Grace periods as short as they may be: what is retired is given back at the moment when the last
 * section ends that was under way then. Sections are not ordered with each other, only with what
 * is retired before they begin, and given back after they end.
 */
#include "interleave/rcu.h"
#include "os/rcu.h"

#define RETIRED_MAX 8

static struct {
	uint32_t retired, ended;
} * order;

/* Notes of the test's own. */
static volatile unsigned depth[MODEL_THREADS_MAX + 1];
static struct {
	struct iw_rcu_head *head;
	void (*give_back)(struct iw_rcu_head *head);
	unsigned inside; /* mask of threads in sections that began before */
} volatile retired[RETIRED_MAX];

void rcu_begin(void)
{
	order = model_alloc(sizeof(*order));
	for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++)
		depth[i] = 0;
	for (unsigned i = 0; i < RETIRED_MAX; i++)
		retired[i].head = 0;
}

static void give_back(unsigned i)
{
	struct iw_rcu_head *head = retired[i].head;
	void (*back)(struct iw_rcu_head *) = retired[i].give_back;

	retired[i].head = 0;
	(void)__atomic_fetch_add(&order->ended, 0, __ATOMIC_ACQUIRE);
	back(head);
}

static unsigned inside(void)
{
	unsigned mask = 0;

	for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++)
		mask |= depth[i] ? 1u << i : 0;
	return mask;
}

void rcu_end(void)
{
	model_assert(!inside());
	for (unsigned i = 0; i < RETIRED_MAX; i++)
		model_assert(!retired[i].head);
	model_free(order);
}

bool rcu_inside(void)
{
	return depth[model_thread()];
}

bool iw_rcu_ready(void)
{
	return true;
}

/* A section that begins after something was retired sees what came before that. */
void iw_rcu_enter(void)
{
	(void)__atomic_fetch_add(&order->retired, 0, __ATOMIC_ACQUIRE);
	depth[model_thread()]++;
}

void iw_rcu_leave(void)
{
	unsigned me = model_thread();

	(void)__atomic_fetch_add(&order->ended, 1, __ATOMIC_RELEASE);
	if (--depth[me])
		return;
	for (unsigned i = 0; i < RETIRED_MAX; i++) {
		if (!retired[i].head)
			continue;
		retired[i].inside &= ~(1u << me);
		if (!retired[i].inside)
			give_back(i);
	}
}

void iw_rcu_retire(struct iw_rcu_head *head, void (*back)(struct iw_rcu_head *head))
{
	unsigned i = 0;

	(void)__atomic_fetch_add(&order->retired, 1, __ATOMIC_RELEASE);
	(void)__atomic_fetch_add(&order->ended, 1, __ATOMIC_RELEASE);
	while (i < RETIRED_MAX && retired[i].head)
		i++;
	model_assert(i < RETIRED_MAX);
	retired[i].head = head;
	retired[i].give_back = back;
	retired[i].inside = inside();
	if (!retired[i].inside)
		give_back(i);
}

void iw_rcu_wait(void)
{
}
