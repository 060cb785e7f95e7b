/* SPDX-License-Identifier: MIT */
/*
 * Waits for any of several objects over a scripted kernel without futex_waitv(): the thread sleeps
 * on the first object and looks at the others in between.
 */
#include <errno.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/sem_word.h"

#define US INT64_C(1000)

/* Not a result of the kernel's own. */
#define NO_ERROR 0

static struct ipcwait_sem a, b;
static struct ipcwait_window w;
static struct ipcwait_waitable set[2];

static void world(enum ipcwait_preset preset, int error)
{
	fake_reset();
	CHECK_EQ(ipcwait_sem_init(&a, 0, IPCWAIT_PRIVATE), 0);
	CHECK_EQ(ipcwait_sem_init(&b, 0, 0), 0);
	w = (struct ipcwait_window){ 0 };
	CHECK_EQ(ipcwait_window_set_preset(&w, preset), 0);
	set[0] = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM, .object = &a };
	set[1] = (struct ipcwait_waitable){ .type = IPCWAIT_WAITABLE_SEM, .object = &b };
	fake.vector_error = error;
	errno = 4711;
}

static void left(uint64_t word_a, uint64_t word_b)
{
	CHECK_EQ(sem_word(&a), word_a);
	CHECK_EQ(sem_word(&b), word_b);
	CHECK_EQ(errno, 4711);
}

static void post_a(void)
{
	CHECK_EQ(ipcwait_sem_post(&a), 0);
}

static void post_b(void)
{
	CHECK_EQ(ipcwait_sem_post(&b), 0);
}

/* What a sleep was bounded to, in us after its beginning. */
static int64_t bounds[16];

static int note_bound(const struct fake_call *call)
{
	CHECK(fake.waits < 16);
	bounds[fake.waits++] = (call->deadline_ns - fake.now_ns) / US;
	fake.now_ns = call->deadline_ns;
	if (fake.waits == 8)
		post_b();
	return -ETIMEDOUT;
}

/* Or less, since the clock goes on between its reading and the sleep. */
static void looks_more_and_more_seldom(void)
{
	static const int64_t want[] = { 50, 100, 200, 400, 800, 1000, 1000, 1000 };

	for (enum ipcwait_preset p = IPCWAIT_INHERIT; p <= IPCWAIT_BLOCK; p++) {
		world(p, -ENOSYS);
		fake.on_wait = note_bound;
		CHECK_EQ(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, &w), 1);
		CHECK_EQ(fake.waits, 8);
		for (unsigned i = 0; i < 8; i++)
			CHECK(bounds[i] == want[i] || bounds[i] == want[i] - 1);
		/* Nothing was announced on the second at the end, so nobody was to be woken. */
		left(0, 0);
	}
}

/* It sleeps on the first object, and is woken there. */
static void woken_for_the_first(void)
{
	const struct fake_step script[] = { { .meanwhile = post_a } };

	world(IPCWAIT_BLOCK, -ENOSYS);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, &w), 0);
	left(0, 0);
	CHECK(fake.wait.word == (const uint32_t *)&a.word);
	CHECK_EQ(fake.wait.value, 1);
	CHECK(fake.wait.private_);
	CHECK_EQ(fake.wakes, 1);
}

/* Shared or private is what that object is, and not the other. */
static void of_a_shared_first(void)
{
	const struct fake_step script[] = { { .meanwhile = post_b } };

	world(IPCWAIT_BLOCK, -ENOSYS);
	FAKE_SCRIPT(script);
	set[0].object = &b;
	set[1].object = &a;
	CHECK_EQ(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, &w), 0);
	CHECK(fake.wait.word == (const uint32_t *)&b.word);
	CHECK(!fake.wait.private_);
	CHECK(!fake.wake.private_);
	left(0, 0);
}

