/* SPDX-License-Identifier: MIT */
/*
 * wing_gong.c and the specifications: histories made by hand for each object, a search that
 * tries every order without any cleverness, and what is printed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "linear/random_history.h"
#include "linear/wing_gong.h"

#define OPS_MAX 8
#define MAX     3
#define NEVER   HISTORY_PENDING

/* clang-format off */
/* The first two numbers are the stamps of call and return. */
#define OP(call, ret, code, arg, result) { call, ret, arg, result, 0, code }
#define BY(who, call, ret, code, arg, result) { call, ret, arg, result, who, code }

/* clang-format on */

struct row {
	const char *what;
	bool good;
	struct history_op ops[OPS_MAX];
};

static void check_row(const struct spec *spec, const struct row *row)
{
	struct wing_gong *w = wing_gong_create(spec);
	size_t n = 0;

	while (n < OPS_MAX && row->ops[n].ret)
		n++;
	if ((wing_gong_check(w, row->ops, n) == WING_GONG_YES) != row->good) {
		printf("%s:\n", row->what);
		wing_gong_print(w, stdout);
		fail();
	}
	wing_gong_destroy(w);
}

static void check_rows(struct spec spec, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_row(&spec, &rows[i]);
}

#define CHECK_ROWS(spec, rows) check_rows(spec, rows, sizeof(rows) / sizeof((rows)[0]))

/* clang-format off */

static const struct row registers[] = {
	{ "nothing at all", true, { { 0 } } },
	{ "what was written", true,
	  { OP(1, 2, REGISTER_WRITE, 7, 0), OP(3, 4, REGISTER_READ, 0, 7) } },
	{ "what was there before", false,
	  { OP(1, 2, REGISTER_WRITE, 7, 0), OP(3, 4, REGISTER_READ, 0, 5) } },
	{ "meanwhile, before", true,
	  { OP(1, 4, REGISTER_WRITE, 7, 0), OP(2, 3, REGISTER_READ, 0, 5) } },
	{ "meanwhile, after", true,
	  { OP(1, 4, REGISTER_WRITE, 7, 0), OP(2, 3, REGISTER_READ, 0, 7) } },
	{ "new, then old", false,
	  { OP(1, 6, REGISTER_WRITE, 7, 0), OP(2, 3, REGISTER_READ, 0, 7),
	    OP(4, 5, REGISTER_READ, 0, 5) } },
	{ "two readers see two orders", false,
	  { BY(1, 1, 9, REGISTER_WRITE, 1, 0), BY(2, 1, 9, REGISTER_WRITE, 2, 0),
	    BY(3, 2, 3, REGISTER_READ, 0, 1), BY(3, 4, 5, REGISTER_READ, 0, 2),
	    BY(4, 2, 3, REGISTER_READ, 0, 2), BY(4, 4, 5, REGISTER_READ, 0, 1) } },
	{ "a pending write was seen", true,
	  { OP(1, NEVER, REGISTER_WRITE, 7, 0), OP(2, 3, REGISTER_READ, 0, 7) } },
	{ "a pending write was not seen", true,
	  { OP(1, NEVER, REGISTER_WRITE, 7, 0), OP(2, 3, REGISTER_READ, 0, 5) } },
	{ "a pending write came and went", false,
	  { OP(1, NEVER, REGISTER_WRITE, 7, 0), OP(2, 3, REGISTER_READ, 0, 7),
	    OP(4, 5, REGISTER_READ, 0, 5) } },
	{ "a pending write seen before its call", false,
	  { OP(1, 2, REGISTER_READ, 0, 7), OP(3, NEVER, REGISTER_WRITE, 7, 0) } },
	{ "a pending read", true, { OP(1, NEVER, REGISTER_READ, 0, 9) } },
	{ "a write that fails", false, { OP(1, 2, REGISTER_WRITE, 7, -EINVAL) } },
	{ "no such operation", false, { OP(1, 2, 9, 0, 0) } },
};

