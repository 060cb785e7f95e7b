/* SPDX-License-Identifier: MIT */
/* Any 8 bytes are an element of a queue: those too that a slot's word cannot be. */
#include <ipcwait/ipcwait.h>

#include "common/check.h"
#include "common/cmocka_all.h"
#include "queue/slot.h"

/* More than a few segments. */
#define MANY 5000

static void test_in_and_out(void **state)
{
	const struct ipcwait_queue_params params = { .elem_size = 8 };
	struct ipcwait_queue *q = ipcwait_queue_create(&params);
	uint64_t values[] = { 0,
			      1,
			      UINT64_MAX,
			      IW_SLOT_EMPTY,
			      IW_SLOT_ESCAPED,
			      IW_SLOT_POISON,
			      IW_SLOT_EMPTY - 1 };
	uint64_t got[7] = { 0 };

	(void)state;
	assert_non_null(q);
	for (unsigned round = 0; round < MANY; round++) {
		assert_int_equal(ipcwait_queue_push(q, &values[round % 7]), 0);
		assert_int_equal(ipcwait_queue_trypop(q, got), 0);
		assert_int_equal(got[0], values[round % 7]);
		assert_int_equal(ipcwait_queue_push_n(q, values, 7), 7);
		assert_int_equal(ipcwait_queue_pop_n(q, got, 7), 7);
		assert_memory_equal(got, values, sizeof(values));
	}
	ipcwait_queue_destroy(q);
}

/* The three that no word can be, in turn. */
static const uint64_t escaped[] = { IW_SLOT_EMPTY, IW_SLOT_ESCAPED, IW_SLOT_POISON };

static void is_next(void *elem, void *arg)
{
	unsigned *n = arg;

	assert_int_equal(*(uint64_t *)elem, escaped[(*n)++ % 3]);
}

static void test_left_at_the_end(void **state)
{
	unsigned n = 0;
	const struct ipcwait_queue_params params = { .elem_size = 8,
						     .elem_fini = is_next,
						     .elem_fini_arg = &n };
	struct ipcwait_queue *q = ipcwait_queue_create(&params);

	(void)state;
	assert_non_null(q);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(ipcwait_queue_push(q, &escaped[i % 3]), 0);
	ipcwait_queue_destroy(q);
	assert_int_equal(n, MANY);
}

/* The bytes beside the slots lie behind them, and in the segment. */
static void test_beside(void **state)
{
	(void)state;
	for (uint32_t bytes = IW_SEGMENT_LEAST; bytes <= IW_SEGMENT_MOST; bytes *= 2) {
		struct iw_segment *s = iw_segment_get(bytes, 8, 1);

		assert_non_null(s);
		assert_in_range(s->slots, (bytes - sizeof(*s)) / 9,
				(bytes - sizeof(*s)) / 9);
		assert_ptr_equal(iw_slot_beside(s, 0), (char *)s + bytes - 1);
		assert_true((char *)iw_slot_beside(s, s->slots - 1) >=
			    s->slot + s->slots * 8);
		iw_segment_put(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_and_out),
		cmocka_unit_test(test_left_at_the_end),
		cmocka_unit_test(test_beside),
	};

	check_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
