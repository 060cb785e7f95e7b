/* SPDX-License-Identifier: MIT */
/*
 * Channels between processes: lib/queue/shared.c and shared_bury.c, with waiters as in
 * lib/queue/blocking.c. What must hold whatever threads do: slots go on as the table of
 * shared_head.h says; what was sent is received, once, and in order; nobody sleeps on what is
 * there; after a close all learn of it. If one dies, the others go on, and miss one element at
 * most.
 */
#include <errno.h>
#include <string.h>

#include "interleave/engine.h"
#include "interleave/model.h"
#include "queue/blocking.h"
#include "queue/shared.h"

#define SLOTS_MOST 4
#define STEPS_MOST 3
#define VALUES     (MODEL_THREADS_MAX * 8)

/* The participant that looks on from outside. */
#define HOST MODEL_THREADS_MAX

/* What a thread does; it waits where nothing else is said. */
enum step {
	NOTHING,
	SENDS,
	RECEIVES,
	TRIES_TO_SEND,
	TRIES_TO_RECEIVE,
	RECEIVES_ALL, /* until it is told that it is closed */
	CLOSES,
	INHERITS, /* takes part as the first thread, if that is dead */
};

struct script {
	enum step step[MODEL_THREADS_MAX][STEPS_MOST];
	uint64_t capacity;
	unsigned holds; /* so many elements to begin with, by the host */
	unsigned taken; /* before that so many have gone through */
	enum engine_spins spins;
};

static struct iw_shared_head *head;
static uint32_t *
	locks_gone; /* mask of participants: the kernel's, which frees what the dead held */
static struct iw_shared handle[MODEL_THREADS_MAX + 1];

/* Notes of the test's own. */
static volatile unsigned sent[VALUES], seen[VALUES], begun[MODEL_THREADS_MAX + 1];
static volatile unsigned last_seen[MODEL_THREADS_MAX + 1][MODEL_THREADS_MAX + 1];
static volatile bool closing, closed, drained, inherited;
static volatile bool told_closed[MODEL_THREADS_MAX + 1];
static volatile uint64_t last[SLOTS_MOST];

static const struct script *script(void)
{
	return model_script();
}

/* In place of lib/queue/shared_life.c. Whoever finds a lock free sees what its holder has done. */
bool iw_shared_is_gone(const struct iw_shared *s, uint32_t owner)
{
	(void)s;
	return __atomic_load_n(locks_gone, __ATOMIC_ACQUIRE) >> owner & 1;
}

/* Only the first thread dies. */
static void died(unsigned process)
{
	(void)process;
	(void)__atomic_fetch_or(locks_gone, 1, __ATOMIC_RELEASE);
}

static struct iw_shared take_part(uint32_t me)
{
	uint64_t capacity = script()->capacity;
	struct iw_shared s = { .head = head,
			       .slots = (unsigned char *)(head + 1),
			       .me = me };

	s.is.elem_bytes = 2 * sizeof(uint64_t);
	s.is.stride = sizeof(uint64_t) + s.is.elem_bytes;
	s.is.capacity = capacity;
	s.index_bits = capacity > 2 ? 2 : capacity > 1;
	s.lap_bits = IW_SHARED_LAP_BITS;
	return s;
}

static uint64_t slot_word(unsigned i)
{
	return model_peek(iw_shared_slot(&handle[HOST], i));
}

/* Stages go on as the table says, and each claim is its thread's. */
static void look(void)
{
	for (unsigned i = 0; i < script()->capacity; i++) {
		uint64_t w = slot_word(i), before = last[i];
		uint64_t stages = iw_shared_stage(w) - iw_shared_stage(before);
		bool written =
			iw_shared_stage(before) % IW_SHARED_STATES == IW_SHARED_WRITING;

		if (w == before)
			continue;
		model_assert(stages == 1 || (stages == 3 && written));
		model_assert(!iw_shared_is_claimed(w) ||
			     iw_shared_owner(w) == handle[model_thread()].me);
		last[i] = w;
	}
}

