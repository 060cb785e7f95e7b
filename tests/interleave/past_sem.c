/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "interleave/past.h"

/*
 * glibc 12674. Post adds a token, and then looks for sleepers in a semaphore whose waiter has
 * taken the token, returned and freed it. It knows all it needs from what it added to.
 */
#define SLEEPER (UINT64_C(1) << 32)

static _Atomic uint64_t *counted; /* tokens in the lower half, sleepers in the upper one */

static void post_begin(void)
{
	counted = model_alloc(sizeof(*counted));
	model_name(counted, "sem");
}

static void post_wait(void)
{
	uint64_t mine = 0, seen = atomic_load(counted);

	for (;;) {
		if ((uint32_t)seen) {
			if (atomic_compare_exchange_strong(counted, &seen, seen - 1 - mine))
				return;
			continue;
		}
		if (!mine) {
			mine = SLEEPER;
			atomic_fetch_add(counted, mine);
		}
		sleep_while((_Atomic uint32_t *)counted, 0);
		seen = atomic_load(counted);
	}
}

static void post_thread(unsigned i)
{
	uint64_t seen;

	if (i == 0) {
		post_wait();
		model_free((void *)counted);
		return;
	}
	seen = atomic_fetch_add(counted, 1);
	if (!repaired())
		seen = atomic_load(counted);
	if (seen >= SLEEPER)
		wake((_Atomic uint32_t *)counted, 1);
}

/*
 * A wake for somebody whose time is over. It comes just before the deadline; the waiter finds
 * that the deadline has passed and leaves, while the next one sleeps over the token. The class of
 * LLVM libc 201937.
 */
static _Atomic uint32_t *tokens;

static void late_begin(void)
{
	tokens = model_alloc(sizeof(*tokens));
	model_name(tokens, "tokens");
}

static bool late_try(void)
{
	uint32_t seen = atomic_load(tokens);

	while (seen)
		if (atomic_compare_exchange_strong(tokens, &seen, seen - 1))
			return true;
	return false;
}

static int late_wait(int64_t deadline_ns)
{
	while (!late_try()) {
		int result = sleep_while_until(tokens, 0, deadline_ns);

		if (deadline_ns == INT64_MAX || result == -EAGAIN)
			continue;
		if (result == -ETIMEDOUT || model_choose(2, "by now it is too late"))
			return repaired() && late_try() ? 0 : -ETIMEDOUT;
	}
	return 0;
}

static void late_post(void)
{
	atomic_fetch_add(tokens, 1);
	wake(tokens, 1);
}

/* There is one token; who has a deadline passes it on. */
static void late_thread(unsigned i)
{
	if (i == 2)
		late_post();
	else if (i == 1)
		(void)late_wait(INT64_MAX);
	else if (late_wait(model_now() + 1000) == 0)
		late_post();
}

static void late_end(void)
{
	model_free((void *)tokens);
}

const struct model_scenario past_sem[] = {
	{ .name = "glibc 12674",
	  .threads = 2,
	  .about = "post looks into the semaphore after the token is there",
	  .begin = post_begin,
	  .thread = post_thread,
	  .search = { .bound = 2, .weak_bound = 2 },
	  .expect = { MODEL_RACE, MODEL_RACE, MODEL_RACE } },
	{ .name = "glibc 12674, repaired",
	  .threads = 2,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = post_begin,
	  .thread = post_thread,
	  .search = { .bound = 2, .weak_bound = 2 } },
	{ .name = "late wake",
	  .threads = 3,
	  .about = "who is woken when it is too late leaves with the wake",
	  .begin = late_begin,
	  .thread = late_thread,
	  .end = late_end,
	  .search = { .bound = 2, .weak_bound = 2 },
	  .expect = { MODEL_DEADLOCK, MODEL_DEADLOCK, MODEL_DEADLOCK } },
	{ .name = "late wake, repaired",
	  .threads = 3,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = late_begin,
	  .thread = late_thread,
	  .end = late_end,
	  .search = { .bound = 2, .weak_bound = 2 } },
	{ 0 },
};
