/* SPDX-License-Identifier: MIT */
/*
 * What threads do to channels, by the checker of queues. -EAGAIN of a try is recorded where it is
 * exact: with one sender and one receiver. Of several it may be early, and is left out.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <ipcwait/channel.h>

#include "common/cmocka_all.h"
#include "linear/queue_check.h"

#define OPS         200000
#define THREADS_MAX 6

struct user {
	struct ipcwait_channel *ch;
	struct history *part;
	unsigned id;
	bool sends, receives, closes, exact;
	size_t ops;
	uint64_t seed;
	pthread_t thread;
};

static int64_t do_op(struct ipcwait_channel *ch, unsigned code, int64_t arg, unsigned how)
{
	int64_t value = arg, deadline = ipcwait_deadline_in_ns(20000), r;

	if (code == QUEUE_CLOSE)
		return ipcwait_channel_close(ch);
	if (code == QUEUE_SEND)
		r = how ? ipcwait_channel_trysend(ch, &value)
			: ipcwait_channel_send_until(ch, &value, deadline);
	else
		r = how ? ipcwait_channel_tryrecv(ch, &value)
			: ipcwait_channel_recv_until(ch, &value, deadline);
	if (r == -ETIMEDOUT)
		return -EAGAIN;
	return r || code == QUEUE_SEND ? r : value;
}

/* What says nothing for certain is taken out of the history again. */
static void record(struct user *u, unsigned code, int64_t arg, unsigned how)
{
	struct history_op *op = history_call(u->part, u->id, code, arg);
	int64_t r = do_op(u->ch, code, arg, how);

	if (r == -EAGAIN && !u->exact)
		u->part->count--;
	else
		history_return(u->part, op, r);
}

static void *use(void *arg)
{
	struct user *u = arg;

	for (size_t i = 0; i < u->ops; i++) {
		uint64_t r = check_random(&u->seed);
		bool sends = u->sends && (!u->receives || r & 1);

		if (u->closes && i == u->ops / 2)
			record(u, QUEUE_CLOSE, 0, 0);
		record(u, sends ? QUEUE_SEND : QUEUE_RECV,
		       sends ? (int64_t)(u->id * u->ops + i) : 0, r >> 8 & 3);
	}
	return NULL;
}

static void drain(struct user *u)
{
	u->exact = true;
	do
		record(u, QUEUE_RECV, 0, 1);
	while (u->part->ops[u->part->count - 1].result >= 0);
}

static enum queue_flaw run(uint64_t capacity, unsigned threads, bool each_both, bool closes)
{
	const struct ipcwait_channel_params params = { .elem_size = 8,
						       .capacity = capacity };
	const struct queue_rules rules = { .capacity = (int64_t)capacity };
	struct history_op *memory = history_array(2 * OPS, sizeof(*memory));
	struct history all, part[THREADS_MAX];
	struct user user[THREADS_MAX];
	uint64_t seed = check_seed();
	struct queue_result r;

	history_begin(&all, memory, 2 * OPS);
	history_split(&all, part, threads);
	for (unsigned i = 0; i < threads; i++)
		user[i] = (struct user){ .part = &part[i],
					 .id = i,
					 .sends = each_both || i % 2,
					 .receives = each_both || i % 2 == 0,
					 .closes = closes && i == 0,
					 .exact = threads == 2 && !each_both,
					 .ops = OPS / threads,
					 .seed = seed + i * 7919 };
	user[0].ch = ipcwait_channel_create(&params);
	assert_non_null(user[0].ch);
	for (unsigned i = 0; i < threads; i++) {
		user[i].ch = user[0].ch;
		assert_int_equal(pthread_create(&user[i].thread, NULL, use, &user[i]), 0);
	}
	for (unsigned i = 0; i < threads; i++)
		assert_int_equal(pthread_join(user[i].thread, NULL), 0);
	history_join(&all, part, threads);
	user[0].part = &all;
	user[0].id = THREADS_MAX;
	drain(&user[0]);
	r = queue_check(all.ops, all.count, &rules);
	printf("# capacity %u, %u threads: %zu operations: ", (unsigned)capacity, threads,
	       all.count);
	queue_print(stdout, &r, all.ops);
	ipcwait_channel_destroy(user[0].ch);
	free(memory);
	return r.flaw;
}

static void test_one_to_one(void **state)
{
	(void)state;
	assert_int_equal(run(1, 2, false, false), QUEUE_SOUND);
	assert_int_equal(run(3, 2, false, true), QUEUE_SOUND);
	assert_int_equal(run(100, 2, false, false), QUEUE_SOUND);
}

static void test_many(void **state)
{
	(void)state;
	assert_int_equal(run(1, 4, true, false), QUEUE_SOUND);
	assert_int_equal(run(2, 6, false, false), QUEUE_SOUND);
	assert_int_equal(run(7, 4, true, true), QUEUE_SOUND);
	assert_int_equal(run(64, 6, true, true), QUEUE_SOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_to_one),
		cmocka_unit_test(test_many),
	};

	check_watchdog(200);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
