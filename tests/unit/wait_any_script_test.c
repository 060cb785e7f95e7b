/* SPDX-License-Identifier: MIT */
/*
 * Waits for any of several objects over a scripted kernel that has futex_waitv(): what each step
 * leaves in the words of the objects, above all of those that were not taken.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/sem_word.h"
#include "policy/window.h"

#define US       INT64_C(1000)
#define DEADLINE (fake.now_ns + 1000 * US)

static struct ipcwait_sem a, b;
static uint32_t word;
static struct ipcwait_window w;
static struct ipcwait_waitable set[3];

/* Semaphores a and b, and a word that is waited on to become other than 7. */
static void world(uint64_t word_a, uint64_t word_b)
{
	fake_reset();
	CHECK_EQ(ipcwait_sem_init(&a, 0, 0), 0);
	CHECK_EQ(ipcwait_sem_init(&b, 0, IPCWAIT_PRIVATE), 0);
	sem_fabricate(&a, word_a);
	sem_fabricate(&b, word_b);
	word = 7;
	w = (struct ipcwait_window){ 0 };
	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_BLOCK), 0);
	set[0] = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM, .object = &a };
	set[1] = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM, .object = &b };
	set[2] = (struct ipcwait_waitable){
		.type = IPCWAIT_WAITABLE_FUTEX,
		.object = &word,
		.expected = 7,
	};
	errno = 4711;
}

static int wait_any(unsigned n)
{
	return ipcwait_wait_any(set, n, IPCWAIT_FOREVER, &w);
}

static void left(uint64_t word_a, uint64_t word_b, unsigned waits, unsigned wakes)
{
	CHECK_EQ(sem_word(&a), word_a);
	CHECK_EQ(sem_word(&b), word_b);
	CHECK_EQ(fake.waits, waits);
	CHECK_EQ(fake.wakes, wakes);
	CHECK_EQ(errno, 4711);
}

/* What other threads do while the waiter sleeps. */
static void post_a(void)
{
	CHECK_EQ(ipcwait_sem_post(&a), 0);
}

static void post_b(void)
{
	CHECK_EQ(ipcwait_sem_post(&b), 0);
}

static void post_both(void)
{
	post_a();
	post_b();
}

static void post_and_steal_b(void)
{
	post_b();
	CHECK_EQ(ipcwait_sem_trywait(&b), 0);
}

static void change(void)
{
	__atomic_store_n(&word, 8, __ATOMIC_RELEASE);
}

static void change_and_post_a(void)
{
	change();
	post_a();
}

static void there_at_the_first_look(void)
{
	world(WORD(2, 0, 0), WORD(3, 0, 0));
	CHECK_EQ(wait_any(3), 0);
	left(WORD(1, 0, 0), WORD(3, 0, 0), 0, 0);
	world(0, WORD(3, 0, 0));
	CHECK_EQ(ipcwait_wait_any(set, 3, INT64_MIN, &w), 1);
	left(0, WORD(2, 0, 0), 0, 0);
	world(0, 0);
	change();
	CHECK_EQ(ipcwait_wait_any(set, 3, 0, NULL), 2);
	left(0, 0, 0, 0);
}

static void past_deadlines_make_no_call(void)
{
	world(WORD(0, 1, 2), 0);
	CHECK_EQ(ipcwait_wait_any(set, 3, fake.now_ns - 1, &w), -ETIMEDOUT);
	CHECK_EQ(ipcwait_wait_any(set, 3, 0, NULL), -ETIMEDOUT);
	CHECK_EQ(ipcwait_wait_any(set, 3, INT64_MIN, &w), -ETIMEDOUT);
	left(WORD(0, 1, 2), 0, 0, 0);
}

