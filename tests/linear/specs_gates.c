/* SPDX-License-Identifier: MIT */
/* Specifications of the gates: latch, once, barrier. */
#include <errno.h>
#include <inttypes.h>

#include "linear/spec_result.h"

const char *const latch_names[] = { "wait",       "trywait", "wait_until",
				    "count_down", "count",   NULL };
const char *const once_names[] = { "begin", "end", "run", NULL };
const char *const barrier_names[] = { "arrive", "leave", "serial", "expire", NULL };

/* What a once is, besides open. */
#define RUNNING 1
#define DONE    2

static bool count_down(const struct history_op *op, int64_t *count)
{
	bool fits = op->arg >= 0 && op->arg <= *count;

	if (failed(op, EOVERFLOW))
		return !fits;
	*count -= op->arg;
	return worked(op) && fits;
}

static bool latch_wait(const struct history_op *op, int64_t count)
{
	if (failed(op, EAGAIN))
		return op->code == LATCH_TRYWAIT && count;
	if (failed(op, ETIMEDOUT))
		return op->code == LATCH_WAIT_UNTIL && count;
	return !pending(op) && op->result == 0 && !count;
}

static bool apply_latch(const struct spec *spec, const struct history_op *ops, unsigned i,
			unsigned choice, union spec_state *s)
{
	(void)spec;
	if (choice)
		return false;
	switch (ops[i].code) {
	case LATCH_WAIT:
	case LATCH_TRYWAIT:
	case LATCH_WAIT_UNTIL:
		return latch_wait(&ops[i], s->value);
	case LATCH_COUNT_DOWN:
		return count_down(&ops[i], &s->value);
	case LATCH_COUNT:
		return !pending(&ops[i]) && ops[i].result == s->value;
	default:
		return false;
	}
}

static void print_left(FILE *out, const struct history_op *ops, const union spec_state *s)
{
	(void)ops;
	fprintf(out, "%" PRId64 " to go", s->value);
}

struct spec spec_latch(int64_t count)
{
	return (struct spec){ .name = "latch",
			      .op_names = latch_names,
			      .words = 1,
			      .begin.value = count,
			      .apply = apply_latch,
			      .print = print_left };
}

static bool apply_once(const struct spec *spec, const struct history_op *ops, unsigned i,
		       unsigned choice, union spec_state *s)
{
	int64_t was = s->value;

	(void)spec;
	/* An end that is pending may be either. */
	if (choice > (ops[i].code == ONCE_END && pending(&ops[i])))
		return false;
	switch (ops[i].code) {
	case ONCE_BEGIN:
		s->value = RUNNING;
		return was == 0 && worked(&ops[i]);
	case ONCE_END:
		s->value = worked(&ops[i]) && !choice ? DONE : 0;
		return was == RUNNING;
	case ONCE_RUN:
		return !pending(&ops[i]) && ops[i].result == ops[i].arg &&
		       (ops[i].result || was == DONE);
	default:
		return false;
	}
}

static void print_once(FILE *out, const struct history_op *ops, const union spec_state *s)
{
	static const char *const words[] = {
		"open", [RUNNING] = "running", [DONE] = "done"
	};

	(void)ops;
	fprintf(out, "%s", words[s->value]);
}

struct spec spec_once(void)
{
	return (struct spec){ .name = "once",
			      .op_names = once_names,
			      .words = 1,
			      .apply = apply_once,
			      .print = print_once };
}

/* The last of the parties: all others of the round have arrived, and may leave from now on. */
static bool end_round(int64_t parties, union spec_state *s)
{
	bool last = __builtin_popcountll(s->waits.waiting) + 1 == parties;

	s->waits.released |= s->waits.waiting;
	s->waits.waiting = 0;
	return last;
}

static bool leave_barrier(const struct history_op *op, uint64_t bit, union spec_state *s)
{
	bool there = s->waits.released & bit;

	s->waits.released &= ~bit;
	return there && !pending(op) && op->result == 0;
}

static bool apply_barrier(const struct spec *spec, const struct history_op *ops, unsigned i,
			  unsigned choice, union spec_state *s)
{
	uint64_t bit = UINT64_C(1) << (ops[i].arg & 63);
	int arrived = __builtin_popcountll(s->waits.waiting);

	if (choice)
		return false;
	switch (ops[i].code) {
	case BARRIER_ARRIVE:
		s->waits.waiting |= bit;
		return worked(&ops[i]) && arrived + 1 < spec->max;
	case BARRIER_LEAVE:
		return leave_barrier(&ops[i], bit, s);
	case BARRIER_SERIAL:
		return (pending(&ops[i]) || ops[i].result == 1) && end_round(spec->max, s);
	case BARRIER_EXPIRE:
		return failed(&ops[i], ETIMEDOUT) && arrived + 1 < spec->max;
	default:
		return false;
	}
}

static void print_parties(FILE *out, const struct history_op *ops,
			  const union spec_state *s)
{
	(void)ops;
	fprintf(out, "%d arrived, %d on their way out",
		__builtin_popcountll(s->waits.waiting),
		__builtin_popcountll(s->waits.released));
}

struct spec spec_barrier(int64_t parties)
{
	return (struct spec){ .name = "barrier",
			      .op_names = barrier_names,
			      .words = 2,
			      .max = parties,
			      .apply = apply_barrier,
			      .print = print_parties };
}
