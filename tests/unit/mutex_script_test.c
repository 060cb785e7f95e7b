/* SPDX-License-Identifier: MIT */
/*
 * Mutexes over a scripted kernel: each row of the table in <ipcwait/mutex.h>, whom each unlock
 * wakes and with which bits, and everything a futex wait may return. mutex_alarm_script_test.c has
 * the times.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "common/cmocka_all.h"
#include "common/mutex_script.h"

#define m       script_mutex
#define MS      INT64_C(1000000)
#define PATIENT 1u
#define OVERDUE 2u
#define ALL     3u

#define WAKE    MUTEX_WORD_WAKE
#define URGENT  MUTEX_WORD_URGENT
#define QUIET   MUTEX_WORD_QUIET
#define SPINNER MUTEX_WORD_SPINNER
#define TIMED   MUTEX_WORD_TIMED
#define CHECKED MUTEX_WORD_CHECKED
#define DIED    MUTEX_WORD_DIED
#define LOST    MUTEX_WORD_LOST
#define W       MUTEX_WORD
#define P       MUTEX_WORD_PASSED
#define OWN     ((uint64_t)FAKE_ID << 32)

static void block(uint64_t word)
{
	script_world(0, word, IPCWAIT_BLOCK);
}

static void assert_word(uint64_t word)
{
	CHECK_EQ(mutex_word(&m), word);
	CHECK_EQ(errno, 4711);
}

struct row {
	uint64_t before, after;
	uint32_t woken; /* 0: no call */
	uint32_t bits;
};

static void assert_unlock(unsigned flags, const struct row *row)
{
	script_world(flags, row->before, IPCWAIT_BLOCK);
	if (flags & IPCWAIT_ROBUST)
		m.note.v = FAKE_BIRTH;
	CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
	assert_word(row->after | (flags & ~IPCWAIT_PRIVATE ? CHECKED : 0));
	CHECK_EQ(fake.wakes, row->woken ? 1 : 0);
	CHECK_EQ(fake.wake.value, row->woken);
	CHECK_EQ(fake.wake.bits, row->bits);
	CHECK(!row->woken || fake.wake.word == (const uint32_t *)&m.word);
	CHECK_EQ(fake.wake.private_, row->woken && flags & IPCWAIT_PRIVATE);
}

static void unlock_wakes_one(void)
{
	static const struct row rows[] = {
		{ W(1, 0, 0), 0, 0, 0 },
		{ W(1, 0, 1), W(0, 1, 1) | P(1), 1, ALL },
		{ W(1, 0, 9) | P(4), W(0, 1, 9) | P(5), 1, ALL },
		{ W(1, 0, 65535) | P(7), W(0, 1, 65535) | P(7), 1, ALL },
		{ W(1, 0, 3) | TIMED, W(0, 1, 3) | P(1), 1, ALL },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_unlock(0, &rows[i]);
		assert_unlock(IPCWAIT_PRIVATE, &rows[i]);
	}
}