/* What the kernel is told. */
static void woken_for_the_second(void)
{
	const struct fake_step script[] = { { .result = 1, .meanwhile = post_b } };
	const struct iw_waitv *v = fake.vector.words;

	world(0, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(wait_any(3), 1);
	left(0, 0, 1, 1);
	CHECK(fake.wake.word == (const uint32_t *)&b.word);
	CHECK_EQ(fake.vector.n, 3);
	CHECK(fake.vector.deadline_ns < IPCWAIT_FOREVER);
	CHECK(v[0].address == (uintptr_t)&a && v[1].address == (uintptr_t)&b &&
	      v[2].address == (uintptr_t)&word);
	CHECK(v[0].expected == 1 && v[1].expected == 1 && v[2].expected == 7);
	CHECK(v[0].flags == IW_WAITV_32 && v[2].flags == IW_WAITV_32);
	CHECK_EQ(v[1].flags, IW_WAITV_32 | IW_WAITV_PRIVATE);
	CHECK(v[0].reserved == 0 && v[1].reserved == 0 && v[2].reserved == 0);
}

/* One object needs no futex_waitv(). */
static void one_object(void)
{
	const struct fake_step script[] = { { .meanwhile = post_a } };

	world(WORD(0, 0, 4), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(wait_any(1), 0);
	left(WORD(0, 0, 4), 0, 1, 1);
	CHECK_EQ(fake.vectors, 0);
	CHECK_EQ(fake.wait.value, 5);
	CHECK(!fake.wait.private_);
	CHECK(fake.wait.deadline_ns < IPCWAIT_FOREVER);
	world(WORD(0, 0, 4), 0);
	a.flags = IPCWAIT_PRIVATE;
	FAKE_SCRIPT(script);
	CHECK_EQ(wait_any(1), 0);
	CHECK(fake.wait.deadline_ns == IPCWAIT_FOREVER);
}

/* Both wakes reached this thread, the kernel names one: the other token stays, told to others. */
static void woken_for_both(void)
{
	const struct fake_step script[] = { { .result = 1, .meanwhile = post_both } };

	world(WORD(0, 0, 2), WORD(0, 0, 1));
	FAKE_SCRIPT(script);
	CHECK_EQ(wait_any(2), 1);
	/* Three wakes: one for each post, and one that passes on that of a. */
	left(WORD(1, 1, 2), WORD(0, 0, 1), 1, 3);
	CHECK(fake.wake.word == (const uint32_t *)&a.word);
	CHECK_EQ(fake.wake.value, 1);
	CHECK(!fake.wake.private_);
}

/* The same to the private one; nobody else sleeps there in the second case. */
static void passes_on_to_the_right_kind(void)
{
	const struct fake_step script[] = { { .result = 0, .meanwhile = post_both } };

	world(0, WORD(0, 0, 3));
	FAKE_SCRIPT(script);
	CHECK_EQ(wait_any(2), 0);
	left(0, WORD(1, 1, 3), 1, 3);
	CHECK(fake.wake.word == (const uint32_t *)&b.word);
	CHECK(fake.wake.private_);
	world(0, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(wait_any(2), 0);
	left(0, WORD(1, 0, 0), 1, 2);
}

static void a_stranger_was_faster(void)
{
	const struct fake_step script[] = {
		{ .result = 1, .meanwhile = post_and_steal_b },
		{ .result = -EAGAIN, .meanwhile = post_and_steal_b },
		{ .result = 0, .meanwhile = post_a },
	};

	for (enum ipcwait_preset p = IPCWAIT_INHERIT; p <= IPCWAIT_BLOCK; p++) {
		world(WORD(0, 0, 1), WORD(0, 0, 2));
		CHECK_EQ(ipcwait_window_set_preset(&w, p), 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(wait_any(3), 0);
		CHECK_EQ(sem_word(&a), WORD(0, 0, 1));
		CHECK_EQ(sem_word(&b), WORD(0, 0, 2));
		CHECK_EQ(fake.waits, 3);
	}
}

static void gives_up(int result, int64_t deadline_ns, int64_t sleep_ns)
{
	const struct fake_step script[] = { { .result = result, .sleep_ns = sleep_ns } };

	world(WORD(0, 0, 5), WORD(0, 2, 3));
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_wait_any(set, 3, deadline_ns, &w), result);
	left(WORD(0, 0, 5), WORD(0, 0, 3), 1, 0);
}

static void errors_leave_nothing_behind(void)
{
	static const int errors[] = { -EINVAL, -EFAULT, -ENOMEM };

	world(0, 0);
	gives_up(-ETIMEDOUT, DEADLINE, 2000 * US);
	CHECK(fake.vector.deadline_ns < IPCWAIT_FOREVER);
	for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		gives_up(errors[i], IPCWAIT_FOREVER, 0);
}

/* A wake came with the signal: the token is taken, and the other one told to others. */
static void there_at_the_last_moment(void)
{
	const struct fake_step script[] = { { .result = -EINTR, .meanwhile = post_both } };

	world(WORD(0, 0, 1), WORD(0, 0, 1));
	FAKE_SCRIPT(script);
	CHECK_EQ(wait_any(2), 0);
	left(WORD(0, 0, 1), WORD(1, 1, 1), 1, 3);
	CHECK(fake.wake.word == (const uint32_t *)&b.word);
}

/* 65535 sleepers on the second: look once per millisecond, and take back the rest. */
static void no_room_to_announce(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 1000 * US },
		{ .result = -ETIMEDOUT, .sleep_ns = 1000 * US, .meanwhile = post_b },
	};

	world(WORD(0, 0, 1), WORD(0, 0, 65535));
	FAKE_SCRIPT(script);
	CHECK_EQ(wait_any(2), 1);
	CHECK_EQ(sem_word(&a), WORD(0, 0, 1));
	CHECK_EQ(word_sleepers(sem_word(&b)), 65535);
	CHECK_EQ(word_value(sem_word(&b)), 0);
	CHECK_EQ(fake.vectors, 0);
}

/* A raw word ends the wait when it changes, and when somebody wakes it as it is. */
static void raw_words(void)
{
	const struct fake_step changed[] = { { .result = 2, .meanwhile = change } };
	const struct fake_step woken[] = { { .result = 2 } };
	const struct fake_step first[] = { { .result = 0 },
					   { .result = -EINTR },
					   { .result = -EFAULT } };

	world(0, 0);
	FAKE_SCRIPT(changed);
	CHECK_EQ(wait_any(3), 2);
	left(0, 0, 1, 0);
	world(0, 0);
	FAKE_SCRIPT(woken);
	CHECK_EQ(wait_any(3), 2);
	left(0, 0, 1, 0);
	/* Not so a semaphore, and no handler ends it, though the semaphore says so. */
	world(0, 0);
	a.flags = IPCWAIT_INTERRUPTIBLE;
	FAKE_SCRIPT(first);
	CHECK_EQ(wait_any(3), -EFAULT);
	left(0, 0, 3, 0);
}

/* The wake for the word may have come here too: others that sleep on it look at it. */
static void a_wake_of_a_word_is_passed_on(void)
{
	const struct fake_step script[] = { { .result = 0,
					      .meanwhile = change_and_post_a } };

	world(0, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(wait_any(3), 0);
	left(0, 0, 1, 2);
	CHECK(fake.wake.word == &word);
	CHECK_EQ(fake.wake.value, 1);
	CHECK(!fake.wake.private_);
}

/* A token that appears between two announcements. */
static void post_b_once(void)
{
	fake.on_clock = NULL;
	post_b();
}

static void there_while_announcing(void)
{
	world(0, 0);
	/* It sleeps at once, and the only reading of the clock before that is at its beginning. */
	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_ADAPTIVE), 0);
	for (int i = 0; i < 20; i++)
		iw_window_record(&w, IW_BIN_LONG, 1, 0);
	fake.on_clock = post_b_once;
	CHECK_EQ(wait_any(2), 1);
	left(0, 0, 0, 0);
}

