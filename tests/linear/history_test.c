/* SPDX-License-Identifier: MIT */
/* history.c: recording in one thread and in several, and what is printed. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "linear/history.h"
#include "linear/specs.h"

#define TURNS 5000

static void test_one_thread(void **state)
{
	struct history_op ops[3], *first, *second;
	struct history h;

	(void)state;
	history_begin(&h, ops, 3);
	first = history_call(&h, 7, SEM_POST_N, 5);
	second = history_call(&h, 8, SEM_TRYWAIT, 0);
	assert_ptr_equal(first, &ops[0]);
	assert_ptr_equal(second, &ops[1]);
	assert_true(first->ret == HISTORY_PENDING && second->ret == HISTORY_PENDING);
	history_return(&h, second, -EAGAIN);
	history_return(&h, first, 0);
	assert_int_equal(h.count, 2);
	assert_int_equal(first->thread, 7);
	assert_int_equal(first->code, SEM_POST_N);
	assert_int_equal(first->arg, 5);
	assert_int_equal(first->result, 0);
	assert_int_equal(second->result, -EAGAIN);
	assert_true(first->call < second->call && second->call < second->ret &&
		    second->ret < first->ret);
	/* Again, from the beginning. */
	history_begin(&h, ops, 3);
	assert_int_equal(h.count, 0);
	assert_int_equal(history_call(&h, 0, SEM_WAIT, 0)->call, 0);
}

static void record_one_too_many(void)
{
	struct history_op ops[1];
	struct history h;

	history_begin(&h, ops, 1);
	(void)history_call(&h, 0, SEM_WAIT, 0);
	(void)history_call(&h, 0, SEM_WAIT, 0);
}

static void test_a_full_history_ends_the_test(void **state)
{
	(void)state;
	assert_int_not_equal(check_in_child(record_one_too_many), 0);
}

static void test_split_and_join(void **state)
{
	struct history_op ops[7];
	struct history all, part[3];

	(void)state;
	history_begin(&all, ops, 7);
	history_split(&all, part, 3);
	history_return(&part[1], history_call(&part[1], 1, QUEUE_SEND, 10), 0);
	history_return(&part[2], history_call(&part[2], 2, QUEUE_SEND, 20), 0);
	history_return(&part[2], history_call(&part[2], 2, QUEUE_SEND, 21), 0);
	history_join(&all, part, 3);
	assert_int_equal(all.count, 3);
	for (unsigned i = 0; i < 3; i++) {
		static const int64_t want[] = { 10, 20, 21 };

		assert_int_equal(ops[i].arg, want[i]);
		assert_int_equal(ops[i].call, 2 * i);
		assert_int_equal(ops[i].ret, 2 * i + 1);
	}
	/* What comes after is later than all that the threads did. */
	assert_int_equal(history_call(&all, 0, QUEUE_RECV, 0)->call, 6);
	assert_int_equal(all.count, 4);
}

/* Two threads take turns, so that every operation is over before the next begins. */
static struct {
	struct history part[2];
	sem_t begins[2];
	unsigned turn;
} turns;

static void *take_turns(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;

	for (unsigned i = 0; i < TURNS; i++) {
		struct history_op *op;

		CHECK_EQ(sem_wait(&turns.begins[me]), 0);
		op = history_call(&turns.part[me], me, REGISTER_WRITE, turns.turn);
		history_return(&turns.part[me], op, 0);
		turns.turn++;
		CHECK_EQ(sem_post(&turns.begins[!me]), 0);
	}
	return NULL;
}

static void test_stamps_are_in_the_order_of_the_threads(void **state)
{
	struct history_op *ops = history_array(2 * TURNS, sizeof(*ops));
	struct history all;
	pthread_t thread[2];

	(void)state;
	history_begin(&all, ops, 2 * TURNS);
	history_split(&all, turns.part, 2);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(sem_init(&turns.begins[i], 0, !i), 0);
	for (uintptr_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, take_turns, (void *)i),
				 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	history_join(&all, turns.part, 2);
	assert_int_equal(all.count, 2 * TURNS);
	for (size_t i = 0; i < all.count; i++) {
		assert_int_equal(ops[i].call, 2 * ops[i].arg);
		assert_int_equal(ops[i].ret, 2 * ops[i].arg + 1);
	}
	free(ops);
}

static void check_line(const struct history_op *op, const char *const *names,
		       const char *want)
{
	char text[200] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	history_print(out, op, names);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, want);
}

static void test_print(void **state)
{
	struct history_op op = { 1, 2, 5, 0, 3, SEM_POST_N };

	(void)state;
	check_line(&op, sem_names, "thread 3  post_n(5) = 0  [1 .. 2]\n");
	op.result = -EOVERFLOW;
	check_line(&op, sem_names, "thread 3  post_n(5) = -EOVERFLOW  [1 .. 2]\n");
	op.result = -100000;
	check_line(&op, sem_names, "thread 3  post_n(5) = -100000  [1 .. 2]\n");
	op.ret = HISTORY_PENDING;
	check_line(&op, sem_names, "thread 3  post_n(5) = pending  [1 .. never]\n");
	op.code = 17;
	check_line(&op, queue_names, "thread 3  unknown(5) = pending  [1 .. never]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_thread),
		cmocka_unit_test(test_a_full_history_ends_the_test),
		cmocka_unit_test(test_split_and_join),
		cmocka_unit_test(test_stamps_are_in_the_order_of_the_threads),
		cmocka_unit_test(test_print),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