/* Somebody is up, or looks, or will look. */
static void unlock_wakes_nobody(void)
{
	static const struct row rows[] = {
		{ W(1, 1, 1), W(0, 1, 1) | P(1), 0, 0 },
		{ W(1, 1, 7) | P(7), W(0, 1, 7) | P(7), 0, 0 },
		{ W(1, 0, 3) | SPINNER, W(0, 0, 3) | SPINNER | P(1), 0, 0 },
		{ W(1, 0, 0) | SPINNER, SPINNER, 0, 0 },
		{ W(1, 0, 3) | QUIET | P(1), W(0, 0, 3) | QUIET | P(2), 0, 0 },
		{ W(1, 0, 3) | QUIET | P(7), W(0, 0, 3) | QUIET | P(7), 0, 0 },
		{ W(1, 1, 3) | URGENT, W(0, 1, 3) | URGENT | P(1), 0, 0 },
		{ W(1, 0, 0) | TIMED, 0, 0, 0 },
		{ W(1, 0, 3) | TIMED | QUIET, W(0, 0, 3) | QUIET | P(1), 0, 0 },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_unlock(0, &rows[i]);
}

/* Neither a spinner nor one that naps may have it. */
static void unlock_wakes_whom_it_is_kept_for(void)
{
	static const struct row rows[] = {
		{ W(1, 0, 3) | URGENT, W(0, 1, 3) | URGENT | P(1), 1, OVERDUE },
		{ W(1, 0, 3) | URGENT | SPINNER, W(0, 1, 3) | URGENT | SPINNER | P(1), 1,
		  OVERDUE },
		{ W(1, 0, 3) | URGENT | QUIET, W(0, 1, 3) | URGENT | QUIET | P(1), 1,
		  OVERDUE },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_unlock(0, &rows[i]);
}

static void other_kinds_too(void)
{
	static const struct row rows[] = {
		{ OWN | W(0, 0, 0), 0, 0, 0 },
		{ OWN | W(0, 0, 2), W(0, 1, 2) | P(1), 1, ALL },
		{ OWN | W(0, 0, 2) | URGENT, W(0, 1, 2) | URGENT | P(1), 1, OVERDUE },
		{ OWN | W(0, 0, 2) | QUIET, W(0, 0, 2) | QUIET | P(1), 0, 0 },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_unlock(IPCWAIT_RECURSIVE, &rows[i]);
		assert_unlock(IPCWAIT_ERRORCHECK, &rows[i]);
		assert_unlock(IPCWAIT_ROBUST, &rows[i]);
	}
}

/* Everybody has to be told. */
static void unlock_of_a_broken_one_wakes_all(void)
{
	static const struct row rows[] = {
		{ OWN | W(0, 0, 0) | DIED, DIED | LOST, 0, 0 },
		{ OWN | W(0, 0, 5) | DIED, W(0, 1, 5) | DIED | LOST | P(1), UINT32_MAX,
		  ALL },
		{ OWN | W(0, 1, 5) | DIED, W(0, 1, 5) | DIED | LOST | P(1), UINT32_MAX,
		  ALL },
		{ OWN | W(0, 0, 5) | DIED | QUIET | SPINNER,
		  W(0, 1, 5) | DIED | LOST | QUIET | SPINNER | P(1), UINT32_MAX, ALL },
		{ OWN | W(0, 0, 5) | DIED | URGENT,
		  W(0, 1, 5) | DIED | LOST | URGENT | P(1), UINT32_MAX, ALL },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_unlock(IPCWAIT_ROBUST, &rows[i]);
}

/* The page of a mutex that the next owner frees while the last one is in the kernel. */
static struct ipcwait_mutex *mapped;
static int wake_result;

static void unmap_it(void)
{
	CHECK(munmap(mapped, 4096) == 0);
}

static void unlock_in_vanishing_memory(void)
{
	fake_reset();
	mapped =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(mapped != MAP_FAILED);
	/* Twice, the first time for what is initialised late. */
	mutex_fabricate(mapped, W(1, 0, 2));
	CHECK_EQ(ipcwait_mutex_unlock(mapped), 0);
	mutex_fabricate(mapped, W(1, 0, 2));
	fake.woken = wake_result;
	fake.on_wake = unmap_it;
	CHECK_EQ(ipcwait_mutex_unlock(mapped), 0);
	CHECK_EQ(fake.wakes, 2);
}

static void no_touch_after_the_wake_begins(void)
{
	static const int results[] = { INT_MAX, 1, 0, -EFAULT, -EINVAL, -ENOSYS };

	for (unsigned i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		wake_result = results[i];
		CHECK_EQ(check_in_child(unlock_in_vanishing_memory), 0);
	}
}

/* What is free is taken, and those who wait stay as they are. */
static void overtaking(void)
{
	static const uint64_t words[] = {
		0,       W(0, 1, 3) | P(2), W(0, 0, 3) | SPINNER, W(0, 0, 3) | QUIET | P(7),
		SPINNER,
	};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		block(words[i]);
		CHECK_EQ(ipcwait_mutex_trylock(&m), 0);
		assert_word(words[i] | W(1, 0, 0));
		block(words[i]);
		CHECK_EQ(ipcwait_mutex_lock(&m), 0);
		assert_word(words[i] | W(1, 0, 0));
		block(words[i]);
		CHECK_EQ(ipcwait_mutex_lock_until(&m, 0), 0);
		assert_word(words[i] | W(1, 0, 0));
		script_world(IPCWAIT_ERRORCHECK, words[i], IPCWAIT_BLOCK);
		CHECK_EQ(ipcwait_mutex_lock(&m), 0);
		assert_word(words[i] | OWN | CHECKED);
		CHECK_EQ(fake.waits, 0);
	}
}

static void not_what_is_kept_for_another(void)
{
	block(W(0, 1, 3) | URGENT);
	ipcwait_window_stamp(&m.window);
	CHECK_EQ(ipcwait_mutex_trylock(&m), -EBUSY);
	assert_word(W(0, 1, 3) | URGENT);
	/* But at the end of a wait, and when whoever it is kept for does not come. */
	CHECK_EQ(ipcwait_mutex_lock_until(&m, 0), 0);
	assert_word(W(1, 1, 3) | URGENT);
	block(W(0, 1, 3) | URGENT);
	ipcwait_window_stamp(&m.window);
	fake.now_ns += 2 * MS;
	CHECK_EQ(ipcwait_mutex_trylock(&m), 0);
}

static void unlock_it(void)
{
	CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
}

static void unlock_and_overtake(void)
{
	unlock_it();
	CHECK_EQ(ipcwait_mutex_trylock(&m), 0);
}

static void sleeps_and_takes(void)
{
	const struct scripted_sleep sleeps[] = { { .meanwhile = unlock_it } };

	for (unsigned flags = 0; flags <= IPCWAIT_PRIVATE; flags++) {
		script_world(flags, W(1, 0, 2), IPCWAIT_BLOCK);
		SCRIPT(sleeps);
		CHECK_EQ(ipcwait_mutex_lock(&m), 0);
		assert_word(W(1, 0, 2) | P(1));
		CHECK_EQ(script_slept[0].word, W(1, 0, 3));
		CHECK_EQ(script_slept[0].call.bits, PATIENT);
		CHECK_EQ(script_slept[0].call.private_, flags);
		CHECK(script_slept[0].call.word == (const uint32_t *)&m.word);
		CHECK_EQ(fake.wakes, 1);
	}
}

/* Nobody sleeps on WAKE while there is an owner who has yet to unlock. */
static void announcing(void)
{
	static const uint64_t rows[][2] = {
		{ W(1, 1, 2) | P(5), W(1, 0, 3) },
		{ W(1, 0, 2) | QUIET | SPINNER, W(1, 0, 3) | QUIET | SPINNER },
		{ W(1, 1, 2) | URGENT, W(1, 0, 3) | URGENT },
	};
	const struct scripted_sleep sleeps[] = { { .result = -EFAULT } };

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		block(rows[i][0]);
		SCRIPT(sleeps);
		CHECK_EQ(ipcwait_mutex_lock(&m), -EFAULT);
		CHECK_EQ(script_slept[0].word, rows[i][1]);
	}
}

/* Where it is free, but kept for another, the wake is not for this one. */
static void announcing_beside_one_overdue(void)
{
	const struct scripted_sleep sleeps[] = { { .result = -EFAULT } };

	block(W(0, 1, 2) | URGENT | P(3));
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK_EQ(script_slept[0].word, W(0, 1, 3) | URGENT);
	assert_word(W(1, 0, 2) | URGENT);
}

/* Announced, and not yet asleep: the kernel sees that the word has changed. */
static void word_changed_before_the_sleep(void)
{
	const struct scripted_sleep sleeps[] = {
		{ .result = -EAGAIN, .meanwhile = unlock_and_overtake },
		{ .result = -EAGAIN, .meanwhile = unlock_it },
	};

	block(W(1, 0, 7));
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	/* It looked in between, so the first unlock's wake is not missing. */
	assert_word(W(1, 0, 7) | P(1));
	CHECK_EQ(script_slept[1].word, W(1, 0, 8) | QUIET);
}

static void woken_in_vain(void)
{
	const struct scripted_sleep sleeps[] = {
		{ .meanwhile = unlock_and_overtake },
		{ .result = -ETIMEDOUT },
		{ .result = -ETIMEDOUT, .meanwhile = unlock_it },
	};

	block(W(1, 0, 1));
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK_EQ(script_slept[1].word, W(1, 0, 2) | QUIET);
	CHECK_EQ(script_slept[2].word, W(1, 0, 2) | QUIET);
	/* Nobody was woken beside a waiter that naps; now that it owns it, somebody will be. */
	CHECK_EQ(fake.wakes, 1);
	assert_word(W(1, 0, 1) | P(1));
}

/* One that naps is enough. */
static void woken_in_vain_beside_another(void)
{
	const struct scripted_sleep sleeps[] = {
		{ .meanwhile = unlock_and_overtake },
		{ .meanwhile = unlock_it },
	};

	block(W(1, 0, 1) | P(2));
	SCRIPT(sleeps);
	fake.on_wake = NULL;
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK_EQ(fake.wakes, 1);
}

static void spurious_and_signals(void)
{
	const struct scripted_sleep sleeps[] = {
		{ .result = -EINTR }, { .result = -EINTR, .sleep_ns = MS / 10 },
		{ .result = 0 },      { .result = -EINTR },
		{ .result = 0 },      { .meanwhile = unlock_it },
	};

	for (unsigned preset = IPCWAIT_INHERIT; preset <= IPCWAIT_BLOCK; preset++) {
		script_world(0, W(1, 0, 3), (enum ipcwait_preset)preset);
		SCRIPT(sleeps);
		CHECK_EQ(ipcwait_mutex_lock(&m), 0);
		CHECK_EQ(script_sleeps, 6);
		CHECK_EQ(mutex_word(&m) & ~MUTEX_WORD_PASSES, W(1, 0, 3));
	}
}

static void deadlines(void)
{
	const struct scripted_sleep sleeps[] = { { .result = -ETIMEDOUT } };
	const struct scripted_sleep unlocked[] = { { .result = -ETIMEDOUT,
						     .meanwhile = unlock_it } };
	static const uint64_t words[] = { W(1, 0, 0), W(1, 1, 3) | P(1), W(1, 0, 65534) };

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		int64_t deadline;

		block(words[i]);
		SCRIPT(sleeps);
		deadline = fake.now_ns + MS / 2;
		CHECK_EQ(ipcwait_mutex_lock_until(&m, deadline), -ETIMEDOUT);
		CHECK(script_slept[0].call.deadline_ns == deadline);
		assert_word(words[i] & ~(WAKE | MUTEX_WORD_PASSES));
		block(words[i]);
		SCRIPT(unlocked);
		CHECK_EQ(ipcwait_mutex_lock_until(&m, fake.now_ns + MS / 2), 0);
		CHECK_EQ(mutex_word_owner(mutex_word(&m)), 1);
	}
}