static const struct row mutexes[] = {
	{ "lock and unlock", true,
	  { BY(1, 1, 2, MUTEX_LOCK, 0, 0), BY(1, 3, 4, MUTEX_UNLOCK, 0, 0),
	    BY(2, 5, 6, MUTEX_TRYLOCK, 0, 0) } },
	{ "two owners", false,
	  { BY(1, 1, 2, MUTEX_LOCK, 0, 0), BY(2, 3, 4, MUTEX_LOCK, 0, 0),
	    BY(1, 5, 6, MUTEX_UNLOCK, 0, 0) } },
	{ "two owners, no unlock", false,
	  { BY(1, 1, 2, MUTEX_LOCK, 0, 0), BY(2, 3, 4, MUTEX_LOCK, 0, 0) } },
	{ "the second waits", true,
	  { BY(1, 1, 2, MUTEX_LOCK, 0, 0), BY(2, 3, 6, MUTEX_LOCK, 0, 0),
	    BY(1, 5, 7, MUTEX_UNLOCK, 0, 0) } },
	{ "busy", true,
	  { BY(1, 1, 2, MUTEX_LOCK, 0, 0), BY(2, 3, 4, MUTEX_TRYLOCK, 0, -EBUSY),
	    BY(2, 5, 6, MUTEX_LOCK_UNTIL, 0, -ETIMEDOUT) } },
	{ "busy, but unlocked", false,
	  { BY(1, 1, 2, MUTEX_LOCK, 0, 0), BY(1, 3, 4, MUTEX_UNLOCK, 0, 0),
	    BY(2, 5, 6, MUTEX_TRYLOCK, 0, -EBUSY) } },
	{ "a time-out, but unlocked", false,
	  { BY(2, 5, 6, MUTEX_LOCK_UNTIL, 0, -ETIMEDOUT) } },
	{ "a lock that is busy", false,
	  { BY(1, 1, 2, MUTEX_LOCK, 0, 0), BY(2, 3, 4, MUTEX_LOCK, 0, -EBUSY) } },
	{ "unlocked by another", false,
	  { BY(1, 1, 2, MUTEX_LOCK, 0, 0), BY(2, 3, 4, MUTEX_UNLOCK, 0, 0) } },
	{ "refused to another", true,
	  { BY(1, 1, 2, MUTEX_LOCK, 0, 0), BY(2, 3, 4, MUTEX_UNLOCK, 0, -EPERM) } },
	{ "refused to the owner", false,
	  { BY(1, 1, 2, MUTEX_LOCK, 0, 0), BY(1, 3, 4, MUTEX_UNLOCK, 0, -EPERM) } },
	{ "a deadlock that was seen", true,
	  { BY(1, 1, 2, MUTEX_LOCK, 0, 0), BY(1, 3, 4, MUTEX_LOCK, 0, -EDEADLK) } },
	{ "no deadlock", false,
	  { BY(1, 1, 2, MUTEX_LOCK, 0, 0), BY(2, 3, 4, MUTEX_LOCK, 0, -EDEADLK) } },
	{ "died with it", true,
	  { BY(1, 1, NEVER, MUTEX_LOCK, 0, 0), BY(2, 3, 4, MUTEX_TRYLOCK, 0, -EBUSY) } },
	{ "died unlocking", true,
	  { BY(1, 1, 2, MUTEX_LOCK, 0, 0), BY(1, 3, NEVER, MUTEX_UNLOCK, 0, 0),
	    BY(2, 4, 5, MUTEX_LOCK, 0, 0) } },
	{ "unlocked while unlocked", false, { BY(1, 1, 2, MUTEX_UNLOCK, 0, 0) } },
	{ "no such operation", false, { OP(1, 2, 9, 0, 0) } },
};

/* Those of semaphores and queues are in the tests of the fast checkers. */
static const struct row bounded[] = {
	{ "full, one out, one in", true,
	  { OP(1, 2, QUEUE_SEND, 1, 0), OP(3, 4, QUEUE_SEND, 2, 0),
	    OP(5, 8, QUEUE_SEND, 3, 0), OP(6, 7, QUEUE_RECV, 0, 1),
	    OP(9, 10, QUEUE_SEND, 4, -EAGAIN) } },
	{ "one more than fits", false,
	  { OP(1, 2, QUEUE_SEND, 1, 0), OP(3, 4, QUEUE_SEND, 2, 0),
	    OP(5, 6, QUEUE_SEND, 3, 0), OP(7, 8, QUEUE_RECV, 0, 1) } },
	{ "the same value twice is no flaw here", true,
	  { OP(1, 2, QUEUE_SEND, 5, 0), OP(3, 4, QUEUE_SEND, 5, 0),
	    OP(5, 6, QUEUE_RECV, 0, 5), OP(7, 8, QUEUE_RECV, 0, 5) } },
};

/* clang-format on */

static void test_register(void **state)
{
	(void)state;
	CHECK_ROWS(spec_register(5), registers);
}

static void test_mutex(void **state)
{
	(void)state;
	CHECK_ROWS(spec_mutex(), mutexes);
}

static void test_bounded_queue(void **state)
{
	(void)state;
	CHECK_ROWS(spec_queue(2), bounded);
}

/* Whether some order of all operations that returned, and of any others, is right. */
static bool some_order(const struct spec *spec, const struct history_op *ops, unsigned n,
		       unsigned placed, const union spec_state *state)
{
	bool all = true;

	for (unsigned i = 0; i < n; i++)
		all = all && (placed >> i & 1 || ops[i].ret == NEVER);
	for (unsigned i = 0; i < n && !all; i++) {
		bool next = !(placed >> i & 1);

		for (unsigned k = 0; k < n; k++)
			next = next && (placed >> k & 1 || ops[k].ret >= ops[i].call);
		for (unsigned choice = 0; next && !all; choice++) {
			union spec_state s = *state;

			next = spec->apply(spec, ops, i, choice, &s);
			all = next && some_order(spec, ops, n, placed | 1u << i, &s);
		}
	}
	return all;
}