/* The kernel is asked once, and so is a filter that says EPERM. */
static void asked_once(int error)
{
	const struct fake_step script[] = { { .meanwhile = post_a } };

	world(IPCWAIT_BLOCK, error);
	for (unsigned i = 0; i < 3; i++) {
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, &w), 0);
	}
	CHECK_EQ(fake.vectors, 1);
	left(0, 0);
}

static void asked_once_enosys(void)
{
	asked_once(-ENOSYS);
}

static void asked_once_eperm(void)
{
	asked_once(-EPERM);
}

/* Where it was there, it may go: a filter was put up. The wait goes on. */
static void shut_in(void)
{
	fake.vector_error = -EPERM;
}

static void filtered_in_the_middle(void)
{
	const struct fake_step script[] = {
		{ .result = -EAGAIN, .meanwhile = shut_in },
		{ .result = -ETIMEDOUT, .sleep_ns = 60 * US },
		{ .result = -ETIMEDOUT, .sleep_ns = 110 * US, .meanwhile = post_b },
	};

	world(IPCWAIT_BLOCK, NO_ERROR);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, &w), 1);
	CHECK_EQ(fake.vectors, 2);
	CHECK_EQ(fake.waits, 3);
	left(0, 0);
}

/* The deadline is kept, and the timer before it is not taken for it. */
static void deadline(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 50 * US },
		{ .result = -ETIMEDOUT, .sleep_ns = 50 * US },
	};
	int64_t until;

	world(IPCWAIT_BLOCK, -ENOSYS);
	FAKE_SCRIPT(script);
	until = fake.now_ns + 100 * US;
	CHECK_EQ(ipcwait_wait_any(set, 2, until, &w), -ETIMEDOUT);
	CHECK_EQ(fake.waits, 2);
	CHECK(fake.wait.deadline_ns == until);
	left(0, 0);
}

static void signals_do_not_end_it(void)
{
	const struct fake_step script[] = { { .result = -EINTR },
					    { .result = -EINTR, .meanwhile = post_a } };

	world(IPCWAIT_BLOCK, -ENOSYS);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, &w), 0);
	CHECK_EQ(fake.waits, 2);
	left(0, 0);
}

/* One object sleeps as ever. */
static void one_object(void)
{
	const struct fake_step script[] = { { .meanwhile = post_a } };

	world(IPCWAIT_BLOCK, -ENOSYS);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_wait_any(set, 1, IPCWAIT_FOREVER, &w), 0);
	CHECK(fake.wait.deadline_ns == IPCWAIT_FOREVER);
	CHECK_EQ(fake.vectors, 0);
	left(0, 0);
}

/* Raw words: that which is slept on is woken without a change, the other is seen to change. */
static uint32_t words[2];

static void change(void)
{
	__atomic_store_n(&words[1], 1, __ATOMIC_RELEASE);
}

static void raw_words(void)
{
	struct ipcwait_futex_waiter waiters[] = { { .word = &words[0] },
						  { .word = &words[1] } };
	const struct fake_step woken[] = { { .result = 0 } };
	const struct fake_step changed[] = { { .result = -ETIMEDOUT,
					       .meanwhile = change } };

	world(IPCWAIT_BLOCK, -ENOSYS);
	FAKE_SCRIPT(woken);
	CHECK_EQ(ipcwait_futex_wait_any(waiters, 2, IPCWAIT_FOREVER), 0);
	FAKE_SCRIPT(changed);
	CHECK_EQ(ipcwait_futex_wait_any(waiters, 2, IPCWAIT_FOREVER), 1);
	CHECK_EQ(fake.wakes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(looks_more_and_more_seldom),
		CHILD_TEST(woken_for_the_first),
		CHILD_TEST(of_a_shared_first),
		CHILD_TEST(asked_once_enosys),
		CHILD_TEST(asked_once_eperm),
		CHILD_TEST(filtered_in_the_middle),
		CHILD_TEST(deadline),
		CHILD_TEST(signals_do_not_end_it),
		CHILD_TEST(one_object),
		CHILD_TEST(raw_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
