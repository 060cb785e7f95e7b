/* SPDX-License-Identifier: MIT */
/*
 * The semaphore's waits over a scripted kernel: each row of the table in <ipcwait/sem.h>
 * that a waiter takes, and everything a futex wait may return.
 */
#include <errno.h>
#include <stdlib.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/sem_word.h"

#define US       INT64_C(1000)
#define DEADLINE (fake.now_ns + 1000 * US)

static struct ipcwait_sem s;

/* A fresh world. BLOCK keeps the spin out of tests that are not about it. */
static void world(uint64_t word, enum ipcwait_preset preset)
{
	fake_reset();
	CHECK_EQ(ipcwait_sem_init(&s, 0, 0), 0);
	CHECK_EQ(ipcwait_window_set_preset(&s.window, preset), 0);
	sem_fabricate(&s, word);
	errno = 4711;
}

/* After a wait: the word, the number of sleeps, errno. */
static void left(uint64_t word, unsigned waits)
{
	CHECK_EQ(sem_word(&s), word);
	CHECK_EQ(fake.waits, waits);
	CHECK_EQ(fake.wakes, 0);
	CHECK_EQ(errno, 4711);
}

/* What other threads do while the waiter sleeps. */
static void post_with_wake(void)
{
	CHECK_EQ(ipcwait_sem_post(&s), 0);
	CHECK_EQ(fake.wakes, 1);
	fake.wakes = 0;
}

static void steal(void)
{
	CHECK_EQ(ipcwait_sem_trywait(&s), 0);
}

static void post_and_steal(void)
{
	post_with_wake();
	steal();
}

static void arrive(void)
{
	sem_fabricate(&s, (sem_word(&s) & ~WORD(0, 0xffff, 0)) + WORD(0, 0, 1));
}

static void leave(void)
{
	sem_fabricate(&s, sem_word(&s) - WORD(0, 0, 1));
}

static void woken_with_a_token(void)
{
	const struct fake_step script[] = { { .meanwhile = post_with_wake } };

	world(0, IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait(&s), 0);
	left(0, 1);
	CHECK(fake.wait.word == (const uint32_t *)&s.word);
	CHECK_EQ(fake.wait.value, 1);
	CHECK(!fake.wait.private_);
}

static void private_flag_reaches_the_kernel(void)
{
	const struct fake_step script[] = { { .meanwhile = post_with_wake } };

	world(0, IPCWAIT_BLOCK);
	s.flags = IPCWAIT_PRIVATE;
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait_until(&s, DEADLINE), 0);
	CHECK(fake.wait.private_);
	CHECK(fake.wake.private_);
	CHECK(fake.wait.deadline_ns < IPCWAIT_FOREVER);
}

/* The kernel may return 0 for no reason, any number of times. */
static void spurious_wakes(void)
{
	const struct fake_step script[] = {
		{ 0 },
		{ 0 },
		{ .sleep_ns = 5000 * US },
		{ 0 },
		{ .meanwhile = post_with_wake },
	};

	for (enum ipcwait_preset preset = IPCWAIT_INHERIT; preset <= IPCWAIT_BLOCK;
	     preset++) {
		world(WORD(0, 0, 3), preset);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_sem_wait(&s), 0);
		left(WORD(0, 0, 3), 5);
	}
}

/* A token that arrives without its wake is found in the same round. */
static void spurious_wake_finds_a_token(void)
{
	const struct fake_step script[] = { { .meanwhile = post_with_wake } };

	world(WORD(0, 0, 2), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait(&s), 0);
	left(WORD(0, 0, 2), 1);
}

static void word_changed_before_the_sleep(void)
{
	const struct fake_step script[] = {
		{ .result = -EAGAIN, .meanwhile = arrive },
		{ .result = -EAGAIN, .meanwhile = leave },
		{ .result = -EAGAIN, .meanwhile = post_and_steal },
		{ .result = -EAGAIN, .meanwhile = post_with_wake },
	};

	for (enum ipcwait_preset preset = IPCWAIT_INHERIT; preset <= IPCWAIT_BLOCK;
	     preset++) {
		world(WORD(0, 0, 7), preset);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_sem_wait(&s), 0);
		left(WORD(0, 0, 7), 4);
	}
}

