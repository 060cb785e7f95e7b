/* SPDX-License-Identifier: MIT */
/*
 * The semaphore's posts over a scripted kernel: how many sleepers each wakes, with how many
 * calls, and that nothing touches the semaphore once a waiter may have freed it.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/sem_word.h"
#include "os/thread.h"

static struct ipcwait_sem s;

/* A semaphore in this state, on which the last wake began just now. */
static void world(uint64_t word)
{
	fake_reset();
	CHECK_EQ(ipcwait_sem_init(&s, 0, 0), 0);
	ipcwait_window_stamp(&s.window);
	sem_fabricate(&s, word);
	errno = 4711;
}

/* The same, and nobody has woken anybody for a second. */
static void quiet_world(uint64_t word)
{
	world(word);
	fake.now_ns += 1000000000;
}

static uint64_t wakes_avoided(void)
{
	struct ipcwait_stats st;

	CHECK_EQ(ipcwait_stats_get(&st, sizeof(st)), sizeof(st));
	return st.kind[IPCWAIT_KIND_SEM].wakes_avoided;
}

struct row {
	uint64_t before;
	uint32_t n;
	uint64_t after;
	uint32_t woken; /* 0: no call */
};

static void assert_rows(const struct row *rows, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		world(rows[i].before);
		CHECK_EQ(ipcwait_sem_post_n(&s, rows[i].n), 0);
		CHECK_EQ(sem_word(&s), rows[i].after);
		CHECK_EQ(fake.wakes, rows[i].woken ? 1 : 0);
		CHECK_EQ(fake.wakes ? fake.wake.value : 0, rows[i].woken);
		CHECK(!fake.wakes || fake.wake.word == (const uint32_t *)&s.word);
		CHECK_EQ(errno, 4711);
	}
}

#define ASSERT_ROWS(rows) assert_rows(rows, sizeof(rows) / sizeof((rows)[0]))

static void nobody_sleeps(void)
{
	static const struct row rows[] = {
		{ WORD(0, 0, 0), 1, WORD(1, 0, 0), 0 },
		{ WORD(0, 0, 0), 1000, WORD(1000, 0, 0), 0 },
		{ WORD(7, 0, 0), 5, WORD(12, 0, 0), 0 },
		{ WORD_SPINNER | WORD(0, 0, 0), 1, WORD(1, 0, 0), 0 },
		{ WORD_SPINNER | WORD(2, 0, 0), 9, WORD(11, 0, 0), 0 },
	};

	ASSERT_ROWS(rows);
}

static void sleepers_are_woken_with_one_call(void)
{
	static const struct row rows[] = {
		{ WORD(0, 0, 1), 1, WORD(1, 1, 1), 1 },
		{ WORD(0, 0, 9), 1, WORD(1, 1, 9), 1 },
		{ WORD(0, 0, 3), 5, WORD(5, 3, 3), 3 },
		{ WORD(0, 0, 3), 2, WORD(2, 2, 3), 2 },
		{ WORD(0, 0, 65535), 100000, WORD(100000, 65535, 65535), 65535 },
		{ WORD(0, 0, 65535), 1, WORD(1, 1, 65535), 1 },
	};

	ASSERT_ROWS(rows);
}

/* Those already on their way, and the spinner, take tokens without a call. */
static void covered_tokens(void)
{
	static const struct row rows[] = {
		{ WORD(0, 1, 2), 1, WORD(1, 1, 2), 0 },
		{ WORD(1, 1, 2), 1, WORD(2, 2, 2), 1 },
		{ WORD(0, 2, 5), 3, WORD(3, 3, 5), 1 },
		{ WORD(1, 1, 1), 1, WORD(2, 1, 1), 0 },
		{ WORD_SPINNER | WORD(0, 0, 1), 1, WORD(1, 0, 1), 0 },
		{ WORD_SPINNER | WORD(1, 0, 1), 1, WORD(2, 1, 1), 1 },
		{ WORD_SPINNER | WORD(0, 0, 4), 3, WORD(3, 2, 4), 2 },
		{ WORD_SPINNER | WORD(0, 2, 4), 3, WORD(3, 2, 4), 0 },
		{ WORD_SPINNER | WORD(0, 2, 4), 9, WORD(9, 4, 4), 2 },
	};

	ASSERT_ROWS(rows);
}

/* At most one call per sleep, however long the woken thread takes to run. */
static void burst_makes_one_call(void)
{
	world(WORD(0, 0, 1));
	for (int i = 0; i < 100; i++)
		CHECK_EQ(ipcwait_sem_post(&s), 0);
	CHECK_EQ(fake.wakes, 1);
	CHECK_EQ(ipcwait_sem_value(&s), 100);
}

