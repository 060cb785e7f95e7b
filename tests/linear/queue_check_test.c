/* SPDX-License-Identifier: MIT */
/*
 * queue_check.c on histories made by hand: every flaw, and beside it what is only just right.
 * wing_gong.c has to say the same of each, except where queue_check.h says that counting sees less.
 */
#include <errno.h>

#include "common/cmocka_all.h"
#include "linear/queue_check.h"
#include "linear/wing_gong.h"

#define OPS_MAX 8

/* clang-format off */

/* The first two numbers are the stamps of call and return. */
#define SEND(call, ret, value) { call, ret, value, 0, 0, QUEUE_SEND }
#define SEND_BY(who, call, ret, value) { call, ret, value, 0, who, QUEUE_SEND }
#define NOT_SENT(call, ret, error) { call, ret, 99, -(error), 0, QUEUE_SEND }
#define RECV(call, ret, value) { call, ret, 0, value, 0, QUEUE_RECV }
#define NOTHING(call, ret, error) { call, ret, 0, -(error), 0, QUEUE_RECV }
#define CLOSE(call, ret, error) { call, ret, 0, -(error), 0, QUEUE_CLOSE }
#define NEVER HISTORY_PENDING

#define ANY_NUMBER { 0, false }
#define CAPACITY(n) { n, false }
#define PER_SENDER { 0, true }

struct row {
	const char *what;
	enum queue_flaw flaw;
	struct queue_rules rules;
	struct history_op ops[OPS_MAX];
};

static const struct row values[] = {
	{ "nothing at all", QUEUE_SOUND, ANY_NUMBER, { { 0 } } },
	{ "in order", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), SEND(3, 4, 2), RECV(5, 6, 1), RECV(7, 8, 2) } },
	{ "not received", QUEUE_SOUND, ANY_NUMBER, { SEND(1, 2, 1), SEND(3, 4, 2) } },
	{ "interrupted", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), NOTHING(3, 4, EINTR), NOT_SENT(5, 6, EINTR), RECV(7, 8, 1) } },

	{ "never sent", QUEUE_FROM_NOWHERE, ANY_NUMBER, { SEND(1, 2, 1), RECV(3, 4, 2) } },
	{ "refused", QUEUE_FROM_NOWHERE, CAPACITY(1),
	  { SEND(1, 2, 1), NOT_SENT(3, 4, EAGAIN), RECV(5, 6, 99) } },
	{ "sent later", QUEUE_FROM_NOWHERE, ANY_NUMBER, { RECV(1, 2, 1), SEND(3, 4, 1) } },
	{ "sent meanwhile", QUEUE_SOUND, ANY_NUMBER, { RECV(1, 3, 1), SEND(2, 4, 1) } },
	{ "sent at that instant", QUEUE_SOUND, ANY_NUMBER,
	  { RECV(1, 2, 1), SEND(2, 4, 1) } },
	{ "by a send that is pending", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, NEVER, 1), RECV(2, 3, 1) } },
	{ "by a pending send, later", QUEUE_FROM_NOWHERE, ANY_NUMBER,
	  { RECV(1, 2, 1), SEND(3, NEVER, 1) } },

	{ "twice", QUEUE_TWICE, ANY_NUMBER,
	  { SEND(1, 2, 1), RECV(3, 4, 1), RECV(5, 6, 1) } },
	{ "twice at once", QUEUE_TWICE, ANY_NUMBER,
	  { SEND(1, 2, 1), RECV(3, 5, 1), RECV(4, 6, 1) } },
	{ "sent again", QUEUE_NOT_DISTINCT, ANY_NUMBER,
	  { SEND(1, 2, 1), RECV(3, 4, 1), SEND(5, 6, 1) } },
	{ "sent again after -EAGAIN", QUEUE_SOUND, CAPACITY(1),
	  { SEND(1, 2, 1), NOT_SENT(3, 4, EAGAIN), RECV(5, 6, 1), SEND(7, 8, 99) } },

	{ "no such result", QUEUE_NO_SUCH_RESULT, ANY_NUMBER, { NOTHING(1, 2, EBUSY) } },
	{ "a send that returns a value", QUEUE_NO_SUCH_RESULT, ANY_NUMBER,
	  { { 1, 2, 1, 1, 0, QUEUE_SEND } } },
	{ "a close that returns EAGAIN", QUEUE_NO_SUCH_RESULT, ANY_NUMBER,
	  { CLOSE(1, 2, EAGAIN) } },
	{ "no such operation", QUEUE_NO_SUCH_RESULT, ANY_NUMBER, { { 1, 2, 0, 0, 0, 9 } } },
	{ "a negative value", QUEUE_NO_SUCH_RESULT, ANY_NUMBER, { SEND(1, 2, -1) } },
};

