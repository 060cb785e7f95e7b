/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interleave/channel_roles.h"

/* Here, so that the checker can be told of its static data. */
#include "engine/sleep.c"

static void *allocate(size_t bytes)
{
	return model_alloc(bytes);
}

static void *allocate_aligned(size_t align, size_t bytes)
{
	(void)align;
	return model_alloc(bytes);
}

#define aligned_alloc allocate_aligned
#define malloc        allocate
#define free          model_free

#include "queue/channel_ring.c"

#include "queue/channel_meet.c"

#include "os/eventfd.h"
#include "queue/channel_select.h"

#define VALUES  64
#define CASES   3
#define SOON_NS 5000000

/* A thread's place for elements, and for a select, which others look into. */
struct desk {
	struct ipcwait_channel_case cases[CASES];
	struct iw_place place[CASES];
	struct iw_waitv word[CASES + 1];
	struct iw_select select;
	uint64_t elem[CASES][2];
	uint64_t more[2];
};

static struct shared {
	struct desk desk[MODEL_THREADS_MAX + 1];
	uint32_t readable; /* the eventfd */
} * shared;

static struct ipcwait_channel *channels[2];

/* Notes of the test's own. */
enum fate { UNUSED, UNDER_WAY, SENT, NOT_SENT };
static volatile uint8_t fate[VALUES], received[VALUES], to[VALUES];
static volatile uint64_t last[2][MODEL_THREADS_MAX + 1][MODEL_THREADS_MAX + 1];
static volatile unsigned sends[MODEL_THREADS_MAX + 1];
static volatile bool closing[2], closed[2], drained[2];

static const struct channel_script *script(void)
{
	return model_script();
}

void iw_any_admit(const struct iw_any_kind *kind)
{
	(void)kind;
}

const struct iw_made iw_channel_made = { .any = { .made = true } };

struct iw_eventfd *iw_eventfd_new(void)
{
	__atomic_store_n(&shared->readable, 1, __ATOMIC_SEQ_CST);
	return (struct iw_eventfd *)&shared->readable;
}

int iw_eventfd_number(struct iw_eventfd *e)
{
	return e ? 7 : -EMFILE;
}

void iw_eventfd_set(struct iw_eventfd *e)
{
	__atomic_store_n((uint32_t *)e, 1, __ATOMIC_SEQ_CST);
	(void)model_futex_wake((uint32_t *)e, UINT32_MAX, true, UINT32_MAX);
}

void iw_eventfd_clear(struct iw_eventfd *e)
{
	__atomic_store_n((uint32_t *)e, 0, __ATOMIC_SEQ_CST);
}

void iw_eventfd_end(struct iw_eventfd *e)
{
	(void)e;
}

static unsigned me(void)
{
	return model_thread();
}

static struct desk *desk(void)
{
	return &shared->desk[me()];
}

/* As on the stack of lib/queue/channel_cases.c, where the checker would see nothing. */
int iw_channel_select(struct ipcwait_channel_case *cases, unsigned n, int64_t deadline_ns,
		      struct ipcwait_window *w, uintptr_t site)
{
	struct desk *d = desk();

	memcpy(d->cases, cases, n * sizeof(*cases));
	d->select = (struct iw_select){
		.base = { .window = w, .deadline_ns = deadline_ns, .site = site },
		.cases = d->cases,
		.n = n,
		.first = script()->first % n,
		.place = d->place,
		.word = d->word,
	};
	int r = iw_select_run(&d->select);

	memcpy(cases, d->cases, n * sizeof(*cases));
	/* The stack is used for something else from now on. */
	memset(&d->select, 0x5a, sizeof(d->select));
	memset(d->place, 0x5a, sizeof(d->place));
	return r;
}

static unsigned channel_of(char name)
{
	return name == 'b';
}

/* A new value, at @elem. */
static unsigned put(unsigned ch, uint64_t *elem)
{
	unsigned value = me() * 8 + sends[me()]++;

	model_assert(value < VALUES && fate[value] == UNUSED);
	fate[value] = UNDER_WAY;
	to[value] = ch;
	elem[0] = value;
	elem[1] = ~(uint64_t)value;
	return value;
}

