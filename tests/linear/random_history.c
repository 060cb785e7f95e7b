/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/check.h"
#include "linear/random_history.h"

#define THREADS_MAX 8

/* Instead of a result: the operation waits. */
#define BLOCKED INT64_MIN

struct thread {
	uint32_t id;
	struct history_op *op; /* that it is in, or NULL */
	bool done;             /* it happened, and has not returned */
};

struct maker {
	struct history_op *ops;
	size_t n, begun;
	uint64_t clock;
	uint64_t *seed;
	const struct spec *spec;
	const struct random_mix *mix;
	union spec_state state;
	struct thread thread[THREADS_MAX];
};

static uint64_t below(uint64_t *seed, uint64_t limit)
{
	return (check_random(seed) >> 16) % limit;
}

static unsigned random_code(const struct maker *m)
{
	unsigned sum = 0, code = 0;
	uint64_t at;

	for (unsigned i = 0; i < RANDOM_CODES; i++)
		sum += m->mix->weight[i];
	at = below(m->seed, sum);
	while (at >= m->mix->weight[code])
		at -= m->mix->weight[code++];
	return code;
}

static int64_t random_arg(const struct maker *m, unsigned code)
{
	if (m->spec->op_names == sem_names)
		return code == SEM_POST_N ? (int64_t)below(m->seed, m->mix->most + 1) : 0;
	if (m->spec->op_names == latch_names)
		return code == LATCH_COUNT_DOWN ? (int64_t)below(m->seed, m->mix->most + 1)
						: 0;
	if (m->spec->op_names != queue_names)
		return 0;
	return code == QUEUE_SEND ? (int64_t)m->begun : 0;
}

static int64_t blocked_or(const struct maker *m, int error)
{
	return below(m->seed, 2) ? BLOCKED : -error;
}

static int64_t sem_result(const struct maker *m, const struct history_op *op)
{
	int64_t value = m->state.value;

	switch (op->code) {
	case SEM_WAIT:
		return value ? 0 : BLOCKED;
	case SEM_TRYWAIT:
		return value ? 0 : -EAGAIN;
	case SEM_WAIT_UNTIL:
		return value ? 0 : blocked_or(m, ETIMEDOUT);
	case SEM_POST_N:
		return value + op->arg <= m->spec->max ? 0 : -EOVERFLOW;
	default:
		return value;
	}
}

/* Any sender's value may be next if the order is per sender. */
static int64_t next_value(const struct maker *m)
{
	unsigned count = m->state.queue.count;
	unsigned at = m->spec->per_sender ? (unsigned)below(m->seed, count) : 0;
	uint32_t sender = m->ops[m->state.queue.send[at]].thread;

	for (unsigned i = 0; i < at; i++) {
		if (m->ops[m->state.queue.send[i]].thread == sender)
			at = i;
	}
	return m->ops[m->state.queue.send[at]].arg;
}

static int64_t queue_result(const struct maker *m, const struct history_op *op)
{
	bool full = m->spec->max && m->state.queue.count >= m->spec->max;

	if (op->code == QUEUE_CLOSE)
		return m->state.queue.closed ? -EALREADY : 0;
	if (op->code == QUEUE_RECV && m->state.queue.count)
		return next_value(m);
	if (m->state.queue.closed)
		return -EPIPE;
	return op->code == QUEUE_SEND && !full ? 0 : blocked_or(m, EAGAIN);
}

/* Whatever the specification takes, the best first. */
static int64_t any_result(const struct maker *m, const struct history_op *op)
{
	const int64_t results[] = { 0,      m->state.value, -EAGAIN,   -EBUSY,
				    -EPERM, -EOVERFLOW,     -ETIMEDOUT };

	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		union spec_state state = m->state;
		struct history_op done = *op;

		done.result = results[i];
		done.ret = done.call;
		if (m->spec->apply(m->spec, &done, 0, 0, &state))
			return results[i] == -ETIMEDOUT ? blocked_or(m, ETIMEDOUT)
							: results[i];
	}
	return BLOCKED;
}

static int64_t result_of(const struct maker *m, const struct history_op *op)
{
	if (m->spec->op_names == sem_names)
		return sem_result(m, op);
	return m->spec->op_names == queue_names ? queue_result(m, op) : any_result(m, op);
}

static struct history_op *begin_op(struct maker *m, uint32_t id)
{
	struct history_op *op = &m->ops[m->begun];
	unsigned code = random_code(m);

	*op = (struct history_op){ .call = m->clock++,
				   .ret = HISTORY_PENDING,
				   .arg = random_arg(m, code),
				   .thread = id,
				   .code = code };
	m->begun++;
	return op;
}

/* It happens now. False if it has to wait. */
static bool happen(struct maker *m, struct history_op *op)
{
	int64_t result = result_of(m, op);

	if (result == BLOCKED)
		return false;
	op->result = result;
	op->ret = op->call;
	CHECK(m->spec->apply(m->spec, m->ops, (unsigned)(op - m->ops), 0, &m->state));
	op->ret = HISTORY_PENDING;
	return true;
}

