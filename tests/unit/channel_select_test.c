/* SPDX-License-Identifier: MIT */
/* ipcwait_channel_select(), the eventfd, and channels as objects of ipcwait_wait_any(). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

#define SEND IPCWAIT_CHANNEL_SEND
#define RECV IPCWAIT_CHANNEL_RECV

static struct ipcwait_channel *make(uint64_t capacity)
{
	const struct ipcwait_channel_params params = { .elem_size = 8,
						       .capacity = capacity };
	struct ipcwait_channel *ch = ipcwait_channel_create(&params);

	assert_non_null(ch);
	return ch;
}

static int64_t soon(void)
{
	return ipcwait_deadline_in_ns(2000000);
}

static void test_bad_arguments(void **state)
{
	struct ipcwait_channel *ch = make(1);
	struct ipcwait_channel_case c[IPCWAIT_WAIT_ANY_MAX + 1];
	uint64_t x = 1;

	(void)state;
	for (unsigned i = 0; i <= IPCWAIT_WAIT_ANY_MAX; i++)
		c[i] = (struct ipcwait_channel_case){ ch, RECV, &x, 7 };
	assert_int_equal(ipcwait_channel_select(NULL, 1, 0), -EINVAL);
	assert_int_equal(ipcwait_channel_select(c, 0, 0), -EINVAL);
	assert_int_equal(ipcwait_channel_select(c, IPCWAIT_WAIT_ANY_MAX + 1, 0), -EINVAL);
	assert_int_equal(ipcwait_channel_select(c, IPCWAIT_WAIT_ANY_MAX, 0), -ETIMEDOUT);
	c[1].op = 2;
	assert_int_equal(ipcwait_channel_select(c, 2, 0), -EINVAL);
	c[1].op = -1;
	assert_int_equal(ipcwait_channel_select(c, 2, 0), -EINVAL);
	c[1].op = SEND;
	c[1].elem = NULL;
	assert_int_equal(ipcwait_channel_select(c, 2, 0), -EINVAL);
	assert_int_equal(c[0].result, 7);
	ipcwait_channel_destroy(ch);
}

/* Of a channel that is NULL nothing else is looked at. */
static void test_never_ready(void **state)
{
	struct ipcwait_channel_case c[2] = { { .op = 9 }, { .op = SEND } };
	int64_t deadline = soon();

	(void)state;
	assert_int_equal(ipcwait_channel_select(c, 2, 0), -ETIMEDOUT);
	assert_int_equal(ipcwait_channel_select(c, 2, deadline), -ETIMEDOUT);
	assert_true(ipcwait_now_ns() >= deadline);
}

static void check_alone(uint64_t capacity, unsigned n)
{
	struct ipcwait_channel *a = make(capacity), *b = make(capacity);
	struct ipcwait_channel_case c[40];
	uint64_t x = 1, y = 0;

	for (unsigned i = 0; i < n; i++)
		c[i] = (struct ipcwait_channel_case){ i % 2 ? a : b, RECV, &y, 7 };
	assert_int_equal(ipcwait_channel_select(c, n, 0), -ETIMEDOUT);
	assert_int_equal(ipcwait_channel_select(c, n, soon()), -ETIMEDOUT);
	if (capacity) {
		assert_int_equal(ipcwait_channel_send(a, &x), 0);
		assert_int_equal(ipcwait_channel_select(c, n, IPCWAIT_FOREVER) % 2, 1);
		assert_int_equal(y, 1);
		c[0] = (struct ipcwait_channel_case){ b, SEND, &x, 7 };
		assert_int_equal(ipcwait_channel_select(c, n, 0), 0);
		assert_int_equal(c[0].result, 0);
		assert_int_equal(ipcwait_channel_recv(b, &y), 0);
	}
	assert_int_equal(ipcwait_channel_close(b), 0);
	assert_int_equal(ipcwait_channel_select(c, n, 0) % 2, 0);
	c[0] = (struct ipcwait_channel_case){ b, SEND, &x, 7 };
	assert_int_equal(ipcwait_channel_select(c, 1, IPCWAIT_FOREVER), 0);
	assert_int_equal(c[0].result, -EPIPE);
	ipcwait_channel_destroy(a);
	ipcwait_channel_destroy(b);
}

static void test_alone(void **state)
{
	(void)state;
	for (uint64_t capacity = 0; capacity < 3; capacity++) {
		check_alone(capacity, 2);
		check_alone(capacity, 40);
	}
}

