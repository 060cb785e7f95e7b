/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interleave/spsc_roles.h"

static void *allocate(size_t align, size_t size)
{
	(void)align;
	return model_alloc(size);
}

static void release(void *p)
{
	if (p)
		model_free(p);
}

#define aligned_alloc allocate
#define free          release

#include "queue/spsc_life.c"
#include "queue/spsc_ring.c"

/* Long enough not to expire before somebody could run, in ns. */
#define SOON_NS 500000

#define NUMBERS_MAX 16

static struct ipcwait_spsc *q;

/* What the producer writes before it pushes its number, and nobody protects. */
static uint32_t *behind;

/* Notes of the test's own. */
static volatile uint64_t pushed, popped, ended;
static volatile bool closed;   /* a close has begun */
static volatile bool shut;     /* one has returned */
static volatile bool done;     /* one of the producer's own */
static volatile bool wants[2]; /* the producer, the consumer is in a wait */

static const struct spsc_script *script(void)
{
	return model_script();
}

static uint64_t length(void)
{
	return model_peek(&q->producer.at) - model_peek(&q->consumer.at);
}

static uint64_t number(uint64_t n)
{
	model_assert(n < NUMBERS_MAX);
	behind[n] = (uint32_t)n + 1;
	return n;
}

static void got(uint64_t n)
{
	model_assert(n == popped);
	model_assert(behind[n] == n + 1);
	popped++;
}

static void end_one(void *elem, void *arg)
{
	model_assert(arg == (void *)behind);
	model_assert(*(uint64_t *)elem == popped + ended);
	ended++;
}

/* Moves the beginning of an empty queue. */
static void begin_at(struct iw_spsc *s, uint64_t at)
{
	((struct iw_spsc_ring *)q->producer.ring)->first = at;
	q->producer.at.v = q->consumer.at.v = q->consumer.until = at;
	q->producer.until = at + s->room;
}

void spsc_begin(void)
{
	const struct spsc_script *s = script();
	struct ipcwait_spsc_params params = {
		.elem_size = sizeof(uint64_t),
		.capacity = s->capacity,
		.elem_fini = end_one,
		.flags = s->exchanges ? IPCWAIT_SPSC_NO_MEMBARRIER : 0,
	};

	engine_spins = s->spins;
	pushed = popped = ended = 0;
	closed = shut = done = wants[0] = wants[1] = false;
	params.elem_fini_arg = behind = model_alloc(NUMBERS_MAX * sizeof(*behind));
	q = ipcwait_spsc_create(&params);
	iw_spsc(q)->bounded = !s->unbounded;
	begin_at(iw_spsc(q), s->at);
	model_quiet(&q->elements.window, sizeof(q->elements.window));
	model_quiet(&q->room.window, sizeof(q->room.window));
	model_name(&q->producer.at, "producer.at");
	model_name(&q->consumer.at, "consumer.at");
	model_name(&q->elements.word, "elements");
	model_name(&q->room.word, "room");
	model_name(&q->closed, "closed");
	model_name(&iw_spsc(q)->spare, "spare");
	for (unsigned i = 0; i < s->full; i++) {
		uint64_t n = number(pushed);

		model_assert(ipcwait_spsc_push(q, &n) == 0);
		pushed++;
	}
}

/* What a push may say. */
static void note_push(int64_t r, bool waits)
{
	model_assert(r > 0 || r == -EPIPE || (!waits && r == -EAGAIN) ||
		     (waits && r == -ETIMEDOUT));
	model_assert(r != -EPIPE || closed);
	model_assert(r == -EPIPE || !done);
	model_assert(r != -EAGAIN || !script()->unbounded);
	if (r > 0)
		pushed += (uint64_t)r;
}

static int64_t wait_for_room(int64_t deadline)
{
	uint64_t n = number(pushed);
	int r;

	wants[0] = true;
	r = ipcwait_spsc_push_until(q, &n, deadline);
	wants[0] = false;
	model_assert(r != -ETIMEDOUT || deadline != IPCWAIT_FOREVER);
	return r ? r : 1;
}

/* Two numbers, or as many as there is room for. */
static int64_t write_in_place(void)
{
	size_t n = 2;
	uint64_t *place = ipcwait_spsc_reserve(q, &n);
	int r;

	model_assert(!place == !n && n <= 2);
	for (size_t i = 0; i < n; i++)
		place[i] = number(pushed + i);
	if (!n)
		return closed ? -EPIPE : -EAGAIN;
	r = ipcwait_spsc_commit(q, n);
	return r ? r : (int64_t)n;
}