/* The next thing that the thread does. False if it cannot do anything. */
static bool go_on(struct maker *m, struct thread *t)
{
	if (!t->op) {
		if (m->begun == m->n)
			return false;
		t->op = begin_op(m, t->id);
		t->done = false;
	} else if (below(m->seed, 200) < m->mix->killed_in_100) {
		/* It has two steps to die at. Another thread takes its place. */
		t->op = NULL;
		t->id += THREADS_MAX;
	} else if (!t->done) {
		t->done = happen(m, t->op);
		return t->done;
	} else {
		t->op->ret = m->clock++;
		t->op = NULL;
	}
	return true;
}

size_t random_history(struct history_op *ops, size_t n, const struct spec *spec,
		      const struct random_mix *mix, uint64_t *seed)
{
	struct maker m = { .ops = ops,
			   .n = n,
			   .seed = seed,
			   .spec = spec,
			   .mix = mix,
			   .state = spec->begin };
	unsigned idle = 0;

	CHECK(mix->threads <= THREADS_MAX && n <= SPEC_OPS);
	for (unsigned i = 0; i < mix->threads; i++)
		m.thread[i].id = i;
	/* If nobody does anything for so long, probably nobody can; else it stays pending. */
	while (idle < 16 * mix->threads) {
		bool active = go_on(&m, &m.thread[below(seed, mix->threads)]);

		idle = active ? 0 : idle + 1;
	}
	return m.begun;
}

static bool returned(const struct history_op *op)
{
	return op->ret != HISTORY_PENDING;
}

static void swap_times(uint64_t *x, uint64_t *y)
{
	uint64_t z = *x;

	*x = *y;
	*y = z;
}

static void swap_results(struct history_op *a, struct history_op *b)
{
	int64_t result = a->result;

	if (a->code != b->code || !returned(a) || !returned(b))
		return;
	a->result = b->result;
	b->result = result;
}

static void swap_calls(struct history_op *a, struct history_op *b)
{
	if (a->call < b->ret && b->call < a->ret)
		swap_times(&a->call, &b->call);
}

static void swap_returns(struct history_op *a, struct history_op *b)
{
	if (a->call < b->ret && b->call < a->ret)
		swap_times(&a->ret, &b->ret);
}

static void another_result(struct history_op *op, uint64_t *seed)
{
	static const int64_t results[] = { 0,         0,          1,          2,
					   -EAGAIN,   -EAGAIN,    -ETIMEDOUT, -EPIPE,
					   -EALREADY, -EOVERFLOW, -EINTR };

	op->result = results[below(seed, sizeof(results) / sizeof(results[0]))];
}

/* A second receive or wait is a flaw; a second send of one value is not to be checked. */
static size_t repeat(struct history_op *ops, size_t n, size_t i)
{
	if (n == SPEC_OPS || ops[i].code == QUEUE_SEND)
		return n;
	ops[n] = ops[i];
	ops[n].thread += 100;
	return n + 1;
}

size_t random_change(struct history_op *ops, size_t n, uint64_t *seed)
{
	size_t i, k;

	if (n < 2)
		return n;
	i = below(seed, n);
	k = below(seed, n);
	switch (below(seed, 8)) {
	case 0:
		ops[i] = ops[n - 1];
		return n - 1;
	case 1:
		return repeat(ops, n, i);
	case 2:
		swap_calls(&ops[i], &ops[k]);
		break;
	case 3:
		swap_returns(&ops[i], &ops[k]);
		break;
	case 4:
		another_result(&ops[i], seed);
		break;
	case 5:
		ops[i].ret = HISTORY_PENDING;
		break;
	default:
		swap_results(&ops[i], &ops[k]);
		break;
	}
	return n;
}

static void every_order(struct history_op *ops, size_t n, uint64_t when, const bool *pends,
			void (*look)(const struct history_op *ops, size_t n))
{
	bool over = true;

	for (size_t i = 0; i < n; i++) {
		bool called = ops[i].call != HISTORY_PENDING;
		uint64_t *time = called ? &ops[i].ret : &ops[i].call;

		if (*time != HISTORY_PENDING || (called && pends[i]))
			continue;
		over = false;
		*time = when;
		every_order(ops, n, when + 1, pends, look);
		*time = HISTORY_PENDING;
	}
	if (over)
		look(ops, n);
}

void every_history(struct history_op *ops, size_t n,
		   void (*look)(const struct history_op *ops, size_t n))
{
	bool pends[SPEC_OPS];

	CHECK(n <= SPEC_OPS);
	for (size_t i = 0; i < n; i++) {
		pends[i] = ops[i].ret == HISTORY_PENDING;
		ops[i].call = ops[i].ret = HISTORY_PENDING;
	}
	every_order(ops, n, 0, pends, look);
}
