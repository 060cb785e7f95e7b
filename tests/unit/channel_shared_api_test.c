/* SPDX-License-Identifier: MIT */
/*
 * <ipcwait/channel_shared.h> in one process: arguments, what it shares with other channels, fork.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"

static int new_file(void)
{
	int fd = memfd_create("channel_shared_api_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	return fd;
}

static struct ipcwait_channel *make(int fd, size_t elem_size, uint64_t capacity)
{
	struct ipcwait_channel_params params = { .elem_size = elem_size,
						 .capacity = capacity };
	struct ipcwait_channel *ch = NULL;

	assert_int_equal(ipcwait_channel_create_shared(fd, &params, &ch), 0);
	assert_non_null(ch);
	return ch;
}

static void end_of(void *elem, void *arg)
{
	(void)elem;
	(void)arg;
}

static void test_bad_arguments(void **state)
{
	static const struct ipcwait_channel_params bad[] = {
		{ .elem_size = 0, .capacity = 1 },
		{ .elem_size = 1, .capacity = 0 },
		{ .elem_size = IPCWAIT_CHANNEL_ELEM_MAX + 1, .capacity = 1 },
		{ .elem_size = 1, .capacity = IPCWAIT_CHANNEL_CAPACITY_MAX + 1 },
		{ .elem_size = 1, .capacity = 1, .flags = 1 },
		{ .elem_size = 1, .capacity = 1, .elem_fini = end_of },
		{ .elem_size = 1, .capacity = 1, .reserved = { 0, 0, 1 } },
	};
	struct ipcwait_channel_params good = { .elem_size = 1, .capacity = 1 };
	struct ipcwait_channel *ch = (void *)&good;
	int fd = new_file();

	(void)state;
	errno = 4711;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(ipcwait_channel_create_shared(fd, &bad[i], &ch), -EINVAL);
	assert_int_equal(ipcwait_channel_create_shared(fd, NULL, &ch), -EINVAL);
	assert_int_equal(ipcwait_channel_create_shared(fd, &good, NULL), -EINVAL);
	assert_int_equal(ipcwait_channel_create_shared(-1, &good, &ch), -EBADF);
	assert_int_equal(ipcwait_channel_attach(fd, NULL), -EINVAL);
	assert_int_equal(ipcwait_channel_attach(-1, &ch), -EBADF);
	assert_int_equal(ipcwait_channel_attach(fd, &ch), -EAGAIN);
	assert_ptr_equal(ch, &good);
	assert_int_equal(errno, 4711);
	close(fd);
}

/* Of a channel that nobody has used only the head has memory, however many have attached. */
static void test_memory(void **state)
{
	int fd = new_file();
	struct ipcwait_channel *ch = make(fd, sizeof(long), 1 << 22), *other;
	long elem = 17;
	struct stat st;

	(void)state;
	assert_int_equal(ipcwait_channel_attach(fd, &other), 0);
	assert_int_equal(ipcwait_channel_send(ch, &elem), 0);
	assert_int_equal(ipcwait_channel_recv(other, &elem), 0);
	ipcwait_channel_destroy(other);
	assert_int_equal(ipcwait_channel_attach(fd, &other), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(st.st_size >= 1 << 26);
	/* Of 512 bytes; some kernels give 2 MiB at a time. */
	assert_true(st.st_blocks <= 8192);
	ipcwait_channel_destroy(other);
	ipcwait_channel_destroy(ch);
	close(fd);
}

/* More than there is room for, in the address space or in the file system. */
static void test_too_large(void **state)
{
	struct ipcwait_channel_params params = { .elem_size = IPCWAIT_CHANNEL_ELEM_MAX,
						 .capacity = IPCWAIT_CHANNEL_CAPACITY_MAX };
	struct ipcwait_channel *ch = NULL;
	int fd = new_file(), r;

	(void)state;
	r = ipcwait_channel_create_shared(fd, &params, &ch);
	assert_true(r == -ENOMEM || r == -ENOSPC || r == -EFBIG || r == -EINVAL);
	assert_null(ch);
	assert_int_equal(ipcwait_channel_attach(fd, &ch), -EAGAIN);
	close(fd);
}

static void test_two_parts(void **state)
{
	int fd = new_file(), value = 5;
	struct ipcwait_channel *a = make(fd, sizeof(value), 2), *b;
	uint64_t lo, hi;

	(void)state;
	assert_int_equal(
		ipcwait_channel_create_shared(
			fd,
			&(struct ipcwait_channel_params){ .elem_size = 4, .capacity = 2 },
			&b),
		-EEXIST);
	assert_int_equal(ipcwait_channel_attach(fd, &b), 0);
	assert_int_equal(ipcwait_channel_elem_size(b), sizeof(value));
	assert_int_equal(close(fd), 0);
	assert_int_equal(ipcwait_channel_send(a, &value), 0);
	value = 6;
	assert_int_equal(ipcwait_channel_trysend(b, &value), 0);
	assert_int_equal(ipcwait_channel_trysend(a, &value), -EAGAIN);
	assert_int_equal(ipcwait_channel_send_until(b, &value, ipcwait_now_ns() + 1000000),
			 -ETIMEDOUT);
	assert_int_equal(ipcwait_channel_length(a, &lo, &hi), 0);
	assert_int_equal(lo, 2);
	assert_int_equal(hi, 2);
	assert_int_equal(ipcwait_channel_recv(b, &value), 0);
	assert_int_equal(value, 5);
	ipcwait_channel_destroy(b);
	assert_int_equal(ipcwait_channel_close(a), 0);
	assert_int_equal(ipcwait_channel_close(a), -EALREADY);
	assert_int_equal(ipcwait_channel_send(a, &value), -EPIPE);
	assert_int_equal(ipcwait_channel_recv(a, &value), 0);
	assert_int_equal(value, 6);
	assert_int_equal(ipcwait_channel_recv(a, &value), -EPIPE);
	ipcwait_channel_destroy(a);
}

/* What it holds stays when nobody takes part. */
static void test_nobody(void **state)
{
	int fd = new_file(), value = 7;
	struct ipcwait_channel *ch = make(fd, sizeof(value), 3);

	(void)state;
	assert_int_equal(ipcwait_channel_send(ch, &value), 0);
	ipcwait_channel_destroy(ch);
	assert_int_equal(ipcwait_channel_attach(fd, &ch), 0);
	value = 0;
	assert_int_equal(ipcwait_channel_recv(ch, &value), 0);
	assert_int_equal(value, 7);
	ipcwait_channel_destroy(ch);
	close(fd);
}

static void test_many(void **state)
{
	int fd = new_file(), in[10], out[10] = { 0 };
	struct ipcwait_channel *ch = make(fd, sizeof(in[0]), 4);

	(void)state;
	for (int i = 0; i < 10; i++)
		in[i] = i;
	assert_int_equal(ipcwait_channel_send_n(ch, in, 10, 0), 4);
	assert_int_equal(ipcwait_channel_recv_n(ch, out, 3, 0), 3);
	assert_int_equal(ipcwait_channel_recv_n(ch, out + 3, 7, 0), 1);
	assert_int_equal(ipcwait_channel_recv_n(ch, out, 10, 0), -ETIMEDOUT);
	for (int i = 0; i < 4; i++)
		assert_int_equal(out[i], i);
	ipcwait_channel_destroy(ch);
	close(fd);
}

/* Beside channels of this process, and among other objects. */
static void test_several(void **state)
{
	struct ipcwait_channel_params params = { .elem_size = sizeof(int), .capacity = 1 };
	struct ipcwait_channel *own = ipcwait_channel_create(&params);
	int fd = new_file(), value = 8, got = 0;
	struct ipcwait_channel *shared = make(fd, sizeof(value), 1);
	struct ipcwait_channel_case cases[] = {
		{ .channel = own, .op = IPCWAIT_CHANNEL_RECV, .elem = &got },
		{ .channel = shared, .op = IPCWAIT_CHANNEL_RECV, .elem = &got },
	};
	struct ipcwait_waitable set[] = {
		{ .type = IPCWAIT_WAITABLE_CHANNEL, .object = own },
		{ .type = IPCWAIT_WAITABLE_CHANNEL, .object = shared },
	};

	(void)state;
	assert_int_equal(ipcwait_channel_select(cases, 2, ipcwait_now_ns() + 1000000),
			 -ETIMEDOUT);
	assert_int_equal(ipcwait_wait_any(set, 2, ipcwait_now_ns() + 1000000, NULL),
			 -ETIMEDOUT);
	assert_int_equal(ipcwait_channel_send(shared, &value), 0);
	assert_int_equal(ipcwait_wait_any(set, 2, IPCWAIT_FOREVER, NULL), 1);
	assert_int_equal(ipcwait_channel_select(cases, 2, IPCWAIT_FOREVER), 1);
	assert_int_equal(got, 8);
	ipcwait_channel_destroy(own);
	ipcwait_channel_destroy(shared);
	close(fd);
}

static void test_limits(void **state)
{
	struct ipcwait_channel_params params = { .elem_size = 1, .capacity = 1 };
	struct ipcwait_channel *own = ipcwait_channel_create(&params);
	struct ipcwait_channel_shared_stats st = { .lost = 1 };
	int fd = new_file();
	struct ipcwait_channel *ch = make(fd, 1, 1);

	(void)state;
	assert_int_equal(ipcwait_channel_eventfd(ch), -ENOTSUP);
	assert_int_equal(ipcwait_channel_shared_stats_get(own, &st, sizeof(st)), -ENOTSUP);
	assert_int_equal(ipcwait_channel_shared_stats_get(NULL, &st, sizeof(st)), -EINVAL);
	assert_int_equal(ipcwait_channel_shared_stats_get(ch, NULL, sizeof(st)), -EINVAL);
	assert_int_equal(ipcwait_channel_shared_stats_get(ch, &st, 7), -EINVAL);
	assert_int_equal(ipcwait_channel_shared_stats_get(ch, &st, 8), 8);
	assert_int_equal(st.lost, 1);
	assert_int_equal(ipcwait_channel_shared_stats_get(ch, &st, 4096), sizeof(st));
	assert_int_equal(st.size, sizeof(st));
	assert_int_equal(st.lost, 0);
	assert_int_equal(st.recovered, 0);
	ipcwait_channel_destroy(own);
	ipcwait_channel_destroy(ch);
	close(fd);
}

static int as_a_child(struct ipcwait_channel *ch, int fd)
{
	struct ipcwait_channel *mine;
	char c = 1;

	if (ipcwait_channel_send(ch, &c) != -EPERM ||
	    ipcwait_channel_recv(ch, &c) != -EPERM)
		return 1;
	if (ipcwait_channel_trysend(ch, &c) != -EPERM ||
	    ipcwait_channel_close(ch) != -EPERM)
		return 2;
	ipcwait_channel_destroy(ch);
	if (ipcwait_channel_attach(fd, &mine) || ipcwait_channel_send(mine, &c))
		return 3;
	ipcwait_channel_destroy(mine);
	return 0;
}

static void test_fork(void **state)
{
	int fd = new_file(), status;
	struct ipcwait_channel *ch = make(fd, 1, 1);
	pid_t child = fork();
	char c = 0;

	(void)state;
	if (!child)
		_exit(as_a_child(ch, fd));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(ipcwait_channel_recv(ch, &c), 0);
	assert_int_equal(c, 1);
	ipcwait_channel_destroy(ch);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_arguments), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_too_large),     cmocka_unit_test(test_two_parts),
		cmocka_unit_test(test_nobody),        cmocka_unit_test(test_many),
		cmocka_unit_test(test_several),       cmocka_unit_test(test_limits),
		cmocka_unit_test(test_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