static void note_seen(const uint64_t *elem)
{
	unsigned from = (unsigned)elem[0] / 8, me = model_thread();

	model_assert(elem[0] < VALUES && elem[1] == ~elem[0]);
	model_assert(elem[0] % 8 < begun[from]);
	model_assert(seen[elem[0]]++ == 0);
	model_assert(elem[0] + 1 > last_seen[me][from]);
	last_seen[me][from] = (unsigned)elem[0] + 1;
}

static int try_send(struct iw_shared *s, unsigned me)
{
	uint64_t elem[2] = { me * 8 + begun[me] - 1 };
	bool late = closed;
	int r;

	elem[1] = ~elem[0];
	r = iw_shared_trysend(s, elem);
	model_assert(r == 0 || r == -EAGAIN || r == -EPIPE);
	model_assert(r == -EPIPE ? closing : !late || r);
	if (r == 0)
		sent[elem[0]] = 1;
	return r;
}

static int try_receive(struct iw_shared *s)
{
	uint64_t elem[2];
	int r = iw_shared_tryrecv(s, elem);

	model_assert(r == 0 || r == -EAGAIN || r == -EPIPE);
	model_assert(r != -EPIPE || closing);
	if (r == 0)
		note_seen(elem);
	drained |= r == -EPIPE;
	told_closed[model_thread()] = r == -EPIPE;
	return r;
}

struct call {
	struct iw_blocking base;
	bool sends;
	int result;
};

static bool attempt(struct iw_blocking *base)
{
	struct call *c = (struct call *)base;
	unsigned me = model_thread();

	c->result = c->sends ? try_send(&handle[me], me) : try_receive(&handle[me]);
	return c->result != -EAGAIN;
}

/* Where somebody may die, every sleep has an end, after which one looks. */
static void wait_for(bool sends)
{
	struct call c = { .base.attempt = attempt,
			  .base.nap_ns = model_patient() ? IW_SHARED_LOOK_NS : 0,
			  .sends = sends };
	struct ipcwait_eventcount *ec = sends ? &head->room : &head->elements;

	if (!attempt(&c.base))
		model_assert(iw_block(&c.base, ec, IPCWAIT_KIND_CHANNEL, IPCWAIT_FOREVER,
				      0) == 0);
}

static void close_it(struct iw_shared *s)
{
	int r;

	closing = true;
	r = iw_shared_close(s);
	model_assert(r == 0 || r == -EALREADY);
	closed = true;
}

