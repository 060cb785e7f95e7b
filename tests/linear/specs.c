/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "linear/spec_result.h"

const char *const sem_names[] = {
	"wait", "trywait", "wait_until", "post_n", "value", NULL
};
const char *const register_names[] = { "read", "write", NULL };
const char *const queue_names[] = { "send", "recv", "close", NULL };
const char *const mutex_names[] = { "lock", "trylock", "lock_until", "unlock", NULL };

static void print_value(FILE *out, const struct history_op *ops, const union spec_state *s)
{
	(void)ops;
	fprintf(out, "value %" PRId64, s->value);
}

static bool take(const struct history_op *op, int64_t *value)
{
	if (worked(op))
		return (*value)-- > 0;
	if (failed(op, EAGAIN))
		return op->code == SEM_TRYWAIT && *value == 0;
	if (failed(op, ETIMEDOUT))
		return op->code == SEM_WAIT_UNTIL && *value == 0;
	return failed(op, EINTR) && op->code != SEM_TRYWAIT;
}

static bool post(const struct history_op *op, int64_t *value, int64_t max)
{
	bool fits = op->arg <= max - *value;

	if (failed(op, EOVERFLOW))
		return !fits;
	if (!worked(op) || !fits || op->arg < 0)
		return false;
	*value += op->arg;
	return true;
}

static bool apply_sem(const struct spec *spec, const struct history_op *ops, unsigned i,
		      unsigned choice, union spec_state *s)
{
	if (choice)
		return false;
	switch (ops[i].code) {
	case SEM_WAIT:
	case SEM_TRYWAIT:
	case SEM_WAIT_UNTIL:
		return take(&ops[i], &s->value);
	case SEM_POST_N:
		return post(&ops[i], &s->value, spec->max);
	case SEM_VALUE:
		return !pending(&ops[i]) && ops[i].result == s->value;
	default:
		return false;
	}
}

struct spec spec_sem(int64_t value, int64_t max)
{
	return (struct spec){ .name = "semaphore",
			      .op_names = sem_names,
			      .words = 1,
			      .begin.value = value,
			      .max = max,
			      .apply = apply_sem,
			      .print = print_value };
}

static bool apply_register(const struct spec *spec, const struct history_op *ops,
			   unsigned i, unsigned choice, union spec_state *s)
{
	if (choice)
		return false;
	(void)spec;
	switch (ops[i].code) {
	case REGISTER_READ:
		return !pending(&ops[i]) && ops[i].result == s->value;
	case REGISTER_WRITE:
		s->value = ops[i].arg;
		return worked(&ops[i]);
	default:
		return false;
	}
}

struct spec spec_register(int64_t value)
{
	return (struct spec){ .name = "register",
			      .op_names = register_names,
			      .words = 1,
			      .begin.value = value,
			      .apply = apply_register,
			      .print = print_value };
}

static bool lock(const struct history_op *op, uint64_t *owner)
{
	uint64_t me = (uint64_t)op->thread + 1;

	if (worked(op) && *owner == 0) {
		*owner = me;
		return true;
	}
	if (failed(op, EBUSY))
		return op->code == MUTEX_TRYLOCK && (*owner || op->arg == LOCK_KEPT);
	if (failed(op, ETIMEDOUT))
		return op->code == MUTEX_LOCK_UNTIL && (*owner || op->arg == LOCK_KEPT);
	return failed(op, EDEADLK) && op->code != MUTEX_TRYLOCK && *owner == me;
}

static bool unlock(const struct history_op *op, uint64_t *owner)
{
	uint64_t me = (uint64_t)op->thread + 1;

	if (failed(op, EPERM))
		return *owner != me;
	if (!worked(op) || *owner != me)
		return false;
	*owner = 0;
	return true;
}

static bool apply_mutex(const struct spec *spec, const struct history_op *ops, unsigned i,
			unsigned choice, union spec_state *s)
{
	if (choice)
		return false;
	(void)spec;
	switch (ops[i].code) {
	case MUTEX_LOCK:
	case MUTEX_TRYLOCK:
	case MUTEX_LOCK_UNTIL:
		return lock(&ops[i], &s->owner);
	case MUTEX_UNLOCK:
		return unlock(&ops[i], &s->owner);
	default:
		return false;
	}
}