/* The spin looks at all of them, and marks none. */
static void spins(void)
{
	world(WORD(0, 0, 2), WORD(0, 0, 2));
	CHECK_EQ(ipcwait_window_set_preset(&w, IPCWAIT_SPIN), 0);
	fake.on_clock = post_b_once;
	CHECK_EQ(wait_any(3), 1);
	CHECK_EQ(sem_word(&a), WORD(0, 0, 2));
	CHECK_EQ(word_sleepers(sem_word(&b)), 2);
	CHECK_EQ(fake.waits, 0);
}

/* The fixed form takes the flags of each word. */
static void words_only(void)
{
	uint32_t words[2] = { 1, 2 };
	struct ipcwait_futex_waiter waiters[] = {
		{ .word = &words[0], .expected = 1 },
		{ .word = &words[1], .expected = 2, .flags = IPCWAIT_PRIVATE },
	};
	const struct fake_step script[] = { { .result = 1 } };

	world(0, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_futex_wait_any(waiters, 2, IPCWAIT_FOREVER), 1);
	CHECK_EQ(fake.vector.n, 2);
	CHECK_EQ(fake.vector.words[0].flags, IW_WAITV_32);
	CHECK_EQ(fake.vector.words[1].flags, IW_WAITV_32 | IW_WAITV_PRIVATE);
	CHECK_EQ(fake.vector.words[1].expected, 2);
	words[1] = 3;
	CHECK_EQ(ipcwait_futex_wait_any(waiters, 2, 0), 1);
	CHECK_EQ(ipcwait_futex_wait_any(waiters, 1, 0), -ETIMEDOUT);
	CHECK_EQ(fake.waits, 1);
}

/* As many as the kernel takes. */
static void most(void)
{
	struct ipcwait_waitable many[IPCWAIT_WAIT_ANY_MAX];
	const struct fake_step script[] = { { .result = 127, .meanwhile = post_b } };

	world(0, 0);
	for (unsigned i = 0; i < IPCWAIT_WAIT_ANY_MAX; i++)
		many[i] = set[2];
	many[127] = set[1];
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_wait_any(many, IPCWAIT_WAIT_ANY_MAX, IPCWAIT_FOREVER, &w), 127);
	CHECK_EQ(fake.vector.n, 128);
	left(0, 0, 1, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(there_at_the_first_look),
		CHILD_TEST(past_deadlines_make_no_call),
		CHILD_TEST(woken_for_the_second),
		CHILD_TEST(one_object),
		CHILD_TEST(woken_for_both),
		CHILD_TEST(passes_on_to_the_right_kind),
		CHILD_TEST(a_stranger_was_faster),
		CHILD_TEST(errors_leave_nothing_behind),
		CHILD_TEST(there_at_the_last_moment),
		CHILD_TEST(no_room_to_announce),
		CHILD_TEST(raw_words),
		CHILD_TEST(a_wake_of_a_word_is_passed_on),
		CHILD_TEST(there_while_announcing),
		CHILD_TEST(spins),
		CHILD_TEST(words_only),
		CHILD_TEST(most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
