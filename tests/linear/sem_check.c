/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "linear/sem_check.h"

/* What an operation says: it moved tokens, or the value was in some range at some instant. */
struct meaning {
	bool possible;
	bool tells;
	int64_t adds; /* tokens; below 0: takes them */
	int64_t low, high;
};

/* Calls and returns in the order of time; where equal, calls first: they overlap. */
struct event {
	uint64_t when; /* twice the stamp, and 1 for a return */
	size_t op;
};

/*
 * The smallest of some numbers since any moment, in a binary search: of the numbers so far
 * only those are kept that are smaller than all after them.
 */
struct minima {
	struct minimum {
		size_t at;
		int64_t value;
	} * kept;
	size_t count;
};

struct count {
	const struct history_op *ops;
	int64_t max;
	struct event *events;
	size_t *called_at; /* number of the event, by operation */
	int64_t low, high; /* bounds of the value */
	struct minima lows, highs;
};

static const struct meaning impossible;
static const struct meaning nothing = { .possible = true };

static struct meaning adds(int64_t tokens)
{
	return (struct meaning){ .possible = true, .adds = tokens };
}

static struct meaning tells(int64_t low, int64_t high)
{
	return (struct meaning){
		.possible = true, .tells = true, .low = low, .high = high
	};
}

static struct meaning meaning_of_wait(const struct history_op *op)
{
	switch (op->result) {
	case 0:
		return adds(-1);
	case -EAGAIN:
		return op->code == SEM_TRYWAIT ? tells(0, 0) : impossible;
	case -ETIMEDOUT:
		return op->code == SEM_WAIT_UNTIL ? tells(0, 0) : impossible;
	case -EINTR:
		return op->code != SEM_TRYWAIT ? nothing : impossible;
	default:
		return impossible;
	}
}

static struct meaning meaning_of_post(const struct history_op *op, int64_t max)
{
	bool fits = op->arg <= max;

	if (op->arg < 0)
		return impossible;
	if (op->result == 0)
		return fits ? adds(op->arg) : impossible;
	if (op->result == -EOVERFLOW)
		return tells(fits ? max - op->arg + 1 : 0, max);
	return impossible;
}

static struct meaning meaning_of_value(const struct history_op *op, int64_t max)
{
	bool in_range = op->result >= 0 && op->result <= max;

	return in_range ? tells(op->result, op->result) : impossible;
}

static struct meaning meaning_of_returned(const struct history_op *op, int64_t max)
{
	switch (op->code) {
	case SEM_WAIT:
	case SEM_TRYWAIT:
	case SEM_WAIT_UNTIL:
		return meaning_of_wait(op);
	case SEM_POST_N:
		return meaning_of_post(op, max);
	case SEM_VALUE:
		return meaning_of_value(op, max);
	default:
		return impossible;
	}
}

/* A pending operation may have moved its tokens, and tells nothing. */
static struct meaning meaning_of(const struct history_op *op, int64_t max)
{
	struct history_op finished = *op;
	struct meaning m;

	if (op->ret != HISTORY_PENDING)
		return meaning_of_returned(op, max);
	finished.result = 0;
	m = meaning_of_returned(&finished, max);
	return m.possible && !m.tells ? m : nothing;
}

static void minima_add(struct minima *m, size_t at, int64_t value)
{
	while (m->count && m->kept[m->count - 1].value >= value)
		m->count--;
	m->kept[m->count++] = (struct minimum){ at, value };
}

/* The smallest of those added at @from or later; there is one. */
static int64_t minima_since(const struct minima *m, size_t from)
{
	size_t low = 0, high = m->count - 1;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (m->kept[middle].at < from)
			low = middle + 1;
		else
			high = middle;
	}
	return m->kept[low].value;
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->when > y->when) - (x->when < y->when);
}

static size_t collect_events(const struct history_op *ops, size_t n, struct event *events)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		events[count++] = (struct event){ 2 * ops[i].call, i };
		if (ops[i].ret != HISTORY_PENDING)
			events[count++] = (struct event){ 2 * ops[i].ret + 1, i };
	}
	qsort(events, count, sizeof(*events), by_time);
	return count;
}

/*
 * As the bounds do not jump past each other, there is an instant at which both fit if there
 * is one for each: a post's call only lifts the upper one, a wait's call lowers the lower one
 * by one.
 */
static bool allows(const struct count *c, const struct meaning *m, size_t since)
{
	return minima_since(&c->lows, since) <= m->high &&
	       -minima_since(&c->highs, since) >= m->low;
}

static enum sem_flaw on_call(struct count *c, const struct meaning *m)
{
	if (!m->possible)
		return SEM_NO_SUCH_RESULT;
	if (m->adds > 0)
		c->high += m->adds;
	else
		c->low += m->adds;
	return SEM_SOUND;
}

static enum sem_flaw on_return(struct count *c, const struct meaning *m, size_t called_at)
{
	if (m->tells && !allows(c, m, called_at))
		return SEM_NOT_THAT_VALUE;
	if (m->adds > 0)
		c->low += m->adds;
	else
		c->high += m->adds;
	if (c->high < 0)
		return SEM_TOKEN_FROM_NOWHERE;
	return c->low > c->max ? SEM_ABOVE_MAX : SEM_SOUND;
}

static struct sem_result sweep(struct count *c, size_t events)
{
	struct sem_result r = { SEM_SOUND, HISTORY_NONE };

	for (size_t i = 0; i < events; i++) {
		size_t op = c->events[i].op;
		struct meaning m = meaning_of(&c->ops[op], c->max);

		if (c->events[i].when % 2) {
			r.flaw = on_return(c, &m, c->called_at[op]);
		} else {
			r.flaw = on_call(c, &m);
			c->called_at[op] = i;
		}
		if (r.flaw) {
			r.op = op;
			break;
		}
		minima_add(&c->lows, i, c->low);
		minima_add(&c->highs, i, -c->high);
	}
	return r;
}

struct sem_result sem_check(const struct history_op *ops, size_t n, int64_t value,
			    int64_t max)
{
	struct count c = {
		.ops = ops,
		.max = max,
		.low = value,
		.high = value,
		.events = history_array(2 * n, sizeof(*c.events)),
		.called_at = history_array(n, sizeof(*c.called_at)),
		.lows.kept = history_array(2 * n, sizeof(*c.lows.kept)),
		.highs.kept = history_array(2 * n, sizeof(*c.highs.kept)),
	};
	struct sem_result r = sweep(&c, collect_events(ops, n, c.events));

	free(c.events);
	free(c.called_at);
	free(c.lows.kept);
	free(c.highs.kept);
	return r;
}

void sem_print(FILE *out, const struct sem_result *r, const struct history_op *ops)
{
	static const char *const flaws[] = {
		[SEM_SOUND] = "the semaphore counts right",
		[SEM_NO_SUCH_RESULT] = "no operation has this argument and this result",
		[SEM_TOKEN_FROM_NOWHERE] = "a wait had a token that nobody had posted",
		[SEM_ABOVE_MAX] = "more tokens than the maximum",
		[SEM_NOT_THAT_VALUE] = "the value was at no time what this says",
	};

	fprintf(out, "%s\n", flaws[r->flaw]);
	if (r->op != HISTORY_NONE)
		history_print(out, &ops[r->op], sem_names);
}
