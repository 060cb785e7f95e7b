/* SPDX-License-Identifier: MIT */
/* lib/policy/mirror.c beside what the kernels do. */
#include "common/cmocka_all.h"
#include "policy/mirror.h"

/* Those of Linux: drivers/cpuidle/governors/haltpoll.c. */
static const struct iw_haltpoll defaults = { 200000, 2, 50000, 2 };

/* The limit after one wait that halted so long, and what the governor's code makes of it. */
static void test_the_kernels_table(void **state)
{
	static const struct {
		struct iw_haltpoll p; /* most, grow, start, shrink */
		uint32_t limit, halted, next;
	} rows[] = {
		/* Short ones start it, and let it grow up to the most. */
		{ { 200000, 2, 50000, 2 }, 0, 1, 50000 },
		{ { 200000, 2, 50000, 2 }, 0, 200000, 50000 },
		{ { 200000, 2, 50000, 2 }, 50000, 50001, 100000 },
		{ { 200000, 2, 50000, 2 }, 100000, 100001, 200000 },
		{ { 200000, 2, 50000, 2 }, 150000, 150001, 200000 },
		{ { 200000, 2, 50000, 2 }, 20000, 20001, 50000 },
		/* Those that it has covered already leave it. */
		{ { 200000, 2, 50000, 2 }, 0, 0, 0 },
		{ { 200000, 2, 50000, 2 }, 50000, 50000, 50000 },
		{ { 200000, 2, 50000, 2 }, 50000, 1, 50000 },
		{ { 200000, 2, 50000, 2 }, 200000, 200000, 200000 },
		/* Long ones shrink it, and to nothing below where it starts. */
		{ { 200000, 2, 50000, 2 }, 200000, 200001, 100000 },
		{ { 200000, 2, 50000, 2 }, 100000, UINT32_MAX, 50000 },
		{ { 200000, 2, 50000, 2 }, 99999, 200001, 0 },
		{ { 200000, 2, 50000, 2 }, 50000, 200001, 0 },
		{ { 200000, 2, 50000, 2 }, 0, 200001, 0 },
		{ { 200000, 2, 0, 4 }, 200000, 200001, 50000 },
		{ { 200000, 2, 50000, 1 }, 100000, 200001, 100000 },
		{ { 200000, 2, 50000, 0 }, 200000, 200001, 0 },
		/* Other parameters. */
		{ { 80000, 3, 10000, 2 }, 10000, 10001, 30000 },
		{ { 80000, 3, 10000, 2 }, 30000, 30001, 80000 },
		{ { 80000, 1, 10000, 2 }, 10000, 10001, 10000 },
		{ { 5000, 2, 10000, 2 }, 0, 1, 5000 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(
			iw_haltpoll_next_ns(&rows[i].p, rows[i].limit, rows[i].halted),
			rows[i].next);
}

/* Whatever memory holds, and whatever the parameters are: the most is the most. */
static void test_any_limit(void **state)
{
	uint64_t seed = check_seed();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct iw_haltpoll p = {
			.guest_halt_poll_ns = 1 + (uint32_t)check_random(&seed) % 100000000,
			.guest_halt_poll_grow = 1 + (uint32_t)check_random(&seed) % 1000,
			.guest_halt_poll_grow_start =
				(uint32_t)check_random(&seed) % 100000001,
			.guest_halt_poll_shrink = (uint32_t)check_random(&seed) % 1001,
		};
		uint64_t limit = check_random(&seed) >> (check_random(&seed) % 64);
		uint64_t halted = check_random(&seed) >> (check_random(&seed) % 64);

		assert_true(iw_haltpoll_ns(&p, limit) <= p.guest_halt_poll_ns);
		assert_true(iw_haltpoll_next_ns(&p, limit, halted) <= p.guest_halt_poll_ns);
	}
}

/* Of waits of 10 ms each but the first few polls for nothing; short ones wind it up again. */
static void test_course(void **state)
{
	uint64_t limit = 0;
	unsigned waits = 0;

	(void)state;
	for (int i = 0; i < 10; i++)
		limit = iw_haltpoll_next_ns(&defaults, limit, 190000);
	assert_int_equal(limit, 200000);
	for (; limit; waits++)
		limit = iw_haltpoll_next_ns(&defaults, limit, 10000000);
	assert_int_equal(waits, 3);
}

/* Until the third tick of 1 ms from now. */
static void test_ticks(void **state)
{
	(void)state;
	assert_int_equal(iw_ticks_spin_ns(0), 3000000);
	assert_int_equal(iw_ticks_spin_ns(1), 2999999);
	assert_int_equal(iw_ticks_spin_ns(999999), 2000001);
	assert_int_equal(iw_ticks_spin_ns(1000000), 3000000);
	for (uint64_t now = 1; now < UINT64_MAX / 3; now *= 3)
		assert_int_equal((now + iw_ticks_spin_ns(now)) % 1000000, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_kernels_table),
		cmocka_unit_test(test_any_limit),
		cmocka_unit_test(test_course),
		cmocka_unit_test(test_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
