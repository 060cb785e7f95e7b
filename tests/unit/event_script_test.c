/* SPDX-License-Identifier: MIT */
/*
 * The event over a scripted kernel: rows of the table in <ipcwait/event.h>, how many system
 * calls there are, and what is touched when.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/event_word.h"
#include "common/fake_os.h"

#define US       INT64_C(1000)
#define DEADLINE (fake.now_ns + 1000 * US)

static struct ipcwait_event e;

/* An event in this state, on which the last wake began just now. */
static void world(uint64_t word, unsigned flags)
{
	fake_reset();
	CHECK_EQ(ipcwait_event_init(&e, flags), 0);
	CHECK_EQ(ipcwait_window_set_preset(&e.window, IPCWAIT_BLOCK), 0);
	ipcwait_window_stamp(&e.window);
	event_fabricate(&e, word);
	errno = 4711;
}

struct row {
	unsigned flags;
	uint64_t before, after; /* but for the epoch */
	int64_t woken;          /* 0: no call */
};

#define AUTO IPCWAIT_AUTO_RESET
#define S(n) EVENT_SLEEPERS(n)

static void sets(void)
{
	static const struct row rows[] = {
		{ 0, 0, EVENT_SET, 0 },
		{ AUTO, 0, EVENT_SET, 0 },
		{ 0, EVENT_SET, EVENT_SET, 0 },
		{ AUTO, EVENT_SET, EVENT_SET, 0 },
		{ 0, S(1), S(1) | EVENT_WAKE | EVENT_SET, INT32_MAX },
		{ 0, S(65535), S(65535) | EVENT_WAKE | EVENT_SET, INT32_MAX },
		{ AUTO, S(9), S(9) | EVENT_WAKE | EVENT_SET, 1 },
		/* A wake is under way: for all of a manual event, for this signal of the other. */
		{ 0, S(3) | EVENT_WAKE, S(3) | EVENT_WAKE | EVENT_SET, 0 },
		{ 0, S(3) | EVENT_WAKE | EVENT_SET, S(3) | EVENT_WAKE | EVENT_SET, 0 },
		{ AUTO, S(3) | EVENT_WAKE, S(3) | EVENT_WAKE | EVENT_SET, 0 },
		{ AUTO, S(3) | EVENT_WAKE | EVENT_SET, S(3) | EVENT_WAKE | EVENT_SET, 0 },
		/* A spinner takes it; the second time it may be dead. */
		{ AUTO, S(3) | EVENT_SPINNER, S(3) | EVENT_SET, 0 },
		{ AUTO, S(3) | EVENT_SET, S(3) | EVENT_WAKE | EVENT_SET, 1 },
		{ AUTO, EVENT_SPINNER, EVENT_SET, 0 },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		world(rows[i].before, rows[i].flags | (i % 2 ? IPCWAIT_PRIVATE : 0));
		CHECK_EQ(ipcwait_event_set(&e), 0);
		CHECK_EQ(event_state(event_word(&e)), rows[i].after);
		CHECK_EQ((event_word(&e) & EVENT_EPOCHS) / EVENT_EPOCH(1),
			 rows[i].before & EVENT_SET ? 0 : 1);
		CHECK_EQ(fake.wakes, rows[i].woken ? 1 : 0);
		CHECK_EQ(fake.wakes ? fake.wake.value : 0, rows[i].woken);
		CHECK(!fake.wakes || fake.wake.private_ == i % 2);
		CHECK_EQ(errno, 4711);
	}
}

static void set(void)
{
	CHECK_EQ(ipcwait_event_set(&e), 0);
}

static void pulse(void)
{
	set();
	CHECK_EQ(ipcwait_event_reset(&e), 0);
}

static void set_and_steal(void)
{
	set();
	CHECK_EQ(ipcwait_event_trywait(&e), 0);
}

static void waits(unsigned flags, const struct fake_step *script, unsigned n)
{
	world(0, flags);
	fake_script(script, n);
	CHECK_EQ(ipcwait_event_wait(&e), 0);
	CHECK_EQ(fake.waits, n);
	CHECK_EQ(event_state(event_word(&e)) & ~EVENT_SET, 0);
	CHECK_EQ(errno, 4711);
}

#define WAITS(flags, script) waits(flags, script, sizeof(script) / sizeof((script)[0]))

