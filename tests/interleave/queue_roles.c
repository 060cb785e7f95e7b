/* SPDX-License-Identifier: MIT */
/*
 * What threads do with a queue, and what must hold whatever they do: the history is linearizable,
 * each element has what its pusher wrote, nobody sleeps beside an element, and no segment is
 * touched after it was given back. The sources are the shipped ones, over segments of few slots,
 * and with little patience.
 */
#include "interleave/queue_roles.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "interleave/rcu.h"
#include "linear/wing_gong.h"

static void *allocate(size_t align, size_t bytes)
{
	(void)align;
	return model_alloc(bytes);
}

#define aligned_alloc allocate
#define free          model_free

#include "queue/queue.c"

/* Long enough not to expire before somebody could run, in ns. */
#define SOON_NS 500000

/* Elements are at most so long; the first bytes are their number. */
#define ELEM_MOST 24

static struct ipcwait_queue *queue;
static struct history history;
static struct history_op ops[SPEC_OPS];
static volatile unsigned segments; /* that are not given back */
static volatile unsigned pushed, popped;
static volatile bool closing;

static const struct queue_script *script(void)
{
	return model_script();
}

struct iw_segment *iw_segment_get(uint32_t bytes, size_t stride)
{
	unsigned slots = script()->slots ? script()->slots : 2;
	struct iw_segment *s = model_alloc(sizeof(*s) + slots * stride);

	(void)bytes;
	s->slots = slots;
	segments++;
	return s;
}

void iw_segment_put(struct iw_segment *s)
{
	segments--;
	model_free(s);
}

static void give_back(struct iw_rcu_head *head)
{
	iw_segment_put((void *)((char *)head - offsetof(struct iw_segment, retired)));
}

void iw_segment_retire(struct iw_segment *s)
{
	iw_rcu_retire(&s->retired, give_back);
}

size_t iw_segments_trim(void)
{
	return 0;
}

uint64_t iw_segments_in_limbo(void)
{
	return 0;
}

struct elem {
	unsigned char byte[ELEM_MOST];
};

static struct elem elem_of(unsigned number)
{
	struct elem e;

	memset(&e, (int)number, sizeof(e));
	return e;
}

static int64_t number_of(const char *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		model_assert(at[i] == at[0]);
	return (unsigned char)at[0];
}

static size_t elem_bytes(void)
{
	return queue->chain.elem_bytes;
}

static void push_some(unsigned n)
{
	struct history_op *op[2];
	char elems[2 * ELEM_MOST];
	int64_t r;

	for (unsigned i = 0; i < n; i++) {
		struct elem e = elem_of(++pushed);

		memcpy(elems + i * elem_bytes(), &e, elem_bytes());
		op[i] = history_call(&history, model_thread() + 8 * i, QUEUE_SEND, pushed);
	}
	r = n > 1 ? ipcwait_queue_push_n(queue, elems, n)
		  : ipcwait_queue_push(queue, elems);
	model_assert(r == -EPIPE || (n > 1 ? r > 0 && r <= n : r == 0));
	for (unsigned i = 0; i < n; i++)
		history_return(&history, op[i], r < 0 || (n > 1 && i >= r) ? -EPIPE : 0);
}

static void note_popped(struct history_op *op, const char *elem)
{
	popped++;
	history_return(&history, op, number_of(elem, elem_bytes()));
}

static void pop_once(enum queue_step step)
{
	struct history_op *op = history_call(&history, model_thread(), QUEUE_RECV, 0);
	int64_t deadline = model_now() + SOON_NS;
	char elem[ELEM_MOST];
	int r = step == TRIES  ? ipcwait_queue_trypop(queue, elem)
		: step == POPS ? ipcwait_queue_pop(queue, elem)
			       : ipcwait_queue_pop_until(queue, elem, deadline);

	model_assert(r != -ETIMEDOUT || model_now() >= deadline);
	if (r)
		history_return(&history, op, r);
	else
		note_popped(op, elem);
}

