/* SPDX-License-Identifier: MIT */
/*
 * Calls in any order on pools, step by step against a model that counts what lies in magazines,
 * depots and slabs: every result, all statistics, what goes back to the system and when. The clock
 * and the NUMA node of the caller are the input's. Elements are full of what their owner wrote, so
 * that two owners of one would show. Some calls are another thread's, which ends after them.
 */
#include <errno.h>
#include <pthread.h>
#include <sanitizer/asan_interface.h>

#include <ipcwait/pool.h>

#include "common/fuzz.h"
#include "env/nodes.h"
#include "fuzz/elements.h"
#include "fuzz/pool_model.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "os/thread_end.h"

#define CALLS_MOST   200
#define THREADS_MOST 2
#define POOLS        3
#define LIVE_MOST    400
#define LIVE_BYTES   150000

/* Of a slab the library keeps for itself, at most, or as much as an element's alignment. */
#define OWN_BYTES 64

enum call {
	GET,
	GET_SOME,
	PUT,
	PUT_SOME,
	STATS,
	TRIM,
	THREAD,
	TIME,
	NODE,
	UNTOLD,
	AGAIN,
	WRONG,
	CALLS
};

struct live {
	unsigned char *elem;
	uint64_t what;
};

static struct model {
	struct ipcwait_pool *pool;
	struct ipcwait_pool_params is;
	struct pool_model counts;
	struct pool_cache cache; /* of the main thread */
	size_t slab_bytes;       /* at a multiple of which a slab lies */
	uint64_t bytes;          /* of all, when they were last asked for */
	uint64_t peak;           /* elements that were out since then, at most */
	struct live live[LIVE_MOST];
	unsigned n;
} models[POOLS];

static unsigned threads;

int64_t __wrap_iw_clock_ns(void);
uint32_t __wrap_iw_nodes(uint32_t most);
unsigned __wrap_iw_cpu_node(void);
bool __wrap_iw_thread_end_ask(void);
bool __real_iw_thread_end_ask(void);

int64_t __wrap_iw_clock_ns(void)
{
	return pool_outside.now_ns;
}

uint32_t __wrap_iw_nodes(uint32_t most)
{
	FUZZ_CHECK(pool_outside.nodes <= most);
	return pool_outside.nodes;
}

unsigned __wrap_iw_cpu_node(void)
{
	return pool_outside.node;
}

bool __wrap_iw_thread_end_ask(void)
{
	return !pool_outside.ends_untold && __real_iw_thread_end_ask();
}

static size_t align_of(const struct model *m)
{
	return m->is.elem_align ? m->is.elem_align : 16;
}

/* From one element to the next. */
static size_t stride_of(const struct model *m)
{
	size_t align = align_of(m) < sizeof(void *) ? sizeof(void *) : align_of(m);

	return (m->is.elem_size + align - 1) / align * align;
}

static uint32_t live_most(const struct model *m)
{
	size_t fit = LIVE_BYTES / m->is.elem_size;

	return fit < 2 ? 2 : fit < LIVE_MOST ? (uint32_t)fit : LIVE_MOST;
}

/* All of it is the caller's, and the sanitizer knows of what is behind it that it is not. */
static void get(struct model *m, struct pool_cache *c, unsigned kind)
{
	unsigned char *elem;

	if (m->n == live_most(m))
		return;
	elem = ipcwait_pool_get(m->pool);
	FUZZ_CHECK(!elem == !pool_model_get(&m->counts, c));
	if (m->peak < m->counts.out)
		m->peak = m->counts.out;
	if (!elem)
		return;
	FUZZ_CHECK((uintptr_t)elem % align_of(m) == 0);
	FUZZ_CHECK(!__asan_region_is_poisoned(elem, m->is.elem_size));
	FUZZ_CHECK(stride_of(m) == m->is.elem_size ||
		   __asan_address_is_poisoned(elem + m->is.elem_size));
	m->live[m->n] = (struct live){ elem, element_new(kind) };
	element_write(elem, m->is.elem_size, m->live[m->n++].what);
}

static void put(struct model *m, struct pool_cache *c, unsigned which)
{
	struct live one;

	if (!m->n)
		return;
	one = m->live[which %= m->n];
	m->live[which] = m->live[--m->n];
	FUZZ_CHECK(element_is(one.elem, m->is.elem_size, one.what));
	ipcwait_pool_put(m->pool, one.elem);
	pool_model_put(&m->counts, c);
	/* Without magazines its slab may be gone. */
	FUZZ_CHECK(!c->made ||
		   (__asan_address_is_poisoned(one.elem) &&
		    __asan_address_is_poisoned(one.elem + m->is.elem_size - 1)));
}

/* @does is get or put. */
static void some(struct model *m, struct pool_cache *c, struct input *in, unsigned n,
		 void (*does)(struct model *m, struct pool_cache *c, unsigned which))
{
	uint8_t how = take_8(in);

	for (; n; n--)
		does(m, c, n * how);
}

