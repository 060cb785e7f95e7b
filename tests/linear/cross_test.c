/* SPDX-License-Identifier: MIT */
/*
 * The fast checkers against the general one: on random histories, changed and unchanged, and
 * on all in which a few operations can overlap. Where a fast one is exact they must agree;
 * where it is not, it must accept what the general one accepts.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "linear/queue_check.h"
#include "linear/random_history.h"
#include "linear/sem_check.h"
#include "linear/wing_gong.h"

/* Operations and results as small as these make flaws and near misses frequent. */
#define FEW       12
#define MANY      24
#define HISTORIES 40000

/* What is compared: a specification, the checker for it, and how both have answered. */
static struct {
	struct spec spec;
	struct queue_rules rules;
	struct wing_gong *general;
	/* Does the fast one find a flaw, and is it exact for this history? */
	unsigned (*fast)(const struct history_op *ops, size_t n);
	bool (*exact)(const struct history_op *ops, size_t n);
	uint64_t accepted, rejected, missed, gave_up;
	uint64_t flaws[QUEUE_NOT_DRAINED + 1];
} cross;

static unsigned fast_queue(const struct history_op *ops, size_t n)
{
	return queue_check(ops, n, &cross.rules).flaw;
}

static unsigned fast_sem(const struct history_op *ops, size_t n)
{
	return sem_check(ops, n, cross.spec.begin.value, cross.spec.max).flaw;
}

static bool always(const struct history_op *ops, size_t n)
{
	(void)ops;
	(void)n;
	return true;
}

static bool never(const struct history_op *ops, size_t n)
{
	(void)ops;
	(void)n;
	return false;
}

static bool without_pending_receives(const struct history_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ops[i].code == QUEUE_RECV && ops[i].ret == HISTORY_PENDING)
			return false;
	}
	return true;
}

/* Only waits and posts that did what they are for, or may have. */
static bool only_tokens(const struct history_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ops[i].code == SEM_VALUE ||
		    (ops[i].ret != HISTORY_PENDING && ops[i].result != 0))
			return false;
	}
	return true;
}

static void begin(struct spec spec, unsigned (*fast)(const struct history_op *, size_t),
		  bool (*exact)(const struct history_op *, size_t))
{
	memset(&cross, 0, sizeof(cross));
	cross.spec = spec;
	cross.rules.capacity = spec.op_names == queue_names ? spec.max : 0;
	cross.rules.per_sender = spec.per_sender;
	cross.fast = fast;
	cross.exact = exact;
	cross.general = wing_gong_create(&cross.spec);
}

static void end(void)
{
	printf("# %s: accepted %" PRIu64 ", rejected %" PRIu64 ", missed %" PRIu64
	       ", gave up %" PRIu64 "; by flaw",
	       cross.spec.name, cross.accepted, cross.rejected, cross.missed,
	       cross.gave_up);
	for (unsigned i = 0; i <= QUEUE_NOT_DRAINED; i++)
		printf(" %" PRIu64, cross.flaws[i]);
	printf("\n");
	wing_gong_destroy(cross.general);
}

static void disagree(const char *how)
{
	printf("the fast checker %s this:\n", how);
	wing_gong_print(cross.general, stdout);
	fail();
}

static void compare(const struct history_op *ops, size_t n)
{
	enum wing_gong_answer answer = wing_gong_check(cross.general, ops, n);
	bool linearizable = answer == WING_GONG_YES;
	unsigned flaw = cross.fast(ops, n);

	if (answer == WING_GONG_GAVE_UP) {
		cross.gave_up++;
		return;
	}
	cross.flaws[flaw]++;
	if (flaw && linearizable)
		disagree("rejects");
	if (!flaw && !linearizable && cross.exact(ops, n))
		disagree("accepts");
	cross.accepted += linearizable;
	cross.rejected += flaw != 0;
	cross.missed += !flaw && !linearizable;
}

static void compare_random(const struct random_mix *mix)
{
	struct history_op ops[SPEC_OPS];
	uint64_t seed = check_seed();

	for (int i = 0; i < HISTORIES; i++) {
		struct random_mix some = *mix;
		bool many = mix->killed_in_100 <= 5 && i % 16 == 0;
		size_t n = 2 + check_random(&seed) % (many ? MANY : FEW);

		some.threads = 1 + check_random(&seed) % mix->threads;
		n = random_history(ops, n, &cross.spec, &some, &seed);
		if (wing_gong_check(cross.general, ops, n) == WING_GONG_NO)
			disagree("was given");
		compare(ops, n);
		for (int changes = 0; changes < 3; changes++) {
			n = random_change(ops, n, &seed);
			compare(ops, n);
		}
	}
	/* Both answers were frequent, or this has tested nothing. */
	assert_true(cross.accepted > HISTORIES);
	assert_true(cross.rejected > HISTORIES / 10);
	assert_true(cross.gave_up < HISTORIES / 1000);
}

static void test_queue(void **state)
{
	(void)state;
	begin(spec_queue(0), fast_queue, always);
	compare_random(&(struct random_mix){ .threads = 4, .weight = { 4, 5 } });
	end();
}

static void test_queue_with_deaths(void **state)
{
	(void)state;
	begin(spec_queue(0), fast_queue, always);
	compare_random(&(struct random_mix){
		.threads = 4, .weight = { 4, 5 }, .killed_in_100 = 20 });
	end();
}

static void test_channel(void **state)
{
	(void)state;
	begin(spec_queue(0), fast_queue, always);
	compare_random(&(struct random_mix){
		.threads = 4, .weight = { 6, 6, 2 }, .killed_in_100 = 5 });
	end();
}