/* Set with the first readings of the clock in a spin: what others do then. */
static void (*in_a_spin)(void);
static unsigned readings;

static void tick(void)
{
	if (++readings == 30 && in_a_spin)
		in_a_spin();
}

static void spinning_world(uint64_t word, void (*meanwhile)(void))
{
	script_world(0, word, IPCWAIT_SPIN);
	readings = 0;
	in_a_spin = meanwhile;
	fake.on_clock = tick;
}

static void unlock_to_the_spinner(void)
{
	CHECK_EQ(mutex_word(&m), W(1, 0, 2) | SPINNER);
	unlock_it();
	CHECK_EQ(fake.wakes, 0);
}

static void unlock_to_nobody_in_particular(void)
{
	CHECK_EQ(mutex_word(&m), W(1, 0, 0));
	unlock_it();
}

static void spins_beside_sleepers(void)
{
	spinning_world(W(1, 0, 2) | P(6), unlock_to_the_spinner);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	assert_word(W(1, 0, 2) | P(1));
	spinning_world(W(1, 0, 0), unlock_to_nobody_in_particular);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	assert_word(W(1, 0, 0));
}

static void sleeps_beside_a_spinner(void)
{
	const struct scripted_sleep sleeps[] = { { .meanwhile = unlock_it,
						   .result = -EAGAIN } };

	spinning_world(W(1, 0, 2) | SPINNER, NULL);
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK(readings < 20);
	CHECK_EQ(script_slept[0].word, W(1, 0, 3) | SPINNER);
	CHECK_EQ(script_slept_for(IPCWAIT_REASON_CROWDED), 1);
	CHECK_EQ(script_slept_for(IPCWAIT_REASON_OVERTAKEN), 0);
}

