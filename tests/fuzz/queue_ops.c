/* SPDX-License-Identifier: MIT */
/*
 * Calls in any order on two queues, one thread, step by step against a model of each: every result,
 * every element, what is left to be ended, and how many elements there are. What would wait does
 * not: its deadline has passed. Memory for segments is refused when the input says so, and each
 * segment goes back.
 */
#include <errno.h>

#include <ipcwait/queue.h>
#include <ipcwait/wait_any.h>

#include "common/fuzz.h"
#include "fuzz/elements.h"
#include "queue/segment.h"

#define CALLS_MOST 100
#define TRIMS_MOST 1
#define QUEUES     2

enum call {
	PUSH,
	PUSH_N,
	TRYPOP,
	POP,
	POP_UNTIL,
	POP_N,
	POP_N_UNTIL,
	CLOSE,
	STATS,
	WAIT_ANY,
	AGAIN,
	TRIM,
	WRONG,
	CALLS
};

struct model {
	struct ipcwait_queue *q;
	struct ipcwait_queue_params is;
	struct stock stock;
	uint64_t segments; /* used up, when it last told */
	bool closed;
};

static struct model models[QUEUES];
static struct batch batch;
static unsigned trims;

/* Segments that chains have and nobody else, and whether the next one is refused. */
static int64_t segments;
static bool no_memory, refused;

struct iw_segment *__real_iw_segment_get(uint32_t bytes, size_t stride, size_t beside);
void __real_iw_segment_put(struct iw_segment *s);
void __real_iw_segment_retire(struct iw_segment *s);
struct iw_segment *__wrap_iw_segment_get(uint32_t bytes, size_t stride, size_t beside);
void __wrap_iw_segment_put(struct iw_segment *s);
void __wrap_iw_segment_retire(struct iw_segment *s);

struct iw_segment *__wrap_iw_segment_get(uint32_t bytes, size_t stride, size_t beside)
{
	refused = no_memory;
	if (refused)
		return NULL;
	segments++;
	return __real_iw_segment_get(bytes, stride, beside);
}

void __wrap_iw_segment_put(struct iw_segment *s)
{
	segments--;
	__real_iw_segment_put(s);
}

void __wrap_iw_segment_retire(struct iw_segment *s)
{
	segments--;
	__real_iw_segment_retire(s);
}

static uint64_t length(const struct model *m)
{
	return stock_length(&m->stock);
}

/* What a call that takes elements out says if it takes none. */
static int none(const struct model *m, int empty)
{
	return m->closed ? -EPIPE : empty;
}

/* A pop of up to @n. */
static int64_t popped(const struct model *m, size_t n, int empty)
{
	if (!n)
		return 0;
	if (!length(m))
		return none(m, empty);
	return length(m) < n ? (int64_t)length(m) : (int64_t)n;
}

/* A push of @n, if there is memory. */
static int64_t pushed(const struct model *m, size_t n)
{
	uint64_t room = m->is.max_elems ? m->is.max_elems - length(m) : n;

	if (!n)
		return 0;
	if (m->closed)
		return -EPIPE;
	if (!room)
		return -EAGAIN;
	return room < n ? (int64_t)room : (int64_t)n;
}

/* Elements are aligned as far as one can expect of their size. */
static void fini(void *elem, void *stock)
{
	const struct stock *s = stock;

	FUZZ_CHECK((uintptr_t)elem % (s->size < 16 ? 8 : 16) == 0);
	stock_fini(elem, stock);
}

static void end(struct model *m)
{
	ipcwait_queue_destroy(m->q);
	FUZZ_CHECK(!m->q || !m->is.elem_fini || !length(m));
	m->q = NULL;
}

static void make(struct model *m, struct input *in)
{
	uint8_t how = take_8(in);
	size_t size = take_size(in);

	end(m);
	m->is = (struct ipcwait_queue_params){
		.elem_size = size,
		.elem_fini = how & 1 ? fini : NULL,
		.elem_fini_arg = &m->stock,
		.max_elems = how & 2 ? take_8(in) : 0,
		.flags = how & 4 ? IPCWAIT_QUEUE_ONE_CONSUMER : 0,
	};
	FUZZ_CHECK(ipcwait_queue_params_check(&m->is) == 0);
	/* The first without memory. */
	no_memory = how >= 240;
	m->q = ipcwait_queue_create(&m->is);
	FUZZ_CHECK(!m->q == no_memory);
	no_memory = false;
	if (!m->q)
		m->q = ipcwait_queue_create(&m->is);
	FUZZ_CHECK(m->q);
	stock_begin(&m->stock, m->is.elem_size);
	m->segments = 0;
	m->closed = false;
}

