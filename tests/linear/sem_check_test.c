/* SPDX-License-Identifier: MIT */
/*
 * sem_check.c on histories made by hand: every flaw, and beside it what is only just right.
 * wing_gong.c has to say the same of each, except where sem_check.h says that counting sees less.
 */
#include <errno.h>

#include "common/cmocka_all.h"
#include "linear/sem_check.h"
#include "linear/wing_gong.h"

#define OPS_MAX 8
#define MAX     3

/* clang-format off */

/* The first two numbers are the stamps of call and return. */
#define WAIT(call, ret, error) { call, ret, 0, -(error), 0, SEM_WAIT }
#define TRYWAIT(call, ret, error) { call, ret, 0, -(error), 0, SEM_TRYWAIT }
#define UNTIL(call, ret, error) { call, ret, 0, -(error), 0, SEM_WAIT_UNTIL }
#define POST(call, ret, n, error) { call, ret, n, -(error), 0, SEM_POST_N }
#define VALUE(call, ret, value) { call, ret, 0, value, 0, SEM_VALUE }
#define NEVER HISTORY_PENDING

struct row {
	const char *what;
	enum sem_flaw flaw;
	int64_t value; /* to begin with */
	struct history_op ops[OPS_MAX];
};

static const struct row tokens[] = {
	{ "nothing at all", SEM_SOUND, 0, { { 0 } } },
	{ "post and wait", SEM_SOUND, 0, { POST(1, 2, 1, 0), WAIT(3, 4, 0) } },
	{ "wait and post", SEM_TOKEN_FROM_NOWHERE, 0, { WAIT(1, 2, 0), POST(3, 4, 1, 0) } },
	{ "a wait that overlaps the post", SEM_SOUND, 0,
	  { WAIT(1, 3, 0), POST(2, 4, 1, 0) } },
	{ "a wait that touches the post", SEM_SOUND, 0,
	  { WAIT(1, 2, 0), POST(2, 3, 1, 0) } },
	{ "the initial value", SEM_SOUND, 2, { WAIT(1, 2, 0), TRYWAIT(3, 4, 0) } },
	{ "more than the initial value", SEM_TOKEN_FROM_NOWHERE, 2,
	  { WAIT(1, 2, 0), TRYWAIT(3, 4, 0), UNTIL(5, 6, 0) } },
	{ "a pending post", SEM_SOUND, 0, { POST(1, NEVER, 1, 0), WAIT(2, 3, 0) } },
	{ "a pending post, later", SEM_TOKEN_FROM_NOWHERE, 0,
	  { WAIT(1, 2, 0), POST(3, NEVER, 1, 0) } },
	{ "a pending wait", SEM_SOUND, 1, { WAIT(1, NEVER, 0), WAIT(2, 3, 0) } },
	{ "a bulk post", SEM_SOUND, 0, { POST(1, 5, 2, 0), WAIT(2, 3, 0), WAIT(4, 6, 0) } },
	{ "one more than that", SEM_TOKEN_FROM_NOWHERE, 0,
	  { POST(1, 5, 2, 0), WAIT(2, 3, 0), WAIT(4, 6, 0), WAIT(7, 8, 0) } },
	{ "a post of nothing", SEM_TOKEN_FROM_NOWHERE, 0,
	  { POST(1, 2, 0, 0), WAIT(3, 4, 0) } },
	{ "interrupted", SEM_SOUND, 0, { WAIT(1, 2, EINTR), UNTIL(3, 4, EINTR) } },
	{ "interrupted, with a token", SEM_SOUND, 1, { WAIT(1, 2, EINTR), WAIT(3, 4, 0) } },
};

