/* SPDX-License-Identifier: MIT */
/* The rows of docs/bad-input.md that are the same for every kind of object. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "kinds.h"

#define FILL           0x5a
#define FAR_NS         INT64_C(3600000000000)
#define TAMPERED_WAITS 5
#define TAMPERED_NS    INT64_C(2000000)

/* For each kind, in fresh memory: @row. What failed is printed below the kind's name. */
static void for_each_kind(void (*row)(const struct kind *k, struct place *p))
{
	for (const struct kind *const *k = kinds; *k; k++) {
		struct place p;

		print_message("%s\n", (*k)->name);
		memset(&p, 0, sizeof(p));
		row(*k, &p);
	}
}

static int setup(void **state)
{
	(void)state;
	check_watchdog(60);
	errno = 4711;
	return 0;
}

static int errno_is_untouched(void **state)
{
	(void)state;
	return errno == 4711 ? 0 : -1;
}

static void refuse_init(const struct kind *k, void *o, unsigned flags)
{
	struct place before;

	memcpy(before.bytes, o, k->size);
	CHECK_EQ(k->init(o, flags), -EINVAL);
	CHECK(memcmp(o, before.bytes, k->size) == 0);
}

static void place_row(const struct kind *k, struct place *p)
{
	memset(p, FILL, sizeof(*p));
	if (k->init)
		CHECK_EQ(k->init(NULL, 0), -EINVAL);
	if (k->fini)
		CHECK_EQ(k->fini(NULL), -EINVAL);
	for (unsigned offset = 1; offset < 8; offset++) {
		if (k->init)
			refuse_init(k, p->bytes + offset, 0);
		if (k->fini)
			CHECK_EQ(k->fini(p->bytes + offset), -EINVAL);
	}
}

static void test_null_and_misaligned(void **state)
{
	(void)state;
	for_each_kind(place_row);
}

static void flags_row(const struct kind *k, struct place *p)
{
	memset(p, FILL, sizeof(*p));
	for (unsigned bit = 0; k->init && bit < 32; bit++) {
		if (k->flags >> bit & 1)
			CHECK_EQ(k->init(p, 1u << bit), 0);
		else
			refuse_init(k, p, 1u << bit);
		refuse_init(k, p, UINT32_MAX & ~(1u << bit));
	}
}

static void test_unknown_flags(void **state)
{
	(void)state;
	for_each_kind(flags_row);
}

static void fini_row(const struct kind *k, struct place *p)
{
	if (!k->fini)
		return;
	/* All zero: an object that nobody has initialised. */
	CHECK_EQ(k->fini(p), 0);
	CHECK_EQ(k->fini(p), -EINVAL);
	CHECK_EQ(kinds_wait(k, p, 0), -EINVAL);
	CHECK_EQ(kinds_wait(k, p, IPCWAIT_FOREVER), -EINVAL);
	CHECK_EQ(k->fini(p), -EINVAL);
	if (!k->init)
		return;
	CHECK_EQ(k->init(p, 0), 0);
	CHECK_EQ(k->fini(p), 0);
}

static void test_use_after_fini(void **state)
{
	(void)state;
	for_each_kind(fini_row);
}

static void turn_over(const struct kind *k, struct place *p, unsigned bit)
{
	p->bytes[k->flags_at + bit / 8] ^= (char)(1 << bit % 8);
}

/*
 * Of a later layout, which has marked it: nobody waits for it that does not know what for. It is
 * an object like any other once the mark is gone.
 */
static void mark(const struct kind *k, struct place *p, unsigned bit)
{
	struct kinds_waiter *w;

	memset(p, 0, sizeof(*p));
	k->block(p);
	turn_over(k, p, bit);
	CHECK_EQ(kinds_wait(k, p, 0), -EINVAL);
	CHECK_EQ(kinds_wait(k, p, IPCWAIT_FOREVER), -EINVAL);
	if (k->fini)
		CHECK_EQ(k->fini(p), -EINVAL);
	turn_over(k, p, bit);
	w = kinds_start(k, p, IPCWAIT_FOREVER);
	k->release(p);
	CHECK_EQ(kinds_join(w), 0);
}

static void marked_row(const struct kind *k, struct place *p)
{
	for (unsigned bit = 0; k->flags_at && bit < k->flags_bits; bit++)
		if (!(k->flags >> bit & 1))
			mark(k, p, bit);
}

static void test_marked_by_a_later_layout(void **state)
{
	(void)state;
	for_each_kind(marked_row);
}