/* Without memory for a segment what has found room before is in. */
static void push(struct model *m, struct input *in, bool many)
{
	size_t n = many ? take_count(in, m->stock.size) : 1;
	int64_t r, want;

	if (n > stock_room(&m->stock))
		return;
	batch_fill(&batch, in, m->stock.size, n);
	refused = false;
	no_memory = take_8(in) >= 224;
	want = pushed(m, n);
	r = many ? ipcwait_queue_push_n(m->q, batch.elems, n)
		 : ipcwait_queue_push(m->q, batch.elems);
	no_memory = false;
	if (!many && r == 0)
		r = 1;
	if (refused)
		FUZZ_CHECK(want > 0 && (r == -ENOMEM || (r > 0 && r < want)));
	else
		FUZZ_CHECK(r == want);
	batch_went_in(&batch, &m->stock, r);
}

/* Whatever it is, if the call need not wait. */
static int64_t deadline(const struct model *m, struct input *in)
{
	int64_t now_ns = ipcwait_now_ns();

	return length(m) || m->closed ? take_deadline(in, now_ns)
				      : take_past_deadline(in, now_ns);
}

static int64_t pop_some(struct model *m, struct input *in, enum call call, size_t n)
{
	switch (call) {
	case TRYPOP:
		return ipcwait_queue_trypop(m->q, batch.elems);
	case POP:
		return ipcwait_queue_pop(m->q, batch.elems);
	case POP_UNTIL:
		return ipcwait_queue_pop_until(m->q, batch.elems, deadline(m, in));
	case POP_N:
		return ipcwait_queue_pop_n(m->q, batch.elems, n);
	default:
		return ipcwait_queue_pop_n_until(m->q, batch.elems, n, deadline(m, in));
	}
}

static void pop(struct model *m, struct input *in, enum call call)
{
	bool many = call == POP_N || call == POP_N_UNTIL;
	bool tries = call == TRYPOP || call == POP_N;
	size_t n = many ? take_count(in, m->stock.size) : 1;
	int64_t r;

	if (call == POP && !length(m) && !m->closed)
		return;
	batch_blank(&batch, in, m->stock.size, n);
	r = pop_some(m, in, call, n);
	if (!many && r == 0)
		r = 1;
	FUZZ_CHECK(r == popped(m, n, tries ? -EAGAIN : -ETIMEDOUT));
	batch_came_out(&batch, &m->stock, r);
}

static void close_it(struct model *m)
{
	FUZZ_CHECK(ipcwait_queue_close(m->q) == (m->closed ? -EALREADY : 0));
	m->closed = true;
}

/* Nobody comes too late with one thread, and a segment has elements before it is used up. */
static void stats(struct model *m, struct input *in)
{
	struct ipcwait_queue_stats st, before;
	size_t size = take_8(in) % (2 * sizeof(st));
	size_t filled = size < sizeof(st) ? size : sizeof(st);

	memset(&before, 0xa5, sizeof(before));
	st = before;
	if (size < sizeof(st.size))
		filled = 0;
	FUZZ_CHECK(ipcwait_queue_stats_get(m->q, &st, size) ==
		   (filled ? (int)filled : -EINVAL));
	FUZZ_CHECK(memcmp((char *)&st + filled, (char *)&before + filled,
			  sizeof(st) - filled) == 0);
	if (filled < sizeof(st))
		return;
	FUZZ_CHECK(st.size == sizeof(st) && st.spoiled == 0);
	FUZZ_CHECK(st.bytes >= length(m) * m->stock.size);
	FUZZ_CHECK(st.segments >= m->segments && st.segments <= m->stock.out);
	m->segments = st.segments;
}

