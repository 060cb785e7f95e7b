/* SPDX-License-Identifier: MIT */
/*
 * Calls in any order on channels of one process, with a buffer and without, step by step against a
 * model of each: every result, every element, whether the eventfd is readable. One thread makes
 * them all; what would wait does not, since its deadline has passed. A few times it meets a second
 * thread, where the result of both is one whichever comes first.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include <ipcwait/channel.h>
#include <ipcwait/wait_any.h>

#include "common/fuzz.h"
#include "fuzz/channel_partner.h"
#include "fuzz/channel_wrong.h"
#include "fuzz/elements.h"

#define CALLS_MOST    100
#define MEETINGS_MOST 2
#define CAPACITY_MOST 40
#define CHANNELS      3
#define CASES_MOST    12

enum call {
	SEND,
	TRYSEND,
	SEND_UNTIL,
	SEND_N,
	RECV,
	TRYRECV,
	RECV_UNTIL,
	RECV_N,
	SELECT,
	EVENTFD,
	WAIT_ANY,
	CLOSE,
	MEET,
	AGAIN,
	WRONG,
	CALLS
};

struct model {
	struct ipcwait_channel *ch;
	struct ipcwait_channel_params is;
	struct stock stock;
	bool closed;
	int fd; /* -1: there is none */
	bool readable;
};

static struct model models[CHANNELS];
static struct batch batches[CASES_MOST];
static unsigned meetings;

/* Allocations until one fails. */
static unsigned memory = UINT32_MAX;

void *__real_aligned_alloc(size_t align, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
	return memory && memory-- ? __real_aligned_alloc(align, bytes) : NULL;
}

void *__wrap_malloc(size_t bytes)
{
	return memory && memory-- ? __real_malloc(bytes) : NULL;
}

static uint64_t length(const struct model *m)
{
	return stock_length(&m->stock);
}

static uint64_t room(const struct model *m)
{
	return m->is.capacity - length(m);
}

static int64_t least(uint64_t a, uint64_t b)
{
	return (int64_t)(a < b ? a : b);
}

static int64_t sent(const struct model *m, size_t n, int full)
{
	if (!n)
		return 0;
	if (m->closed)
		return -EPIPE;
	return room(m) ? least(n, room(m)) : full;
}

static int64_t received(const struct model *m, size_t n, int empty)
{
	if (!n)
		return 0;
	if (!length(m))
		return m->closed ? -EPIPE : empty;
	return least(n, length(m));
}

static void end(struct model *m)
{
	ipcwait_channel_destroy(m->ch);
	FUZZ_CHECK(!m->ch || !m->is.elem_fini || !length(m));
	m->ch = NULL;
}

static void make(struct model *m, struct input *in)
{
	uint8_t how = take_8(in);
	size_t size = take_size(in);

	end(m);
	m->is = (struct ipcwait_channel_params){
		.elem_size = size,
		.capacity = how & 1 ? take_8(in) % CAPACITY_MOST + 1 : 0,
		.elem_fini = how & 2 ? stock_fini : NULL,
		.elem_fini_arg = &m->stock,
	};
	FUZZ_CHECK(ipcwait_channel_params_check(&m->is) == 0);
	/* One with a buffer is two pieces. */
	for (unsigned n = 0; n < (how & 1 ? 2 : 1); n++) {
		memory = n;
		FUZZ_CHECK(!ipcwait_channel_create(&m->is));
	}
	memory = UINT32_MAX;
	m->ch = ipcwait_channel_create(&m->is);
	FUZZ_CHECK(m->ch);
	stock_begin(&m->stock, m->is.elem_size);
	m->closed = m->readable = false;
	m->fd = -1;
}

/* One that has passed where the call @waits. */
static int64_t deadline(struct input *in, bool waits)
{
	int64_t now_ns = ipcwait_now_ns();

	return waits ? take_past_deadline(in, now_ns) : take_deadline(in, now_ns);
}

static void send(struct model *m, struct input *in, enum call call)
{
	size_t n = call == SEND_N ? take_count(in, m->stock.size) : 1;
	int64_t want = sent(m, n, call == TRYSEND ? -EAGAIN : -ETIMEDOUT), r;
	struct batch *b = &batches[0];
	int64_t until;

	if (call == SEND && want < 0 && !m->closed)
		return;
	batch_fill(b, in, m->stock.size, n);
	until = deadline(in, n && !m->closed && room(m) < n);
	r = call == SEND      ? ipcwait_channel_send(m->ch, b->elems)
	    : call == TRYSEND ? ipcwait_channel_trysend(m->ch, b->elems)
	    : call == SEND_N  ? ipcwait_channel_send_n(m->ch, b->elems, n, until)
			      : ipcwait_channel_send_until(m->ch, b->elems, until);
	if (call != SEND_N && r == 0)
		r = 1;
	FUZZ_CHECK(r == want);
	m->readable |= m->fd >= 0 && r > 0;
	batch_went_in(b, &m->stock, r);
}

