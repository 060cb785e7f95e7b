/* SPDX-License-Identifier: MIT */
/* <ipcwait/barrier.h> in one thread: arguments, limits, results, deadlines. */
#include <errno.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/gates_word.h"

#define MAX   IPCWAIT_BARRIER_PARTIES_MAX
#define LATER ipcwait_deadline_in_ns(INT64_C(1000000))

/* Every call of every test leaves errno alone. */
static int set_errno(void **state)
{
	(void)state;
	errno = 4711;
	return 0;
}

static int errno_is_untouched(void **state)
{
	(void)state;
	return errno == 4711 ? 0 : -1;
}

static struct ipcwait_barrier of(uint32_t parties)
{
	struct ipcwait_barrier b;

	assert_int_equal(ipcwait_barrier_init(&b, parties, 0), 0);
	return b;
}

static void test_init(void **state)
{
	static struct ipcwait_barrier three = IPCWAIT_BARRIER_INIT(3);
	struct ipcwait_barrier b;

	(void)state;
	memset(&b, 0x5a, sizeof(b));
	assert_int_equal(ipcwait_barrier_init(&b, 3, 0), 0);
	assert_memory_equal(&b, &three, sizeof(b));
	assert_int_equal(ipcwait_barrier_init(&b, 1, IPCWAIT_PRIVATE), 0);
	assert_int_equal(ipcwait_barrier_wait(&b), IPCWAIT_BARRIER_SERIAL);
	assert_int_equal(ipcwait_barrier_init(&b, MAX, 0), 0);
	assert_int_equal(ipcwait_barrier_wait_until(&b, 0), -ETIMEDOUT);
}

static void assert_init_refused(uint32_t parties, unsigned flags)
{
	struct ipcwait_barrier b, before;

	memset(&b, 0x5a, sizeof(b));
	before = b;
	assert_int_equal(ipcwait_barrier_init(&b, parties, flags), -EINVAL);
	assert_memory_equal(&b, &before, sizeof(b));
}

static void test_init_errors(void **state)
{
	struct ipcwait_barrier two[2], before[2];

	(void)state;
	assert_int_equal(ipcwait_barrier_init(NULL, 1, 0), -EINVAL);
	assert_init_refused(0, 0);
	assert_init_refused(MAX + 1, 0);
	assert_init_refused(65536 + 1, 0);
	assert_init_refused(UINT32_MAX, 0);
	assert_init_refused(1, 2);
	assert_init_refused(1, 1u << 31);
	memset(two, 0x5a, sizeof(two));
	memcpy(before, two, sizeof(two));
	for (unsigned offset = 1; offset < 8; offset++) {
		void *misaligned = (char *)two + offset;

		assert_int_equal(ipcwait_barrier_init(misaligned, 1, 0), -EINVAL);
		assert_int_equal(ipcwait_barrier_wait(misaligned), -EINVAL);
		assert_int_equal(ipcwait_barrier_wait_until(misaligned, 0), -EINVAL);
		assert_int_equal(ipcwait_barrier_fini(misaligned), -EINVAL);
	}
	assert_memory_equal(two, before, sizeof(two));
}

static void test_no_parties(void **state)
{
	static struct ipcwait_barrier zero;
	struct ipcwait_barrier many = IPCWAIT_BARRIER_INIT(MAX + 1);

	(void)state;
	assert_int_equal(ipcwait_barrier_wait(&zero), -EINVAL);
	assert_int_equal(ipcwait_barrier_wait_until(&zero, LATER), -EINVAL);
	assert_int_equal(ipcwait_barrier_wait(&many), -EINVAL);
	assert_int_equal(ipcwait_barrier_wait(NULL), -EINVAL);
	assert_int_equal(ipcwait_barrier_wait_until(NULL, 0), -EINVAL);
	assert_int_equal(gate_word(&zero.word), 0);
	assert_int_equal(ipcwait_barrier_fini(&zero), 0);
}

static void test_one_party(void **state)
{
	struct ipcwait_barrier b = of(1);

	(void)state;
	gate_fabricate(&b.word, BARRIER_WORD(UINT32_MAX - 2, 0, 0));
	for (uint32_t i = 1; i < 6; i++) {
		assert_int_equal(ipcwait_barrier_wait_until(&b, i % 2 ? 0 : LATER), 1);
		assert_int_equal(gate_word(&b.word),
				 BARRIER_WORD(UINT32_MAX - 2 + i, 0, 0));
	}
	assert_int_equal(ipcwait_barrier_fini(&b), 0);
}

static void test_deadlines(void **state)
{
	const int64_t past[] = { 0, 1, -1, INT64_MIN, ipcwait_now_ns() };
	struct ipcwait_barrier b = of(2);

	(void)state;
	for (unsigned i = 0; i < sizeof(past) / sizeof(past[0]); i++)
		assert_int_equal(ipcwait_barrier_wait_until(&b, past[i]), -ETIMEDOUT);
	for (int64_t ns = 1; ns <= 10000000; ns *= 10) {
		int64_t deadline = ipcwait_deadline_in_ns(ns);

		assert_int_equal(ipcwait_barrier_wait_until(&b, deadline), -ETIMEDOUT);
		assert_true(ipcwait_now_ns() >= deadline);
	}
	/* Whoever gave up has left nothing behind. */
	assert_int_equal(gate_word(&b.word), 0);
	/* A party that completes a round is not late. */
	gate_fabricate(&b.word, BARRIER_WORD(7, 1, 0));
	assert_int_equal(ipcwait_barrier_wait_until(&b, 0), IPCWAIT_BARRIER_SERIAL);
	assert_int_equal(gate_word(&b.word), BARRIER_WORD(8, 0, 1));
}

static void test_fini(void **state)
{
	struct ipcwait_barrier b = of(2);

	(void)state;
	assert_int_equal(ipcwait_barrier_fini(NULL), -EINVAL);
	gate_fabricate(&b.word, BARRIER_WORD(1, 1, 0));
	assert_int_equal(ipcwait_barrier_fini(&b), -EBUSY);
	gate_fabricate(&b.word, BARRIER_WORD(1, 0, 0));
	assert_int_equal(ipcwait_barrier_fini(&b), 0);
	assert_int_equal(ipcwait_barrier_fini(&b), -EINVAL);
	assert_int_equal(ipcwait_barrier_wait(&b), -EINVAL);
	assert_int_equal(ipcwait_barrier_wait_until(&b, 0), -EINVAL);
	assert_int_equal(ipcwait_barrier_init(&b, 1, IPCWAIT_PRIVATE), 0);
	assert_int_equal(ipcwait_barrier_wait(&b), 1);
	assert_int_equal(ipcwait_barrier_fini(&b), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_errno, errno_is_untouched)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_init),      TEST(test_init_errors), TEST(test_no_parties),
		TEST(test_one_party), TEST(test_deadlines),   TEST(test_fini),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
