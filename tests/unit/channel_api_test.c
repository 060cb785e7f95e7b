/* SPDX-License-Identifier: MIT */
/* <ipcwait/channel.h> in one thread: arguments, capacity, order, bulk, close, destroy, length. */
#include <errno.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

static struct ipcwait_channel *make(size_t size, uint64_t capacity)
{
	const struct ipcwait_channel_params params = { .elem_size = size,
						       .capacity = capacity };
	struct ipcwait_channel *ch;

	assert_int_equal(ipcwait_channel_params_check(&params), 0);
	ch = ipcwait_channel_create(&params);
	assert_non_null(ch);
	return ch;
}

static void check_length(struct ipcwait_channel *ch, uint64_t want)
{
	uint64_t lo, hi;

	assert_int_equal(ipcwait_channel_length(ch, &lo, &hi), 0);
	assert_int_equal(lo, want);
	assert_int_equal(hi, want);
}

static void test_bad_params(void **state)
{
	static const struct ipcwait_channel_params bad[] = {
		{ .elem_size = 0 },
		{ .elem_size = IPCWAIT_CHANNEL_ELEM_MAX + 1 },
		{ .elem_size = SIZE_MAX },
		{ .elem_size = 8, .capacity = IPCWAIT_CHANNEL_CAPACITY_MAX + 1 },
		{ .elem_size = 8, .capacity = UINT64_MAX },
		{ .elem_size = 8, .flags = 1 },
		{ .elem_size = 8, .reserved = { 0, 0, 1 } },
	};
	(void)state;
	errno = 4711;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(ipcwait_channel_params_check(&bad[i]), -EINVAL);
		assert_null(ipcwait_channel_create(&bad[i]));
	}
	assert_int_equal(ipcwait_channel_params_check(NULL), -EINVAL);
	assert_null(ipcwait_channel_create(NULL));
	ipcwait_channel_destroy(NULL);
	assert_int_equal(errno, 4711);
}

static void test_null(void **state)
{
	struct ipcwait_channel *ch = make(8, 1);
	uint64_t x = 0;

	(void)state;
	assert_int_equal(ipcwait_channel_send(NULL, &x), -EINVAL);
	assert_int_equal(ipcwait_channel_send(ch, NULL), -EINVAL);
	assert_int_equal(ipcwait_channel_trysend(NULL, &x), -EINVAL);
	assert_int_equal(ipcwait_channel_trysend(ch, NULL), -EINVAL);
	assert_int_equal(ipcwait_channel_send_until(NULL, &x, 0), -EINVAL);
	assert_int_equal(ipcwait_channel_send_until(ch, NULL, 0), -EINVAL);
	assert_int_equal(ipcwait_channel_recv(NULL, &x), -EINVAL);
	assert_int_equal(ipcwait_channel_recv(ch, NULL), -EINVAL);
	assert_int_equal(ipcwait_channel_tryrecv(NULL, &x), -EINVAL);
	assert_int_equal(ipcwait_channel_tryrecv(ch, NULL), -EINVAL);
	assert_int_equal(ipcwait_channel_recv_until(NULL, &x, 0), -EINVAL);
	assert_int_equal(ipcwait_channel_recv_until(ch, NULL, 0), -EINVAL);
	assert_int_equal(ipcwait_channel_send_n(NULL, &x, 1, 0), -EINVAL);
	assert_int_equal(ipcwait_channel_send_n(ch, NULL, 1, 0), -EINVAL);
	assert_int_equal(ipcwait_channel_recv_n(NULL, &x, 1, 0), -EINVAL);
	assert_int_equal(ipcwait_channel_recv_n(ch, NULL, 1, 0), -EINVAL);
	assert_int_equal(ipcwait_channel_close(NULL), -EINVAL);
	assert_int_equal(ipcwait_channel_length(NULL, &x, &x), -EINVAL);
	assert_int_equal(ipcwait_channel_length(ch, NULL, &x), -EINVAL);
	assert_int_equal(ipcwait_channel_length(ch, &x, NULL), -EINVAL);
	assert_int_equal(ipcwait_channel_eventfd(NULL), -EINVAL);
	assert_int_equal(ipcwait_channel_elem_size(NULL), 0);
	assert_int_equal(ipcwait_channel_elem_size(ch), 8);
	ipcwait_channel_destroy(ch);
	ch = make(3, 0);
	assert_int_equal(ipcwait_channel_elem_size(ch), 3);
	ipcwait_channel_destroy(ch);
}

