/* SPDX-License-Identifier: MIT */
/*
 * Processes that are stopped, as by ^Z, a debugger or a frozen container. Who waits for one that
 * holds the token costs nothing meanwhile; and one that is stopped asleep keeps no token from
 * the others.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/sem_word.h"
#include "process.h"
#include "region.h"

#define WAITERS 4

/* Waits that are short before the holder stops: then spinning is what they have learned. */
#define HAND_OFFS 2000

/* How long the waiters are watched, and the CPU time that all of them may use meanwhile. */
#define WATCH_MS INT64_C(300)
#define CPU_NS   INT64_C(3000000)

#define LONG_NS INT64_C(3600000000000)

/* In the region's word: the holder has the token for good. */
#define HELD 1

/* How the waiters wait. */
static struct mode {
	enum ipcwait_preset preset;
	bool timed;
} mode;

static int wait_by_mode(struct ipcwait_sem *s)
{
	return mode.timed ? ipcwait_sem_wait_until(s, ipcwait_deadline_in_ns(LONG_NS))
			  : ipcwait_sem_wait(s);
}

static struct region *open_region(uint32_t tokens)
{
	struct region *r = region_create();

	CHECK_EQ(ipcwait_sem_init(&r->items, tokens, 0), 0);
	CHECK_EQ(ipcwait_window_set_preset(&r->items.window, mode.preset), 0);
	return r;
}

static void await_state(pid_t pid, char state)
{
	while (process_state(pid) != state)
		(void)sched_yield();
}

/* Hand the token on and on, then keep it, until the test has stopped it and let it go on. */
static void hold(struct region *r)
{
	for (int i = 0; i < HAND_OFFS; i++) {
		CHECK_EQ(wait_by_mode(&r->items), 0);
		CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	}
	CHECK_EQ(wait_by_mode(&r->items), 0);
	__atomic_store_n(&r->word, HELD, __ATOMIC_RELEASE);
	while (__atomic_load_n(&r->word, __ATOMIC_ACQUIRE) == HELD)
		(void)usleep(100);
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
}

static void hand_on(struct region *r)
{
	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		CHECK_EQ(wait_by_mode(&r->items), 0);
		__atomic_fetch_add(&r->taken, 1, __ATOMIC_RELAXED);
		CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	}
}

static int64_t cpu_ns(const pid_t *pid)
{
	int64_t sum = 0;

	for (int i = 0; i < WAITERS; i++)
		sum += process_cpu_ns(pid[i]);
	return sum;
}

/*
 * Nobody has the token: all sleep, and go on sleeping. Where the test itself is stopped they are
 * watched for longer.
 */
static void watch(const pid_t *waiter)
{
	const struct timespec time = { 0, WATCH_MS * 1000000 };
	int64_t before, began_ns;

	for (int i = 0; i < WAITERS; i++)
		await_state(waiter[i], 'S');
	began_ns = ipcwait_now_ns();
	before = cpu_ns(waiter);
	(void)nanosleep(&time, NULL);
	CHECK((cpu_ns(waiter) - before) * WATCH_MS * 1000000 <
	      CPU_NS * (ipcwait_now_ns() - began_ns));
}

static uint64_t *counter;
static uint64_t counted;

static bool counts_on(void *arg)
{
	(void)arg;
	return __atomic_load_n(counter, __ATOMIC_RELAXED) > counted + 10 * WAITERS;
}

static bool is_held(void *arg)
{
	return __atomic_load_n(&((struct region *)arg)->word, __ATOMIC_ACQUIRE) == HELD;
}

static void holder_stops(void)
{
	struct region *r = open_region(1);
	pid_t holder = region_fork(r, hold), waiter[WAITERS];

	for (int i = 0; i < WAITERS; i++)
		waiter[i] = region_fork(r, hand_on);
	CHECK(check_eventually(is_held, r));
	process_stop(holder);
	watch(waiter);
	counter = &r->taken;
	counted = r->taken;
	__atomic_store_n(&r->word, !HELD, __ATOMIC_RELEASE);
	process_go_on(holder);
	CHECK(check_eventually(counts_on, NULL));
	region_join(holder);
	__atomic_store_n(&r->stop, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < WAITERS; i++)
		region_join(waiter[i]);
	CHECK_EQ(sem_word(&r->items), WORD(1, 0, 0));
	region_destroy(r);
}

static void take_one(struct region *r)
{
	CHECK_EQ(wait_by_mode(&r->items), 0);
}

static pid_t start_sleeper(struct region *r)
{
	pid_t pid = region_fork(r, take_one);

	await_state(pid, 'S');
	return pid;
}

/*
 * The one that sleeps first is stopped, and the post is not for it; nor is the second one, which
 * finds nobody else asleep, if somebody else takes that token. At last it gets its own.
 */
static void sleeper_stops(void)
{
	struct region *r = open_region(0);
	pid_t stopped = start_sleeper(r), other = start_sleeper(r);

	process_stop(stopped);
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	region_join(other);
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	region_join(region_fork(r, take_one));
	CHECK_EQ(ipcwait_sem_value(&r->items), 0);
	other = start_sleeper(r);
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	region_join(other);
	process_go_on(stopped);
	await_state(stopped, 'S');
	CHECK_EQ(sem_word(&r->items), WORD(0, 0, 1));
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	region_join(stopped);
	CHECK_EQ(sem_word(&r->items), 0);
	region_destroy(r);
}

/* Tokens come while all who wait for them are stopped. */
static void all_stop(void)
{
	struct region *r = open_region(0);
	pid_t waiter[WAITERS];

	for (int i = 0; i < WAITERS; i++)
		waiter[i] = start_sleeper(r);
	for (int i = 0; i < WAITERS; i++)
		process_stop(waiter[i]);
	CHECK_EQ(ipcwait_sem_post(&r->items), 0);
	CHECK_EQ(ipcwait_sem_post_n(&r->items, WAITERS - 1), 0);
	CHECK_EQ(ipcwait_sem_value(&r->items), WAITERS);
	for (int i = 0; i < WAITERS; i++)
		process_go_on(waiter[i]);
	for (int i = 0; i < WAITERS; i++)
		region_join(waiter[i]);
	CHECK_EQ(sem_word(&r->items), 0);
	region_destroy(r);
}

static void (*scene)(void);

static void in_every_mode(void)
{
	for (int preset = IPCWAIT_ADAPTIVE; preset <= IPCWAIT_BLOCK; preset++) {
		for (int timed = 0; timed < 2; timed++) {
			mode = (struct mode){ (enum ipcwait_preset)preset, timed };
			CHECK_EQ(check_in_child(scene), 0);
		}
	}
}

static void waiters_of_a_stopped_holder_sleep(void)
{
	scene = holder_stops;
	in_every_mode();
}

static void a_stopped_sleeper_keeps_no_token(void)
{
	scene = sleeper_stops;
	in_every_mode();
}

static void tokens_for_the_stopped_are_kept(void)
{
	scene = all_stop;
	in_every_mode();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(waiters_of_a_stopped_holder_sleep),
		CHILD_TEST(a_stopped_sleeper_keeps_no_token),
		CHILD_TEST(tokens_for_the_stopped_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