static void recv(struct model *m, struct input *in, enum call call)
{
	size_t n = call == RECV_N ? take_count(in, m->stock.size) : 1;
	int64_t want = received(m, n, call == TRYRECV ? -EAGAIN : -ETIMEDOUT), r;
	struct batch *b = &batches[0];
	int64_t until;

	if (call == RECV && want < 0 && !m->closed)
		return;
	batch_blank(b, in, m->stock.size, n);
	until = deadline(in, n && !m->closed && !length(m));
	r = call == RECV      ? ipcwait_channel_recv(m->ch, b->elems)
	    : call == TRYRECV ? ipcwait_channel_tryrecv(m->ch, b->elems)
	    : call == RECV_N  ? ipcwait_channel_recv_n(m->ch, b->elems, n, until)
			      : ipcwait_channel_recv_until(m->ch, b->elems, until);
	if (call != RECV_N && r == 0)
		r = 1;
	FUZZ_CHECK(r == want);
	m->readable &= r != -EAGAIN;
	batch_came_out(b, &m->stock, r);
}

static bool can_be_done(const struct model *m, int op)
{
	return m->closed || (op == IPCWAIT_CHANNEL_SEND ? room(m) : length(m)) > 0;
}

/* Case @i was done, or was not: then nothing of it has changed. */
static void after_case(struct model *m, const struct ipcwait_channel_case *c, unsigned i,
		       bool done)
{
	bool sends = c->op == IPCWAIT_CHANNEL_SEND;
	int want = !done ? 4711 : (sends ? sent : received)(m, 1, 0) > 0 ? 0 : -EPIPE;
	bool moved = done && want == 0;

	FUZZ_CHECK(c->result == want);
	m->readable |= m->fd >= 0 && sends && moved;
	if (sends)
		batch_went_in(&batches[i], &m->stock, moved);
	else
		batch_came_out(&batches[i], &m->stock, moved);
}

/* One element, in the batch that has the number of the case. */
static void make_case(struct ipcwait_channel_case *c, unsigned i, const struct model *m,
		      int op, struct input *in)
{
	*c = (struct ipcwait_channel_case){ .channel = m->ch, .op = op, .result = 4711 };
	(op == IPCWAIT_CHANNEL_SEND ? batch_fill : batch_blank)(&batches[i], in,
								m->stock.size, 1);
	c->elem = batches[i].elems;
}

/* Any of those that can be done. */
static void select_any(struct input *in)
{
	struct ipcwait_channel_case cases[CASES_MOST] = { 0 };
	struct model *of[CASES_MOST];
	unsigned n = take_8(in) % CASES_MOST + 1, able = 0;
	int r;

	for (unsigned i = 0; i < n; i++) {
		uint8_t which = take_8(in) % (CHANNELS + 1);

		of[i] = which < CHANNELS ? &models[which] : NULL;
		if (!of[i])
			continue;
		make_case(&cases[i], i, of[i], take_8(in) & 1, in);
		able += can_be_done(of[i], cases[i].op);
	}
	r = ipcwait_channel_select(cases, n, deadline(in, !able));
	FUZZ_CHECK(able ? r >= 0 && r < (int)n && of[r] && can_be_done(of[r], cases[r].op)
			: r == -ETIMEDOUT);
	for (unsigned i = 0; i < n; i++)
		if (of[i])
			after_case(of[i], &cases[i], i, (int)i == r);
}

static void make_eventfd(struct model *m)
{
	int fd = ipcwait_channel_eventfd(m->ch);

	FUZZ_CHECK(fd >= 0 && (m->fd < 0 || fd == m->fd));
	m->readable |= m->fd < 0;
	m->fd = fd;
}

static bool is_readable(const struct model *m)
{
	struct pollfd p = { .fd = m->fd, .events = POLLIN };
	int saved_errno = errno;
	bool readable = poll(&p, 1, 0) == 1 && p.revents == POLLIN;

	/* libFuzzer has an alarm. */
	errno = saved_errno;
	return readable;
}

/* The first in the set that has an element or is closed. */
static void wait_any(struct input *in)
{
	struct ipcwait_waitable set[4] = { 0 };
	unsigned n = take_8(in) % 4 + 1;
	int want = -ETIMEDOUT;

	for (unsigned i = 0; i < n; i++) {
		struct model *m = &models[take_8(in) % CHANNELS];

		set[i].type = IPCWAIT_WAITABLE_CHANNEL;
		set[i].object = m->ch;
		if (want < 0 && can_be_done(m, IPCWAIT_CHANNEL_RECV))
			want = (int)i;
	}
	FUZZ_CHECK(ipcwait_wait_any(set, n, deadline(in, want < 0), NULL) == want);
	set[n - 1].flags = IPCWAIT_PRIVATE << take_8(in) % 32;
	FUZZ_CHECK(ipcwait_wait_any(set, n, 0, NULL) == -EINVAL);
}

static void close_it(struct model *m)
{
	FUZZ_CHECK(ipcwait_channel_close(m->ch) == (m->closed ? -EALREADY : 0));
	m->readable |= m->fd >= 0 && !m->closed;
	m->closed = true;
}