/* Not a power of two, over and over: as many go in as it says, and they come out in order. */
static void check_capacity(size_t size, uint64_t capacity)
{
	struct ipcwait_channel *ch = make(size, capacity);
	unsigned char in[1000], out[1000];
	unsigned sent = 0, received = 0;

	for (unsigned lap = 0; lap < 7; lap++) {
		for (uint64_t i = 0; i < capacity; i++) {
			memset(in, (int)++sent, sizeof(in));
			assert_int_equal(ipcwait_channel_trysend(ch, in), 0);
			check_length(ch, i + 1);
		}
		assert_int_equal(ipcwait_channel_trysend(ch, in), -EAGAIN);
		assert_int_equal(ipcwait_channel_send_until(ch, in, 0), -ETIMEDOUT);
		/* One stays, so that the next lap begins elsewhere. */
		while (received < sent - (lap < 6 && capacity > 1)) {
			memset(out, 0, sizeof(out));
			memset(in, (int)++received, sizeof(in));
			assert_int_equal(ipcwait_channel_tryrecv(ch, out), 0);
			assert_memory_equal(out, in, size);
			assert_int_equal(size < sizeof(out) ? out[size] : 0, 0);
		}
		if (received < sent) {
			memset(in, (int)++received, sizeof(in));
			assert_int_equal(ipcwait_channel_recv(ch, out), 0);
			assert_memory_equal(out, in, size);
		}
		assert_int_equal(ipcwait_channel_tryrecv(ch, out), -EAGAIN);
		assert_int_equal(ipcwait_channel_recv_until(ch, out, 1), -ETIMEDOUT);
	}
	ipcwait_channel_destroy(ch);
}

static void test_capacity(void **state)
{
	(void)state;
	for (uint64_t capacity = 1; capacity < 18; capacity++)
		check_capacity(8, capacity);
	check_capacity(1, 3);
	check_capacity(4, 5);
	check_capacity(12, 2);
	check_capacity(16, 100);
	check_capacity(1000, 3);
}