static const struct row orders[] = {
	{ "the wrong one first", QUEUE_OUT_OF_ORDER, ANY_NUMBER,
	  { SEND(1, 2, 1), SEND(3, 4, 2), RECV(5, 6, 2), RECV(7, 8, 1) } },
	{ "sends overlap", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 3, 1), SEND(2, 4, 2), RECV(5, 6, 2), RECV(7, 8, 1) } },
	{ "sends touch", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 3, 1), SEND(3, 4, 2), RECV(5, 6, 2), RECV(7, 8, 1) } },
	{ "receives overlap", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), SEND(3, 4, 2), RECV(5, 7, 2), RECV(6, 8, 1) } },
	{ "received before the other was sent, by a long send", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 9, 1), RECV(2, 3, 1), SEND(4, 5, 2), RECV(6, 7, 2) } },
	{ "the one that stayed longest is not the last one sent", QUEUE_OUT_OF_ORDER, ANY_NUMBER,
	  { SEND(1, 2, 1), SEND(3, 4, 2), SEND(5, 6, 3), RECV(7, 9, 2), RECV(8, 10, 3),
	    RECV(11, 12, 1) } },

	{ "one is lost", QUEUE_LOST, ANY_NUMBER,
	  { SEND(1, 2, 1), SEND(3, 4, 2), RECV(5, 6, 2) } },
	{ "one is left", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 3, 1), SEND(2, 4, 2), RECV(5, 6, 2) } },
	{ "one went with its receiver", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), SEND(3, 4, 2), RECV(5, NEVER, 0), RECV(6, 7, 2) } },
	{ "but that one came too late", QUEUE_OUT_OF_ORDER, ANY_NUMBER,
	  { SEND(1, 2, 1), SEND(3, 4, 2), RECV(5, 6, 2), RECV(7, NEVER, 0) } },
	{ "two are lost, one receiver", QUEUE_LOST, ANY_NUMBER,
	  { SEND(1, 2, 1), SEND(3, 4, 2), SEND(5, 6, 3), RECV(7, NEVER, 0), RECV(8, 9, 3) } },
	{ "two are lost, two receivers", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), SEND(3, 4, 2), SEND(5, 6, 3), RECV(7, NEVER, 0),
	    RECV(8, NEVER, 0), RECV(9, 10, 3) } },
	{ "one may never have been sent", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, NEVER, 1), SEND(3, 4, 2), RECV(5, 6, 2) } },

	{ "per sender: the wrong one first", QUEUE_OUT_OF_ORDER, PER_SENDER,
	  { SEND_BY(1, 1, 2, 1), SEND_BY(1, 3, 4, 2), RECV(5, 6, 2), RECV(7, 8, 1) } },
	{ "per sender: two senders", QUEUE_SOUND, PER_SENDER,
	  { SEND_BY(1, 1, 2, 1), SEND_BY(2, 3, 4, 2), RECV(5, 6, 2), RECV(7, 8, 1) } },
	{ "per sender: the second of two", QUEUE_OUT_OF_ORDER, PER_SENDER,
	  { SEND_BY(1, 1, 2, 1), SEND_BY(2, 3, 4, 2), SEND_BY(2, 5, 6, 3), RECV(7, 8, 1),
	    RECV(9, 10, 3), RECV(11, 12, 2) } },
	{ "per sender: lost", QUEUE_LOST, PER_SENDER,
	  { SEND_BY(1, 1, 2, 1), SEND_BY(2, 3, 4, 2), SEND_BY(1, 5, 6, 3), RECV(7, 8, 3) } },
	{ "per sender: went with a receiver", QUEUE_SOUND, PER_SENDER,
	  { SEND_BY(1, 1, 2, 1), SEND_BY(1, 3, 4, 2), RECV(5, NEVER, 0), RECV(6, 7, 2) } },
};