static void compare_with_every_order(struct spec spec, const struct random_mix *mix)
{
	struct wing_gong *w = wing_gong_create(&spec);
	uint64_t seed = check_seed();
	unsigned bad = 0;

	for (unsigned i = 0; i < 20000; i++) {
		struct history_op ops[SPEC_OPS];
		size_t n = random_history(ops, 2 + i % 5, &spec, mix, &seed);
		bool good;

		if (i % 4)
			n = random_change(ops, n, &seed);
		good = some_order(&spec, ops, (unsigned)n, 0, &spec.begin);
		bad += !good;
		if (i % 4 == 0)
			assert_true(good);
		if ((wing_gong_check(w, ops, n) == WING_GONG_YES) != good) {
			wing_gong_print(w, stdout);
			fail();
		}
	}
	assert_in_range(bad, 500, 15000);
	wing_gong_destroy(w);
}

static void test_search_finds_what_there_is(void **state)
{
	const struct random_mix sem = {
		.threads = 3, .weight = { 2, 3, 3, 5, 1 }, .most = 2, .killed_in_100 = 10
	};
	const struct random_mix queue = { .threads = 3,
					  .weight = { 6, 6, 1 },
					  .killed_in_100 = 10 };

	(void)state;
	compare_with_every_order(spec_sem(1, MAX), &sem);
	compare_with_every_order(spec_queue(2), &queue);
	compare_with_every_order(spec_queue_per_sender(), &queue);
}

static void test_search_with_other_objects(void **state)
{
	const struct random_mix mutex = { .threads = 3,
					  .weight = { 3, 3, 3, 6 },
					  .killed_in_100 = 10 };
	const struct random_mix rwlock = { .threads = 4,
					   .weight = { 3, 2, 2, 6, 2, 2, 2, 5 },
					   .killed_in_100 = 10 };
	const struct random_mix event = { .threads = 3,
					  .weight = { 4, 3, 3, 4, 2, 2 },
					  .killed_in_100 = 10 };
	const struct random_mix latch = {
		.threads = 3, .weight = { 2, 2, 2, 4, 1 }, .most = 2, .killed_in_100 = 10
	};

	(void)state;
	compare_with_every_order(spec_mutex(), &mutex);
	compare_with_every_order(spec_rwlock(), &rwlock);
	compare_with_every_order(spec_event(false, false), &event);
	compare_with_every_order(spec_event(true, false), &event);
	compare_with_every_order(spec_latch(3), &latch);
}

/* Four threads of sixteen operations, which overlap four at a time. */
static void test_as_many_operations_as_fit(void **state)
{
	struct spec spec = spec_sem(0, 1000);
	struct wing_gong *w = wing_gong_create(&spec);
	struct history_op ops[SPEC_OPS];

	(void)state;
	for (unsigned i = 0; i < SPEC_OPS; i++) {
		uint64_t call = 2 * (i / 4);

		ops[i] = (struct history_op)BY(i % 4, call, call + 1, SEM_POST_N, 1, 0);
		if (i % 2)
			ops[i].code = SEM_WAIT;
	}
	assert_int_equal(wing_gong_check(w, ops, SPEC_OPS), WING_GONG_YES);
	ops[SPEC_OPS - 2].code = SEM_WAIT;
	assert_int_equal(wing_gong_check(w, ops, SPEC_OPS), WING_GONG_NO);
	wing_gong_destroy(w);
}

/* All at once and in any order: more orders than it will look at, and none right. */
static void test_gives_up(void **state)
{
	struct spec spec = spec_queue(0);
	struct wing_gong *w = wing_gong_create(&spec);
	struct history_op ops[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		ops[i] = (struct history_op)OP(1, 2, QUEUE_SEND, i, 0);
	assert_int_equal(wing_gong_check(w, ops, 20), WING_GONG_YES);
	ops[19] = (struct history_op)OP(3, 4, QUEUE_RECV, 0, 99);
	assert_int_equal(wing_gong_check(w, ops, 20), WING_GONG_GAVE_UP);
	/* The next answer is right again. */
	assert_int_equal(wing_gong_check(w, ops, 19), WING_GONG_YES);
	wing_gong_destroy(w);
}

static void too_many_operations(void)
{
	static struct history_op ops[SPEC_OPS + 1];
	struct spec spec = spec_sem(0, 1000);

	(void)wing_gong_check(wing_gong_create(&spec), ops, SPEC_OPS + 1);
}

static void test_too_many_operations_end_the_test(void **state)
{
	(void)state;
	assert_int_not_equal(check_in_child(too_many_operations), 0);
}

static void check_print(const struct wing_gong *w, const char *want)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	wing_gong_print(w, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, want);
	free(text);
}