static void test_per_sender(void **state)
{
	(void)state;
	begin(spec_queue_per_sender(), fast_queue, without_pending_receives);
	compare_random(&(struct random_mix){
		.threads = 4, .weight = { 6, 6, 1 }, .killed_in_100 = 5 });
	end();
}

static void test_bounded_queue(void **state)
{
	(void)state;
	begin(spec_queue(2), fast_queue, never);
	compare_random(&(struct random_mix){
		.threads = 4, .weight = { 6, 4, 1 }, .killed_in_100 = 5 });
	end();
}

static void test_semaphore_tokens(void **state)
{
	(void)state;
	begin(spec_sem(1, 1000), fast_sem, only_tokens);
	compare_random(&(struct random_mix){
		.threads = 4, .weight = { 5, 0, 0, 4 }, .most = 2, .killed_in_100 = 10 });
	end();
}

static void test_semaphore(void **state)
{
	(void)state;
	begin(spec_sem(1, 3), fast_sem, never);
	compare_random(&(struct random_mix){
		.threads = 4, .weight = { 2, 3, 3, 5, 1 }, .most = 2, .killed_in_100 = 5 });
	end();
}

/* Values from 1 on. A result of PENDING is none. */
#define PENDING INT64_MIN

static struct history_op op(unsigned code, int64_t arg, int64_t result)
{
	return (struct history_op){
		.code = code,
		.arg = arg,
		.result = result,
		.ret = result == PENDING ? HISTORY_PENDING : 0,
	};
}

static void compare_every(struct history_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ops[i].thread = (uint32_t)i;
	every_history(ops, n, compare);
	assert_true(cross.accepted > 0 && cross.rejected > 0);
}

static void test_every_order_of_queue_operations(void **state)
{
	struct history_op fifo[] = { op(QUEUE_SEND, 1, 0), op(QUEUE_SEND, 2, 0),
				     op(QUEUE_RECV, 0, 1), op(QUEUE_RECV, 0, 2),
				     op(QUEUE_RECV, 0, -EAGAIN) };
	struct history_op lost[] = {
		op(QUEUE_SEND, 1, 0),       op(QUEUE_SEND, 2, 0),
		op(QUEUE_SEND, 3, PENDING), op(QUEUE_RECV, 0, 2),
		op(QUEUE_RECV, 0, PENDING), op(QUEUE_RECV, 0, -EAGAIN)
	};
	struct history_op three[] = {
		op(QUEUE_SEND, 1, 0), op(QUEUE_SEND, 2, 0),       op(QUEUE_SEND, 3, 0),
		op(QUEUE_RECV, 0, 3), op(QUEUE_RECV, 0, PENDING), op(QUEUE_RECV, 0, PENDING)
	};

	(void)state;
	begin(spec_queue(0), fast_queue, always);
	compare_every(fifo, 5);
	compare_every(lost, 6);
	compare_every(three, 6);
	end();
}

static void test_every_order_of_channel_operations(void **state)
{
	struct history_op closed[] = { op(QUEUE_SEND, 1, 0), op(QUEUE_RECV, 0, 1),
				       op(QUEUE_CLOSE, 0, 0), op(QUEUE_SEND, 2, -EPIPE),
				       op(QUEUE_RECV, 0, -EPIPE) };
	struct history_op open[] = { op(QUEUE_SEND, 1, 0), op(QUEUE_RECV, 0, 1),
				     op(QUEUE_CLOSE, 0, PENDING),
				     op(QUEUE_CLOSE, 0, -EALREADY),
				     op(QUEUE_RECV, 0, -ETIMEDOUT) };
	struct history_op dead[] = { op(QUEUE_SEND, 1, 0),       op(QUEUE_SEND, 2, PENDING),
				     op(QUEUE_RECV, 0, PENDING), op(QUEUE_RECV, 0, 2),
				     op(QUEUE_RECV, 0, -EPIPE),  op(QUEUE_CLOSE, 0, 0) };

	(void)state;
	begin(spec_queue(0), fast_queue, always);
	compare_every(closed, 5);
	compare_every(open, 5);
	compare_every(dead, 6);
	end();
}

static void test_every_order_of_semaphore_operations(void **state)
{
	struct history_op tokens[] = { op(SEM_POST_N, 2, 0), op(SEM_POST_N, 1, 0),
				       op(SEM_WAIT, 0, 0), op(SEM_TRYWAIT, 0, 0),
				       op(SEM_WAIT_UNTIL, 0, PENDING) };
	struct history_op tight[] = { op(SEM_POST_N, 1, 0),       op(SEM_POST_N, 1, 0),
				      op(SEM_WAIT, 0, 0),         op(SEM_WAIT, 0, 0),
				      op(SEM_POST_N, 1, PENDING), op(SEM_WAIT, 0, 0) };

	(void)state;
	begin(spec_sem(0, 1000), fast_sem, only_tokens);
	compare_every(tokens, 5);
	compare_every(tight, 6);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_queue_with_deaths),
		cmocka_unit_test(test_channel),
		cmocka_unit_test(test_per_sender),
		cmocka_unit_test(test_bounded_queue),
		cmocka_unit_test(test_semaphore_tokens),
		cmocka_unit_test(test_semaphore),
		cmocka_unit_test(test_every_order_of_queue_operations),
		cmocka_unit_test(test_every_order_of_channel_operations),
		cmocka_unit_test(test_every_order_of_semaphore_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