static const struct row values[] = {
	{ "none there", SEM_SOUND, 0, { TRYWAIT(1, 2, EAGAIN), UNTIL(3, 4, ETIMEDOUT) } },
	{ "one there", SEM_NOT_THAT_VALUE, 1, { TRYWAIT(1, 2, EAGAIN) } },
	{ "one there at the deadline", SEM_NOT_THAT_VALUE, 1, { UNTIL(1, 2, ETIMEDOUT) } },
	{ "posted before", SEM_NOT_THAT_VALUE, 0,
	  { POST(1, 2, 1, 0), TRYWAIT(3, 4, EAGAIN), WAIT(5, 6, 0) } },
	{ "posted meanwhile", SEM_SOUND, 0,
	  { POST(1, 3, 1, 0), TRYWAIT(2, 4, EAGAIN), WAIT(5, 6, 0) } },
	{ "posted at that instant", SEM_SOUND, 0,
	  { POST(1, 2, 1, 0), TRYWAIT(2, 4, EAGAIN), WAIT(5, 6, 0) } },
	{ "taken meanwhile", SEM_SOUND, 0,
	  { POST(1, 2, 1, 0), TRYWAIT(3, 5, EAGAIN), WAIT(4, 6, 0) } },
	{ "taken, and posted again, during a long one", SEM_SOUND, 1,
	  { UNTIL(1, 10, ETIMEDOUT), WAIT(2, 3, 0), POST(4, 5, 1, 0) } },
	{ "never taken during a long one", SEM_NOT_THAT_VALUE, 1,
	  { UNTIL(1, 10, ETIMEDOUT), POST(2, 3, 1, 0), WAIT(4, 5, 0) } },
	{ "taken only before it began", SEM_NOT_THAT_VALUE, 1,
	  { WAIT(1, 2, 0), POST(3, 4, 1, 0), UNTIL(5, 8, ETIMEDOUT), POST(6, 7, 1, 0) } },
	{ "by a pending wait", SEM_SOUND, 1, { WAIT(1, NEVER, 0), TRYWAIT(2, 3, EAGAIN) } },

	{ "the value", SEM_SOUND, 1, { VALUE(1, 2, 1), POST(3, 4, 2, 0), VALUE(5, 6, 3) } },
	{ "too low", SEM_NOT_THAT_VALUE, 1, { VALUE(1, 2, 0) } },
	{ "too high", SEM_NOT_THAT_VALUE, 1, { VALUE(1, 2, 2) } },
	{ "one of two", SEM_SOUND, 1, { POST(1, 3, 1, 0), VALUE(2, 4, 1) } },
	{ "the other of two", SEM_SOUND, 1, { POST(1, 3, 1, 0), VALUE(2, 4, 2) } },
	{ "lost in the end", SEM_NOT_THAT_VALUE, 0,
	  { POST(1, 3, 1, 0), POST(2, 4, 1, 0), WAIT(5, 6, 0), VALUE(7, 8, 0) } },
	{ "all there in the end", SEM_SOUND, 0,
	  { POST(1, 3, 1, 0), POST(2, 4, 1, 0), WAIT(5, 6, 0), VALUE(7, 8, 1) } },
	{ "a pending read", SEM_SOUND, 1, { VALUE(1, NEVER, 7) } },

	{ "just fits", SEM_SOUND, 1, { POST(1, 2, MAX - 1, 0) } },
	{ "does not fit", SEM_ABOVE_MAX, 1, { POST(1, 2, MAX, 0) } },
	{ "does not fit together", SEM_ABOVE_MAX, 0,
	  { POST(1, 2, MAX, 0), POST(3, 4, 1, 0) } },
	{ "fits after a wait", SEM_SOUND, 0,
	  { POST(1, 2, MAX, 0), POST(3, 5, 1, 0), WAIT(4, 6, 0) } },
	{ "refused", SEM_SOUND, 1, { POST(1, 2, MAX, EOVERFLOW) } },
	{ "refused though it fits", SEM_NOT_THAT_VALUE, 1,
	  { POST(1, 2, MAX - 1, EOVERFLOW) } },
	{ "more than ever fits", SEM_SOUND, 0, { POST(1, 2, MAX + 1, EOVERFLOW) } },
	{ "a pending one that cannot happen", SEM_SOUND, 0,
	  { POST(1, NEVER, MAX + 1, 0) } },
};

static const struct row wrong[] = {
	{ "a wait without time-out", SEM_NO_SUCH_RESULT, 0, { WAIT(1, 2, ETIMEDOUT) } },
	{ "a wait that does not try", SEM_NO_SUCH_RESULT, 0, { UNTIL(1, 2, EAGAIN) } },
	{ "a trywait that is interrupted", SEM_NO_SUCH_RESULT, 0,
	  { TRYWAIT(1, 2, EINTR) } },
	{ "a trywait that times out", SEM_NO_SUCH_RESULT, 0, { TRYWAIT(1, 2, ETIMEDOUT) } },
	{ "a wait with another error", SEM_NO_SUCH_RESULT, 0, { WAIT(1, 2, EINVAL) } },
	{ "a post with another error", SEM_NO_SUCH_RESULT, 0, { POST(1, 2, 1, EINVAL) } },
	{ "a post that takes", SEM_NO_SUCH_RESULT, 1, { POST(1, 2, -1, 0) } },
	{ "a post above the maximum", SEM_NO_SUCH_RESULT, 0, { POST(1, 2, MAX + 1, 0) } },
	{ "a negative value", SEM_NO_SUCH_RESULT, 0, { VALUE(1, 2, -1) } },
	{ "a value above the maximum", SEM_NO_SUCH_RESULT, 0, { VALUE(1, 2, MAX + 1) } },
	{ "no such operation", SEM_NO_SUCH_RESULT, 0, { { 1, 2, 0, 0, 0, 9 } } },
};

/* Not linearizable, but each result is possible by itself. */
static const struct row unseen[] = {
	{ "the last token went two ways", SEM_SOUND, 1,
	  { WAIT(1, NEVER, 0), TRYWAIT(2, 3, EAGAIN), TRYWAIT(4, 5, 0) } },
	{ "the value came back by itself", SEM_SOUND, 1,
	  { WAIT(1, 6, 0), VALUE(2, 3, 0), VALUE(4, 5, 1) } },
};

/* clang-format on */

static void check_row(const struct row *row, bool linearizable)
{
	struct spec spec = spec_sem(row->value, MAX);
	struct wing_gong *w = wing_gong_create(&spec);
	struct sem_result r;
	size_t n = 0;
	bool agree;

	while (n < OPS_MAX && row->ops[n].ret)
		n++;
	r = sem_check(row->ops, n, row->value, MAX);
	agree = (wing_gong_check(w, row->ops, n) == WING_GONG_YES) == linearizable;
	if (r.flaw != row->flaw || !agree) {
		printf("%s: %s\n", row->what,
		       agree ? "wrong flaw" : "the general checker does not agree");
		sem_print(stdout, &r, row->ops);
		wing_gong_print(w, stdout);
		fail();
	}
	assert_true(r.flaw ? r.op < n : r.op == HISTORY_NONE);
	wing_gong_destroy(w);
}

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_row(&rows[i], rows[i].flaw == SEM_SOUND);
}

static void test_tokens(void **state)
{
	(void)state;
	check_rows(tokens, sizeof(tokens) / sizeof(tokens[0]));
}

static void test_values(void **state)
{
	(void)state;
	check_rows(values, sizeof(values) / sizeof(values[0]));
}

static void test_impossible_results(void **state)
{
	(void)state;
	check_rows(wrong, sizeof(wrong) / sizeof(wrong[0]));
}

static void test_what_counting_does_not_see(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++)
		check_row(&unseen[i], false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_impossible_results),
		cmocka_unit_test(test_what_counting_does_not_see),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
