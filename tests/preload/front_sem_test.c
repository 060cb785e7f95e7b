/* SPDX-License-Identifier: MIT */
/* preload/front_sem.c over a scripted kernel: which posts say what a wake costs. */
#include "after_unlock.h"
#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "engine/wait.h"
#include "os/clock.h"
#include "original.h"
#include "signals.h"

/* No thread here leaves a wake for later. */
void iw_after_unlock_hurry(void)
{
}

_Thread_local struct handled iw_handled;
struct originals iw_originals;

/* As the next library has it. */
static union {
	sem_t s;
	uint32_t word[2]; /* the value, and those who sleep */
} sem;

static struct {
	int64_t post_after; /* so many ns of the sleep are before the post */
	bool token_there;   /* when it comes */
	unsigned posts;
} world;

int64_t iw_clock_real_ns(void)
{
	return fake.now_ns;
}

void iw_find_originals(void)
{
	fail();
}

static int trywait(sem_t *s)
{
	(void)s;
	return -1;
}

static int post(sem_t *s)
{
	assert_ptr_equal(s, &sem.s);
	world.posts++;
	return 0;
}

/* Another thread, on another CPU, posts while this one is on its way to sleep, or asleep. */
static int sleep_until_posted(sem_t *s)
{
	fake.now_ns += world.post_after;
	sem.word[0] = world.token_there;
	sem.word[1] = 1;
	fake.cpu++;
	assert_int_equal(sem_post(s), 0);
	fake.cpu--;
	return 0;
}

static int begin(void **state)
{
	(void)state;
	probe_world(IPCWAIT_INHERIT, 2);
	fake.step_ns = 10;
	memset(&sem, 0, sizeof(sem));
	memset(&world, 0, sizeof(world));
	iw_originals = (struct originals){ .sem_wait = sleep_until_posted,
					   .sem_trywait = trywait,
					   .sem_post = post };
	iw_originals.found.v = 1;
	return 0;
}

static void posted(int64_t after_ns, bool token_there, bool woke)
{
	uint32_t wakes;

	(void)begin(NULL);
	world.post_after = after_ns;
	world.token_there = token_there;
	wakes = iw_self()->wakes;
	assert_int_equal(sem_wait(&sem.s), 0);
	assert_int_equal(world.posts, 1);
	assert_int_equal(iw_self()->wakes - wakes, woke);
}

static void test_who_sleeps_is_woken(void **state)
{
	(void)state;
	posted(30000, false, true);
	posted(IW_ENTRY_NS + 100, false, true);
}

static void test_who_is_on_the_way_to_sleep_is_not(void **state)
{
	(void)state;
	posted(IW_ENTRY_NS - 500, false, false);
	posted(0, false, false);
}

/* It is there for somebody who was woken before. */
static void test_a_token_more_wakes_nobody_that_is_known(void **state)
{
	(void)state;
	posted(30000, true, false);
}

static void test_who_sleeps_in_another_process(void **state)
{
	uint32_t wakes = iw_self()->wakes;

	(void)state;
	sem.word[1] = 1;
	assert_int_equal(sem_post(&sem.s), 0);
	assert_int_equal(world.posts, 1);
	assert_int_equal(iw_self()->wakes - wakes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_who_sleeps_is_woken, begin),
		cmocka_unit_test_setup(test_who_is_on_the_way_to_sleep_is_not, begin),
		cmocka_unit_test_setup(test_a_token_more_wakes_nobody_that_is_known, begin),
		cmocka_unit_test_setup(test_who_sleeps_in_another_process, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