/* Selects that come at regular times: each of those that are ready is chosen about as often. */
static void test_fair(void **state)
{
	struct ipcwait_channel *ch[4];
	struct ipcwait_channel_case c[4];
	unsigned chosen[4] = { 0 };
	uint64_t x = 1;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		ch[i] = make(1);
		c[i] = (struct ipcwait_channel_case){ ch[i], RECV, &x, 7 };
		assert_int_equal(ipcwait_channel_send(ch[i], &x), 0);
	}
	for (unsigned n = 0; n < 4000; n++) {
		int i = ipcwait_channel_select(c, 4, IPCWAIT_FOREVER);

		assert_true(i >= 0 && i < 4);
		chosen[i]++;
		assert_int_equal(ipcwait_channel_send(ch[i], &x), 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		assert_true(chosen[i] > 700);
		ipcwait_channel_destroy(ch[i]);
	}
}

/* Threads that only select: from some channels, or to them. */
#define CHANNELS 3
#define ITEMS    3000

struct selector {
	struct ipcwait_channel **ch;
	int op;
	uint64_t sum;
	pthread_t thread;
};

static void *select_all(void *arg)
{
	struct selector *s = arg;
	struct ipcwait_channel_case c[CHANNELS];
	uint64_t x[CHANNELS];

	for (uint64_t n = 1; n <= ITEMS; n++) {
		int i;

		for (unsigned k = 0; k < CHANNELS; k++) {
			c[k] = (struct ipcwait_channel_case){ s->ch[k], s->op, &x[k], 7 };
			x[k] = s->op == SEND ? n : 0;
		}
		i = ipcwait_channel_select(c, CHANNELS, IPCWAIT_FOREVER);
		CHECK(i >= 0 && i < CHANNELS && c[i].result == 0);
		s->sum += x[i];
	}
	return NULL;
}

static void check_selectors(const uint64_t *capacity, unsigned pairs)
{
	struct ipcwait_channel *ch[CHANNELS];
	struct selector s[8];
	uint64_t sum[2] = { 0, 0 }, x;

	for (unsigned k = 0; k < CHANNELS; k++)
		ch[k] = make(capacity[k]);
	for (unsigned i = 0; i < 2 * pairs; i++) {
		s[i] = (struct selector){ .ch = ch, .op = i % 2 ? SEND : RECV };
		assert_int_equal(pthread_create(&s[i].thread, NULL, select_all, &s[i]), 0);
	}
	for (unsigned i = 0; i < 2 * pairs; i++) {
		assert_int_equal(pthread_join(s[i].thread, NULL), 0);
		sum[s[i].op] += s[i].sum;
	}
	assert_int_equal(sum[SEND], sum[RECV]);
	for (unsigned k = 0; k < CHANNELS; k++) {
		assert_int_equal(ipcwait_channel_tryrecv(ch[k], &x), -EAGAIN);
		ipcwait_channel_destroy(ch[k]);
	}
}

static void test_selectors(void **state)
{
	static const uint64_t capacity[][CHANNELS] = {
		{ 1, 1, 1 },
		{ 0, 0, 0 },
		{ 0, 1, 3 },
		{ 1, 0, 0 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(capacity) / sizeof(capacity[0]); i++) {
		check_selectors(capacity[i], 1);
		check_selectors(capacity[i], 3);
	}
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void test_eventfd(void **state)
{
	struct ipcwait_channel *ch = make(2);
	uint64_t x = 0;
	int fd = ipcwait_channel_eventfd(ch);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ipcwait_channel_eventfd(ch), fd);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	errno = 4711;
	for (unsigned round = 0; round < 3; round++) {
		assert_int_equal(ipcwait_channel_tryrecv(ch, &x), -EAGAIN);
		assert_false(readable(fd));
		assert_int_equal(ipcwait_channel_send(ch, &x), 0);
		assert_true(readable(fd));
		assert_int_equal(ipcwait_channel_send(ch, &x), 0);
		assert_int_equal(ipcwait_channel_tryrecv(ch, &x), 0);
		assert_true(readable(fd));
		assert_int_equal(ipcwait_channel_recv(ch, &x), 0);
		assert_true(readable(fd));
	}
	assert_int_equal(ipcwait_channel_tryrecv(ch, &x), -EAGAIN);
	assert_int_equal(ipcwait_channel_close(ch), 0);
	assert_true(readable(fd));
	assert_int_equal(ipcwait_channel_tryrecv(ch, &x), -EPIPE);
	assert_true(readable(fd));
	assert_int_equal(errno, 4711);
	ipcwait_channel_destroy(ch);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void *send_some(void *arg)
{
	for (uint64_t x = 1; x <= 5000; x++)
		CHECK_EQ(ipcwait_channel_send(arg, &x), 0);
	CHECK_EQ(ipcwait_channel_close(arg), 0);
	return NULL;
}

/* An event loop misses nothing. */
static void test_event_loop(void **state)
{
	(void)state;
	for (uint64_t capacity = 0; capacity < 4; capacity++) {
		struct ipcwait_channel *ch = make(capacity);
		struct pollfd p = { .fd = ipcwait_channel_eventfd(ch), .events = POLLIN };
		uint64_t x, sum = 0;
		pthread_t thread;
		int r;

		assert_int_equal(pthread_create(&thread, NULL, send_some, ch), 0);
		do {
			assert_int_equal(poll(&p, 1, 20000), 1);
			while ((r = ipcwait_channel_tryrecv(ch, &x)) == 0)
				sum += x;
		} while (r == -EAGAIN);
		assert_int_equal(r, -EPIPE);
		assert_int_equal(sum, 5000 * 5001 / 2);
		assert_int_equal(pthread_join(thread, NULL), 0);
		ipcwait_channel_destroy(ch);
	}
}

static void test_wait_any(void **state)
{
	struct ipcwait_channel *a = make(1), *b = make(0);
	struct ipcwait_waitable set[] = {
		{ .type = IPCWAIT_WAITABLE_CHANNEL, .object = a },
		{ .type = IPCWAIT_WAITABLE_CHANNEL, .object = b },
	};
	uint64_t x = 3;

	(void)state;
	assert_int_equal(ipcwait_wait_any(set, 2, 0, NULL), -ETIMEDOUT);
	assert_int_equal(ipcwait_wait_any(set, 2, soon(), NULL), -ETIMEDOUT);
	assert_int_equal(ipcwait_wait_any(set, 1, soon(), NULL), -ETIMEDOUT);
	assert_int_equal(ipcwait_channel_send(a, &x), 0);
	assert_int_equal(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, NULL), 0);
	assert_int_equal(ipcwait_wait_any(set, 1, 0, NULL), 0);
	assert_int_equal(ipcwait_channel_tryrecv(a, &x), 0);
	assert_int_equal(ipcwait_channel_close(b), 0);
	assert_int_equal(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, NULL), 1);
	ipcwait_channel_destroy(a);
	ipcwait_channel_destroy(b);
}

