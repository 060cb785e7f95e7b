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

#include "interleave/queue_segments.h"
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
#include "queue/slot.h"

/* Long enough not to expire before somebody could run, in ns. */
#define SOON_NS 500000

/* Elements are at most so long; the first bytes are their number. */
#define ELEM_MOST 24

/* Numbers are below that. */
#define ELEMS_MOST 64

static struct ipcwait_queue *queue;
static struct history history;
static struct history_op ops[SPEC_OPS];
static volatile unsigned pushed, popped;
static volatile unsigned pushes_done, pops_begun; /* for sure; at most */
static volatile bool closing;
static unsigned *before_close; /* what the only closer has written before */

/* Who has pushed what, and what of each pusher's each popper has popped last. */
static volatile unsigned char pusher[ELEMS_MOST];
static volatile unsigned latest[MODEL_THREADS_MAX + 1][MODEL_THREADS_MAX + 1];

static const struct queue_script *script(void)
{
	return model_script();
}

/* No scenario waits for several. */
void iw_any_admit(const struct iw_any_kind *kind)
{
	(void)kind;
}

static bool one_closes(void)
{
	const enum queue_step *step = script()->step[0];
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX * QUEUE_STEPS; i++)
		n += step[i] == CLOSES;
	return n == 1;
}

/* Whoever is told that it is closed sees what came before. */
static void note_end(int64_t r)
{
	if (r == -EPIPE && one_closes())
		model_assert(*before_close == 1);
}

struct elem {
	unsigned char byte[ELEM_MOST];
};

/* The first three elements: what a slot's word cannot be. */
static const uint64_t escaped[] = { IW_SLOT_EMPTY, IW_SLOT_POISON, IW_SLOT_ESCAPED };

static struct elem elem_of(unsigned number)
{
	struct elem e;

	memset(&e, (int)number, sizeof(e));
	if (script()->escaped)
		memcpy(&e, &escaped[number - 1], sizeof(escaped[0]));
	return e;
}

static int64_t number_of_escaped(const char *at)
{
	unsigned n = 0;

	while (n < 3 && memcmp(at, &escaped[n], sizeof(escaped[0])))
		n++;
	model_assert(n < 3);
	return n + 1;
}

static int64_t number_of(const char *at, size_t bytes)
{
	if (script()->escaped)
		return number_of_escaped(at);
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

		model_assert(pushed < ELEMS_MOST);
		pusher[pushed] = (unsigned char)model_thread();
		memcpy(elems + i * elem_bytes(), &e, elem_bytes());
		op[i] = history_call(&history, model_thread() + 8 * i, QUEUE_SEND, pushed);
	}
	r = n > 1 ? ipcwait_queue_push_n(queue, elems, n)
		  : ipcwait_queue_push(queue, elems);
	model_assert(r == -EPIPE || (n > 1 ? r > 0 && r <= n : r == 0));
	note_end(r);
	pushes_done += n > 1 ? (r > 0 ? (unsigned)r : 0) : !r;
	for (unsigned i = 0; i < n; i++)
		history_return(&history, op[i], r < 0 || (n > 1 && i >= r) ? -EPIPE : 0);
}

/* What one thread has pushed another pops in the same order, also by twos. */
static void note_popped(struct history_op *op, const char *elem)
{
	int64_t number = number_of(elem, elem_bytes());
	volatile unsigned *last = &latest[model_thread()][pusher[number % ELEMS_MOST]];

	popped++;
	model_assert(number > *last);
	*last = (unsigned)number;
	history_return(&history, op, number);
}

static void pop_once(enum queue_step step)
{
	struct history_op *op = history_call(&history, model_thread(), QUEUE_RECV, 0);
	int64_t deadline = model_now() + SOON_NS;
	char elem[ELEM_MOST];
	int r;

	pops_begun++;
	r = step == TRIES  ? ipcwait_queue_trypop(queue, elem)
	    : step == POPS ? ipcwait_queue_pop(queue, elem)
			   : ipcwait_queue_pop_until(queue, elem, deadline);

	model_assert(r != -ETIMEDOUT || model_now() >= deadline);
	model_assert(r != -EAGAIN || step == TRIES);
	note_end(r);
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
	int64_t r;

	pops_begun += 2;
	r = ipcwait_queue_pop_n(queue, elems, 2);
	note_end(r);
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
	if (one_closes())
		*before_close = 1;
	history_return(&history, op, ipcwait_queue_close(queue));
}

/*
 * Whatever goes on, there are not more than pushes have begun, nor fewer than are sure. In weak
 * memory, and of what is stored, only as far as this thread has been told of it.
 */
static void measure(void)
{
	unsigned popped_before = popped, done_before = pushes_done;
	bool told = script()->flags & IPCWAIT_QUEUE_ONE_CONSUMER
			    ? model_memory() == MODEL_SC
			    : model_memory() != MODEL_WEAK;
	uint64_t lo, hi;

	model_assert(ipcwait_queue_length(queue, &lo, &hi) == 0);
	model_assert(!told || lo <= pushed - popped_before);
	model_assert(!told || hi + pops_begun >= done_before);
	model_assert(hi >= script()->least);
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
						       s->elem_bytes ? s->elem_bytes : 16,
					       .flags = s->flags };

	engine_spins = s->spins;
	segments_begin(s->slots ? s->slots : 2);
	pushed = popped = pushes_done = pops_begun = 0;
	closing = false;
	memset((void *)latest, 0, sizeof(latest));
	history_begin(&history, ops, SPEC_OPS);
	rcu_begin();
	before_close = model_alloc(sizeof(*before_close));
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
	for (sure -= popped; sure; sure--)
		pop_once(TRIES);
	pop_once(TRIES);
	check_history();
	ipcwait_queue_destroy(queue);
	rcu_end();
	model_free(before_close);
	model_assert(!segments_left());
}