static void inherit(struct iw_shared *s)
{
	uint32_t gone = 1;

	if (!__atomic_compare_exchange_n(locks_gone, &gone, 0, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
	inherited = true;
	s->me = 0;
	(void)iw_shared_inherit(s, 0);
}

static void act(unsigned i, enum step step)
{
	switch (step) {
	case SENDS:
	case TRIES_TO_SEND:
		begun[i]++;
		if (step == SENDS)
			wait_for(true);
		else
			(void)try_send(&handle[i], i);
		break;
	case RECEIVES:
		wait_for(false);
		break;
	case TRIES_TO_RECEIVE:
		(void)try_receive(&handle[i]);
		break;
	case RECEIVES_ALL:
		do
			wait_for(false);
		while (!told_closed[i]);
		break;
	case CLOSES:
		close_it(&handle[i]);
		break;
	case INHERITS:
		inherit(&handle[i]);
		break;
	default:
		break;
	}
}

static void thread(unsigned i)
{
	for (unsigned k = 0; k < STEPS_MOST; k++)
		act(i, script()->step[i][k]);
}

static void pass_through(void)
{
	begun[HOST - 1]++;
	model_assert(try_send(&handle[HOST], HOST - 1) == 0);
	model_assert(try_receive(&handle[HOST]) == 0);
}

static void begin(void)
{
	const struct script *s = script();
	size_t size = sizeof(*head) + s->capacity * 3 * sizeof(uint64_t);

	engine_spins = s->spins;
	closing = closed = drained = inherited = false;
	head = memset(model_alloc(size), 0, size);
	locks_gone = memset(model_alloc(sizeof(*locks_gone)), 0, sizeof(*locks_gone));
	model_quiet(&head->elements.window, sizeof(head->elements.window));
	model_quiet(&head->room.window, sizeof(head->room.window));
	model_quiet(&head->lost, 2 * sizeof(head->lost));
	model_name(&head->tail, "tail");
	model_name(&head->head, "head");
	model_name(&head->closed, "closed");
	model_name(&head->elements.word, "elements");
	model_name(&head->room.word, "room");
	memset((void *)sent, 0, sizeof(sent));
	memset((void *)seen, 0, sizeof(seen));
	memset((void *)begun, 0, sizeof(begun));
	memset((void *)last_seen, 0, sizeof(last_seen));
	for (unsigned i = 0; i <= HOST; i++)
		handle[i] = take_part(i);
	for (unsigned i = 0; i < s->capacity; i++)
		model_name(iw_shared_slot(&handle[HOST], i), "slot");
	for (unsigned i = 0; i < s->taken; i++)
		pass_through();
	for (unsigned i = 0; i < s->holds; i++) {
		begun[HOST - 1]++;
		model_assert(try_send(&handle[HOST], HOST - 1) == 0);
	}
	for (unsigned i = 0; i < s->capacity; i++)
		last[i] = slot_word(i);
}

static unsigned deaths(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		n += model_dead(i);
	return n;
}

/* What is left is received; then every slot is free, once the dead have lost theirs. */
static void clear(bool was_drained)
{
	struct iw_shared *s = &handle[HOST];
	uint64_t lo, hi, at_first;
	unsigned n = 0;

	(void)iw_shared_inherit(s, 0);
	iw_shared_length(s, &at_first, &hi);
	model_assert(at_first == hi);
	while (try_receive(s) == 0)
		n++;
	model_assert(n == at_first && (!n || !was_drained));
	iw_shared_length(s, &lo, &hi);
	model_assert(lo == 0 && hi == 0);
	for (unsigned i = 0; i < script()->capacity; i++)
		model_assert(iw_shared_stage(slot_word(i)) % IW_SHARED_STATES ==
			     IW_SHARED_FREE);
}

static void end(void)
{
	unsigned lost = 0;

	clear(drained);
	for (unsigned i = 0; i < VALUES; i++)
		lost += sent[i] && !seen[i];
	model_assert(lost <= deaths());
	model_free(head);
	model_free(locks_gone);
}

#define COMMON .begin = begin, .thread = thread, .end = end, .always = look
#define SCRIPT .script = &(const struct script)
#define MORTAL COMMON, .died = died, .mortal = 1, .faults = { .kills = 1 }, .patient = true

#define SEARCH(bound_, weak_bound_, stale_, depth_, runs_) \
	.search = { .bound = (bound_),                     \
		    .weak_bound = (weak_bound_),           \
		    .stale = (stale_),                     \
		    .pct_depth = (depth_),                 \
		    .pct_runs = (runs_),                   \
		    .runs_most = 20000 }

const struct model_scenario model_scenarios[] = {
	{ .name = "shared: handed over",
	  .threads = 2,
	  COMMON,
	  .about = "two elements through one slot, with waits on both sides",
	  SCRIPT{ .step = { { SENDS, SENDS }, { RECEIVES, RECEIVES } },
		  .capacity = 1,
		  .spins = ENGINE_EITHER },
	  SEARCH(2, 1, 2, 4, 5000) },
	{ .name = "shared: tried only",
	  .threads = 3,
	  COMMON,
	  .about = "nobody waits: the slots by themselves",
	  SCRIPT{ .step = { { TRIES_TO_SEND, TRIES_TO_RECEIVE },
			    { TRIES_TO_SEND, TRIES_TO_SEND },
			    { TRIES_TO_RECEIVE, TRIES_TO_RECEIVE } },
		  .capacity = 2,
		  .taken = 1 },
	  SEARCH(3, 2, 2, 4, 10000) },
	{ .name = "shared: an element hides another",
	  .threads = 4,
	  COMMON,
	  .about = "the second is there before the first: both are told of",
	  SCRIPT{ .step = { { SENDS }, { SENDS }, { RECEIVES }, { RECEIVES } },
		  .capacity = 3,
		  .taken = 2 },
	  SEARCH(2, 1, 1, 5, 20000) },
	{ .name = "shared: two are hidden",
	  .threads = 5,
	  COMMON,
	  .about = "and others are taken before somebody is told of them",
	  SCRIPT{ .step = { { SENDS },
			    { SENDS, SENDS, SENDS },
			    { RECEIVES, RECEIVES },
			    { RECEIVES },
			    { RECEIVES } },
		  .capacity = 4 },
	  SEARCH(1, 1, 1, 6, 6000) },
	{ .name = "shared: room hides room",
	  .threads = 4,
	  COMMON,
	  .about = "the same of places",
	  SCRIPT{ .step = { { SENDS }, { SENDS }, { RECEIVES }, { RECEIVES } },
		  .capacity = 2,
		  .holds = 2 },
	  SEARCH(2, 1, 1, 5, 20000) },
	{ .name = "shared: closed",
	  .threads = 3,
	  COMMON,
	  .about = "what was sent is received, and nothing is sent afterwards",
	  SCRIPT{ .step = { { SENDS, SENDS }, { RECEIVES_ALL }, { CLOSES } },
		  .capacity = 1 },
	  SEARCH(2, 2, 2, 5, 10000) },
	{ .name = "shared: closed, two receive",
	  .threads = 4,
	  COMMON,
	  .about = "the last element ends the wait of the other too",
	  SCRIPT{ .step = { { SENDS }, { RECEIVES_ALL }, { RECEIVES_ALL }, { CLOSES } },
		  .capacity = 2 },
	  SEARCH(2, 1, 1, 5, 20000) },
	{ .name = "shared: closed, full",
	  .threads = 3,
	  COMMON,
	  .about = "those who wait for room are told",
	  SCRIPT{ .step = { { SENDS }, { SENDS }, { CLOSES } },
		  .capacity = 1,
		  .holds = 1,
		  .spins = ENGINE_EITHER },
	  SEARCH(2, 1, 1, 4, 5000) },
	{ .name = "shared: everybody",
	  .threads = 6,
	  COMMON,
	  .about = "more than can be tried exhaustively",
	  SCRIPT{ .step = { { SENDS, SENDS },
			    { SENDS, SENDS },
			    { SENDS, TRIES_TO_RECEIVE },
			    { RECEIVES_ALL },
			    { RECEIVES_ALL },
			    { TRIES_TO_RECEIVE, CLOSES } },
		  .capacity = 2 },
	  SEARCH(0, 0, 2, 6, 30000) },
	{ .name = "shared: a sender is killed",
	  .threads = 3,
	  MORTAL,
	  .process = { 0, 1, 1 },
	  .about = "anywhere: another and the receiver go on",
	  SCRIPT{ .step = { { SENDS, SENDS }, { SENDS }, { RECEIVES } }, .capacity = 2 },
	  SEARCH(1, 1, 1, 5, 10000) },
	{ .name = "shared: a receiver is killed",
	  .threads = 3,
	  MORTAL,
	  .process = { 0, 1, 1 },
	  .about = "anywhere: senders find room again",
	  SCRIPT{ .step = { { RECEIVES, RECEIVES },
			    { SENDS, SENDS },
			    { RECEIVES, RECEIVES } },
		  .capacity = 2,
		  .holds = 2 },
	  SEARCH(1, 1, 1, 5, 10000) },
	{ .name = "shared: killed and closed",
	  .threads = 4,
	  MORTAL,
	  .process = { 0, 1, 1, 1 },
	  .about = "what the dead was putting in does not keep the channel from being "
		   "drained",
	  SCRIPT{ .step = { { SENDS, CLOSES },
			    { RECEIVES_ALL },
			    { RECEIVES_ALL },
			    { CLOSES } },
		  .capacity = 1 },
	  SEARCH(1, 1, 1, 5, 10000) },
	{ .name = "shared: an heir",
	  .threads = 3,
	  MORTAL,
	  .process = { 0, 1, 1 },
	  .about = "another gets the number of the dead, while a third looks after it",
	  SCRIPT{ .step = { { TRIES_TO_SEND, TRIES_TO_SEND },
			    { INHERITS, TRIES_TO_SEND },
			    { TRIES_TO_RECEIVE, TRIES_TO_RECEIVE, TRIES_TO_RECEIVE } },
		  .capacity = 2 },
	  SEARCH(2, 1, 1, 5, 20000) },
	{ 0 },
};