static void woken(void)
{
	const struct fake_step script[] = { { .meanwhile = set } };

	WAITS(0, script);
	CHECK(ipcwait_event_is_set(&e));
	CHECK_EQ(fake.wake.value, INT32_MAX);
	WAITS(AUTO | IPCWAIT_PRIVATE, script);
	CHECK(!ipcwait_event_is_set(&e));
	CHECK_EQ(fake.wake.value, 1);
	CHECK(fake.wait.private_ && fake.wake.private_);
	CHECK(fake.wait.word == (const uint32_t *)&e.word);
	CHECK(fake.wait.deadline_ns == IPCWAIT_FOREVER);
}

/* Set and reset during the sleep, or before it: the wait is over. */
static void pulses(void)
{
	const struct fake_step asleep[] = { { .meanwhile = pulse } };
	const struct fake_step before[] = { { .result = -EAGAIN, .meanwhile = pulse } };
	const struct fake_step late[] = { { 0 },
					  { .result = -EAGAIN },
					  { .meanwhile = pulse } };

	WAITS(0, asleep);
	WAITS(0, before);
	WAITS(0, late);
	CHECK(!ipcwait_event_is_set(&e));
}

static void stolen(void)
{
	const struct fake_step script[] = {
		{ .meanwhile = set_and_steal },
		{ .meanwhile = pulse },
		{ .result = -EAGAIN, .meanwhile = set_and_steal },
		{ .meanwhile = set },
	};

	WAITS(AUTO, script);
	CHECK(!ipcwait_event_is_set(&e));
}

static void ends_with(unsigned flags, int result, void (*meanwhile)(void), int want)
{
	const struct fake_step script[] = { { .result = result, .meanwhile = meanwhile } };

	world(0, flags | (result == -EINTR ? IPCWAIT_INTERRUPTIBLE : 0));
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_event_wait_until(&e, DEADLINE), want);
	CHECK_EQ(event_state(event_word(&e)) & ~EVENT_SET, 0);
	CHECK_EQ(ipcwait_event_is_set(&e), meanwhile && !(flags & AUTO));
}

/* An error of the kernel's is one of the wait, unless the event was set in the meantime. */
static void errors(void)
{
	static const int results[] = { -ETIMEDOUT, -EINTR, -EINVAL, -EFAULT, -ENOSYS };

	for (unsigned i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		for (unsigned flags = 0; flags <= AUTO; flags += AUTO) {
			ends_with(flags, results[i], NULL, results[i]);
			ends_with(flags, results[i], set, 0);
		}
	}
}

/* A wake is believed to arrive for a millisecond, and a word that says so for as long. */
static void doubts(void)
{
	for (unsigned flags = 0; flags <= AUTO; flags += AUTO) {
		world(S(2), flags);
		for (int i = 0; i < 100; i++)
			set();
		CHECK_EQ(fake.wakes, 1);
		fake.now_ns += 1100 * US;
		set();
		set();
		CHECK_EQ(fake.wakes, 2);
		CHECK_EQ(fake.wake.value, flags ? 1 : INT32_MAX);
		CHECK_EQ(event_state(event_word(&e)), S(2) | EVENT_WAKE | EVENT_SET);
	}
}

/* No room: it looks once in a millisecond, on a word of its own. */
static void unpublished(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT },
					    { .result = -ETIMEDOUT, .meanwhile = set } };

	world(S(65535), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_event_wait(&e), 0);
	CHECK(fake.wait.word != (const uint32_t *)&e.word);
	CHECK_EQ(event_sleepers(event_word(&e)), 65535);
}

/* The page of an event that its last waiter frees while the setter is in the kernel. */
static struct ipcwait_event *mapped;

static void unmap_it(void)
{
	CHECK(munmap(mapped, 4096) == 0);
}

static void set_in_vanishing_memory(void)
{
	fake_reset();
	mapped =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(mapped != MAP_FAILED);
	event_fabricate(mapped, S(1));
	CHECK_EQ(ipcwait_event_set(mapped), 0);
	event_fabricate(mapped, S(1));
	fake.woken = -EFAULT;
	fake.on_wake = unmap_it;
	CHECK_EQ(ipcwait_event_set(mapped), 0);
	CHECK_EQ(fake.wakes, 2);
}

static void no_touch_after_the_wake_begins(void)
{
	CHECK_EQ(check_in_child(set_in_vanishing_memory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(sets),        CHILD_TEST(woken),
		CHILD_TEST(pulses),      CHILD_TEST(stolen),
		CHILD_TEST(errors),      CHILD_TEST(doubts),
		CHILD_TEST(unpublished), CHILD_TEST(no_touch_after_the_wake_begins),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