static void avoided_wakes_are_counted(void)
{
	uint64_t before = wakes_avoided();

	world(WORD(0, 1, 2));
	CHECK_EQ(ipcwait_sem_post(&s), 0);
	CHECK_EQ(wakes_avoided(), before + 1);
	CHECK_EQ(ipcwait_sem_post(&s), 0);
	CHECK_EQ(wakes_avoided(), before + 1);
}

/* WAKES too small: a needless wake, no more. */
static void posting_nothing(void)
{
	static const struct row rows[] = {
		{ WORD(0, 0, 2), 0, WORD(0, 0, 2), 0 },
		{ WORD(0, 1, 2), 0, WORD(0, 1, 2), 0 },
		{ WORD(1, 1, 2), 0, WORD(1, 1, 2), 0 },
	};

	ASSERT_ROWS(rows);
}

/* More wakes than sleepers: no call, no other harm. */
static void impossible_words(void)
{
	static const uint64_t words[] = { WORD(0, 5, 0), WORD(0, 65535, 0),
					  WORD(7, 65535, 0) };

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		uint32_t before = word_value(words[i]);

		world(words[i]);
		CHECK_EQ(ipcwait_sem_post_n(&s, 3), 0);
		CHECK_EQ(ipcwait_sem_value(&s), before + 3);
		CHECK_EQ(word_sleepers(sem_word(&s)), 0);
		CHECK_EQ(fake.wakes, 0);
	}
}

static void finished(void)
{
	world(WORD(3, 0, 0));
	CHECK_EQ(ipcwait_sem_fini(&s), 0);
	CHECK_EQ(ipcwait_sem_post(&s), -EINVAL);
	CHECK_EQ(ipcwait_sem_post_n(&s, UINT32_MAX), -EINVAL);
	CHECK_EQ(ipcwait_sem_value(&s), 0);
	CHECK_EQ(fake.wakes, 0);
	CHECK_EQ(ipcwait_sem_wait(&s), -EINVAL);
	CHECK_EQ(fake.waits, 0);
	CHECK_EQ(errno, 4711);
}

static void fini_beside_waiters(void)
{
	static const uint64_t busy[] = {
		WORD(0, 0, 1),
		WORD(5, 1, 1),
		WORD(0, 0, 65535),
		WORD_SPINNER | WORD(0, 0, 1),
	};

	for (unsigned i = 0; i < sizeof(busy) / sizeof(busy[0]); i++) {
		world(busy[i]);
		CHECK_EQ(ipcwait_sem_fini(&s), -EBUSY);
		CHECK_EQ(sem_word(&s), busy[i]);
		CHECK_EQ(s.flags, 0);
	}
}

static void overflow_makes_no_call(void)
{
	world(WORD(IPCWAIT_SEM_VALUE_MAX, 0, 2));
	CHECK_EQ(ipcwait_sem_post(&s), -EOVERFLOW);
	CHECK_EQ(ipcwait_sem_post_n(&s, UINT32_MAX), -EOVERFLOW);
	CHECK_EQ(fake.wakes, 0);
	CHECK_EQ(sem_word(&s), WORD(IPCWAIT_SEM_VALUE_MAX, 0, 2));
}

/* The page of a semaphore that its last waiter frees while the poster is in the kernel. */
static struct ipcwait_sem *mapped;

static void unmap_it(void)
{
	CHECK(munmap(mapped, 4096) == 0);
}

static int wake_result;

static void post_to_vanishing_memory(void)
{
	fake_reset();
	mapped =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(mapped != MAP_FAILED);
	/* Twice, the first time for what is initialised late. */
	sem_fabricate(mapped, WORD(0, 0, 4));
	CHECK_EQ(ipcwait_sem_post(mapped), 0);
	fake.woken = wake_result;
	fake.on_wake = unmap_it;
	CHECK_EQ(ipcwait_sem_post_n(mapped, 2), 0);
	CHECK_EQ(fake.wakes, 2);
}

/* The wake's result is nobody's business: the memory may be gone, or belong to others. */
static void no_touch_after_the_wake_begins(void)
{
	static const int results[] = { INT_MAX, 1, 0, -EFAULT, -EINVAL, -ENOSYS };

	for (unsigned i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		wake_result = results[i];
		CHECK_EQ(check_in_child(post_to_vanishing_memory), 0);
	}
}

/*
 * What a killed process leaves. The threads counted in these words are asleep in the kernel
 * but for one, which is dead; posts must reach the others in the end: see `Death' in sem.h.
 */