/* How many slabs have an element that is missing. */
static size_t slabs_of_live(const struct model *m)
{
	uintptr_t slabs[LIVE_MOST];
	size_t n = 0;

	for (unsigned i = 0; i < m->n; i++) {
		size_t k = 0;

		slabs[n] = (uintptr_t)m->live[i].elem / m->slab_bytes;
		while (slabs[k] != slabs[n])
			k++;
		n += k == n;
	}
	return n;
}

/* Whether there can have been a slab more than before: all others had no element left. */
static bool may_have_grown(const struct model *m, uint64_t bytes)
{
	size_t own = align_of(m) < OWN_BYTES ? OWN_BYTES : align_of(m);

	return m->peak >
	       (bytes / m->slab_bytes - 1) * ((m->slab_bytes - own) / stride_of(m));
}

/* Of the bytes is known what they are at least, and that they are whole slabs. */
static void check_stats(struct model *m)
{
	struct ipcwait_pool_stats st, want = pool_model_stats(&m->counts, &m->cache);

	FUZZ_CHECK(ipcwait_pool_stats_get(m->pool, &st, sizeof(st)) == sizeof(st));
	FUZZ_CHECK(st.bytes >= m->counts.out * m->is.elem_size);
	FUZZ_CHECK(st.bytes % m->slab_bytes == 0);
	FUZZ_CHECK(st.bytes <= m->bytes || may_have_grown(m, st.bytes));
	want.bytes = m->bytes = st.bytes;
	m->peak = m->counts.out;
	FUZZ_CHECK(memcmp(&st, &want, sizeof(st)) == 0);
}

static void stats(struct model *m, struct input *in)
{
	struct ipcwait_pool_stats st, whole;
	size_t size = take_8(in) % (2 * sizeof(st));
	size_t filled = size < sizeof(st) ? size : sizeof(st);

	check_stats(m);
	memset(&st, 0xa5, sizeof(st));
	whole = st;
	if (size < sizeof(st.size))
		filled = 0;
	else
		FUZZ_CHECK(ipcwait_pool_stats_get(m->pool, &whole, sizeof(whole)) > 0);
	whole.size = filled;
	FUZZ_CHECK(ipcwait_pool_stats_get(m->pool, &st, size) ==
		   (filled ? (int)filled : -EINVAL));
	FUZZ_CHECK(memcmp(&st, &whole, filled) == 0);
	memset(&whole, 0xa5, sizeof(whole));
	FUZZ_CHECK(memcmp((char *)&st + filled, &whole, sizeof(st) - filled) == 0);
}

/* What the program has keeps its slabs, and nothing else does. */
static void trim(struct model *m)
{
	uint64_t bytes;

	check_stats(m);
	bytes = m->bytes;
	pool_model_trim(&m->counts, &m->cache);
	bytes -= ipcwait_pool_trim(m->pool);
	check_stats(m);
	FUZZ_CHECK(m->bytes == bytes && m->counts.out == m->n);
	FUZZ_CHECK(bytes == slabs_of_live(m) * m->slab_bytes);
}

struct visit {
	struct model *m;
	struct input *in;
	struct pool_cache cache;
};

static void *be_visitor(void *arg)
{
	struct visit *v = arg;

	for (unsigned n = take_8(v->in) % 8; n; n--) {
		bool gets = take_8(v->in) & 1;

		some(v->m, &v->cache, v->in, take_8(v->in) % 160, gets ? get : put);
	}
	return NULL;
}

static void visit(struct model *m, struct input *in)
{
	struct visit v = { .m = m, .in = in };
	pthread_t thread;

	if (threads++ >= THREADS_MOST)
		return;
	FUZZ_CHECK(pthread_create(&thread, NULL, be_visitor, &v) == 0);
	FUZZ_CHECK(pthread_join(thread, NULL) == 0);
	pool_model_end(&m->counts, &v.cache);
}

static void end(struct model *m)
{
	if (m->pool)
		check_stats(m);
	for (unsigned i = 0; i < m->n; i++)
		FUZZ_CHECK(element_is(m->live[i].elem, m->is.elem_size, m->live[i].what));
	ipcwait_pool_destroy(m->pool);
	m->pool = NULL;
	m->n = 0;
}

static size_t take_elem_size(struct input *in)
{
	static const uint32_t sizes[] = {
		500, 513, 4096, 5000, 16384, 20000, 65536, 70000
	};
	uint8_t how = take_8(in);

	return how < 200 ? take_size(in) : sizes[how % 8];
}

