/* SPDX-License-Identifier: MIT */
/*
 * Stamps of processes in other time namespaces, over a fake kernel. Whose offset is known stamps as
 * everybody does. Where it is not, a stamp is off by it, and what comes of that is bounded.
 * docs/design/harm.md
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/mutex_word.h"
#include "common/probe.h"
#include "common/rwlock_word.h"
#include "engine/wake.h"
#include "os/clock.h"
#include "policy/cost.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

/* Half an uptime, so that no clock is negative. */
#define NOW_NS (2000000000 * S)

static const int64_t offsets[] = { -1000000000 * S, -S, -MS, -100 * US,
				   100 * US,        MS, S,   1000000000 * S };

#define OFFSETS (sizeof(offsets) / sizeof(offsets[0]))

static void world(void)
{
	probe_world(IPCWAIT_ADAPTIVE, 2);
	fake.now_ns = NOW_NS;
}

/* The calling process is now one whose clock is ahead by @ns, and knows it or not. */
static void enter(int64_t ns, bool known)
{
	fake.now_ns += ns;
	fake.clock_ahead_ns += known ? ns : 0;
}

static int64_t offset_ns;
static bool is_known;

/* As probe_stamp(), of a process in a namespace of its own. */
static void stamp_from_there(struct ipcwait_window *w)
{
	enter(offset_ns, is_known);
	fake.cpu++;
	ipcwait_window_stamp(w);
	fake.cpu--;
	enter(-offset_ns, is_known);
}

static void wake_from_there(void)
{
	stamp_from_there(&probe.window);
	probe_appear();
}

/* Asleep for @ns until a process over there wakes it; it runs @late_ns later. */
static void wait_for(int64_t ns, int64_t late_ns)
{
	const struct fake_step script[] = {
		{ .sleep_ns = ns, .meanwhile = wake_from_there, .late_ns = late_ns }
	};

	probe_again(IPCWAIT_FOREVER);
	CHECK_EQ(ipcwait_window_set_preset(&probe.window, IPCWAIT_ADAPTIVE), 0);
	fake_script(script, 1);
	CHECK_EQ(iw_wait(&probe.base), 0);
}

static struct ipcwait_rwlock lock;

/* Two readers have the turn, who were killed before they came. */
static void promise_a_turn(void)
{
	CHECK_EQ(ipcwait_rwlock_init(&lock, 0), 0);
	CHECK_EQ(ipcwait_window_set_preset(&lock.window, IPCWAIT_BLOCK), 0);
	stamp_from_there(&lock.window);
	rwlock_fabricate(&lock, WORD(0, 0, 2) | WORD_TURN);
}

/* Neither side is in the first namespace. */
static void here(void)
{
	world();
	enter(5000 * S, true);
}

/* What is asked of a stamp says the same as of one's own, in all who ask. */
static void known_offsets(void)
{
	struct ipcwait_window w = { { 0 }, { 0 }, { 0 } };

	is_known = true;
	for (unsigned i = 0; i < OFFSETS; i++) {
		offset_ns = offsets[i];
		here();
		stamp_from_there(&w);
		CHECK(iw_stamp_fresh(&w));
		fake.now_ns += 2 * MS;
		CHECK(!iw_stamp_fresh(&w));

		promise_a_turn();
		fake.now_ns += 2 * MS;
		CHECK_EQ(ipcwait_rwlock_trywrlock(&lock), -EBUSY);
		fake.now_ns += 4 * MS;
		CHECK_EQ(ipcwait_rwlock_trywrlock(&lock), 0);

		/* Of the sleep, and not of what came after the stamp. */
		here();
		probe_teach(20, IW_BIN_LONG);
		wait_for(10 * US, 300 * US);
		probe_learned_once(10 * US);
	}
}

/* Stamps come round after this time. */
#define LAP_NS (INT64_C(8) << 32)

/* Old stamps pass for fresh ones for a millisecond, once in 34 s. */
static void seldom_fresh(void)
{
	struct ipcwait_window w = { { 0 }, { 0 }, { 0 } };

	is_known = false;
	for (unsigned i = 0; i < OFFSETS; i++) {
		const int64_t step_ns = 250 * US;
		int64_t wrong_ns = 0;

		offset_ns = offsets[i];
		world();
		stamp_from_there(&w);
		fake.step_ns = 0;
		for (int64_t age = 2 * MS; age < LAP_NS; age += step_ns) {
			fake.now_ns = NOW_NS + age;
			wrong_ns += iw_stamp_fresh(&w) ? step_ns : 0;
		}
		CHECK(wrong_ns <= MS + step_ns);
	}
}