static unsigned posts_until_a_wake(uint64_t word)
{
	quiet_world(word);
	for (unsigned posts = 1; posts <= 5; posts++) {
		CHECK_EQ(ipcwait_sem_post(&s), 0);
		if (fake.wakes)
			return posts;
	}
	return UINT_MAX;
}

/* Killed asleep: counted for ever, costs needless wakes. */
static void after_the_death_of_a_sleeper(void)
{
	CHECK_EQ(posts_until_a_wake(WORD(0, 0, 2)), 1);
}

/* Killed between being woken and taking: a post that comes later notices. */
static void after_the_death_of_a_woken_waiter(void)
{
	CHECK_EQ(posts_until_a_wake(WORD(1, 1, 2)), 1);
	/* Somebody took the token since. */
	CHECK_EQ(posts_until_a_wake(WORD(0, 1, 2)), 1);
}

static void after_the_death_of_a_spinner(void)
{
	CHECK(posts_until_a_wake(WORD_SPINNER | WORD(0, 0, 1)) <= 2);
	CHECK_EQ(posts_until_a_wake(WORD_SPINNER | WORD(1, 0, 1)), 1);
}

/* Killed after the post, before the system call that wakes the only sleeper. */
static void after_the_death_of_a_poster(void)
{
	CHECK_EQ(posts_until_a_wake(WORD(1, 1, 1)), 1);
	CHECK_EQ(posts_until_a_wake(WORD(3, 3, 3)), 1);
}

/* One post goes unannounced at most: afterwards the marks of the dead are gone. */
static void a_death_misleads_one_post(void)
{
	static const uint64_t words[] = {
		WORD(0, 1, 2),
		WORD(0, 2, 3),
		WORD_SPINNER | WORD(0, 0, 1),
		WORD_SPINNER | WORD(0, 1, 2),
	};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		quiet_world(words[i]);
		CHECK_EQ(ipcwait_sem_post(&s), 0);
		/* Somebody takes it, and one by one the others. */
		for (int round = 0; round < 3; round++) {
			CHECK_EQ(ipcwait_sem_trywait(&s), 0);
			fake.wakes = 0;
			fake.now_ns += 2000000;
			CHECK_EQ(ipcwait_sem_post(&s), 0);
			CHECK_EQ(fake.wakes, 1);
		}
	}
}

/* A wake is believed to arrive for a millisecond. */
static void a_wake_is_doubted_in_the_end(void)
{
	world(WORD(0, 0, 1));
	CHECK_EQ(ipcwait_sem_post(&s), 0);
	CHECK_EQ(fake.wakes, 1);
	fake.now_ns += 900000;
	CHECK_EQ(ipcwait_sem_post(&s), 0);
	CHECK_EQ(fake.wakes, 1);
	fake.now_ns += 200000;
	CHECK_EQ(ipcwait_sem_post(&s), 0);
	CHECK_EQ(fake.wakes, 2);
	CHECK_EQ(fake.wake.value, 1);
	CHECK_EQ(sem_word(&s), WORD(3, 1, 1));
	CHECK_EQ(ipcwait_sem_post(&s), 0);
	CHECK_EQ(fake.wakes, 2);
}

/* A poster with one CPU wakes and doubts like the others. */
static void alone_too(void)
{
	world(WORD(0, 0, 1));
	iw_thread.alone = 1;
	fake.now_ns += 1000000000;
	CHECK_EQ(ipcwait_sem_post(&s), 0);
	CHECK_EQ(ipcwait_sem_post(&s), 0);
	CHECK_EQ(fake.wakes, 1);
	fake.now_ns += 1100000;
	CHECK_EQ(ipcwait_sem_post(&s), 0);
	CHECK_EQ(fake.wakes, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(nobody_sleeps),
		CHILD_TEST(sleepers_are_woken_with_one_call),
		CHILD_TEST(covered_tokens),
		CHILD_TEST(burst_makes_one_call),
		CHILD_TEST(avoided_wakes_are_counted),
		CHILD_TEST(posting_nothing),
		CHILD_TEST(impossible_words),
		CHILD_TEST(finished),
		CHILD_TEST(fini_beside_waiters),
		CHILD_TEST(overflow_makes_no_call),
		CHILD_TEST(no_touch_after_the_wake_begins),
		CHILD_TEST(after_the_death_of_a_sleeper),
		CHILD_TEST(after_the_death_of_a_woken_waiter),
		CHILD_TEST(after_the_death_of_a_spinner),
		CHILD_TEST(after_the_death_of_a_poster),
		CHILD_TEST(a_death_misleads_one_post),
		CHILD_TEST(a_wake_is_doubted_in_the_end),
		CHILD_TEST(alone_too),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