static void test_bulk(void **state)
{
	struct ipcwait_channel *ch = make(4, 5);
	uint32_t in[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, out[8];

	(void)state;
	assert_int_equal(ipcwait_channel_send_n(ch, in, 0, 0), 0);
	assert_int_equal(ipcwait_channel_recv_n(ch, out, 0, 0), 0);
	assert_int_equal(ipcwait_channel_recv_n(ch, out, 8, 0), -ETIMEDOUT);
	for (uint32_t round = 0; round < 20; round++) {
		assert_int_equal(ipcwait_channel_send_n(ch, in, 3, IPCWAIT_FOREVER), 3);
		assert_int_equal(ipcwait_channel_send_n(ch, in + 3, 5, 0), 2);
		assert_int_equal(ipcwait_channel_send_n(ch, in, 1, 0), -ETIMEDOUT);
		assert_int_equal(ipcwait_channel_recv_n(ch, out, 2, IPCWAIT_FOREVER), 2);
		assert_int_equal(ipcwait_channel_send_n(ch, in + 5, 1, 0), 1);
		assert_int_equal(ipcwait_channel_recv_n(ch, out + 2, 6, 0), 4);
		assert_memory_equal(in, out, 6 * sizeof(in[0]));
	}
	assert_int_equal(ipcwait_channel_send_n(ch, in, 2, 0), 2);
	assert_int_equal(ipcwait_channel_close(ch), 0);
	assert_int_equal(ipcwait_channel_send_n(ch, in, 2, IPCWAIT_FOREVER), -EPIPE);
	assert_int_equal(ipcwait_channel_recv_n(ch, out, 8, IPCWAIT_FOREVER), 2);
	assert_int_equal(ipcwait_channel_recv_n(ch, out, 8, IPCWAIT_FOREVER), -EPIPE);
	ipcwait_channel_destroy(ch);
}

static void check_close(uint64_t capacity)
{
	struct ipcwait_channel *ch = make(8, capacity);
	uint64_t x = 1, y = 0;

	for (x = 0; x < capacity; x++)
		assert_int_equal(ipcwait_channel_send(ch, &x), 0);
	assert_int_equal(ipcwait_channel_close(ch), 0);
	assert_int_equal(ipcwait_channel_close(ch), -EALREADY);
	assert_int_equal(ipcwait_channel_trysend(ch, &x), -EPIPE);
	assert_int_equal(ipcwait_channel_send(ch, &x), -EPIPE);
	assert_int_equal(ipcwait_channel_send_until(ch, &x, 0), -EPIPE);
	for (x = 0; x < capacity; x++) {
		assert_int_equal(ipcwait_channel_recv(ch, &y), 0);
		assert_int_equal(x, y);
		assert_int_equal(ipcwait_channel_send(ch, &x), -EPIPE);
	}
	assert_int_equal(ipcwait_channel_tryrecv(ch, &y), -EPIPE);
	assert_int_equal(ipcwait_channel_recv(ch, &y), -EPIPE);
	assert_int_equal(ipcwait_channel_recv_until(ch, &y, 0), -EPIPE);
	check_length(ch, 0);
	ipcwait_channel_destroy(ch);
}

static void test_close(void **state)
{
	(void)state;
	for (uint64_t capacity = 0; capacity < 6; capacity++)
		check_close(capacity);
}

static void note(void *elem, void *arg)
{
	uint64_t *digits = arg;
	uint32_t x;

	memcpy(&x, elem, sizeof(x));
	*digits = *digits * 10 + x;
}

static void test_elem_fini(void **state)
{
	uint64_t digits = 0;
	const struct ipcwait_channel_params params = {
		.elem_size = 4, .capacity = 3, .elem_fini = note, .elem_fini_arg = &digits
	};

	(void)state;
	for (uint32_t taken = 0; taken < 4; taken++) {
		struct ipcwait_channel *ch = ipcwait_channel_create(&params);
		uint32_t all[4] = { 1, 2, 3, 4 }, x;

		assert_non_null(ch);
		assert_int_equal(ipcwait_channel_send_n(ch, all, 3, 0), 3);
		for (uint32_t i = 0; i < taken; i++)
			assert_int_equal(ipcwait_channel_recv(ch, &x), 0);
		if (taken)
			assert_int_equal(ipcwait_channel_send(ch, all + 3), 0);
		if (taken == 2)
			assert_int_equal(ipcwait_channel_close(ch), 0);
		digits = 0;
		ipcwait_channel_destroy(ch);
		assert_int_equal(digits, taken == 0   ? 123
					 : taken == 1 ? 234
					 : taken == 2 ? 34
						      : 4);
	}
}

static void test_rendezvous_alone(void **state)
{
	struct ipcwait_channel *ch = make(8, 0);
	uint64_t x = 0;

	(void)state;
	assert_int_equal(ipcwait_channel_trysend(ch, &x), -EAGAIN);
	assert_int_equal(ipcwait_channel_tryrecv(ch, &x), -EAGAIN);
	assert_int_equal(ipcwait_channel_send_until(ch, &x, 0), -ETIMEDOUT);
	assert_int_equal(ipcwait_channel_recv_until(ch, &x, 0), -ETIMEDOUT);
	assert_int_equal(
		ipcwait_channel_send_until(ch, &x, ipcwait_deadline_in_ns(1000000)),
		-ETIMEDOUT);
	assert_int_equal(
		ipcwait_channel_recv_until(ch, &x, ipcwait_deadline_in_ns(1000000)),
		-ETIMEDOUT);
	/* Nothing is left of an offer that was given up. */
	assert_int_equal(ipcwait_channel_trysend(ch, &x), -EAGAIN);
	assert_int_equal(ipcwait_channel_tryrecv(ch, &x), -EAGAIN);
	check_length(ch, 0);
	ipcwait_channel_destroy(ch);
}

static void test_deadlines(void **state)
{
	struct ipcwait_channel *ch = make(8, 1);
	int64_t deadline = ipcwait_deadline_in_ns(2000000);
	uint64_t x = 0;

	(void)state;
	assert_int_equal(ipcwait_channel_recv_until(ch, &x, deadline), -ETIMEDOUT);
	assert_true(ipcwait_now_ns() >= deadline);
	assert_int_equal(ipcwait_channel_send_until(ch, &x, deadline), 0);
	deadline = ipcwait_deadline_in_ns(2000000);
	assert_int_equal(ipcwait_channel_send_until(ch, &x, deadline), -ETIMEDOUT);
	assert_true(ipcwait_now_ns() >= deadline);
	assert_int_equal(ipcwait_channel_recv_until(ch, &x, deadline), 0);
	ipcwait_channel_destroy(ch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_params),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_capacity),
		cmocka_unit_test(test_bulk),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_elem_fini),
		cmocka_unit_test(test_rendezvous_alone),
		cmocka_unit_test(test_deadlines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
