/* SPDX-License-Identifier: MIT */
/* <ipcwait/channel.h> between threads: sums and order, ping-pong, close, deadlines, bulk. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define THREADS_MAX 8

static struct ipcwait_channel *make(size_t size, uint64_t capacity)
{
	const struct ipcwait_channel_params params = { .elem_size = size,
						       .capacity = capacity };
	struct ipcwait_channel *ch = ipcwait_channel_create(&params);

	assert_non_null(ch);
	return ch;
}

/* What one of several senders sends. */
struct item {
	uint32_t sender;
	uint32_t number;
};

struct crowd {
	struct ipcwait_channel *ch;
	unsigned id;
	uint32_t items;
	uint32_t bulk;     /* at a time */
	int64_t nap_ns;    /* deadline of each call; 0: none */
	uint64_t sum;      /* of what it received, or sent */
	uint64_t received; /* how many */
};

static int64_t deadline_of(const struct crowd *c)
{
	return c->nap_ns ? ipcwait_deadline_in_ns(c->nap_ns) : IPCWAIT_FOREVER;
}

static void *send_all(void *arg)
{
	struct crowd *c = arg;
	struct item item[16];

	for (uint32_t n = 0; n < c->items;) {
		uint32_t k = c->bulk < c->items - n ? c->bulk : c->items - n;
		int64_t r;

		for (uint32_t i = 0; i < k; i++)
			item[i] = (struct item){ c->id, n + i };
		if (k == 1)
			r = ipcwait_channel_send_until(c->ch, item, deadline_of(c));
		else
			r = ipcwait_channel_send_n(c->ch, item, k, deadline_of(c));
		r = k == 1 && r == 0 ? 1 : r;
		CHECK(r > 0 || (r == -ETIMEDOUT && c->nap_ns));
		for (int64_t i = 0; i < r; i++)
			c->sum += item[i].number;
		n += r > 0 ? (uint32_t)r : 0;
	}
	return NULL;
}

/* Until it is closed. Items of one sender come in their order. */
static void *receive_all(void *arg)
{
	struct crowd *c = arg;
	uint32_t next[THREADS_MAX] = { 0 };
	struct item item[16];
	int64_t r;

	while ((r = ipcwait_channel_recv_n(c->ch, item, c->bulk, deadline_of(c))) !=
	       -EPIPE) {
		CHECK(r > 0 || (r == -ETIMEDOUT && c->nap_ns));
		for (int64_t i = 0; i < r; i++) {
			CHECK(item[i].sender < THREADS_MAX);
			CHECK(item[i].number >= next[item[i].sender]);
			next[item[i].sender] = item[i].number + 1;
			c->sum += item[i].number;
			c->received++;
		}
	}
	return NULL;
}

static void check_crowd(uint64_t capacity, unsigned senders, unsigned receivers,
			uint32_t items, uint32_t bulk, int64_t nap_ns)
{
	struct crowd from[THREADS_MAX], to[THREADS_MAX];
	pthread_t sends[THREADS_MAX], receives[THREADS_MAX];
	struct ipcwait_channel *ch = make(sizeof(struct item), capacity);
	uint64_t sent = 0, received = 0, count = 0;

	for (unsigned i = 0; i < receivers; i++) {
		to[i] = (struct crowd){ ch, i, 0, bulk, nap_ns, 0, 0 };
		assert_int_equal(pthread_create(&receives[i], NULL, receive_all, &to[i]),
				 0);
	}
	for (unsigned i = 0; i < senders; i++) {
		from[i] = (struct crowd){ ch, i, items, bulk, nap_ns, 0, 0 };
		assert_int_equal(pthread_create(&sends[i], NULL, send_all, &from[i]), 0);
	}
	for (unsigned i = 0; i < senders; i++) {
		assert_int_equal(pthread_join(sends[i], NULL), 0);
		sent += from[i].sum;
	}
	assert_int_equal(ipcwait_channel_close(ch), 0);
	for (unsigned i = 0; i < receivers; i++) {
		assert_int_equal(pthread_join(receives[i], NULL), 0);
		received += to[i].sum;
		count += to[i].received;
	}
	assert_int_equal(count, (uint64_t)senders * items);
	assert_int_equal(received, sent);
	ipcwait_channel_destroy(ch);
}

static void test_crowds(void **state)
{
	static const uint64_t capacities[] = { 0, 1, 2, 3, 7, 64 };

	(void)state;
	for (unsigned i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
		check_crowd(capacities[i], 1, 1, 5000, 1, 0);
		check_crowd(capacities[i], 4, 1, 2000, 1, 0);
		check_crowd(capacities[i], 1, 4, 5000, 1, 0);
		check_crowd(capacities[i], 4, 4, 2000, 1, 0);
		check_crowd(capacities[i], 3, 3, 2000, 5, 0);
	}
}

static void test_crowds_with_deadlines(void **state)
{
	(void)state;
	check_crowd(0, 4, 4, 500, 1, 20000);
	check_crowd(1, 4, 4, 1000, 1, 20000);
	check_crowd(2, 4, 4, 1000, 3, 20000);
	check_crowd(64, 4, 4, 2000, 7, 5000);
}

/* A thread in one call. */
struct caller {
	struct ipcwait_channel *ch;
	int64_t deadline_ns;
	bool sends;
	int result;
	uint64_t elem;
	pthread_t thread;
};

static void *call(void *arg)
{
	struct caller *c = arg;

	c->result = c->sends ? ipcwait_channel_send_until(c->ch, &c->elem, c->deadline_ns)
			     : ipcwait_channel_recv_until(c->ch, &c->elem, c->deadline_ns);
	return NULL;
}