/* @w as world() takes it. */
static void interruptible_world(uint64_t w, enum ipcwait_preset preset)
{
	world(w, preset);
	s.flags = IPCWAIT_INTERRUPTIBLE;
}

/* A sleep without an end would go on after a handler with SA_RESTART. */
static void interruptible_sleeps_have_an_end(void)
{
	const struct fake_step script[] = { { .meanwhile = post_with_wake } };

	interruptible_world(WORD(0, 0, 2), IPCWAIT_SPIN);
	s.flags |= IPCWAIT_PRIVATE;
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait(&s), 0);
	CHECK(fake.wait.deadline_ns == IPCWAIT_FOREVER - 1);
}

static void signals_do_not_end_it(void)
{
	const struct fake_step script[] = { { .result = -EINTR },
					    { .result = -EINTR },
					    { .meanwhile = post_with_wake } };

	for (int i = 0; i < 4; i++) {
		world(WORD(0, 0, i & 1 ? 2 : 65535), IPCWAIT_BLOCK);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_sem_wait_until(&s, i & 2 ? DEADLINE : IPCWAIT_FOREVER), 0);
		CHECK_EQ(fake.waits, 3);
	}
}

static void signal_without_a_token(void)
{
	const struct fake_step script[] = { { .result = -EINTR } };
	static const uint64_t words[] = { 0, WORD(0, 0, 1), WORD(0, 0, 65534) };

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		interruptible_world(words[i], IPCWAIT_BLOCK);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_sem_wait(&s), -EINTR);
		left(words[i], 1);
	}
}

/* The post chose this sleeper for the token; the signal must not lose it. */
static void signal_with_a_token(void)
{
	const struct fake_step script[] = { { .result = -EINTR,
					      .meanwhile = post_with_wake } };

	interruptible_world(WORD(0, 0, 2), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait(&s), 0);
	left(WORD(0, 0, 2), 1);
}

static void signal_after_the_token_was_stolen(void)
{
	const struct fake_step script[] = { { .result = -EINTR,
					      .meanwhile = post_and_steal } };

	interruptible_world(WORD(0, 0, 2), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait(&s), -EINTR);
	left(WORD(0, 0, 2), 1);
}

static void deadline_without_a_token(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .sleep_ns = 2000 * US } };

	for (enum ipcwait_preset preset = IPCWAIT_INHERIT; preset <= IPCWAIT_BLOCK;
	     preset++) {
		world(WORD(0, 0, 9), preset);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_sem_wait_until(&s, DEADLINE), -ETIMEDOUT);
		left(WORD(0, 0, 9), 1);
	}
}

static void token_at_the_last_moment(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT,
		  .sleep_ns = 2000 * US,
		  .meanwhile = post_with_wake },
	};

	world(WORD(0, 0, 9), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait_until(&s, DEADLINE), 0);
	left(WORD(0, 0, 9), 1);
}

/* Others that were woken keep their mark when one gives up. */
static void giving_up_beside_woken_sleepers(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT,
					      .meanwhile = post_and_steal } };

	world(WORD(0, 0, 1), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait_until(&s, DEADLINE), -ETIMEDOUT);
	/* WAKES may be too small, never larger than SLEEPERS. */
	CHECK_EQ(word_sleepers(sem_word(&s)), 1);
	CHECK_EQ(word_value(sem_word(&s)), 0);
	CHECK(word_wakes(sem_word(&s)) <= 1);
	CHECK(!(sem_word(&s) & WORD_SPINNER));
}

/* Errors that mean the object cannot be slept on: returned at once, never tried again. */
static void kernel_errors(void)
{
	static const int errors[] = { -EINVAL, -EFAULT, -ENOSYS, -EPERM, -ENOMEM };

	for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		const struct fake_step script[] = { { .result = errors[i] } };

		for (enum ipcwait_preset p = IPCWAIT_INHERIT; p <= IPCWAIT_BLOCK; p++) {
			world(WORD(0, 0, 5), p);
			FAKE_SCRIPT(script);
			CHECK_EQ(ipcwait_sem_wait(&s), errors[i]);
			left(WORD(0, 0, 5), 1);
			fake.waits = 0;
			CHECK_EQ(ipcwait_sem_wait_until(&s, DEADLINE), errors[i]);
			left(WORD(0, 0, 5), 1);
		}
	}
}