static void overtake_twice(void)
{
	unlock_and_overtake();
	unlock_and_overtake();
}

/* A spinner that others overtake gives up, and naps. */
static void spins_in_vain(void)
{
	const struct scripted_sleep sleeps[] = { { .result = -ETIMEDOUT,
						   .meanwhile = unlock_it } };

	spinning_world(W(1, 0, 2), overtake_twice);
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), 0);
	CHECK(readings < 60);
	CHECK_EQ(fake.wakes, 0);
	CHECK_EQ(script_slept_for(IPCWAIT_REASON_OVERTAKEN), 1);
	CHECK_EQ(script_slept_for(IPCWAIT_REASON_CROWDED), 0);
	CHECK_EQ(script_slept[0].word, W(1, 0, 3) | QUIET);
	assert_word(W(1, 0, 2) | P(1));
}

static void lose_it(void)
{
	mutex_fabricate(&m, (mutex_word(&m) & ~MUTEX_WORD_OWNERS) | DIED | LOST | WAKE);
}

static void lost(void)
{
	const struct scripted_sleep sleeps[] = { { .meanwhile = lose_it } };

	script_world(IPCWAIT_ROBUST, W(7, 0, 3), IPCWAIT_BLOCK);
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), -ENOTRECOVERABLE);
	assert_word(W(0, 1, 3) | DIED | LOST | CHECKED);
	SCRIPT(sleeps);
	CHECK_EQ(ipcwait_mutex_lock(&m), -ENOTRECOVERABLE);
	CHECK_EQ(ipcwait_mutex_trylock(&m), -ENOTRECOVERABLE);
	CHECK_EQ(ipcwait_mutex_lock_until(&m, 0), -ENOTRECOVERABLE);
	CHECK_EQ(script_sleeps, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(unlock_wakes_one),
		CHILD_TEST(unlock_wakes_nobody),
		CHILD_TEST(unlock_wakes_whom_it_is_kept_for),
		CHILD_TEST(other_kinds_too),
		CHILD_TEST(unlock_of_a_broken_one_wakes_all),
		CHILD_TEST(no_touch_after_the_wake_begins),
		CHILD_TEST(overtaking),
		CHILD_TEST(not_what_is_kept_for_another),
		CHILD_TEST(sleeps_and_takes),
		CHILD_TEST(announcing),
		CHILD_TEST(announcing_beside_one_overdue),
		CHILD_TEST(word_changed_before_the_sleep),
		CHILD_TEST(woken_in_vain),
		CHILD_TEST(woken_in_vain_beside_another),
		CHILD_TEST(spurious_and_signals),
		CHILD_TEST(deadlines),
		CHILD_TEST(spins_beside_sleepers),
		CHILD_TEST(sleeps_beside_a_spinner),
		CHILD_TEST(spins_in_vain),
		CHILD_TEST(lost),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
