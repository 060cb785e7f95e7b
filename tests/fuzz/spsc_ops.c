/* SPDX-License-Identifier: MIT */
/*
 * Calls in any order on a queue of one producer and one consumer, both of them one thread, step by
 * step against a model: every result, every element, how many lie side by side, and when rings
 * without bound are taken and handed back. What would wait does not: its deadline has passed.
 * Memory is refused when the input says so, and all comes back.
 */
#include <errno.h>
#include <stdlib.h>

#include <ipcwait/spsc.h>

#include "common/fuzz.h"
#include "fuzz/elements.h"

#define CALLS_MOST    120
#define CAPACITY_MOST 300
#define RINGS_MOST    STOCK_MOST

enum call {
	PUSH,
	PUSH_UNTIL,
	PUSH_N,
	RESERVE,
	COMMIT,
	TRYPOP,
	POP,
	POP_UNTIL,
	POP_N,
	PEEK,
	RELEASE,
	CLOSE,
	TRIM,
	AGAIN,
	WRONG,
	CALLS
};

/* Elements are counted from the beginning, as in <ipcwait/impl/spsc.h>. */
static struct model {
	struct ipcwait_spsc *q;
	struct ipcwait_spsc_params is;
	struct stock stock;
	size_t heap;    /* bytes, before there was a queue */
	uint64_t elems; /* in a ring */
	bool closed;

	/* Without a bound: where rings begin, up to the producer's; the consumer is in @passed. */
	uint64_t first[RINGS_MOST];
	unsigned rings, passed;
	bool spare;
	size_t ring_bytes; /* once trim has told */

	/* What the last reserve and the last peek have shown, while it holds. */
	unsigned char *room;
	size_t reserved, peeked;
} m;

static struct batch batch;

/* Allocations until one fails. */
static unsigned memory = UINT32_MAX;

void *__real_aligned_alloc(size_t align, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
	return memory && memory-- ? __real_aligned_alloc(align, bytes) : NULL;
}

