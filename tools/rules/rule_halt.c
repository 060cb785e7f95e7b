/* SPDX-License-Identifier: MIT */
/*
 * The two kernel rules that double and halve: both time the halt, so they see sleeps.
 *
 * haltpoll, the guest's governor: drivers/cpuidle/governors/haltpoll.c. With h the time
 * halted, the poll before it not included:
 *
 *	limit < h <= 200 us	limit = clamp(2 limit, 50 us, 200 us)
 *	h > 200 us		limit / 2, and 0 below 50 us (since Linux 6.9)
 *
 * kvm, the host's: kvm_vcpu_halt() in virt/kvm/kvm_main.c. With d the whole time without
 * work, the poll included:
 *
 *	d <= window		as it is
 *	window > 0, d > 200 us	window / 2, and 0 below 10 us
 *	d < 200 us		clamp(2 window, 10 us, 200 us)
 *
 * Both begin at 0. (The kernel's poll loops look at the clock every few us; that is left
 * out in their favour.)
 */
#include "rule.h"

#define MAX_NS            200000
#define HALTPOLL_START_NS 50000
#define KVM_START_NS      10000

struct halt {
	uint64_t window_ns;
};

static void halt_init(void *state, uint64_t block_ns)
{
	(void)state;
	(void)block_ns;
}

static uint64_t halt_spin_ns(void *state, struct random *r)
{
	(void)r;
	return ((const struct halt *)state)->window_ns;
}

static uint64_t halved(uint64_t ns, uint64_t start_ns)
{
	return ns / 2 < start_ns ? 0 : ns / 2;
}

static uint64_t doubled(uint64_t ns, uint64_t start_ns)
{
	ns = 2 * ns > start_ns ? 2 * ns : start_ns;
	return ns < MAX_NS ? ns : MAX_NS;
}

static void haltpoll_learn(void *state, const struct outcome *o)
{
	struct halt *h = state;
	uint64_t halted_ns = o->wait_ns - o->spin_ns;

	if (o->spun)
		return;
	if (halted_ns > MAX_NS)
		h->window_ns = halved(h->window_ns, HALTPOLL_START_NS);
	else if (halted_ns > h->window_ns)
		h->window_ns = doubled(h->window_ns, HALTPOLL_START_NS);
}

static void kvm_learn(void *state, const struct outcome *o)
{
	struct halt *h = state;

	if (o->wait_ns <= h->window_ns)
		return;
	if (o->wait_ns > MAX_NS)
		h->window_ns = halved(h->window_ns, KVM_START_NS);
	else if (o->wait_ns < MAX_NS)
		h->window_ns = doubled(h->window_ns, KVM_START_NS);
}

const struct rule rule_haltpoll = {
	.name = "haltpoll",
	.what = "Linux guest governor: 50 to 200 us, doubles and halves",
	.sees_sleep = true,
	.init = halt_init,
	.spin_ns = halt_spin_ns,
	.learn = haltpoll_learn,
};

const struct rule rule_kvm = {
	.name = "kvm",
	.what = "Linux host halt polling: 10 to 200 us, doubles and halves",
	.sees_sleep = true,
	.init = halt_init,
	.spin_ns = halt_spin_ns,
	.learn = kvm_learn,
};