static const struct row empties[] = {
	{ "before and after", QUEUE_SOUND, ANY_NUMBER,
	  { NOTHING(1, 2, EAGAIN), SEND(3, 4, 1), RECV(5, 6, 1), NOTHING(7, 8, ETIMEDOUT) } },
	{ "in between", QUEUE_NOT_EMPTY, ANY_NUMBER,
	  { SEND(1, 2, 1), NOTHING(3, 4, EAGAIN), RECV(5, 6, 1) } },
	{ "a time-out, in between", QUEUE_NOT_EMPTY, ANY_NUMBER,
	  { SEND(1, 2, 1), NOTHING(3, 4, ETIMEDOUT), RECV(5, 6, 1) } },
	{ "called before the send returned", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 3, 1), NOTHING(2, 4, EAGAIN), RECV(5, 6, 1) } },
	{ "called as the send returned", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), NOTHING(2, 3, EAGAIN), RECV(5, 6, 1) } },
	{ "returned after the receive was called", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), NOTHING(3, 6, EAGAIN), RECV(5, 7, 1) } },
	{ "returned as the receive was called", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), NOTHING(3, 5, EAGAIN), RECV(5, 7, 1) } },
	{ "one value after the other", QUEUE_NOT_EMPTY, ANY_NUMBER,
	  { SEND(1, 2, 1), NOTHING(3, 8, EAGAIN), SEND(4, 5, 2), RECV(6, 7, 1),
	    RECV(9, 10, 2) } },
	{ "a gap between two values", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), NOTHING(3, 8, EAGAIN), RECV(4, 5, 1), SEND(6, 7, 2),
	    RECV(9, 10, 2) } },
	{ "a gap of no length", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), NOTHING(3, 8, EAGAIN), SEND(4, 5, 2), RECV(5, 7, 1),
	    RECV(9, 10, 2) } },
	{ "lost in the end", QUEUE_LOST, ANY_NUMBER,
	  { SEND(1, 2, 1), SEND(3, 4, 2), RECV(5, 6, 1), NOTHING(7, 8, EAGAIN) } },
	{ "went with its receiver", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), SEND(3, 4, 2), RECV(5, 6, 1), RECV(7, NEVER, 0),
	    NOTHING(8, 9, EAGAIN) } },
	{ "one of two went", QUEUE_LOST, ANY_NUMBER,
	  { SEND(1, 2, 1), SEND(3, 4, 2), RECV(5, NEVER, 0), NOTHING(6, 7, EAGAIN) } },
	{ "a pending send", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, NEVER, 1), NOTHING(2, 3, EAGAIN) } },
};

static const struct row bounds[] = {
	{ "unbounded, but full", QUEUE_NOT_FULL, ANY_NUMBER, { NOT_SENT(1, 2, EAGAIN) } },
	{ "full", QUEUE_SOUND, CAPACITY(2),
	  { SEND(1, 2, 1), SEND(3, 4, 2), NOT_SENT(5, 6, EAGAIN), RECV(7, 8, 1) } },
	{ "not full yet", QUEUE_NOT_FULL, CAPACITY(2),
	  { SEND(1, 2, 1), NOT_SENT(3, 4, ETIMEDOUT), SEND(5, 6, 2) } },
	{ "full meanwhile", QUEUE_SOUND, CAPACITY(2),
	  { SEND(1, 2, 1), NOT_SENT(3, 5, EAGAIN), SEND(4, 6, 2) } },
	{ "not full any more", QUEUE_NOT_FULL, CAPACITY(2),
	  { SEND(1, 2, 1), SEND(3, 4, 2), RECV(5, 6, 1), NOT_SENT(7, 8, EAGAIN) } },
	{ "full with a pending send", QUEUE_SOUND, CAPACITY(2),
	  { SEND(1, 2, 1), SEND(3, NEVER, 2), NOT_SENT(5, 6, EAGAIN) } },
	{ "a pending close takes nothing out", QUEUE_TOO_FULL, CAPACITY(1),
	  { CLOSE(1, NEVER, 0), SEND(2, 3, 1), SEND(4, 5, 2) } },
	{ "too full", QUEUE_TOO_FULL, CAPACITY(1),
	  { SEND(1, 2, 1), SEND(3, 4, 2), RECV(5, 6, 1) } },
	{ "as full as can be", QUEUE_SOUND, CAPACITY(1),
	  { SEND(1, 2, 1), SEND(3, 6, 2), RECV(5, 7, 1) } },
};

