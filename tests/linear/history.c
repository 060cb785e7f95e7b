/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "linear/history.h"

void history_begin(struct history *h, struct history_op *ops, size_t capacity)
{
	h->ops = ops;
	h->count = 0;
	h->capacity = capacity;
	h->own_clock = 0;
	h->clock = &h->own_clock;
}

void history_split(struct history *all, struct history *part, unsigned n)
{
	size_t share = all->capacity / n;

	CHECK_EQ(all->count, 0);
	for (unsigned i = 0; i < n; i++) {
		history_begin(&part[i], all->ops + i * share, share);
		part[i].clock = all->clock;
	}
}

void history_join(struct history *all, const struct history *part, unsigned n)
{
	CHECK_EQ(all->count, 0);
	for (unsigned i = 0; i < n; i++) {
		memmove(all->ops + all->count, part[i].ops,
			part[i].count * sizeof(*all->ops));
		all->count += part[i].count;
	}
}

struct history_op *history_call(struct history *h, unsigned thread, unsigned code,
				int64_t arg)
{
	struct history_op *op = &h->ops[h->count];

	CHECK(h->count < h->capacity);
	op->thread = thread;
	op->code = code;
	op->arg = arg;
	op->result = 0;
	op->ret = HISTORY_PENDING;
	/* Acquire: the operation comes after all that had returned by now. */
	op->call = __atomic_fetch_add(h->clock, 1, __ATOMIC_ACQ_REL);
	/* Whoever is killed in the operation has counted it; before it, it does not matter. */
	h->count++;
	return op;
}

void history_return(struct history *h, struct history_op *op, int64_t result)
{
	/* Release: what the operation did comes before all that is called from now on. */
	uint64_t now = __atomic_fetch_add(h->clock, 1, __ATOMIC_ACQ_REL);

	op->result = result;
	op->ret = now;
}

static void print_result(FILE *out, const struct history_op *op)
{
	const char *name = op->result < 0 ? strerrorname_np((int)-op->result) : NULL;

	if (op->ret == HISTORY_PENDING)
		fprintf(out, "pending");
	else if (name)
		fprintf(out, "-%s", name);
	else
		fprintf(out, "%" PRId64, op->result);
}

static const char *name_of(unsigned code, const char *const *names)
{
	while (*names && code--)
		names++;
	return *names ? *names : "unknown";
}

void history_print(FILE *out, const struct history_op *op, const char *const *names)
{
	fprintf(out, "thread %" PRIu32 "  %s(%" PRId64 ") = ", op->thread,
		name_of(op->code, names), op->arg);
	print_result(out, op);
	if (op->ret == HISTORY_PENDING)
		fprintf(out, "  [%" PRIu64 " .. never]\n", op->call);
	else
		fprintf(out, "  [%" PRIu64 " .. %" PRIu64 "]\n", op->call, op->ret);
}

void *history_array(size_t n, size_t bytes)
{
	void *memory = calloc(n ? n : 1, bytes);

	CHECK(memory);
	return memory;
}