static void init_twice_row(const struct kind *k, struct place *p)
{
	struct place fresh;

	if (!k->init || k->no_deadline)
		return;
	memset(&fresh, FILL, sizeof(fresh));
	CHECK_EQ(k->init(&fresh, 0), 0);
	k->block(p);
	CHECK_EQ(kinds_wait(k, p, ipcwait_deadline_in_ns(1000000)), -ETIMEDOUT);
	CHECK_EQ(k->init(p, 0), 0);
	CHECK(memcmp(p, &fresh, k->size) == 0);
}

static void test_init_twice(void **state)
{
	(void)state;
	for_each_kind(init_twice_row);
}

static void busy_row(const struct kind *k, struct place *p)
{
	struct kinds_waiter *w;

	if (!k->fini)
		return;
	k->block(p);
	w = kinds_start(k, p, IPCWAIT_FOREVER);
	CHECK_EQ(k->fini(p), -EBUSY);
	k->release(p);
	CHECK_EQ(kinds_join(w), 0);
	CHECK_EQ(k->fini(p), 0);
}

static void test_fini_with_waiters(void **state)
{
	(void)state;
	for_each_kind(busy_row);
}

static void past_row(const struct kind *k, struct place *p)
{
	const int64_t past[] = { 0, 1, -1, INT64_MIN, INT64_MIN + 1, ipcwait_now_ns() };

	if (k->no_deadline)
		return;
	k->block(p);
	for (unsigned i = 0; i < sizeof(past) / sizeof(past[0]); i++)
		CHECK_EQ(kinds_wait(k, p, past[i]), -ETIMEDOUT);
}

static void test_past_and_negative_deadlines(void **state)
{
	(void)state;
	for_each_kind(past_row);
}

static void far_row(const struct kind *k, struct place *p)
{
	const int64_t far[] = { INT64_MAX - 1, INT64_MAX / 2,
				ipcwait_deadline_in_ns(INT64_MAX), IPCWAIT_FOREVER };

	for (unsigned i = 0; !k->no_deadline && i < sizeof(far) / sizeof(far[0]); i++) {
		struct kinds_waiter *w;

		memset(p, 0, sizeof(*p));
		k->block(p);
		w = kinds_start(k, p, far[i]);
		k->release(p);
		CHECK_EQ(kinds_join(w), 0);
	}
}

static void test_huge_deadlines(void **state)
{
	(void)state;
	for_each_kind(far_row);
}

/* The object's word says anything and changes at any time. What the call returns is open. */
static void tamper_row(const struct kind *k, struct place *p)
{
	static uint64_t random;

	random = random ? random : check_seed();
	for (int round = 0; !k->no_deadline && round < TAMPERED_WAITS; round++) {
		struct kinds_waiter *w;

		memset(p, 0, sizeof(*p));
		k->block(p);
		w = kinds_start(k, p, ipcwait_deadline_in_ns(TAMPERED_NS));
		while (!kinds_done(w))
			__atomic_store_n((uint64_t *)(void *)p, check_random(&random),
					 __ATOMIC_RELAXED);
		(void)kinds_join(w);
	}
}

static void test_tampered_words(void **state)
{
	(void)state;
	for_each_kind(tamper_row);
}

struct cancelled {
	const struct kind *kind;
	void *object;
	int result;
};

static void *wait_cancelled(void *arg)
{
	struct cancelled *c = arg;

	CHECK(pthread_cancel(pthread_self()) == 0);
	c->result = c->kind->wait(c->object, ipcwait_deadline_in_ns(1000000));
	pthread_testcancel();
	return NULL;
}

/* No function is a cancellation point. */
static void cancel_row(const struct kind *k, struct place *p)
{
	struct cancelled c = { .kind = k, .object = p };
	pthread_t thread;
	void *result;

	if (k->no_deadline)
		return;
	k->block(p);
	CHECK(pthread_create(&thread, NULL, wait_cancelled, &c) == 0);
	CHECK(pthread_join(thread, &result) == 0);
	CHECK_EQ(c.result, -ETIMEDOUT);
	CHECK(result == PTHREAD_CANCELED);
}

static void test_pending_cancellation(void **state)
{
	(void)state;
	for_each_kind(cancel_row);
}

#define TEST(f)         cmocka_unit_test_setup_teardown(f, setup, errno_is_untouched)
#define THREADS_TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_null_and_misaligned),
		TEST(test_unknown_flags),
		TEST(test_use_after_fini),
		TEST(test_init_twice),
		TEST(test_past_and_negative_deadlines),
		THREADS_TEST(test_marked_by_a_later_layout),
		THREADS_TEST(test_fini_with_waiters),
		THREADS_TEST(test_huge_deadlines),
		THREADS_TEST(test_tampered_words),
		THREADS_TEST(test_pending_cancellation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
