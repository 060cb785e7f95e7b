/* SPDX-License-Identifier: MIT */
/* Specifications of what is had, set or signalled: reader-writer lock, event, event count, cond. */
#include <errno.h>
#include <inttypes.h>

#include "linear/spec_result.h"

const char *const rwlock_names[] = { "rdlock",       "tryrdlock", "rdlock_until",
				     "rdunlock",     "wrlock",    "trywrlock",
				     "wrlock_until", "wrunlock",  NULL };
const char *const event_names[] = { "wait",  "trywait", "wait_until", "set",
				    "reset", "is_set",  NULL };
const char *const eventcount_names[] = { "prepare", "commit", "notify", NULL };
const char *const cond_names[] = { "enter", "leave", "signal", "broadcast", NULL };

/* Whether an attempt may fail that finds the lock, or not, in its way. */
static bool may_fail(const struct history_op *op, unsigned try_code, unsigned until_code,
		     bool in_the_way)
{
	if (!in_the_way && op->arg != LOCK_KEPT)
		return false;
	return (failed(op, EBUSY) && op->code == try_code) ||
	       (failed(op, ETIMEDOUT) && op->code == until_code);
}

static bool read_lock(const struct history_op *op, union spec_state *s)
{
	if (!worked(op))
		return may_fail(op, RWLOCK_TRYRDLOCK, RWLOCK_RDLOCK_UNTIL,
				s->rwlock.writers);
	s->rwlock.readers++;
	return !s->rwlock.writers;
}

static bool write_lock(const struct history_op *op, union spec_state *s)
{
	bool held = s->rwlock.writers || s->rwlock.readers;

	if (!worked(op))
		return may_fail(op, RWLOCK_TRYWRLOCK, RWLOCK_WRLOCK_UNTIL, held);
	s->rwlock.writers = 1;
	return !held;
}

static bool apply_rwlock(const struct spec *spec, const struct history_op *ops, unsigned i,
			 unsigned choice, union spec_state *s)
{
	(void)spec;
	if (choice)
		return false;
	switch (ops[i].code) {
	case RWLOCK_RDLOCK:
	case RWLOCK_TRYRDLOCK:
	case RWLOCK_RDLOCK_UNTIL:
		return read_lock(&ops[i], s);
	case RWLOCK_WRLOCK:
	case RWLOCK_TRYWRLOCK:
	case RWLOCK_WRLOCK_UNTIL:
		return write_lock(&ops[i], s);
	case RWLOCK_RDUNLOCK:
		return worked(&ops[i]) && s->rwlock.readers && s->rwlock.readers--;
	case RWLOCK_WRUNLOCK:
		return worked(&ops[i]) && s->rwlock.writers && s->rwlock.writers--;
	default:
		return false;
	}
}

static void print_rwlock(FILE *out, const struct history_op *ops, const union spec_state *s)
{
	(void)ops;
	if (s->rwlock.writers)
		fprintf(out, "written");
	else
		fprintf(out, "read by %" PRIu32, s->rwlock.readers);
}

struct spec spec_rwlock(void)
{
	return (struct spec){ .name = "reader-writer lock",
			      .op_names = rwlock_names,
			      .words = 1,
			      .apply = apply_rwlock,
			      .print = print_rwlock };
}

static bool event_wait(const struct history_op *op, int64_t *set, bool auto_reset)
{
	if (failed(op, EINTR))
		return op->code != EVENT_TRYWAIT;
	if (failed(op, EAGAIN))
		return op->code == EVENT_TRYWAIT && !*set;
	if (failed(op, ETIMEDOUT))
		return op->code == EVENT_WAIT_UNTIL && !*set;
	if (!worked(op) || !*set)
		return false;
	*set = !auto_reset;
	return true;
}