/* As above, but a token came in the meantime: it is taken, not left behind. */
static void kernel_error_with_a_token(void)
{
	const struct fake_step script[] = { { .result = -EFAULT,
					      .meanwhile = post_with_wake } };

	world(0, IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait(&s), 0);
	left(0, 1);
}

static void stolen_token_means_another_sleep(void)
{
	const struct fake_step script[] = {
		{ .meanwhile = post_and_steal },
		{ .meanwhile = post_and_steal },
		{ .meanwhile = post_with_wake },
	};

	for (enum ipcwait_preset preset = IPCWAIT_INHERIT; preset <= IPCWAIT_BLOCK;
	     preset++) {
		world(WORD(0, 0, 1), preset);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_sem_wait(&s), 0);
		left(WORD(0, 0, 1), 3);
	}
}

/* Nobody falls asleep while WAKES or SPINNER say that somebody is awake. */
static void going_to_sleep_forgets_the_marks(void)
{
	const struct fake_step script[] = { { .meanwhile = post_with_wake } };

	world(WORD_SPINNER | WORD(0, 3, 5), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait(&s), 0);
	CHECK_EQ(fake.wait.value, 6);
	left(WORD(0, 0, 5), 1);
}

/* Past deadlines, and tokens that are there, need neither spin nor sleep. */
static void no_sleep(void)
{
	world(WORD(0, 1, 2), IPCWAIT_SPIN);
	CHECK_EQ(ipcwait_sem_wait_until(&s, fake.now_ns - 1), -ETIMEDOUT);
	CHECK_EQ(ipcwait_sem_wait_until(&s, 0), -ETIMEDOUT);
	CHECK_EQ(ipcwait_sem_wait_until(&s, INT64_MIN), -ETIMEDOUT);
	left(WORD(0, 1, 2), 0);
	world(WORD(2, 1, 2), IPCWAIT_SPIN);
	CHECK_EQ(ipcwait_sem_wait_until(&s, INT64_MIN), 0);
	CHECK_EQ(ipcwait_sem_wait(&s), 0);
	left(WORD(0, 1, 2), 0);
}

/* The deadline passes during the spin: the kernel is asked at most once. */
static void deadline_during_the_spin(void)
{
	const struct fake_step script[] = { { .result = -ETIMEDOUT } };
	int64_t begin;

	world(0, IPCWAIT_SPIN);
	FAKE_SCRIPT(script);
	begin = fake.now_ns;
	CHECK_EQ(ipcwait_sem_wait_until(&s, begin + 5 * US), -ETIMEDOUT);
	CHECK(fake.waits <= 1);
	CHECK(fake.now_ns - begin < 10 * US);
	CHECK_EQ(sem_word(&s), 0);
}

/*
 * 65535 sleepers are announced: look once per millisecond. It sleeps not on the semaphore's
 * address, where it might get a wake that is meant for one of those.
 */
static void no_room_to_announce(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 1000 * US },
		{ .result = -ETIMEDOUT, .sleep_ns = 1000 * US },
		{ .result = 0 },
		{ .result = -EAGAIN },
		{ .result = -ETIMEDOUT,
		  .sleep_ns = 1000 * US,
		  .meanwhile = post_with_wake },
	};
	int64_t begin;

	world(WORD(0, 0, 65535), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	begin = fake.now_ns;
	CHECK_EQ(ipcwait_sem_wait(&s), 0);
	CHECK_EQ(fake.waits, 5);
	CHECK(fake.wait.word != (const uint32_t *)&s.word);
	CHECK(fake.wait.deadline_ns <= begin + 3000 * US + 1100 * US);
	/* The wake was for one of the announced, who is still on its way. */
	CHECK_EQ(sem_word(&s), WORD(0, 1, 65535));
}