/* What would have to wait there. */
static int other_op(const struct model *m, int op)
{
	if (!m->is.capacity)
		return op;
	return length(m) ? IPCWAIT_CHANNEL_SEND : IPCWAIT_CHANNEL_RECV;
}

/* It does @op with @m, between what it would do if anybody did something elsewhere. */
static void prepare(struct partner *p, struct model *m, int op, bool alone,
		    struct input *in)
{
	for (unsigned i = 0; i < CHANNELS; i++) {
		struct model *at = &models[i];
		int does = at == m ? op : other_op(at, op);
		bool would_wait =
			!can_be_done(at, does) && (p->how != AFTER_ANY || does == op);

		if (at != m && (alone || !would_wait))
			continue;
		if (at == m)
			p->does = p->n;
		p->of[p->n] = i;
		make_case(&p->cases[p->n], p->n, at, does, in);
		p->n++;
	}
}

/* Each is done, or the partner finds it closed. What goes in goes in before what comes out. */
static void after_meeting(const struct partner *p, const struct ipcwait_channel_case *mine,
			  bool closes)
{
	bool sends = mine->op == IPCWAIT_CHANNEL_SEND;
	struct model *m = &models[p->of[p->does]];

	FUZZ_CHECK(p->cases[p->does].result == (closes ? -EPIPE : 0));
	FUZZ_CHECK(mine->result == (closes ? 4711 : 0));
	batch_went_in(&batches[sends ? CHANNELS : p->does], &m->stock, !closes);
	batch_came_out(&batches[sends ? p->does : CHANNELS], &m->stock, !closes);
	m->readable |= m->fd >= 0 && m->is.capacity && !closes;
	for (unsigned i = 0; i < p->n; i++) {
		m = &models[p->of[i]];
		if (i != p->does)
			after_case(m, &p->cases[i], i, false);
		/* A sender that has to wait for a receiver tells of itself. */
		if (m->fd >= 0 && !m->is.capacity)
			m->readable |= is_readable(m);
	}
}

/* The partner needs this thread: nothing is in the channel, or it is full. */
static void meet(struct model *m, struct input *in)
{
	uint8_t how = take_8(in);
	struct partner p = { .how = how % 3 };
	struct ipcwait_channel_case mine;
	bool closes = (how & 12) == 12;
	int op = other_op(m, how >> 4 & 1);

	if (m->closed || can_be_done(m, op) || meetings == MEETINGS_MOST)
		return;
	meetings++;
	if (p.how == AFTER_ANY && op == IPCWAIT_CHANNEL_SEND)
		p.how = SELECTS;
	prepare(&p, m, op, p.how == PLAIN || how & 32, in);
	make_case(&mine, CHANNELS, m, !op, in);
	partner_begin(&p, how & 128);
	if (closes)
		close_it(m);
	else
		channel_do(&mine, how & 64);
	partner_join(&p);
	after_meeting(&p, &mine, closes);
}

static void wrong(struct model *m, struct input *in)
{
	channel_wrong(m->ch, &m->is, in);
}

static void make_call(struct model *m, enum call call, struct input *in)
{
	static void (*const calls[])(struct model *, struct input *) = {
		[MEET] = meet,
		[AGAIN] = make,
		[WRONG] = wrong,
	};

	if (call <= SEND_N)
		send(m, in, call);
	else if (call <= RECV_N)
		recv(m, in, call);
	else if (call == SELECT)
		select_any(in);
	else if (call == EVENTFD)
		make_eventfd(m);
	else if (call == WAIT_ANY)
		wait_any(in);
	else if (call == CLOSE)
		close_it(m);
	else
		calls[call](m, in);
}

static void check(const struct model *m)
{
	uint64_t lo = 4711, hi = 4711;

	FUZZ_CHECK(ipcwait_channel_length(m->ch, &lo, &hi) == 0);
	FUZZ_CHECK(lo == length(m) && hi == lo);
	FUZZ_CHECK(m->fd < 0 || is_readable(m) == m->readable);
}

/* What moves elements is called most. */
static enum call take_call(struct input *in)
{
	uint8_t how = take_8(in);

	return (enum call)(how < 128 ? how % (SELECT + 1) : how % CALLS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	size_t heap = heap_bytes();

	meetings = 0;
	for (unsigned i = 0; i < CHANNELS; i++)
		make(&models[i], &in);
	for (unsigned i = 0; i < CALLS_MOST && in.left; i++) {
		uint8_t which = take_8(&in) % CHANNELS;

		errno = 4711;
		make_call(&models[which], take_call(&in), &in);
		FUZZ_CHECK(errno == 4711);
		for (unsigned k = 0; k < CHANNELS; k++)
			check(&models[k]);
	}
	for (unsigned i = 0; i < CHANNELS; i++)
		end(&models[i]);
	FUZZ_CHECK(heap_bytes() == heap);
	return 0;
}