static uint64_t length(void)
{
	return stock_length(&m.stock);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t to_end_of_ring(uint64_t at)
{
	return m.elems - at % m.elems;
}

/* Places for the producer, in its ring: those before it are empty, or another's. */
static uint64_t room(void)
{
	uint64_t first = m.first[m.rings - 1];

	if (m.is.capacity)
		return m.is.capacity - length();
	return (m.stock.out > first ? m.stock.out : first) + m.elems - m.stock.in;
}

/* For the next element. 0, or what a push says without it. */
static int make_room(void)
{
	if (room())
		return 0;
	if (m.is.capacity)
		return -EAGAIN;
	if (!m.spare && !memory)
		return -ENOMEM;
	m.spare = false;
	FUZZ_CHECK(m.rings < RINGS_MOST);
	m.first[m.rings++] = m.stock.in;
	return 0;
}

/* The consumer looks for an element: the ring that it leaves is handed back. */
static void follow(void)
{
	if (!length() || m.passed + 1 == m.rings || m.first[m.passed + 1] != m.stock.out)
		return;
	m.passed++;
	m.spare = true;
}

static uint64_t side_by_side(void)
{
	uint64_t n = length();

	follow();
	if (m.passed + 1 < m.rings)
		n = least(n, m.first[m.passed + 1] - m.stock.out);
	return least(n, to_end_of_ring(m.stock.out));
}

static void end(void)
{
	ipcwait_spsc_destroy(m.q);
	FUZZ_CHECK(!m.q || !m.is.elem_fini || !length());
	m.q = NULL;
	FUZZ_CHECK(heap_bytes() == m.heap);
}

/* How many elements a ring has is the library's to choose, and a power of two. */
static void learn_ring(void)
{
	size_t n = SIZE_MAX;

	m.elems = 1;
	m.room = ipcwait_spsc_reserve(m.q, &n);
	FUZZ_CHECK(m.room);
	if (m.is.capacity)
		FUZZ_CHECK(n == m.is.capacity);
	else
		FUZZ_CHECK(n >= 16 && n < STOCK_MOST * 8 && !(n & (n - 1)));
	m.reserved = n;
	while (m.elems < n)
		m.elems *= 2;
}

static void make(struct input *in)
{
	uint8_t how = take_8(in);
	size_t size = take_size(in);

	m.is = (struct ipcwait_spsc_params){
		.elem_size = size,
		.capacity = how & 1 ? take_16(in) % CAPACITY_MOST + 1 : 0,
		.elem_fini = how & 2 ? stock_fini : NULL,
		.elem_fini_arg = &m.stock,
		.flags = how & 4 ? IPCWAIT_SPSC_NO_MEMBARRIER : 0,
	};
	m.heap = heap_bytes();
	FUZZ_CHECK(ipcwait_spsc_params_check(&m.is) == 0);
	/* The queue, and its first ring. */
	for (unsigned n = 0; n < 2; n++) {
		memory = n;
		FUZZ_CHECK(!ipcwait_spsc_create(&m.is));
	}
	memory = UINT32_MAX;
	m.q = ipcwait_spsc_create(&m.is);
	FUZZ_CHECK(m.q);
	stock_begin(&m.stock, m.is.elem_size);
	m.closed = m.spare = false;
	m.first[0] = m.passed = 0;
	m.rings = 1;
	m.ring_bytes = m.peeked = 0;
	learn_ring();
}

/* Of a push of one element. */
static int push_result(int full)
{
	int r = m.closed ? -EPIPE : make_room();

	return r == -EAGAIN ? full : r;
}

static void push(struct input *in, bool waits)
{
	int r, want;

	if (!stock_room(&m.stock))
		return;
	batch_fill(&batch, in, m.is.elem_size, 1);
	m.reserved = 0;
	want = push_result(waits ? -ETIMEDOUT : -EAGAIN);
	r = waits ? ipcwait_spsc_push_until(
			    m.q, batch.elems,
			    want == -ETIMEDOUT ? take_past_deadline(in, ipcwait_now_ns())
					       : take_deadline(in, ipcwait_now_ns()))
		  : ipcwait_spsc_push(m.q, batch.elems);
	FUZZ_CHECK(r == want);
	batch_went_in(&batch, &m.stock, r == 0);
}

static void push_n(struct input *in)
{
	size_t n = take_count(in, m.is.elem_size), k;
	uint64_t before = m.stock.in;
	int64_t want;

	if (n > stock_room(&m.stock))
		return;
	batch_fill(&batch, in, m.is.elem_size, n);
	want = m.closed ? -EPIPE : 0;
	for (k = 0; !want && k < n && !(want = make_room()); k++)
		m.stock.in++;
	m.stock.in = before;
	m.reserved = 0;
	want = k ? (int64_t)k : want;
	FUZZ_CHECK(ipcwait_spsc_push_n(m.q, batch.elems, n) == want);
	batch_went_in(&batch, &m.stock, want);
}

/* For at most 64 KiB, or for more than there will ever be. */
static size_t take_wish(struct input *in)
{
	uint8_t how = take_8(in);

	return how < 240   ? how % 32
	       : how < 248 ? (how - 239) * 100u
			   : SIZE_MAX >> (how & 1);
}

static void reserve(struct input *in)
{
	size_t n = take_wish(in), want = 0;

	if (n && !m.closed && make_room() == 0)
		want = least(n, least(room(), to_end_of_ring(m.stock.in)));
	m.room = ipcwait_spsc_reserve(m.q, &n);
	FUZZ_CHECK(n == want && !m.room == !n);
	/* Elements of 2, 4, ... bytes are aligned. */
	FUZZ_CHECK((uintptr_t)m.room % (m.is.elem_size & -m.is.elem_size & 127 ?: 128) ==
		   0);
	m.reserved = n;
}

static void commit(struct input *in)
{
	size_t n = take_8(in), most = least(m.reserved, stock_room(&m.stock));
	int r;

	if (n >= 240) {
		n = (size_t)(m.is.capacity ? room() : m.elems) + n - 239;
		FUZZ_CHECK(ipcwait_spsc_commit(m.q, n) == -EINVAL);
		return;
	}
	n = least(n, most);
	if (n * m.is.elem_size > BATCH_BYTES || n > BATCH_MOST)
		n = 1;
	batch_fill(&batch, in, m.is.elem_size, n);
	if (n)
		memcpy(m.room, batch.elems, n * m.is.elem_size);
	r = ipcwait_spsc_commit(m.q, n);
	FUZZ_CHECK(r == (m.closed ? -EPIPE : 0));
	if (r == 0)
		m.reserved = 0;
	batch_went_in(&batch, &m.stock, r ? 0 : (int64_t)n);
}

static int64_t popped(size_t n, int empty)
{
	if (!n)
		return 0;
	if (!length())
		return m.closed ? -EPIPE : empty;
	return (int64_t)least(n, length());
}

static int64_t pop_some(struct input *in, enum call call, size_t n)
{
	int64_t now_ns = ipcwait_now_ns();

	switch (call) {
	case TRYPOP:
		return ipcwait_spsc_trypop(m.q, batch.elems);
	case POP:
		return ipcwait_spsc_pop(m.q, batch.elems);
	case POP_UNTIL:
		return ipcwait_spsc_pop_until(m.q, batch.elems,
					      length() || m.closed
						      ? take_deadline(in, now_ns)
						      : take_past_deadline(in, now_ns));
	default:
		return ipcwait_spsc_pop_n(m.q, batch.elems, n);
	}
}

/* One by one, as rings are left. The elements are looked at afterwards. */
static void took_out(int64_t n)
{
	uint64_t before = m.stock.out;

	for (int64_t i = 0; i < n; i++) {
		follow();
		m.stock.out++;
	}
	m.peeked = m.peeked > (size_t)n ? m.peeked - (size_t)n : 0;
	m.stock.out = before;
}

static void pop(struct input *in, enum call call)
{
	size_t n = call == POP_N ? take_count(in, m.is.elem_size) : 1;
	int64_t r;

	if (call == POP && !length() && !m.closed)
		return;
	batch_blank(&batch, in, m.is.elem_size, n);
	r = pop_some(in, call, n);
	if (call != POP_N && r == 0)
		r = 1;
	FUZZ_CHECK(r == popped(n, call == POP_UNTIL ? -ETIMEDOUT : -EAGAIN));
	if (r > 0)
		took_out(r);
	batch_came_out(&batch, &m.stock, r);
}

static void peek(struct input *in)
{
	size_t n = take_wish(in), want = n ? least(n, side_by_side()) : 0;
	const unsigned char *elems = ipcwait_spsc_peek(m.q, &n);

	FUZZ_CHECK(n == want && !elems == !n);
	for (size_t i = 0; i < n; i++)
		FUZZ_CHECK(element_is(elems + i * m.is.elem_size, m.is.elem_size,
				      stock_at(&m.stock, i)));
	m.peeked = n;
}

static void release(struct input *in)
{
	size_t n = take_8(in);

	if (n >= 240) {
		FUZZ_CHECK(ipcwait_spsc_release(m.q, (size_t)length() + n - 239) ==
			   -EINVAL);
		return;
	}
	n = least(n, m.peeked);
	FUZZ_CHECK(ipcwait_spsc_release(m.q, n) == 0);
	m.stock.out += n;
	m.peeked -= n;
}

/* One that the consumer has left, if the producer has not taken it since. */
static void trim(void)
{
	size_t heap = heap_bytes(), bytes = ipcwait_spsc_trim(m.q);

	FUZZ_CHECK((bytes != 0) == m.spare && heap_bytes() == heap - bytes);
	if (bytes) {
		FUZZ_CHECK(bytes >= m.elems * m.is.elem_size);
		FUZZ_CHECK(!m.ring_bytes || bytes == m.ring_bytes);
		m.ring_bytes = bytes;
	}
	m.spare = false;
}

static void bad_params(struct input *in)
{
	struct ipcwait_spsc_params bad = m.is;

	switch (take_8(in) % 5) {
	case 0:
		bad.elem_size = 0;
		break;
	case 1:
		bad.elem_size = IPCWAIT_SPSC_ELEM_MAX + 1 + take_64(in) / 2;
		break;
	case 2:
		bad.capacity = IPCWAIT_SPSC_CAPACITY_MAX + 1 + take_64(in) / 2;
		break;
	case 3:
		bad.flags |= IPCWAIT_SPSC_NO_MEMBARRIER << (take_8(in) % 31 + 1);
		break;
	default:
		bad.reserved[take_8(in) % 3] = 1u << take_8(in) % 32;
	}
	FUZZ_CHECK(ipcwait_spsc_params_check(&bad) == -EINVAL);
	FUZZ_CHECK(ipcwait_spsc_create(&bad) == NULL);
}

static void wrong(struct input *in)
{
	uint64_t n = 4711;

	switch (take_8(in) % 3) {
	case 0:
		FUZZ_CHECK(ipcwait_spsc_params_check(NULL) == -EINVAL);
		FUZZ_CHECK(ipcwait_spsc_create(NULL) == NULL);
		ipcwait_spsc_destroy(NULL);
		break;
	case 1:
		FUZZ_CHECK(ipcwait_spsc_length(NULL, &n, &n) == -EINVAL);
		FUZZ_CHECK(ipcwait_spsc_length(m.q, NULL, &n) == -EINVAL);
		FUZZ_CHECK(ipcwait_spsc_length(m.q, &n, NULL) == -EINVAL && n == 4711);
		break;
	default:
		bad_params(in);
	}
}

static void make_call(enum call call, struct input *in)
{
	switch (call) {
	case PUSH:
	case PUSH_UNTIL:
		push(in, call == PUSH_UNTIL);
		break;
	case PUSH_N:
		push_n(in);
		break;
	case RESERVE:
		reserve(in);
		break;
	case COMMIT:
		commit(in);
		break;
	case TRYPOP:
	case POP:
	case POP_UNTIL:
	case POP_N:
		pop(in, call);
		break;
	case PEEK:
		peek(in);
		break;
	case RELEASE:
		release(in);
		break;
	case CLOSE:
		FUZZ_CHECK(ipcwait_spsc_close(m.q) == (m.closed ? -EALREADY : 0));
		m.closed = true;
		break;
	case TRIM:
		trim();
		break;
	case AGAIN:
		end();
		make(in);
		break;
	default:
		wrong(in);
	}
}

static void check_length(void)
{
	uint64_t lo = 4711, hi = 4711;

	FUZZ_CHECK(ipcwait_spsc_length(m.q, &lo, &hi) == 0);
	FUZZ_CHECK(lo == length() && hi == lo);
}

/* What moves elements is called most. */
static enum call take_call(struct input *in)
{
	uint8_t how = take_8(in);

	return (enum call)(how < 192 ? how % (RELEASE + 1) : how % CALLS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	make(&in);
	for (unsigned i = 0; i < CALLS_MOST && in.left; i++) {
		enum call call = take_call(&in);

		memory = take_8(&in) >= 240 ? 0 : UINT32_MAX;
		errno = 4711;
		make_call(call, &in);
		memory = UINT32_MAX;
		FUZZ_CHECK(errno == 4711);
		check_length();
	}
	end();
	return 0;
}