static void sent(unsigned ch, unsigned value, int64_t r)
{
	model_assert(r == 0 || r == -EPIPE || r == -EAGAIN || r == -ETIMEDOUT);
	model_assert(r != -EPIPE || closing[ch]);
	fate[value] = r ? NOT_SENT : SENT;
}

/* Values of one sender come to each receiver in their order. */
static void got(unsigned ch, int64_t r, const uint64_t *elem)
{
	uint64_t value = elem[0];

	model_assert(r == 0 || r == -EPIPE || r == -EAGAIN || r == -ETIMEDOUT);
	model_assert(r != -EPIPE || closing[ch]);
	if (r)
		return;
	model_assert(value < VALUES && elem[1] == ~value && to[value] == ch);
	model_assert(fate[value] == UNDER_WAY || fate[value] == SENT);
	model_assert(!received[value]);
	received[value] = 1;
	model_assert(last[ch][me()][value / 8] <= value);
	last[ch][me()][value / 8] = value + 1;
}

static uint64_t first_position(const struct ring *r)
{
	return script()->laps * r->lap;
}

/* The second half of a send. */
static void publish(struct ring *r)
{
	uint64_t pos = first_position(r);

	set_stamp(slot_at(r, pos), pos + FULL);
	tell(r, &r->elements, after(r, pos, 1), FULL, 1);
}

static void preset(struct ring *r)
{
	uint64_t begin = first_position(r);

	r->head.v = r->tail.v = begin;
	for (uint64_t i = 0; i < r->capacity; i++)
		slot_at(r, i * STEP)->stamp.v = begin + i * STEP;
}

static void fill(unsigned ch)
{
	for (unsigned i = 0; i < script()->filled[ch]; i++) {
		uint64_t *elem = desk()->elem[0];
		unsigned value = put(ch, elem);

		sent(ch, value, ipcwait_channel_trysend(channels[ch], elem));
	}
	if (script()->hole && ch == 0)
		slot_at(ring_of(channels[0]), 0)->stamp.v =
			first_position(ring_of(channels[0]));
}

static void make(unsigned ch)
{
	static const char *const names[2][6] = {
		{ "a.tail", "a.head", "a.elements", "a.room", "a.closed", "a.stamp" },
		{ "b.tail", "b.head", "b.elements", "b.room", "b.closed", "b.stamp" },
	};
	const struct ipcwait_channel_params params = { .elem_size = 16,
						       .capacity = script()->capacity[ch] };
	struct ipcwait_channel *c;
	struct ring *r;

	channels[ch] = c =
		params.capacity ? iw_channel_ring(&params) : iw_channel_meet(&params);
	model_quiet(&c->elements->window, sizeof(c->elements->window));
	model_quiet(&c->room->window, sizeof(c->room->window));
	model_name(&c->elements->word, names[ch][2]);
	model_name(&c->room->word, names[ch][3]);
	if (c->meeting) {
		model_quiet(&c->meeting->lock.window, sizeof(c->meeting->lock.window));
		model_name(&c->meeting->lock.word, ch ? "b.lock" : "a.lock");
		return;
	}
	r = ring_of(c);
	model_name(&r->tail, names[ch][0]);
	model_name(&r->head, names[ch][1]);
	model_name(&r->closed, names[ch][4]);
	model_name(&slot_at(r, 0)->stamp, names[ch][5]);
	preset(r);
}

void channel_begin(void)
{
	engine_spins = script()->spins;
	model_lacks_waitv = script()->lacks_waitv;
	model_share(&absent, sizeof(absent));
	shared = model_alloc(sizeof(*shared));
	memset(shared, 0, sizeof(*shared));
	for (unsigned i = 0; i < VALUES; i++)
		fate[i] = received[i] = 0;
	for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++) {
		sends[i] = 0;
		for (unsigned k = 0; k <= MODEL_THREADS_MAX; k++)
			last[0][i][k] = last[1][i][k] = 0;
		model_name(&shared->desk[i].select.party.state, "party");
	}
	for (unsigned ch = 0; ch < 2; ch++) {
		closing[ch] = closed[ch] = drained[ch] = false;
		make(ch);
		fill(ch);
	}
}

static int64_t soon(void)
{
	return model_now() + SOON_NS;
}