/* What comes besides the first one is popped at another instant of the same call. */
static void pop_two(void)
{
	char elems[2 * ELEM_MOST];
	struct history_op *op = history_call(&history, model_thread(), QUEUE_RECV, 0);
	struct history_op *second =
		history_call(&history, model_thread() + 8, QUEUE_RECV, 0);
	int64_t r = ipcwait_queue_pop_n(queue, elems, 2);

	if (r < 0) {
		history_return(&history, op, r);
		return;
	}
	note_popped(op, elems);
	if (r == 2)
		note_popped(second, elems + elem_bytes());
}

static void close_it(void)
{
	struct history_op *op = history_call(&history, model_thread(), QUEUE_CLOSE, 0);

	closing = true;
	history_return(&history, op, ipcwait_queue_close(queue));
}

/*
 * Whatever goes on, there are not more than pushes have begun, nor fewer than are sure. In weak
 * memory only as far as this thread has been told of it.
 */
static void measure(void)
{
	unsigned popped_before = popped;
	uint64_t lo, hi;

	model_assert(ipcwait_queue_length(queue, &lo, &hi) == 0);
	model_assert(model_memory() == MODEL_WEAK || lo <= pushed - popped_before);
	model_assert(lo <= hi);
}

static void act(enum queue_step step)
{
	switch (step) {
	case NOTHING:
		break;
	case PUSHES:
	case PUSHES_TWO:
		push_some(step == PUSHES ? 1 : 2);
		break;
	case TRIES_TWO:
		pop_two();
		break;
	case CLOSES:
		close_it();
		break;
	case MEASURES:
		measure();
		break;
	default:
		pop_once(step);
	}
}

void queue_begin(void)
{
	const struct queue_script *s = script();
	struct ipcwait_queue_params params = { .elem_size =
						       s->elem_bytes ? s->elem_bytes : 8,
					       .flags = s->flags };

	engine_spins = s->spins;
	segments = pushed = popped = 0;
	closing = false;
	history_begin(&history, ops, SPEC_OPS);
	rcu_begin();
	queue = ipcwait_queue_create(&params);
	model_assert(queue);
	/* The test is another process, and pushes too. */
	queue->elements.flags = 0;
	model_quiet(&queue->elements.window, sizeof(queue->elements.window));
	model_name(&queue->chain.head, "head");
	model_name(&queue->chain.tail, "tail");
	model_name(&queue->elements.word, "line");
	for (unsigned i = 0; i < s->there; i++)
		push_some(1);
}

void queue_thread(unsigned i)
{
	for (unsigned k = 0; k < QUEUE_STEPS; k++)
		act(script()->step[i][k]);
}

void queue_at_rest(void)
{
	uint64_t lo, hi;

	model_assert(ipcwait_queue_length(queue, &lo, &hi) == 0);
	model_assert(!hi && !closing);
	for (unsigned n = 0; n < script()->rest; n++)
		push_some(1);
}

static void check_history(void)
{
	static struct wing_gong *checker;
	static struct spec spec;

	if (!checker) {
		spec = spec_queue(0);
		checker = wing_gong_create(&spec);
	}
	if (wing_gong_check(checker, ops, history.count) == WING_GONG_YES)
		return;
	if (model_tracing())
		wing_gong_print(checker, stderr);
	model_assert(!"the history is linearizable");
}

void queue_end(void)
{
	uint64_t lo, hi, sure = 0;

	for (size_t i = 0; i < history.count; i++)
		sure += ops[i].code == QUEUE_SEND && ops[i].result == 0;
	model_assert(ipcwait_queue_length(queue, &lo, &hi) == 0);
	model_assert(lo == hi && lo == sure - popped);
	while (popped < sure)
		pop_once(TRIES);
	pop_once(TRIES);
	check_history();
	ipcwait_queue_destroy(queue);
	rcu_end();
	model_assert(!segments);
}
