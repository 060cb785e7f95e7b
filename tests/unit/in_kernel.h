/* SPDX-License-Identifier: MIT */
/* A call that waits in the kernel, played: when a look finds something, how long it sleeps. */
#ifndef IW_TEST_IN_KERNEL_H
#define IW_TEST_IN_KERNEL_H

#include <string.h>

#include "common/fake_os.h"
#include "common/probe.h"
#include "os/thread.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

static struct call {
	struct iw_waiter base;
	struct ipcwait_window window;
	unsigned looks, sleeps;
	bool over;
	int64_t there_at; /* a look finds it from then on; 0: never */
	int64_t sleep_ns; /* how long the call sleeps */
	int64_t look_ns;  /* how long a look takes; 0: 250 */
} call;

static inline enum iw_seen look(struct iw_waiter *me)
{
	(void)me;
	if (call.over)
		return IW_THERE;
	call.looks++;
	fake.now_ns += call.look_ns ? call.look_ns : 250;
	return call.there_at && fake.now_ns >= call.there_at ? IW_THERE : IW_AWAY;
}

static inline struct iw_rest settle(struct iw_waiter *me)
{
	static const uint32_t none;
	struct iw_rest rest = iw_rest_on(&none, 0);

	(void)me;
	rest.may_spin = false;
	return rest;
}

static inline int sleep_in_call(struct iw_waiter *me, const struct iw_rest *rest,
				int64_t until_ns)
{
	(void)me;
	(void)rest;
	(void)until_ns;
	call.sleeps++;
	fake.now_ns += call.sleep_ns;
	call.over = true;
	return 0;
}

static const struct iw_waitable waitable = {
	.kind = IPCWAIT_KIND_FD,
	.in_kernel = true,
	.look = look,
	.settle = settle,
};

static inline void again(int64_t there_after_ns)
{
	call.base = (struct iw_waiter){
		.what = &waitable,
		.window = &call.window,
		.deadline_ns = IPCWAIT_FOREVER,
		.sleep = sleep_in_call,
	};
	call.looks = call.sleeps = 0;
	call.over = false;
	call.there_at = there_after_ns ? fake.now_ns + there_after_ns : 0;
	fake.yields = 0;
}

static inline void world(void)
{
	probe_world(IPCWAIT_ADAPTIVE, 2);
	CHECK(iw_facts() != NULL);
	memset(&call, 0, sizeof(call));
	call.sleep_ns = 70 * US;
	again(0);
}

static inline struct ipcwait_kind_stats counts(void)
{
	return probe_stats().kind[IPCWAIT_KIND_FD];
}

#endif