static int64_t send_one(enum channel_deed deed, unsigned ch)
{
	uint64_t *elem = desk()->elem[0];
	unsigned value = put(ch, elem);
	int r;

	if (deed == CHANNEL_SENDS_UNTIL)
		r = ipcwait_channel_send_until(channels[ch], elem, soon());
	else if (deed == CHANNEL_TRIES_TO_SEND)
		r = ipcwait_channel_trysend(channels[ch], elem);
	else
		r = ipcwait_channel_send(channels[ch], elem);
	model_assert(r != -EAGAIN || deed == CHANNEL_TRIES_TO_SEND);
	model_assert(r != -ETIMEDOUT || deed == CHANNEL_SENDS_UNTIL);
	sent(ch, value, r);
	return r;
}

static int64_t receive_one(enum channel_deed deed, unsigned ch)
{
	uint64_t *elem = desk()->elem[0];
	bool was_drained = drained[ch];
	int r;

	if (deed == CHANNEL_RECEIVES_UNTIL)
		r = ipcwait_channel_recv_until(channels[ch], elem, soon());
	else if (deed == CHANNEL_TRIES_TO_RECEIVE || deed == CHANNEL_WATCHES)
		r = ipcwait_channel_tryrecv(channels[ch], elem);
	else
		r = ipcwait_channel_recv(channels[ch], elem);
	model_assert(r != -EAGAIN || deed == CHANNEL_TRIES_TO_RECEIVE ||
		     deed == CHANNEL_WATCHES);
	model_assert(r != -ETIMEDOUT || deed == CHANNEL_RECEIVES_UNTIL);
	model_assert(r || !was_drained);
	if (r == -EPIPE)
		drained[ch] = true;
	got(ch, r, elem);
	return r;
}

static void send_two(unsigned ch)
{
	uint64_t(*elem)[2] = desk()->elem;
	unsigned value[2] = { put(ch, elem[0]), put(ch, elem[1]) };
	int64_t r = ipcwait_channel_send_n(channels[ch], elem, 2, IPCWAIT_FOREVER);

	model_assert(r == 2 || closing[ch]);
	sent(ch, value[0], r > 0 ? 0 : r);
	sent(ch, value[1], r > 1 ? 0 : -EPIPE);
}

static void take_two(unsigned ch)
{
	uint64_t(*elem)[2] = desk()->elem;
	int64_t r = ipcwait_channel_recv_n(channels[ch], elem, 2, IPCWAIT_FOREVER);

	model_assert(r > 0 || closing[ch]);
	for (int64_t i = 0; i < r; i++)
		got(ch, 0, elem[i]);
}

static unsigned make_cases(const char *what, struct ipcwait_channel_case *c,
			   unsigned *value)
{
	unsigned n = 0;

	for (; *what; what += 2, n++) {
		unsigned ch = channel_of(what[1]);

		c[n] = (struct ipcwait_channel_case){
			.channel = channels[ch],
			.op = *what == 's' ? IPCWAIT_CHANNEL_SEND : IPCWAIT_CHANNEL_RECV,
			.elem = desk()->elem[n],
		};
		value[n] = *what == 's' ? put(ch, c[n].elem) : VALUES;
	}
	return n;
}

/* Returns the case that was done. */
static int select_one(const char *what, int64_t deadline_ns)
{
	struct ipcwait_channel_case c[CASES];
	unsigned value[CASES], n = make_cases(what, c, value);
	int r = iw_channel_select(c, n, deadline_ns, &channels[0]->room->window, 0);

	model_assert(r == -ETIMEDOUT ? deadline_ns != IPCWAIT_FOREVER
				     : r >= 0 && r < (int)n);
	for (unsigned i = 0; i < n; i++) {
		unsigned ch = channel_of(what[2 * i + 1]);

		if (value[i] < VALUES)
			sent(ch, value[i], r == (int)i ? c[i].result : -EAGAIN);
		else if (r == (int)i)
			got(ch, c[i].result, desk()->elem[i]);
	}
	return r;
}

/* What it has taken of the first channel it gives back, so that who waits there alone gets it. */
static void select_and_undo(const char *what)
{
	if (select_one(what, IPCWAIT_FOREVER) != 0)
		return;
	if (*what == 's')
		(void)receive_one(CHANNEL_RECEIVES, channel_of(what[1]));
	else
		(void)send_one(CHANNEL_SENDS, channel_of(what[1]));
}