/* Not linearizable, which counting does not see. */
static const struct row unseen[] = {
	{ "the first to be received was there before the other two", QUEUE_SOUND, CAPACITY(2),
	  { SEND(1, 8, 1), SEND(2, 3, 2), SEND(4, 5, 3), RECV(6, 7, 1) } },
};

static const struct row closes[] = {
	{ "drained", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), CLOSE(3, 4, 0), NOT_SENT(5, 6, EPIPE), RECV(7, 8, 1),
	    NOTHING(9, 10, EPIPE), CLOSE(11, 12, EALREADY) } },
	{ "nobody closed", QUEUE_NOT_CLOSED, ANY_NUMBER, { NOT_SENT(1, 2, EPIPE) } },
	{ "closed later", QUEUE_NOT_CLOSED, ANY_NUMBER,
	  { NOTHING(1, 2, EPIPE), CLOSE(3, 4, 0) } },
	{ "closed meanwhile", QUEUE_SOUND, ANY_NUMBER,
	  { NOTHING(1, 3, EPIPE), CLOSE(2, 4, 0) } },
	{ "a second close, nobody else", QUEUE_NOT_CLOSED, ANY_NUMBER,
	  { CLOSE(1, 2, EALREADY) } },
	{ "a pending close", QUEUE_SOUND, ANY_NUMBER,
	  { CLOSE(1, NEVER, 0), SEND(2, 3, 1), NOT_SENT(4, 5, EPIPE) } },
	{ "of two pending closes the first", QUEUE_SOUND, ANY_NUMBER,
	  { CLOSE(6, NEVER, 0), CLOSE(1, NEVER, 0), NOT_SENT(4, 5, EPIPE) } },
	{ "not by the pending one", QUEUE_NOT_CLOSED, ANY_NUMBER,
	  { CLOSE(1, NEVER, 0), NOT_SENT(2, 3, EPIPE), CLOSE(4, 5, 0) } },
	{ "closed twice", QUEUE_CLOSED_TWICE, ANY_NUMBER,
	  { CLOSE(1, 2, 0), CLOSE(3, 4, 0) } },

	{ "accepted after it was closed", QUEUE_STILL_OPEN, ANY_NUMBER,
	  { CLOSE(1, 2, 0), SEND(3, 4, 1) } },
	{ "accepted meanwhile", QUEUE_SOUND, ANY_NUMBER,
	  { CLOSE(1, 3, 0), SEND(2, 4, 1) } },
	{ "accepted after another was refused", QUEUE_STILL_OPEN, ANY_NUMBER,
	  { CLOSE(1, 9, 0), NOT_SENT(2, 3, EPIPE), SEND(4, 5, 1) } },
	{ "pending after it was closed", QUEUE_SOUND, ANY_NUMBER,
	  { CLOSE(1, 2, 0), SEND(3, NEVER, 1) } },
	{ "pending, and received", QUEUE_STILL_OPEN, ANY_NUMBER,
	  { CLOSE(1, 2, 0), SEND(3, NEVER, 1), RECV(4, 5, 1) } },
	{ "full after it was closed", QUEUE_STILL_OPEN, CAPACITY(1),
	  { SEND(1, 2, 1), CLOSE(3, 4, 0), NOT_SENT(5, 6, EAGAIN) } },
	{ "only empty after it was closed", QUEUE_STILL_OPEN, ANY_NUMBER,
	  { CLOSE(1, 2, 0), NOTHING(3, 4, EAGAIN) } },
	{ "empty before it was closed, so before the value", QUEUE_NOT_EMPTY, ANY_NUMBER,
	  { SEND(1, 2, 1), NOTHING(3, 8, EAGAIN), CLOSE(4, 5, 0), RECV(6, 7, 1) } },

	{ "drained, but for one", QUEUE_NOT_DRAINED, ANY_NUMBER,
	  { SEND(1, 2, 1), CLOSE(3, 4, 0), NOTHING(5, 6, EPIPE), RECV(7, 8, 1) } },
	{ "drained meanwhile", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), CLOSE(3, 4, 0), NOTHING(5, 7, EPIPE), RECV(6, 8, 1) } },
	{ "drained, one lost", QUEUE_NOT_DRAINED, ANY_NUMBER,
	  { SEND(1, 2, 1), CLOSE(3, 4, 0), NOTHING(5, 6, EPIPE) } },
	{ "drained by a pending receive", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), CLOSE(3, 4, 0), RECV(5, NEVER, 0), NOTHING(6, 7, EPIPE) } },
	{ "all at the instant of the close", QUEUE_SOUND, ANY_NUMBER,
	  { NOT_SENT(1, 4, EPIPE), CLOSE(4, 5, 0), SEND(4, 6, 1), NOTHING(4, 7, EAGAIN),
	    RECV(4, 9, 1) } },
	{ "all at the instant when it was drained", QUEUE_SOUND, ANY_NUMBER,
	  { SEND(1, 2, 1), CLOSE(3, 4, 0), NOTHING(5, 6, EPIPE), RECV(6, 7, 1) } },
};