/* The first in the set that has an element or is closed. */
static void wait_any(struct input *in)
{
	struct ipcwait_waitable set[4] = { 0 };
	unsigned n = take_8(in) % 4 + 1;
	int want = -ETIMEDOUT;

	for (unsigned i = 0; i < n; i++) {
		struct model *m = &models[take_8(in) % QUEUES];

		set[i].type = IPCWAIT_WAITABLE_QUEUE;
		set[i].object = m->q;
		if (want < 0 && (length(m) || m->closed))
			want = (int)i;
	}
	FUZZ_CHECK(ipcwait_wait_any(set, n,
				    want < 0 ? take_past_deadline(in, ipcwait_now_ns())
					     : IPCWAIT_FOREVER,
				    NULL) == want);
	set[n - 1].type = IPCWAIT_WAITABLE_CHANNEL;
	FUZZ_CHECK(ipcwait_wait_any(set, n, 0, NULL) == -EINVAL);
}

/* It waits for 10 ms, most of the time. */
static void trim(struct model *m, struct input *in)
{
	if (take_8(in) % 16 == 0 && trims++ < TRIMS_MOST)
		(void)ipcwait_queue_trim(m->q);
}

static void bad_params(struct model *m, struct input *in)
{
	struct ipcwait_queue_params bad = m->is;

	switch (take_8(in) % 5) {
	case 0:
		bad.elem_size = 0;
		break;
	case 1:
		bad.elem_size =
			IPCWAIT_QUEUE_ELEM_MAX + 1 + (size_t)take_64(in) % SIZE_MAX / 2;
		break;
	case 2:
		bad.flags |= IPCWAIT_QUEUE_ONE_CONSUMER << (take_8(in) % 31 + 1);
		break;
	default:
		bad.reserved[take_8(in) % 3] = 1u << take_8(in) % 32;
	}
	FUZZ_CHECK(ipcwait_queue_params_check(&bad) == -EINVAL);
	FUZZ_CHECK(ipcwait_queue_create(&bad) == NULL);
}

static void wrong(struct model *m, struct input *in)
{
	struct ipcwait_queue_stats st;
	uint64_t n = 4711;

	switch (take_8(in) % 4) {
	case 0:
		FUZZ_CHECK(ipcwait_queue_params_check(NULL) == -EINVAL);
		FUZZ_CHECK(ipcwait_queue_create(NULL) == NULL);
		ipcwait_queue_destroy(NULL);
		break;
	case 1:
		FUZZ_CHECK(ipcwait_queue_length(m->q, NULL, &n) == -EINVAL);
		FUZZ_CHECK(ipcwait_queue_length(m->q, &n, NULL) == -EINVAL && n == 4711);
		break;
	case 2:
		FUZZ_CHECK(ipcwait_queue_stats_get(NULL, &st, sizeof(st)) == -EINVAL);
		FUZZ_CHECK(ipcwait_queue_stats_get(m->q, NULL, sizeof(st)) == -EINVAL);
		break;
	default:
		bad_params(m, in);
	}
}

static void make_call(struct model *m, enum call call, struct input *in)
{
	switch (call) {
	case PUSH:
	case PUSH_N:
		push(m, in, call == PUSH_N);
		break;
	case TRYPOP:
	case POP:
	case POP_UNTIL:
	case POP_N:
	case POP_N_UNTIL:
		pop(m, in, call);
		break;
	case CLOSE:
		close_it(m);
		break;
	case STATS:
		stats(m, in);
		break;
	case WAIT_ANY:
		wait_any(in);
		break;
	case AGAIN:
		make(m, in);
		break;
	case TRIM:
		trim(m, in);
		break;
	default:
		wrong(m, in);
	}
}

static void check_length(const struct model *m)
{
	uint64_t lo = 4711, hi = 4711;

	FUZZ_CHECK(ipcwait_queue_length(m->q, &lo, &hi) == 0);
	FUZZ_CHECK(lo == length(m) && hi == lo);
}

/* Bulk calls and sizes come first: what they need of the input is most. */
static enum call take_call(struct input *in)
{
	uint8_t how = take_8(in);

	return how < 128 ? (enum call)(how % (POP_N_UNTIL + 1)) : (enum call)(how % CALLS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	trims = 0;
	for (unsigned i = 0; i < QUEUES; i++)
		make(&models[i], &in);
	for (unsigned i = 0; i < CALLS_MOST && in.left; i++) {
		uint8_t which = take_8(&in);

		errno = 4711;
		make_call(&models[which % QUEUES], take_call(&in), &in);
		FUZZ_CHECK(errno == 4711);
		for (unsigned k = 0; k < QUEUES; k++)
			check_length(&models[k]);
	}
	for (unsigned i = 0; i < QUEUES; i++)
		end(&models[i]);
	FUZZ_CHECK(segments == 0);
	return 0;
}
