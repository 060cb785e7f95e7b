/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "linear/queue_values.h"
#include "linear/sem_check.h"

/* A value was there, at all times between these. */
struct span {
	uint64_t from, to;
	uint32_t sender;
	size_t op; /* that sent it */
};

struct spans {
	struct span *at;
	size_t count;
};

static int compare(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

static int by_sender_and_call(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	return x->sender != y->sender ? compare(x->sender, y->sender)
				      : compare(x->sent.call, y->sent.call);
}

static int by_sender_and_from(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->sender != y->sender ? compare(x->sender, y->sender)
				      : compare(x->from, y->from);
}

static int by_from(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return compare(x->from, y->from);
}

static void collect_spans(const struct queue *q, struct spans *spans)
{
	for (size_t k = 0; k < q->count; k++) {
		const struct value *v = &q->values[k];

		if (v->sent.ret < v->received.call)
			spans->at[spans->count++] =
				(struct span){ v->sent.ret, v->received.call, v->sender,
					       v->sent.op };
	}
}

/*
 * Of the spans of the same sender that began before the value's send, the one that ends
 * last, or NULL. @next and @last are those of the value before.
 */
static const struct span *last_span(const struct spans *spans, size_t *next,
				    const struct span *last, const struct value *v)
{
	if (last && last->sender != v->sender)
		last = NULL;
	for (; *next < spans->count; ++*next) {
		const struct span *s = &spans->at[*next];

		if (s->sender > v->sender ||
		    (s->sender == v->sender && s->from >= v->sent.call))
			break;
		if (s->sender == v->sender && (!last || s->to > last->to))
			last = s;
	}
	return last;
}

/*
 * Of the values that had been sent when this one's send was called, none may still be there
 * when its receive has returned. Only the one that stays longest matters.
 */
static bool check_order(struct queue *q, struct spans *spans)
{
	const struct span *last = NULL;
	size_t next = 0;

	qsort(q->values, q->count, sizeof(*q->values), by_sender_and_call);
	qsort(spans->at, spans->count, sizeof(*spans->at), by_sender_and_from);
	for (size_t k = 0; k < q->count; k++) {
		const struct value *v = &q->values[k];

		last = last_span(spans, &next, last, v);
		if (last && last->to > v->received.ret)
			return queue_flawed(
				q, last->to == NEVER ? QUEUE_LOST : QUEUE_OUT_OF_ORDER,
				last->op, v->sent.op);
	}
	return true;
}

/* Spans that overlap become one. */
static void merge(struct spans *spans)
{
	size_t count = 0;

	qsort(spans->at, spans->count, sizeof(*spans->at), by_from);
	for (size_t k = 0; k < spans->count; k++) {
		const struct span *s = &spans->at[k];

		if (count == 0 || s->from >= spans->at[count - 1].to)
			spans->at[count++] = *s;
		else if (s->to > spans->at[count - 1].to)
			spans->at[count - 1].to = s->to;
	}
	spans->count = count;
}

/* Some value was there at all times between these two, and at both. */
static bool never_empty(const struct spans *merged, uint64_t from, uint64_t to)
{
	size_t low = 0, high = merged->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (merged->at[middle].to > from)
			high = middle;
		else
			low = middle + 1;
	}
	return low < merged->count && merged->at[low].from < from &&
	       merged->at[low].to > to;
}

/* Of the values that were there, the one that stayed longest. */
static const struct value *witness_at(const struct queue *q, uint64_t time)
{
	const struct value *witness = NULL;

	for (size_t k = 0; k < q->count; k++) {
		const struct value *v = &q->values[k];

		if (v->sent.ret < time &&
		    (!witness || v->received.call > witness->received.call))
			witness = v;
	}
	return witness;
}

/* What found it empty did so before it was closed. */
static bool check_empty(struct queue *q, struct spans *spans)
{
	merge(spans);
	for (size_t i = 0; i < q->n; i++) {
		const struct history_op *op = &q->ops[i];
		uint64_t end = op->ret < q->close.ret ? op->ret : q->close.ret;
		const struct value *v;

		if (op->code != QUEUE_RECV || queue_kind(op) != FOUND_OPEN ||
		    !never_empty(spans, op->call, end))
			continue;
		v = witness_at(q, op->call);
		return queue_flawed(
			q, v->received.op == HISTORY_NONE ? QUEUE_LOST : QUEUE_NOT_EMPTY,
			v->sent.op, i);
	}
	return true;
}