/* As an event loop: until one element has come. */
static void watch(unsigned ch)
{
	model_assert(ipcwait_channel_eventfd(channels[ch]) == 7);
	while (receive_one(CHANNEL_WATCHES, ch) == -EAGAIN)
		while (!__atomic_load_n(&shared->readable, __ATOMIC_SEQ_CST))
			(void)model_futex_wait(&shared->readable, 0, INT64_MAX, true,
					       UINT32_MAX);
}

/* Who has been told that it is closed does not find it open. */
static void send_and_try(unsigned ch)
{
	if (send_one(CHANNEL_SENDS, ch) == -EPIPE)
		model_assert(receive_one(CHANNEL_TRIES_TO_RECEIVE, ch) != -EAGAIN);
}

static void act(enum channel_deed deed, const char *what)
{
	unsigned ch = channel_of(*what);

	switch (deed) {
	case CHANNEL_SENDS_TWO:
		send_two(ch);
		break;
	case CHANNEL_TAKES_TWO:
		take_two(ch);
		break;
	case CHANNEL_SENDS:
	case CHANNEL_SENDS_UNTIL:
	case CHANNEL_TRIES_TO_SEND:
		for (; *what; what++)
			(void)send_one(deed, channel_of(*what));
		break;
	case CHANNEL_RECEIVES:
	case CHANNEL_RECEIVES_UNTIL:
	case CHANNEL_TRIES_TO_RECEIVE:
		for (; *what; what++)
			(void)receive_one(deed, channel_of(*what));
		break;
	case CHANNEL_SENDS_TILL_CLOSED:
		for (unsigned n = 0; n < 3 && send_one(deed, ch) == 0; n++)
			continue;
		break;
	case CHANNEL_RECEIVES_TILL_CLOSED:
		while (receive_one(deed, ch) == 0)
			continue;
		break;
	case CHANNEL_SELECTS:
	case CHANNEL_SELECTS_UNTIL:
		(void)select_one(what, deed == CHANNEL_SELECTS ? IPCWAIT_FOREVER : soon());
		break;
	case CHANNEL_SELECTS_AND_UNDOES:
		select_and_undo(what);
		break;
	case CHANNEL_PUBLISHES:
		publish(ring_of(channels[ch]));
		break;
	case CHANNEL_SENDS_AND_TRIES:
		send_and_try(ch);
		break;
	case CHANNEL_WATCHES:
		watch(ch);
		break;
	case CHANNEL_CLOSES:
		closing[ch] = true;
		model_assert(ipcwait_channel_close(channels[ch]) == 0);
		closed[ch] = true;
		break;
	default:
		break;
	}
}

void channel_thread(unsigned i)
{
	for (unsigned k = 0; k < CHANNEL_DEEDS_MAX; k++)
		if (script()->does[i][k].deed)
			act(script()->does[i][k].deed, script()->does[i][k].what);
}

/* Never more than its capacity is reserved. */
void channel_look(void)
{
	for (unsigned ch = 0; ch < 2; ch++) {
		struct ring *r = ring_of(channels[ch]);
		uint64_t head, tail;

		if (!script()->capacity[ch])
			continue;
		head = model_peek(&r->head);
		tail = model_peek(&r->tail) & ~CLOSED;
		model_assert(between(r, head, tail) <= r->capacity);
	}
}

static void drain(unsigned ch)
{
	uint64_t left = 0, lo, hi;
	int64_t r;

	for (unsigned i = 0; i < VALUES; i++)
		left += fate[i] == SENT && !received[i] && to[i] == ch;
	model_assert(ipcwait_channel_length(channels[ch], &lo, &hi) == 0);
	model_assert(lo == left && hi == left);
	do
		r = receive_one(CHANNEL_TRIES_TO_RECEIVE, ch);
	while (r == 0);
	model_assert(r == (closed[ch] ? -EPIPE : -EAGAIN));
}

void channel_end(void)
{
	for (unsigned ch = 0; ch < 2; ch++) {
		drain(ch);
		ipcwait_channel_destroy(channels[ch]);
	}
	for (unsigned i = 0; i < VALUES; i++)
		model_assert(fate[i] == SENT ? received[i] : !received[i]);
	model_free(shared);
}