/* Nobody comes, and nobody tells: the waiter looks when its alarm rings. */
static int sleep_to_the_alarm(const struct fake_call *call)
{
	CHECK(call->deadline_ns != IPCWAIT_FOREVER);
	fake.now_ns = call->deadline_ns > fake.now_ns ? call->deadline_ns : fake.now_ns;
	return -ETIMEDOUT;
}

/* A promised turn is believed for 5 ms, and for as long once more where it looks new then. */
static void turns_of_the_dead(void)
{
	is_known = false;
	for (unsigned i = 0; i < OFFSETS; i++) {
		for (int64_t age = 0; age < LAP_NS; age += LAP_NS / 5000) {
			offset_ns = offsets[i];
			world();
			promise_a_turn();
			fake.now_ns += age;
			fake.on_wait = sleep_to_the_alarm;
			CHECK_EQ(ipcwait_rwlock_wrlock(&lock), 0);
			CHECK(fake.now_ns - NOW_NS - age < 20 * MS);
		}
	}
}

/* The living lose a turn at most: they are woken, and the lock is free for them. */
static void turns_of_the_living(void)
{
	is_known = false;
	for (unsigned i = 0; i < OFFSETS; i++) {
		offset_ns = offsets[i];
		world();
		promise_a_turn();
		if (ipcwait_rwlock_trywrlock(&lock)) {
			CHECK_EQ(fake.wakes, 0);
		} else {
			CHECK_EQ(fake.wakes, 1);
			CHECK_EQ(fake.wake.value, INT_MAX);
			CHECK_EQ(ipcwait_rwlock_wrunlock(&lock), 0);
		}
		CHECK_EQ(ipcwait_rwlock_tryrdlock(&lock), 0);
	}
}

/* A mutex is kept for one who was woken, or it is not: within a few ms anybody can have it. */
static void kept_for_the_dead(void)
{
	static struct ipcwait_mutex m;

	is_known = false;
	for (unsigned i = 0; i < OFFSETS; i++) {
		unsigned kept = 0;

		offset_ns = offsets[i];
		world();
		CHECK_EQ(ipcwait_mutex_init(&m, 0), 0);
		stamp_from_there(&m.window);
		mutex_fabricate(&m, MUTEX_WORD(0, 1, 3) | MUTEX_WORD_URGENT);
		while (ipcwait_mutex_trylock(&m) && kept++ < 100)
			fake.now_ns += MS / 2;
		CHECK(kept <= 6);
	}
}

/*
 * B is believed to be five times what the waker pays at most, whatever the sleepers say, and what
 * it is once the others are gone.
 */
static void cost_of_a_sleep(void)
{
	const uint64_t paid_ns = (uint64_t)(PROBE_BLOCK_NS - PROBE_LATENCY_NS);

	is_known = false;
	for (unsigned i = 0; i < OFFSETS; i++) {
		offset_ns = offsets[i];
		world();
		for (int64_t n = 0; n < 400; n++) {
			wait_for(n * 50 * US, PROBE_LATENCY_NS);
			CHECK(iw_cost_block_ns(iw_facts(), IPCWAIT_ADAPTIVE) >= paid_ns);
			CHECK(iw_cost_block_ns(iw_facts(), IPCWAIT_ADAPTIVE) <=
			      5 * paid_ns);
		}
		for (unsigned n = 0; n < 200; n++)
			iw_cost_note_latency((uint64_t)PROBE_LATENCY_NS);
		CHECK_EQ(iw_cost_block_ns(iw_facts(), IPCWAIT_ADAPTIVE), PROBE_BLOCK_NS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(known_offsets),     CHILD_TEST(seldom_fresh),
		CHILD_TEST(turns_of_the_dead), CHILD_TEST(turns_of_the_living),
		CHILD_TEST(kept_for_the_dead), CHILD_TEST(cost_of_a_sleep),
	};

	unsetenv("IPCWAIT_POLICY");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