/* clang-format on */

static void fail_row(const struct row *row, const char *how, const struct queue_result *r,
		     const struct wing_gong *w)
{
	printf("%s: %s\n", row->what, how);
	queue_print(stdout, r, row->ops);
	wing_gong_print(w, stdout);
	fail();
}

static void check_row(const struct row *row, bool linearizable)
{
	struct spec spec = row->rules.per_sender ? spec_queue_per_sender()
						 : spec_queue(row->rules.capacity);
	struct wing_gong *w = wing_gong_create(&spec);
	struct queue_result r;
	size_t n = 0;
	bool agree;

	while (n < OPS_MAX && row->ops[n].ret)
		n++;
	r = queue_check(row->ops, n, &row->rules);
	agree = (wing_gong_check(w, row->ops, n) == WING_GONG_YES) == linearizable;
	if (r.flaw != row->flaw)
		fail_row(row, "wrong flaw", &r, w);
	if (!agree && row->flaw != QUEUE_NOT_DISTINCT)
		fail_row(row, "the general checker does not agree", &r, w);
	for (unsigned i = 0; i < 2; i++)
		assert_true(r.op[i] < n || r.op[i] == HISTORY_NONE);
	assert_true((r.op[0] == HISTORY_NONE) == (r.flaw == QUEUE_SOUND));
	wing_gong_destroy(w);
}

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_row(&rows[i], rows[i].flaw == QUEUE_SOUND);
}

#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof((rows)[0]))

static void test_values(void **state)
{
	(void)state;
	CHECK_ROWS(values);
}

static void test_order(void **state)
{
	(void)state;
	CHECK_ROWS(orders);
}

static void test_empty(void **state)
{
	(void)state;
	CHECK_ROWS(empties);
}

static void test_capacity(void **state)
{
	(void)state;
	CHECK_ROWS(bounds);
	check_row(&unseen[0], false);
}

static void test_closing(void **state)
{
	(void)state;
	CHECK_ROWS(closes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),  cmocka_unit_test(test_order),
		cmocka_unit_test(test_empty),   cmocka_unit_test(test_capacity),
		cmocka_unit_test(test_closing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
