/* SPDX-License-Identifier: MIT */
/*
 * A word that everybody counts up, and whose changes everybody waits for. A worker that is
 * killed between the two steps of a change owes a wake to whoever sleeps; the next wake makes
 * up for it. The dead take no wake from the living.
 */
#include <errno.h>
#include <sched.h>

#include "common/check.h"
#include "storm.h"

enum step { IDLE, WAITING };

static void tick(struct region *r, unsigned count)
{
	ipcwait_window_stamp(&r->window);
	__atomic_fetch_add(&r->word, 1, __ATOMIC_RELEASE);
	CHECK(ipcwait_futex_wake(&r->word, count, 0) >= 0);
}

static void wait_for_tick(struct region *r, struct intent *mine, uint64_t n)
{
	uint32_t seen = __atomic_load_n(&r->word, __ATOMIC_ACQUIRE);
	int64_t deadline = mine->forever
				   ? IPCWAIT_FOREVER
				   : ipcwait_deadline_in_ns((int64_t)(n >> 8) % 300000);
	int result;

	/* If this is seen to be set, so is the change that is made after it. */
	if (__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE))
		return;
	storm_intend(mine, WAITING);
	result = ipcwait_futex_wait(&r->word, seen, deadline, n % 2 ? &r->window : NULL, 0);
	storm_intend(mine, IDLE);
	CHECK(result == 0 || result == -EAGAIN || (!mine->forever && result == -ETIMEDOUT));
}

static void work(struct region *r, unsigned slot)
{
	struct intent *mine = &r->intent[slot];
	uint64_t seed = storm_seed();

	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		uint64_t n = check_random(&seed);

		mine->forever = slot % 2 && n % 3;
		wait_for_tick(r, mine, n);
		if (n % 5 < 2)
			tick(r, n % 5 ? 1 : UINT32_MAX);
	}
}

static void begin(struct region *r)
{
	(void)r;
}

/* Nothing is owed that the next tick does not bring. */
static void bury(struct region *r, unsigned slot)
{
	(void)slot;
	tick(r, UINT32_MAX);
}

static void stir(struct region *r)
{
	tick(r, 1);
}

/*
 * One wake reaches all the living who sleep, and nobody else; then they see that it is over. The
 * wake counts fewer if another process stops a sleeper in this moment: the kernel then ends the
 * sleep, and the sleeper looks at the word again. A sleeper that no wake reached sleeps until the
 * watchdog ends the test.
 */
static void audit(struct region *r)
{
	unsigned asleep = storm_asleep(r, -1);

	__atomic_fetch_add(&r->word, 1, __ATOMIC_RELEASE);
	CHECK(ipcwait_futex_wake(&r->word, UINT32_MAX, 0) <= (int)asleep);
	while (storm_asleep(r, -1))
		(void)sched_yield();
	CHECK_EQ(ipcwait_futex_wake(&r->word, UINT32_MAX, 0), 0);
}

const struct storm futex_storm = { "futex", begin, work, bury, stir, audit };