static void produce(enum spsc_step step)
{
	uint64_t two[2] = { number(pushed), number(pushed + 1) };
	int r;

	switch (step) {
	case PUSHES:
		r = ipcwait_spsc_push(q, two);
		note_push(r ? r : 1, false);
		break;
	case PUSHES_TWO:
		note_push(ipcwait_spsc_push_n(q, two, 2), false);
		break;
	case WRITES:
		note_push(write_in_place(), false);
		break;
	case WAITS_FOR_ROOM_UNTIL:
		note_push(wait_for_room(model_now() + SOON_NS), true);
		break;
	case TRIMS:
		(void)ipcwait_spsc_trim(q);
		break;
	default:
		note_push(wait_for_room(IPCWAIT_FOREVER), true);
	}
}

static int64_t wait_for_one(uint64_t *n, int64_t deadline)
{
	int r;

	wants[1] = true;
	r = deadline == IPCWAIT_FOREVER ? ipcwait_spsc_pop(q, n)
					: ipcwait_spsc_pop_until(q, n, deadline);
	wants[1] = false;
	model_assert(r != -EAGAIN && (r != -ETIMEDOUT || deadline != IPCWAIT_FOREVER));
	return r ? r : 1;
}

static int64_t read_in_place(uint64_t *two)
{
	size_t n = 2;
	const uint64_t *place = ipcwait_spsc_peek(q, &n);

	model_assert(!place == !n && n <= 2);
	for (size_t i = 0; i < n; i++)
		two[i] = place[i];
	if (!n)
		return closed ? -EPIPE : -EAGAIN;
	model_assert(ipcwait_spsc_release(q, n) == 0);
	return (int64_t)n;
}

static int64_t take(enum spsc_step step, uint64_t *two)
{
	int r;

	switch (step) {
	case POPS:
		r = ipcwait_spsc_trypop(q, two);
		return r ? r : 1;
	case POPS_TWO:
		return ipcwait_spsc_pop_n(q, two, 2);
	case READS:
		return read_in_place(two);
	case WAITS_UNTIL:
		return wait_for_one(two, model_now() + SOON_NS);
	default:
		return wait_for_one(two, IPCWAIT_FOREVER);
	}
}

static void consume(enum spsc_step step)
{
	uint64_t two[2];
	int64_t r = take(step, two);

	model_assert(r > 0 || r == -EPIPE || r == -EAGAIN || r == -ETIMEDOUT);
	model_assert(r != -EPIPE || closed);
	for (int64_t i = 0; i < r; i++)
		got(two[i]);
	/* The producer closes when it is done: what was not here by then does not come. */
	if (r == -EPIPE && script()->step[1][0] != CLOSES && script()->step[2][0] != CLOSES)
		model_assert(popped == pushed);
}

static void count(void)
{
	uint64_t lo, hi;

	model_assert(ipcwait_spsc_length(q, &lo, &hi) == 0);
	model_assert(lo <= hi);
	model_assert(script()->unbounded || hi <= script()->capacity);
}

static void close_it(unsigned i)
{
	int r;

	closed = true;
	r = ipcwait_spsc_close(q);
	model_assert(r == 0 || r == -EALREADY);
	shut = true;
	done |= i == 0;
}

static void act(unsigned i, enum spsc_step step)
{
	if (step == CLOSES)
		close_it(i);
	else if (step == COUNTS)
		count();
	else if (step != NOTHING && i == 0)
		produce(step);
	else if (step != NOTHING)
		consume(step);
}

void spsc_thread(unsigned i)
{
	for (unsigned k = 0; k < SPSC_STEPS_MAX; k++)
		act(i, script()->step[i][k]);
}

/* Interrupts a wait, and changes nothing. */
void spsc_handler(unsigned i)
{
	(void)i;
}

void spsc_look(void)
{
	model_assert((int64_t)length() >= 0);
	model_assert(script()->unbounded || length() <= script()->capacity);
}

/* Nobody sleeps on what is there. */
void spsc_at_rest(void)
{
	if (wants[1])
		model_assert(!length() && !shut);
	if (wants[0])
		model_assert(length() == script()->capacity && !shut);
}

void spsc_end(void)
{
	uint64_t left = pushed - popped;

	model_assert(!script()->all_come || !left);
	ipcwait_spsc_destroy(q);
	model_assert(ended == left);
	model_free(behind);
}