static void test_wait_any_for_what_is_none(void **state)
{
	struct ipcwait_channel *ch = make(1);
	static uint64_t zeroes[8];
	uint64_t garbage[8];
	struct ipcwait_waitable bad[] = {
		{ .type = IPCWAIT_WAITABLE_CHANNEL, .object = NULL },
		{ .type = IPCWAIT_WAITABLE_CHANNEL, .object = (char *)ch + 4 },
		{ .type = IPCWAIT_WAITABLE_CHANNEL, .object = zeroes },
		{ .type = IPCWAIT_WAITABLE_CHANNEL, .object = garbage },
		{ .type = IPCWAIT_WAITABLE_QUEUE, .object = ch },
		{ .type = IPCWAIT_WAITABLE_CHANNEL,
		  .object = ch,
		  .flags = IPCWAIT_PRIVATE },
		{ .type = IPCWAIT_WAITABLE_FD + 1, .object = ch },
	};

	(void)state;
	memset(garbage, 0xa5, sizeof(garbage));
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(ipcwait_wait_any(&bad[i], 1, 0, NULL), -EINVAL);
	ipcwait_channel_destroy(ch);
}

/* Who waits for any takes nothing: whoever waits for an element gets it. */
static void *watch(void *arg)
{
	struct ipcwait_waitable set = { .type = IPCWAIT_WAITABLE_CHANNEL, .object = arg };

	CHECK_EQ(ipcwait_wait_any(&set, 1, IPCWAIT_FOREVER, NULL), 0);
	return NULL;
}

static void *receive(void *arg)
{
	uint64_t x;

	CHECK_EQ(ipcwait_channel_recv(arg, &x), 0);
	return NULL;
}

static void test_watchers_pass_it_on(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct ipcwait_channel *ch = make(round % 4);
		pthread_t thread[4];
		uint64_t x = 1;

		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&thread[i], NULL,
							i == round % 3 ? receive : watch,
							ch),
					 0);
		if (round % 2)
			(void)poll(NULL, 0, 1);
		assert_int_equal(ipcwait_channel_send(ch, &x), 0);
		assert_int_equal(pthread_join(thread[round % 3], NULL), 0);
		assert_int_equal(ipcwait_channel_close(ch), 0);
		for (unsigned i = 0; i < 4; i++)
			if (i != round % 3)
				assert_int_equal(pthread_join(thread[i], NULL), 0);
		ipcwait_channel_destroy(ch);
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
		cmocka_unit_test(test_bad_arguments),
		cmocka_unit_test(test_never_ready),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_fair),
		cmocka_unit_test_setup(test_selectors, begin),
		cmocka_unit_test(test_eventfd),
		cmocka_unit_test_setup(test_event_loop, begin),
		cmocka_unit_test(test_wait_any),
		cmocka_unit_test(test_wait_any_for_what_is_none),
		cmocka_unit_test_setup(test_watchers_pass_it_on, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
