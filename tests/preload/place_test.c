/* SPDX-License-Identifier: MIT */
/* preload/place.c: windows of objects that have no room for one. */
#include "common/cmocka_all.h"

#include "engine/wait.h"
#include "place.h"

#define PLACES 2048

/* Objects in the memory of a program; nobody reads them. */
static char memory[PLACES * 8][64];

static void *object(unsigned i)
{
	return memory[i];
}

/* Another object that has the same place as @mine, which is taken over. Nobody reads it. */
static void *rival_of(void *mine)
{
	const struct place *p = iw_place_take(mine);

	for (size_t i = 1; i < PLACES * 64; i++)
		if (iw_place_take((char *)mine + 8 * i) == p)
			return (char *)mine + 8 * i;
	fail();
	return NULL;
}

static void test_nobody_is_found_who_was_not_there(void **state)
{
	(void)state;
	assert_null(iw_place_find(object(0)));
	assert_null(iw_place_of_sleepers(object(0)));
}

static void test_its_own_until_another_comes(void **state)
{
	struct place *p = iw_place_take(object(1));
	void *rival;

	(void)state;
	assert_ptr_equal(iw_place_take(object(1)), p);
	assert_ptr_equal(iw_place_find(object(1)), p);
	p->window.bins.v = 1;
	p->window.state.v = 2;
	p->window.stamp.v = 3;
	iw_place_enter(p);
	assert_int_equal(iw_place_take(object(1))->window.bins.v, 1);
	rival = rival_of(object(1));
	assert_ptr_equal(iw_place_find(rival), p);
	assert_null(iw_place_find(object(1)));
	assert_int_equal(p->window.bins.v, 0);
	assert_int_equal(p->window.state.v, 0);
	assert_int_equal(p->window.stamp.v, 0);
	assert_int_equal(p->asleep.v, 0);
}

static void test_sleepers_are_counted(void **state)
{
	struct place *p = iw_place_take(object(2));

	(void)state;
	assert_null(iw_place_of_sleepers(object(2)));
	iw_place_enter(p);
	iw_place_enter(p);
	assert_ptr_equal(iw_place_of_sleepers(object(2)), p);
	iw_place_leave(p, object(2));
	assert_ptr_equal(iw_place_of_sleepers(object(2)), p);
	iw_place_leave(p, object(2));
	assert_null(iw_place_of_sleepers(object(2)));
}

static void test_asleep_when_the_kernel_has_it(void **state)
{
	struct place *p = iw_place_take(object(4));

	(void)state;
	iw_place_note_entry(p, 5000000000000);
	assert_false(iw_place_asleep(p, 5000000000000));
	assert_false(iw_place_asleep(p, 5000000000000 + IW_ENTRY_NS - 8));
	assert_true(iw_place_asleep(p, 5000000000000 + IW_ENTRY_NS));
	assert_true(iw_place_asleep(p, 5010000000000));
	assert_false(iw_place_asleep(p, 4999999999000));
}

/* Nor of one that has only just got the place. */
static void test_nothing_is_known_of_who_never_slept(void **state)
{
	struct place *p = iw_place_take(object(5));

	(void)state;
	for (uint64_t now_ns = 5000000000000; now_ns < 5040000000000; now_ns += 1000000000)
		assert_false(iw_place_asleep(p, now_ns));
	iw_place_note_entry(p, 5000000000000);
	p = iw_place_take(rival_of(object(5)));
	assert_false(iw_place_asleep(p, 5001000000000));
}

static void test_a_pace_is_not_another_ones(void **state)
{
	struct place *p = iw_place_take(object(4));

	(void)state;
	iw_place_set_pace(p, 4711);
	assert_int_equal(iw_place_pace(iw_place_take(object(4))), 4711);
	assert_int_equal(iw_place_pace(iw_place_take(rival_of(object(4)))), 0);
}

/* Who slept under the former owner wakes under the new one. */
static void test_a_count_is_not_another_ones(void **state)
{
	struct place *p = iw_place_take(object(3));
	void *rival = rival_of(object(3));

	(void)state;
	iw_place_enter(iw_place_take(object(3)));
	assert_ptr_equal(iw_place_take(rival), p);
	iw_place_leave(p, object(3));
	assert_int_equal(p->asleep.v, 0);
	iw_place_enter(p);
	iw_place_leave(p, object(3));
	assert_ptr_equal(iw_place_of_sleepers(rival), p);
	iw_place_leave(p, rival);
	iw_place_leave(p, rival);
	assert_int_equal(p->asleep.v, 0);
}

/* Neighbours of any size do not share places before there are many of them. */
static void test_objects_spread_over_the_table(void **state)
{
	static const size_t sizes[] = { 4, 16, 40, 48, 64, 4096 };

	(void)state;
	for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		unsigned found = 0, n = PLACES / 4;

		for (unsigned i = 0; i < n; i++)
			(void)iw_place_take((char *)0x7f0000000000 + i * sizes[k]);
		for (unsigned i = 0; i < n; i++)
			found += iw_place_find((char *)0x7f0000000000 + i * sizes[k]) !=
				 NULL;
		assert_true(found >= n * 3 / 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_is_found_who_was_not_there),
		cmocka_unit_test(test_its_own_until_another_comes),
		cmocka_unit_test(test_sleepers_are_counted),
		cmocka_unit_test(test_asleep_when_the_kernel_has_it),
		cmocka_unit_test(test_nothing_is_known_of_who_never_slept),
		cmocka_unit_test(test_a_count_is_not_another_ones),
		cmocka_unit_test(test_a_pace_is_not_another_ones),
		cmocka_unit_test(test_objects_spread_over_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