static void test_print(void **state)
{
	static const struct history_op ops[] = {
		BY(1, 1, 4, SEM_POST_N, 1, 0),
		BY(2, 2, 3, SEM_TRYWAIT, 0, 0),
		BY(2, 5, 7, SEM_TRYWAIT, 0, 0),
		BY(3, 6, NEVER, SEM_WAIT_UNTIL, 0, 0),
		BY(2, 8, 9, SEM_WAIT_UNTIL, 0, -ETIMEDOUT),
	};
	struct spec spec = spec_sem(0, MAX);
	struct wing_gong *w = wing_gong_create(&spec);

	(void)state;
	assert_int_equal(wing_gong_check(w, ops, 5), WING_GONG_NO);
	check_print(w,
		    "semaphore: NOT linearizable\n"
		    "   1  thread 1  post_n(1) = 0  [1 .. 4]\n"
		    "   2  thread 2  trywait(0) = 0  [2 .. 3]\n"
		    "this is the longest order found. Then the object would be: value 0\n"
		    "and one of these would be next, but none fits:\n"
		    "   ?  thread 2  trywait(0) = 0  [5 .. 7]\n"
		    "   ?  thread 3  wait_until(0) = pending  [6 .. never]\n"
		    "later:\n"
		    "      thread 2  wait_until(0) = -ETIMEDOUT  [8 .. 9]\n");
	assert_int_equal(wing_gong_check(w, ops, 2), WING_GONG_YES);
	check_print(w, "semaphore: linearizable\n"
		       "   1  thread 1  post_n(1) = 0  [1 .. 4]\n"
		       "   2  thread 2  trywait(0) = 0  [2 .. 3]\n");
	wing_gong_destroy(w);
}

/* A longer order with what is pending led nowhere before. */
static void test_print_the_order_that_fits(void **state)
{
	static const struct history_op ops[] = {
		BY(1, 1, 10, REGISTER_WRITE, 7, 0),
		BY(2, 2, 11, REGISTER_READ, 0, 5),
		BY(3, 3, NEVER, REGISTER_WRITE, 8, 0),
		BY(4, 4, NEVER, REGISTER_WRITE, 9, 0),
	};
	struct spec spec = spec_register(5);
	struct wing_gong *w = wing_gong_create(&spec);

	(void)state;
	assert_int_equal(wing_gong_check(w, ops, 4), WING_GONG_YES);
	check_print(w, "register: linearizable\n"
		       "   1  thread 2  read(0) = 5  [2 .. 11]\n"
		       "   2  thread 1  write(7) = 0  [1 .. 10]\n");
	wing_gong_destroy(w);
}

static void check_state(struct spec spec, const struct history_op *op, const char *want)
{
	struct wing_gong *w = wing_gong_create(&spec);
	struct history_op ops[2] = { *op, OP(9, 10, 99, 0, 0) };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(wing_gong_check(w, ops, 2), WING_GONG_NO);
	wing_gong_print(w, out);
	assert_int_equal(fclose(out), 0);
	if (!strstr(text, want))
		assert_string_equal(text, want);
	assert_non_null(strstr(text, "unknown(0) = 0  [9 .. 10]\n"));
	free(text);
	wing_gong_destroy(w);
}

static void test_print_states(void **state)
{
	static const struct history_op write = OP(1, 2, REGISTER_WRITE, 7, 0);
	static const struct history_op lock = BY(4, 1, 2, MUTEX_LOCK, 0, 0);
	static const struct history_op perm = BY(4, 1, 2, MUTEX_UNLOCK, 0, -EPERM);
	static const struct history_op send = OP(1, 2, QUEUE_SEND, 7, 0);
	static const struct history_op close = OP(1, 2, QUEUE_CLOSE, 0, 0);

	(void)state;
	check_state(spec_register(0), &write, "would be: value 7\n");
	check_state(spec_mutex(), &lock, "would be: locked by thread 4\n");
	check_state(spec_mutex(), &perm, "would be: unlocked\n");
	check_state(spec_queue(0), &send, "would be: open, holds 7\n");
	check_state(spec_queue(0), &close, "would be: closed, holds nothing\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_register),
		cmocka_unit_test(test_mutex),
		cmocka_unit_test(test_bounded_queue),
		cmocka_unit_test(test_search_finds_what_there_is),
		cmocka_unit_test(test_search_with_other_objects),
		cmocka_unit_test(test_as_many_operations_as_fit),
		cmocka_unit_test(test_gives_up),
		cmocka_unit_test(test_too_many_operations_end_the_test),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_print_the_order_that_fits),
		cmocka_unit_test(test_print_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