static bool apply_event(const struct spec *spec, const struct history_op *ops, unsigned i,
			unsigned choice, union spec_state *s)
{
	if (choice)
		return false;
	switch (ops[i].code) {
	case EVENT_SETS:
	case EVENT_RESETS:
		s->value = ops[i].code == EVENT_SETS;
		return worked(&ops[i]);
	case EVENT_IS_SET:
		return !pending(&ops[i]) && ops[i].result == s->value;
	case EVENT_WAIT:
	case EVENT_TRYWAIT:
	case EVENT_WAIT_UNTIL:
		return event_wait(&ops[i], &s->value, spec->max);
	default:
		return false;
	}
}

static void print_event(FILE *out, const struct history_op *ops, const union spec_state *s)
{
	(void)ops;
	fprintf(out, s->value ? "set" : "not set");
}

struct spec spec_event(bool auto_reset, bool set)
{
	return (struct spec){ .name = auto_reset ? "auto-reset event" : "event",
			      .op_names = event_names,
			      .words = 1,
			      .begin.value = set,
			      .max = auto_reset,
			      .apply = apply_event,
			      .print = print_event };
}

static bool commit(const struct history_op *op, int64_t value)
{
	if (failed(op, ETIMEDOUT))
		return value == op->arg;
	/* Of one that is pending nobody sees anything. */
	return failed(op, EINTR) || (!pending(op) && op->result == 0 && value != op->arg);
}

static bool apply_eventcount(const struct spec *spec, const struct history_op *ops,
			     unsigned i, unsigned choice, union spec_state *s)
{
	(void)spec;
	if (choice)
		return false;
	switch (ops[i].code) {
	case EVENTCOUNT_PREPARE:
		return !pending(&ops[i]) && ops[i].result == s->value;
	case EVENTCOUNT_COMMIT:
		return commit(&ops[i], s->value);
	case EVENTCOUNT_NOTIFY:
		s->value++;
		return worked(&ops[i]);
	default:
		return false;
	}
}

static void print_count(FILE *out, const struct history_op *ops, const union spec_state *s)
{
	(void)ops;
	fprintf(out, "%" PRId64 " notifications", s->value);
}

struct spec spec_eventcount(void)
{
	return (struct spec){ .name = "event count",
			      .op_names = eventcount_names,
			      .words = 1,
			      .apply = apply_eventcount,
			      .print = print_count };
}

/* One of those that wait, which the choice tells, or nobody if nobody does. */
static bool signal_one(unsigned choice, union spec_state *s)
{
	uint64_t left = s->waits.waiting;

	if (!left)
		return choice == 0;
	while (choice-- && left)
		left &= left - 1;
	left &= -left;
	s->waits.waiting &= ~left;
	s->waits.released |= left;
	return left;
}

static bool leave_cond(const struct history_op *op, uint64_t bit, union spec_state *s)
{
	uint64_t *from =
		worked(op) && !pending(op) ? &s->waits.released : &s->waits.waiting;
	bool there = *from & bit;

	*from &= ~bit;
	return there && (worked(op) || failed(op, ETIMEDOUT));
}

static bool apply_cond(const struct spec *spec, const struct history_op *ops, unsigned i,
		       unsigned choice, union spec_state *s)
{
	uint64_t bit = UINT64_C(1) << (ops[i].arg & 63);

	(void)spec;
	if (ops[i].code == COND_SIGNALS)
		return worked(&ops[i]) && signal_one(choice, s);
	if (choice)
		return false;
	switch (ops[i].code) {
	case COND_ENTER:
		s->waits.waiting |= bit;
		return worked(&ops[i]);
	case COND_LEAVE:
		return leave_cond(&ops[i], bit, s);
	case COND_BROADCASTS:
		s->waits.released |= s->waits.waiting;
		s->waits.waiting = 0;
		return worked(&ops[i]);
	default:
		return false;
	}
}

static void print_waits(FILE *out, const struct history_op *ops, const union spec_state *s)
{
	(void)ops;
	fprintf(out, "waiting %#" PRIx64 ", released %#" PRIx64, s->waits.waiting,
		s->waits.released);
}

struct spec spec_cond(void)
{
	return (struct spec){ .name = "condition variable",
			      .op_names = cond_names,
			      .words = 2,
			      .apply = apply_cond,
			      .print = print_waits };
}