static void print_owner(FILE *out, const struct history_op *ops, const union spec_state *s)
{
	(void)ops;
	if (s->owner)
		fprintf(out, "locked by thread %" PRIu64, s->owner - 1);
	else
		fprintf(out, "unlocked");
}

struct spec spec_mutex(void)
{
	return (struct spec){ .name = "mutex",
			      .op_names = mutex_names,
			      .words = 1,
			      .apply = apply_mutex,
			      .print = print_owner };
}

static bool send(const struct spec *spec, const struct history_op *ops, unsigned i,
		 union spec_state *s)
{
	const struct history_op *op = &ops[i];
	bool full = spec->max && s->queue.count >= spec->max;

	if (failed(op, EPIPE))
		return s->queue.closed;
	if (failed(op, EAGAIN) || failed(op, ETIMEDOUT))
		return full && !s->queue.closed;
	if (!worked(op))
		return failed(op, EINTR);
	if (full || s->queue.closed || op->arg < 0)
		return false;
	s->queue.send[s->queue.count++] = (uint8_t)i;
	return true;
}

/* No value before the one at @at has the same sender. */
static bool first_of_sender(const struct history_op *ops, const union spec_state *s,
			    unsigned at)
{
	for (unsigned k = 0; k < at; k++) {
		if (ops[s->queue.send[k]].thread == ops[s->queue.send[at]].thread)
			return false;
	}
	return true;
}

/* Where the value is that the operation receives; count if it is not to be received. */
static unsigned place_of(const struct spec *spec, const struct history_op *ops,
			 const struct history_op *op, unsigned choice,
			 const union spec_state *s)
{
	unsigned candidates = spec->per_sender ? s->queue.count : s->queue.count > 0;

	for (unsigned at = 0; at < candidates; at++) {
		bool fits = pending(op) || ops[s->queue.send[at]].arg == op->result;

		if (fits && first_of_sender(ops, s, at) && choice-- == 0)
			return at;
	}
	return s->queue.count;
}

static bool receive(const struct spec *spec, const struct history_op *ops,
		    const struct history_op *op, unsigned choice, union spec_state *s)
{
	unsigned at;

	if (!pending(op) && op->result < 0 && choice)
		return false;
	if (failed(op, EPIPE))
		return s->queue.closed && s->queue.count == 0;
	if (failed(op, EAGAIN) || failed(op, ETIMEDOUT))
		return !s->queue.closed && s->queue.count == 0;
	if (failed(op, EINTR))
		return true;
	at = place_of(spec, ops, op, choice, s);
	if (at == s->queue.count)
		return false;
	s->queue.count--;
	memmove(&s->queue.send[at], &s->queue.send[at + 1], s->queue.count - at);
	s->queue.send[s->queue.count] = 0;
	return true;
}

static bool close_queue(const struct history_op *op, union spec_state *s)
{
	if (failed(op, EALREADY))
		return s->queue.closed;
	if (!worked(op) || s->queue.closed)
		return false;
	s->queue.closed = 1;
	return true;
}

static bool apply_queue(const struct spec *spec, const struct history_op *ops, unsigned i,
			unsigned choice, union spec_state *s)
{
	switch (ops[i].code) {
	case QUEUE_SEND:
		return choice == 0 && send(spec, ops, i, s);
	case QUEUE_RECV:
		return receive(spec, ops, &ops[i], choice, s);
	case QUEUE_CLOSE:
		return choice == 0 && close_queue(&ops[i], s);
	default:
		return false;
	}
}

static void print_queue(FILE *out, const struct history_op *ops, const union spec_state *s)
{
	fprintf(out, "%s, holds", s->queue.closed ? "closed" : "open");
	for (unsigned i = 0; i < s->queue.count; i++)
		fprintf(out, " %" PRId64, ops[s->queue.send[i]].arg);
	if (s->queue.count == 0)
		fprintf(out, " nothing");
}

struct spec spec_queue(int64_t capacity)
{
	return (struct spec){ .name = "queue",
			      .op_names = queue_names,
			      .words = 1 + SPEC_OPS / 8,
			      .max = capacity,
			      .apply = apply_queue,
			      .print = print_queue };
}

struct spec spec_queue_per_sender(void)
{
	struct spec spec = spec_queue(0);

	spec.name = "queue in the order of each sender";
	spec.per_sender = true;
	return spec;
}