static bool check_values(struct queue *q)
{
	struct spans spans = { history_array(q->count, sizeof(*spans.at)), 0 };
	bool good;

	collect_spans(q, &spans);
	good = check_order(q, &spans) && check_empty(q, &spans);
	free(spans.at);
	return good;
}

/* To a semaphore that counts values, a send is a post and a receive a wait. */
static struct history_op as_of_sem(const struct history_op *op)
{
	struct history_op s = *op;
	enum queue_kind kind = queue_kind(op);

	if (op->code == QUEUE_SEND && (kind == SENT || kind == FOUND_OPEN)) {
		s.code = SEM_POST_N;
		s.arg = 1;
		s.result = kind == SENT ? 0 : -EOVERFLOW;
		return s;
	}
	s.code = SEM_WAIT;
	s.result = 0;
	if (kind != RECEIVED && kind != MAY_HAVE_RECEIVED) {
		s.result = -EINTR;
		s.ret = s.call;
	}
	return s;
}

static bool check_never_full(struct queue *q)
{
	for (size_t i = 0; i < q->n; i++) {
		if (q->ops[i].code == QUEUE_SEND && queue_kind(&q->ops[i]) == FOUND_OPEN)
			return queue_flawed(q, QUEUE_NOT_FULL, i, HISTORY_NONE);
	}
	return true;
}

static bool check_capacity(struct queue *q)
{
	struct history_op *ops = history_array(q->n, sizeof(*ops));
	struct sem_result r;

	for (size_t i = 0; i < q->n; i++)
		ops[i] = as_of_sem(&q->ops[i]);
	r = sem_check(ops, q->n, 0, q->rules->capacity);
	free(ops);
	if (r.flaw)
		return queue_flawed(
			q, r.flaw == SEM_ABOVE_MAX ? QUEUE_TOO_FULL : QUEUE_NOT_FULL, r.op,
			HISTORY_NONE);
	return true;
}

struct queue_result queue_check(const struct history_op *ops, size_t n,
				const struct queue_rules *rules)
{
	struct queue q = {
		.ops = ops,
		.n = n,
		.rules = rules,
		.values = history_array(n, sizeof(*q.values)),
		.result = { QUEUE_SOUND, { HISTORY_NONE, HISTORY_NONE } },
	};

	if (queue_sort_out(&q) && check_values(&q))
		(void)(rules->capacity ? check_capacity(&q) : check_never_full(&q));
	free(q.values);
	return q.result;
}

void queue_print(FILE *out, const struct queue_result *r, const struct history_op *ops)
{
	static const char *const flaws[] = {
		[QUEUE_SOUND] = "the queue keeps all values, in order",
		[QUEUE_NOT_DISTINCT] =
			"the test sent a value twice: this cannot be checked",
		[QUEUE_NO_SUCH_RESULT] = "no operation has this argument and this result",
		[QUEUE_FROM_NOWHERE] = "received, but nobody had begun to send it",
		[QUEUE_TWICE] = "received twice",
		[QUEUE_OUT_OF_ORDER] = "the first was sent before, and received after",
		[QUEUE_LOST] = "the first was never received, the second shows it",
		[QUEUE_NOT_EMPTY] = "\"empty\", but values were there all the time",
		[QUEUE_NOT_FULL] = "\"full\", but space was there all the time",
		[QUEUE_TOO_FULL] = "more values than the capacity",
		[QUEUE_NOT_CLOSED] = "\"closed\", but nobody had begun to close it",
		[QUEUE_CLOSED_TWICE] = "closed twice, and the second did not say so",
		[QUEUE_STILL_OPEN] = "the first shows it closed, the second open later",
		[QUEUE_NOT_DRAINED] = "\"closed and empty\", but a value was there",
	};

	fprintf(out, "%s\n", flaws[r->flaw]);
	for (unsigned i = 0; i < 2; i++) {
		if (r->op[i] != HISTORY_NONE)
			history_print(out, &ops[r->op[i]], queue_names);
	}
}