static void unpublished_keeps_the_deadline(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 1000 * US },
		{ .result = -ETIMEDOUT, .sleep_ns = 500 * US },
	};
	int64_t deadline;

	world(WORD(0, 0, 65535), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	deadline = fake.now_ns + 1500 * US;
	CHECK_EQ(ipcwait_sem_wait_until(&s, deadline), -ETIMEDOUT);
	CHECK_EQ(fake.waits, 2);
	CHECK(fake.wait.deadline_ns == deadline);
	CHECK_EQ(sem_word(&s), WORD(0, 0, 65535));
}

static void unpublished_is_interrupted(void)
{
	const struct fake_step script[] = { { .result = -EINTR } };

	interruptible_world(WORD(0, 0, 65535), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait(&s), -EINTR);
	left(WORD(0, 0, 65535), 1);
}

/* Room again: it announces itself like everybody else. */
static void published_when_there_is_room(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 1000 * US, .meanwhile = leave },
		{ .meanwhile = post_with_wake },
	};

	world(WORD(0, 0, 65535), IPCWAIT_BLOCK);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_sem_wait(&s), 0);
	CHECK_EQ(fake.wait.value, 65535);
	left(WORD(0, 0, 65534), 2);
}

/* For the tests below: two tokens as soon as the woken waiter looks as a spinner, if it does. */
static unsigned looks;
static bool at_once;

static void post_two_while_it_spins(void)
{
	if (fake.waits != 1 || looks > 200)
		return;
	looks = sem_word(&s) & WORD_SPINNER ? 201 : looks + 1;
	if (looks <= 200)
		return;
	CHECK_EQ(ipcwait_sem_post_n(&s, at_once ? 2 : 1), 0);
	if (!at_once)
		CHECK_EQ(ipcwait_sem_post(&s), 0);
}

static void begin_posting(void)
{
	post_and_steal();
	looks = 0;
	fake.on_clock = post_two_while_it_spins;
}

/*
 * A and B sleep. A is woken, finds its token stolen and spins: it is awake once, not once
 * as a woken sleeper and once more as SPINNER. Two tokens are then one for A and one for B.
 */
static void woken_spinner_counts_once(void)
{
	const struct fake_step script[] = { { .meanwhile = begin_posting } };

	for (int i = 0; i < 2; i++) {
		at_once = i;
		world(WORD(0, 0, 1), IPCWAIT_SPIN);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_sem_wait(&s), 0);
		CHECK_EQ(looks, 201);
		CHECK_EQ(word_value(sem_word(&s)), 1);
		CHECK_EQ(word_sleepers(sem_word(&s)), 1);
		/* The second token was for B: somebody must have called the kernel for it. */
		CHECK_EQ(fake.wakes, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(woken_with_a_token),
		CHILD_TEST(private_flag_reaches_the_kernel),
		CHILD_TEST(spurious_wakes),
		CHILD_TEST(spurious_wake_finds_a_token),
		CHILD_TEST(word_changed_before_the_sleep),
		CHILD_TEST(signal_without_a_token),
		CHILD_TEST(interruptible_sleeps_have_an_end),
		CHILD_TEST(signals_do_not_end_it),
		CHILD_TEST(signal_with_a_token),
		CHILD_TEST(signal_after_the_token_was_stolen),
		CHILD_TEST(deadline_without_a_token),
		CHILD_TEST(token_at_the_last_moment),
		CHILD_TEST(giving_up_beside_woken_sleepers),
		CHILD_TEST(kernel_errors),
		CHILD_TEST(kernel_error_with_a_token),
		CHILD_TEST(stolen_token_means_another_sleep),
		CHILD_TEST(going_to_sleep_forgets_the_marks),
		CHILD_TEST(no_sleep),
		CHILD_TEST(deadline_during_the_spin),
		CHILD_TEST(no_room_to_announce),
		CHILD_TEST(unpublished_keeps_the_deadline),
		CHILD_TEST(unpublished_is_interrupted),
		CHILD_TEST(published_when_there_is_room),
		CHILD_TEST(woken_spinner_counts_once),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