static void start(struct caller *c, struct ipcwait_channel *ch, bool sends, uint64_t elem)
{
	*c = (struct caller){
		.ch = ch, .deadline_ns = IPCWAIT_FOREVER, .sends = sends, .elem = elem
	};
	assert_int_equal(pthread_create(&c->thread, NULL, call, c), 0);
}

static int finish(struct caller *c)
{
	assert_int_equal(pthread_join(c->thread, NULL), 0);
	return c->result;
}

static uint64_t sleeping(void)
{
	struct ipcwait_stats st;

	assert_true(ipcwait_stats_get(&st, sizeof(st)) > 0);
	return st.kind[IPCWAIT_KIND_CHANNEL].futex_waits;
}

static bool slept(void *arg)
{
	return sleeping() >= *(uint64_t *)arg;
}

/* @n more sleeps in channels have begun than @before. */
static void await_sleeps(uint64_t before, unsigned n)
{
	before += n;
	assert_true(check_eventually(slept, &before));
}

static void test_close_wakes_receivers(void **state)
{
	(void)state;
	for (uint64_t capacity = 0; capacity < 3; capacity++) {
		struct ipcwait_channel *ch = make(8, capacity);
		uint64_t before = sleeping();
		struct caller c[4];

		for (unsigned i = 0; i < 4; i++)
			start(&c[i], ch, false, 0);
		await_sleeps(before, 4);
		assert_int_equal(ipcwait_channel_close(ch), 0);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(finish(&c[i]), -EPIPE);
		ipcwait_channel_destroy(ch);
	}
}

static void test_close_wakes_senders(void **state)
{
	(void)state;
	for (uint64_t capacity = 0; capacity < 3; capacity++) {
		struct ipcwait_channel *ch = make(8, capacity);
		struct caller c[4];
		uint64_t x = 7, before;

		for (uint64_t i = 0; i < capacity; i++)
			assert_int_equal(ipcwait_channel_send(ch, &x), 0);
		before = sleeping();
		for (unsigned i = 0; i < 4; i++)
			start(&c[i], ch, true, i);
		await_sleeps(before, 4);
		assert_int_equal(ipcwait_channel_close(ch), 0);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(finish(&c[i]), -EPIPE);
		for (uint64_t i = 0; i < capacity; i++) {
			assert_int_equal(ipcwait_channel_recv(ch, &x), 0);
			assert_int_equal(x, 7);
		}
		assert_int_equal(ipcwait_channel_recv(ch, &x), -EPIPE);
		ipcwait_channel_destroy(ch);
	}
}

static void test_one_for_one(void **state)
{
	(void)state;
	for (uint64_t capacity = 0; capacity < 3; capacity++) {
		struct ipcwait_channel *ch = make(8, capacity);
		uint64_t before = sleeping(), sum = 0;
		struct caller c[3];

		for (unsigned i = 0; i < 3; i++)
			start(&c[i], ch, false, 0);
		await_sleeps(before, 3);
		for (uint64_t i = 1; i < 4; i++)
			assert_int_equal(ipcwait_channel_send(ch, &i), 0);
		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(finish(&c[i]), 0);
			sum += c[i].elem;
		}
		assert_int_equal(sum, 6);
		ipcwait_channel_destroy(ch);
	}
}

/* With capacity 0 a try succeeds if somebody waits on the other side. */
static void test_try_to_meet(void **state)
{
	struct ipcwait_channel *ch = make(8, 0);
	uint64_t before = sleeping(), x = 5;
	struct caller c;

	(void)state;
	start(&c, ch, false, 0);
	await_sleeps(before, 1);
	assert_int_equal(ipcwait_channel_trysend(ch, &x), 0);
	assert_int_equal(finish(&c), 0);
	assert_int_equal(c.elem, 5);
	before = sleeping();
	start(&c, ch, true, 6);
	await_sleeps(before, 1);
	assert_int_equal(ipcwait_channel_tryrecv(ch, &x), 0);
	assert_int_equal(x, 6);
	assert_int_equal(finish(&c), 0);
	assert_int_equal(ipcwait_channel_tryrecv(ch, &x), -EAGAIN);
	ipcwait_channel_destroy(ch);
}

static struct ipcwait_channel *ping, *pong;

static void *answer(void *arg)
{
	uint64_t x;

	(void)arg;
	while (ipcwait_channel_recv(ping, &x) == 0) {
		x++;
		CHECK_EQ(ipcwait_channel_send(pong, &x), 0);
	}
	return NULL;
}

static void test_ping_pong(void **state)
{
	(void)state;
	for (uint64_t capacity = 0; capacity < 2; capacity++) {
		pthread_t thread;
		uint64_t x = 0;

		ping = make(8, capacity);
		pong = make(8, capacity);
		assert_int_equal(pthread_create(&thread, NULL, answer, NULL), 0);
		for (uint64_t i = 0; i < 20000; i++) {
			assert_int_equal(ipcwait_channel_send(ping, &x), 0);
			assert_int_equal(ipcwait_channel_recv(pong, &x), 0);
			assert_int_equal(x, i + 1);
		}
		assert_int_equal(ipcwait_channel_close(ping), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		ipcwait_channel_destroy(ping);
		ipcwait_channel_destroy(pong);
	}
}

static int begin(void **state)
{
	(void)state;
	check_watchdog(60);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_crowds, begin),
		cmocka_unit_test_setup(test_crowds_with_deadlines, begin),
		cmocka_unit_test_setup(test_close_wakes_receivers, begin),
		cmocka_unit_test_setup(test_close_wakes_senders, begin),
		cmocka_unit_test_setup(test_one_for_one, begin),
		cmocka_unit_test_setup(test_try_to_meet, begin),
		cmocka_unit_test_setup(test_ping_pong, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