/* Of another pool of such elements, of which one is out. */
static size_t learn_slab(const struct model *m)
{
	struct ipcwait_pool_params one = m->is;
	struct ipcwait_pool_stats st;
	struct ipcwait_pool *pool;

	one.magazine = 1;
	FUZZ_CHECK(ipcwait_pool_create(&one, &pool) == 0 && ipcwait_pool_get(pool));
	FUZZ_CHECK(ipcwait_pool_stats_get(pool, &st, sizeof(st)) == sizeof(st));
	ipcwait_pool_destroy(pool);
	FUZZ_CHECK(st.bytes >= m->is.elem_size && !(st.bytes & (st.bytes - 1)));
	return st.bytes;
}

static void make(struct model *m, struct input *in)
{
	uint8_t how = take_8(in);

	end(m);
	*m = (struct model){ .is.elem_size = take_elem_size(in) };
	if (how & 1)
		m->is.elem_align = 1u << take_8(in) % 13;
	if (how & 2)
		m->is.max_elems = take_8(in);
	if (how & 4)
		m->is.magazine = take_8(in) % 64 + 1;
	pool_model_begin(&m->counts, &m->is, stride_of(m));
	m->slab_bytes = learn_slab(m);
	FUZZ_CHECK(ipcwait_pool_create(&m->is, &m->pool) == 0);
}

static void bad_params(struct model *m, struct input *in)
{
	struct ipcwait_pool_params bad = m->is;
	struct ipcwait_pool *none = NULL;

	switch (take_8(in) % 6) {
	case 0:
		bad.elem_size = 0;
		break;
	case 1:
		bad.elem_size = IPCWAIT_POOL_ELEM_MAX + 1 + take_64(in) / 2;
		break;
	case 2:
		bad.elem_align = (2u << take_8(in) % 12) + 1;
		break;
	case 3:
		bad.elem_align = (size_t)IPCWAIT_POOL_ALIGN_MAX << (take_8(in) % 32 + 1);
		break;
	case 4:
		bad.magazine = 65 + take_32(in) / 2;
		break;
	default:
		bad.reserved[take_8(in) % 3] = 1u << take_8(in) % 32;
	}
	FUZZ_CHECK(ipcwait_pool_create(&bad, &none) == -EINVAL && !none);
}

static void wrong(struct model *m, struct input *in)
{
	struct ipcwait_pool *none = NULL;
	struct ipcwait_pool_stats st;

	switch (take_8(in) % 4) {
	case 0:
		FUZZ_CHECK(ipcwait_pool_create(NULL, &none) == -EINVAL && !none);
		FUZZ_CHECK(ipcwait_pool_create(&m->is, NULL) == -EINVAL);
		break;
	case 1:
		FUZZ_CHECK(ipcwait_pool_stats_get(NULL, &st, sizeof(st)) == -EINVAL);
		FUZZ_CHECK(ipcwait_pool_stats_get(m->pool, NULL, sizeof(st)) == -EINVAL);
		break;
	case 2:
		ipcwait_pool_put(m->pool, NULL);
		ipcwait_pool_destroy(NULL);
		break;
	default:
		bad_params(m, in);
	}
}

static void make_call(struct model *m, enum call call, struct input *in)
{
	static void (*const calls[])(struct model *, struct input *) = {
		[STATS] = stats,
		[THREAD] = visit,
		[AGAIN] = make,
		[WRONG] = wrong,
	};

	if (call == GET || call == GET_SOME)
		some(m, &m->cache, in, call == GET ? 1 : take_8(in) % 160, get);
	else if (call == PUT || call == PUT_SOME)
		some(m, &m->cache, in, call == PUT ? 1 : take_8(in) % 160, put);
	else if (call == TRIM)
		trim(m);
	else if (call == TIME)
		pool_outside.now_ns += INT64_C(300000000) * (take_8(in) % 8);
	else if (call == NODE)
		pool_outside.node = take_8(in) % DEPOTS_MOST;
	else if (call == UNTOLD)
		pool_outside.ends_untold = !pool_outside.ends_untold;
	else
		calls[call](m, in);
}

/* What moves elements is called most. */
static enum call take_call(struct input *in)
{
	uint8_t how = take_8(in);

	return (enum call)(how < 128 ? how % (PUT_SOME + 1) : how % CALLS);
}

static void begin(struct input *in)
{
	threads = 0;
	pool_outside.ends_untold = false;
	pool_outside.now_ns = INT64_C(100000000) * take_8(in);
	pool_outside.nodes = take_8(in) % DEPOTS_MOST + 1;
	pool_outside.node = 0;
	for (unsigned i = 0; i < POOLS; i++)
		make(&models[i], in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	size_t heap = heap_bytes();

	begin(&in);
	for (unsigned i = 0; i < CALLS_MOST && in.left; i++) {
		struct model *m = &models[take_8(&in) % POOLS];

		errno = 4711;
		make_call(m, take_call(&in), &in);
		FUZZ_CHECK(errno == 4711);
		check_stats(m);
	}
	for (unsigned i = 0; i < POOLS; i++)
		end(&models[i]);
	FUZZ_CHECK(heap_bytes() == heap);
	return 0;
}
