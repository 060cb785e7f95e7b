/* SPDX-License-Identifier: MIT */
/* lib/queue/shared.h by itself: files that are no channel, order, bounds, laps, close, the dead. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "queue/shared.h"

static int new_file(void)
{
	int fd = memfd_create("shared_core_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	return fd;
}

static struct iw_shared_geometry measure(uint64_t elem_bytes, uint64_t capacity)
{
	struct iw_shared_geometry g;

	assert_true(iw_shared_measure(elem_bytes, capacity, &g));
	return g;
}

static void make(struct iw_shared *s, uint64_t elem_bytes, uint64_t capacity)
{
	struct iw_shared_geometry g = measure(elem_bytes, capacity);
	int fd = new_file();

	assert_int_equal(iw_shared_create(fd, &g), 0);
	assert_int_equal(iw_shared_attach(s, fd), 0);
	assert_int_equal(close(fd), 0);
}

static uint64_t length(const struct iw_shared *s)
{
	uint64_t lo, hi;

	iw_shared_length(s, &lo, &hi);
	assert_int_equal(lo, hi);
	return hi;
}

static uint64_t counted(const struct ipcwait_word64 *n)
{
	return ipcwait_impl_load64_relaxed(n);
}

static void test_sizes(void **state)
{
	static const uint64_t bad[][2] = {
		{ 0, 1 },
		{ 1, 0 },
		{ UINT64_MAX, 1 },
		{ 1, UINT64_MAX },
		{ 8, UINT64_MAX },
		{ UINT64_C(1) << 32, UINT64_C(1) << 32 },
		{ UINT64_C(1) << 31, UINT64_C(1) << 32 },
	};
	struct iw_shared_geometry g;

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(iw_shared_measure(bad[i][0], bad[i][1], &g));
	g = measure(9, 3);
	assert_int_equal(g.stride, 24);
	assert_int_equal(g.bytes, sizeof(struct iw_shared_head) + 72);
}

static void test_no_files(void **state)
{
	struct iw_shared_geometry g = measure(8, 4);
	int ends[2], fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct iw_shared s;

	(void)state;
	errno = 4711;
	assert_int_equal(iw_shared_create(-1, &g), -EBADF);
	assert_int_equal(iw_shared_attach(&s, -1), -EBADF);
	assert_int_equal(iw_shared_create(fd, &g), -EINVAL);
	assert_int_equal(iw_shared_attach(&s, fd), -EINVAL);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(iw_shared_create(ends[0], &g), -EINVAL);
	assert_int_equal(iw_shared_attach(&s, ends[1]), -EINVAL);
	assert_int_equal(errno, 4711);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

static void test_read_only(void **state)
{
	struct iw_shared_geometry g = measure(8, 4);
	char path[] = "/tmp/shared_core_test.XXXXXX";
	int fd = mkstemp(path), reads = open(path, O_RDONLY), writes = open(path, O_WRONLY);
	struct iw_shared s;

	(void)state;
	assert_int_equal(iw_shared_create(reads, &g), -EACCES);
	assert_int_equal(iw_shared_create(writes, &g), -EACCES);
	assert_int_equal(iw_shared_create(fd, &g), 0);
	assert_int_equal(iw_shared_attach(&s, reads), -EACCES);
	assert_int_equal(iw_shared_attach(&s, writes), -EACCES);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(iw_shared_attach(&s, fd), 0);
	iw_shared_detach(&s);
	close(fd);
	close(reads);
	close(writes);
}

static void test_create_once(void **state)
{
	struct iw_shared_geometry g = measure(8, 4);
	int fd = new_file();
	struct iw_shared s;

	(void)state;
	assert_int_equal(iw_shared_attach(&s, fd), -EAGAIN);
	assert_int_equal(iw_shared_create(fd, &g), 0);
	assert_int_equal(iw_shared_create(fd, &g), -EEXIST);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(fcntl(fd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW);
	close(fd);
}

/* A channel in which one byte of the head is another. */
static void assert_refused(size_t at, unsigned char value, int error)
{
	struct iw_shared_geometry g = measure(8, 4);
	struct iw_shared s;
	int fd = new_file();

	assert_int_equal(iw_shared_create(fd, &g), 0);
	assert_int_equal(pwrite(fd, &value, 1, (off_t)at), 1);
	assert_int_equal(iw_shared_attach(&s, fd), error);
	close(fd);
}

/* Anything but the head that was written. */
static void test_other_heads(void **state)
{
	static const struct {
		size_t at;
		unsigned char value;
	} bad[] = {
		{ offsetof(struct iw_shared_head, magic), 'I' },
		{ offsetof(struct iw_shared_head, magic) + 7, 0 },
		{ offsetof(struct iw_shared_head, byte_order), 1 },
		{ offsetof(struct iw_shared_head, elem_bytes), 0 },
		{ offsetof(struct iw_shared_head, elem_bytes), 9 },
		{ offsetof(struct iw_shared_head, elem_bytes) + 7, 1 },
		{ offsetof(struct iw_shared_head, capacity), 5 },
		{ offsetof(struct iw_shared_head, capacity) + 7, 0x80 },
		{ offsetof(struct iw_shared_head, stride), 8 },
		{ offsetof(struct iw_shared_head, slots_at), 1 },
		{ offsetof(struct iw_shared_head, bytes), 1 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(bad[i].at, bad[i].value, -EBADMSG);
}

static void test_other_layout(void **state)
{
	(void)state;
	for (size_t byte = 0; byte < 4; byte++)
		assert_refused(offsetof(struct iw_shared_head, layout) + byte,
			       IPCWAIT_LAYOUT + 1, -EPROTO);
}

/* As a file that its maker left half done, or that somebody has cut or extended. */
static void test_other_lengths(void **state)
{
	struct iw_shared_geometry g = measure(8, 4);
	char path[] = "/tmp/shared_core_test.XXXXXX";
	int fd = mkstemp(path);
	struct iw_shared s;

	(void)state;
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(iw_shared_attach(&s, fd), -EAGAIN);
	assert_int_equal(ftruncate(fd, 1), 0);
	assert_int_equal(iw_shared_attach(&s, fd), -EBADMSG);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(iw_shared_create(fd, &g), 0);
	assert_int_equal(ftruncate(fd, (off_t)g.bytes - 1), 0);
	assert_int_equal(iw_shared_attach(&s, fd), -EBADMSG);
	assert_int_equal(ftruncate(fd, (off_t)g.bytes + 1), 0);
	assert_int_equal(iw_shared_attach(&s, fd), -EBADMSG);
	assert_int_equal(ftruncate(fd, (off_t)g.bytes), 0);
	assert_int_equal(iw_shared_attach(&s, fd), 0);
	iw_shared_detach(&s);
	close(fd);
}

static void test_too_many(void **state)
{
	struct iw_shared all[IW_SHARED_PARTICIPANTS + 1];
	struct iw_shared_geometry g = measure(8, 4);
	int fd = new_file();

	(void)state;
	assert_int_equal(iw_shared_create(fd, &g), 0);
	for (unsigned i = 0; i < IW_SHARED_PARTICIPANTS; i++) {
		assert_int_equal(iw_shared_attach(&all[i], fd), 0);
		assert_int_equal(all[i].me, i);
	}
	assert_int_equal(iw_shared_attach(&all[IW_SHARED_PARTICIPANTS], fd), -EUSERS);
	assert_false(iw_shared_is_gone(&all[0], 7));
	iw_shared_detach(&all[7]);
	assert_true(iw_shared_is_gone(&all[0], 7));
	assert_int_equal(iw_shared_attach(&all[7], fd), 0);
	assert_int_equal(all[7].me, 7);
	for (unsigned i = 0; i < IW_SHARED_PARTICIPANTS; i++)
		iw_shared_detach(&all[i]);
	close(fd);
}

/* Several laps of rings of all shapes, also where laps come round. */
static void test_order(void **state)
{
	(void)state;
	for (uint64_t capacity = 1; capacity < 10; capacity++) {
		struct iw_shared s;
		uint64_t sent = 0, received = 0, value;

		make(&s, sizeof(value), capacity);
		if (capacity % 2) {
			s.lap_bits = 2;
		}
		for (unsigned round = 0; round < 40; round++) {
			uint64_t n = round % capacity + 1;

			for (uint64_t i = 0; i < n; i++, sent++)
				assert_int_equal(iw_shared_trysend(&s, &sent), 0);
			assert_int_equal(length(&s), n);
			if (n == capacity)
				assert_int_equal(iw_shared_trysend(&s, &sent), -EAGAIN);
			assert_true(iw_shared_is_ready(&s));
			for (uint64_t i = 0; i < n; i++, received++) {
				assert_int_equal(iw_shared_tryrecv(&s, &value), 0);
				assert_int_equal(value, received);
			}
			assert_int_equal(iw_shared_tryrecv(&s, &value), -EAGAIN);
			assert_false(iw_shared_is_ready(&s));
		}
		iw_shared_detach(&s);
	}
}

/* Positions and laps that begin anew. */
static void test_wraps(void **state)
{
	uint64_t value = 0, last, lap;
	struct iw_shared s;

	(void)state;
	make(&s, sizeof(value), 3);
	last = (UINT64_MAX >> s.index_bits << s.index_bits) + 2;
	lap = UINT64_MAX >> 2;
	for (unsigned i = 0; i < 3; i++) {
		uint64_t w = iw_shared_control(&s, (i < 2 ? lap + 1 : lap) << 2, 0);

		ipcwait_impl_store64_relaxed(iw_shared_slot(&s, i), w);
	}
	ipcwait_impl_store64_relaxed(&s.head->tail, last);
	ipcwait_impl_store64_relaxed(&s.head->head, last);
	for (uint64_t i = 0; i < 10; i++) {
		assert_int_equal(iw_shared_trysend(&s, &i), 0);
		assert_int_equal(length(&s), 1);
		assert_int_equal(iw_shared_tryrecv(&s, &value), 0);
		assert_int_equal(value, i);
	}
	iw_shared_detach(&s);
}

static void test_close(void **state)
{
	struct iw_shared s;
	char elem[13] = "twelve bytes", got[13];

	(void)state;
	make(&s, sizeof(elem), 4);
	assert_int_equal(iw_shared_trysend(&s, elem), 0);
	assert_int_equal(iw_shared_close(&s), 0);
	assert_int_equal(iw_shared_close(&s), -EALREADY);
	assert_int_equal(iw_shared_trysend(&s, elem), -EPIPE);
	assert_int_equal(iw_shared_tryrecv(&s, got), 0);
	assert_string_equal(got, elem);
	assert_int_equal(iw_shared_tryrecv(&s, got), -EPIPE);
	assert_true(iw_shared_is_ready(&s));
	iw_shared_detach(&s);
}

/* A child that takes part claims slot @index, at @stage of a call, and dies. */
static void die_with(int fd, uint64_t index, uint64_t stage)
{
	pid_t child = fork();
	int status;

	if (!child) {
		struct iw_shared s;

		if (iw_shared_attach(&s, fd))
			_exit(1);
		ipcwait_impl_store64_relaxed(iw_shared_slot(&s, index),
					     iw_shared_control(&s, stage, s.me));
		(void)kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

static void test_a_dead_sender(void **state)
{
	struct iw_shared_geometry g = measure(8, 4);
	uint64_t value = 1;
	struct iw_shared s;
	int fd = new_file();

	(void)state;
	assert_int_equal(iw_shared_create(fd, &g), 0);
	assert_int_equal(iw_shared_attach(&s, fd), 0);
	die_with(fd, 0, IW_SHARED_WRITING);
	assert_int_equal(iw_shared_trysend(&s, &value), 0);
	value = 0;
	assert_int_equal(iw_shared_tryrecv(&s, &value), 0);
	assert_int_equal(value, 1);
	assert_int_equal(counted(&s.head->recovered), 1);
	assert_int_equal(counted(&s.head->lost), 0);
	iw_shared_detach(&s);
	close(fd);
}

static void test_a_dead_receiver(void **state)
{
	struct iw_shared_geometry g = measure(8, 2);
	uint64_t value = 1;
	struct iw_shared s;
	int fd = new_file();

	(void)state;
	assert_int_equal(iw_shared_create(fd, &g), 0);
	assert_int_equal(iw_shared_attach(&s, fd), 0);
	assert_int_equal(iw_shared_trysend(&s, &value), 0);
	assert_int_equal(iw_shared_trysend(&s, &value), 0);
	die_with(fd, 0, IW_SHARED_READING);
	assert_int_equal(iw_shared_trysend(&s, &value), 0);
	assert_int_equal(iw_shared_trysend(&s, &value), -EAGAIN);
	assert_int_equal(counted(&s.head->recovered), 1);
	assert_int_equal(counted(&s.head->lost), 1);
	iw_shared_detach(&s);
	close(fd);
}

/* Looked after at most so often; and never taken from the living. */
static void test_the_living(void **state)
{
	struct iw_shared_geometry g = measure(8, 4);
	struct iw_shared s, other;
	uint64_t value = 1;
	int fd = new_file();

	(void)state;
	assert_int_equal(iw_shared_create(fd, &g), 0);
	assert_int_equal(iw_shared_attach(&s, fd), 0);
	assert_int_equal(iw_shared_attach(&other, fd), 0);
	ipcwait_impl_store64_relaxed(iw_shared_slot(&s, 0),
				     iw_shared_control(&s, IW_SHARED_WRITING, other.me));
	assert_int_equal(iw_shared_tryrecv(&s, &value), -EAGAIN);
	iw_shared_detach(&other);
	assert_int_equal(iw_shared_tryrecv(&s, &value), -EAGAIN);
	assert_int_equal(counted(&s.head->recovered), 0);
	ipcwait_impl_store64_relaxed(&s.looked_ns, 0);
	assert_int_equal(iw_shared_tryrecv(&s, &value), -EAGAIN);
	assert_int_equal(counted(&s.head->recovered), 1);
	iw_shared_detach(&s);
	close(fd);
}

/* Whoever gets the number of the dead gets what it had, and does not mistake it for its own. */
static void test_an_heir(void **state)
{
	struct iw_shared_geometry g = measure(8, 4);
	struct iw_shared s;
	int fd = new_file();

	(void)state;
	assert_int_equal(iw_shared_create(fd, &g), 0);
	die_with(fd, 0, IW_SHARED_WRITING);
	assert_int_equal(iw_shared_attach(&s, fd), 0);
	assert_int_equal(s.me, 0);
	assert_int_equal(counted(&s.head->recovered), 1);
	/* It may die in turn, with the slot taken and not counted yet. */
	ipcwait_impl_store64_relaxed(&s.head->tail, 1);
	ipcwait_impl_store64_relaxed(&s.head->recovered, 0);
	assert_int_equal(length(&s), 0);
	iw_shared_detach(&s);
	close(fd);
}

/* A program that closes all descriptors, and opens others: nothing is proven any more. */
static void test_a_lost_descriptor(void **state)
{
	struct iw_shared s, other;
	struct iw_shared_geometry g = measure(8, 4);
	int fd = new_file(), another = new_file(), number;

	(void)state;
	assert_int_equal(iw_shared_create(fd, &g), 0);
	assert_int_equal(iw_shared_attach(&s, fd) | iw_shared_attach(&other, fd), 0);
	iw_shared_detach(&other);
	assert_true(iw_shared_is_gone(&s, other.me));
	number = iw_unforked_fd(&s.fds->asks);
	assert_int_equal(dup2(another, number), number);
	assert_false(iw_shared_is_gone(&s, other.me));
	assert_false(iw_shared_is_gone(&s, s.me));
	iw_shared_detach(&s);
	assert_int_equal(close(number), 0);
	assert_int_equal(iw_shared_attach(&s, fd), 0);
	assert_int_equal(close(iw_unforked_fd(&s.fds->asks)), 0);
	assert_false(iw_shared_is_gone(&s, other.me));
	iw_shared_detach(&s);
	close(fd);
	close(another);
}

/* A child of fork(2) has no part, and does not keep its parent's alive. */
static void test_fork(void **state)
{
	struct iw_shared_geometry g = measure(8, 4);
	int fd = new_file(), ends[2], status;
	struct iw_shared s, watcher;
	pid_t child, grandchild;
	char c;

	(void)state;
	assert_int_equal(iw_shared_create(fd, &g), 0);
	assert_int_equal(iw_shared_attach(&watcher, fd), 0);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		if (iw_shared_attach(&s, fd) || s.me != 1 || !iw_shared_is_mine(&s))
			_exit(1);
		grandchild = fork();
		if (!grandchild) {
			if (iw_shared_is_mine(&s))
				_exit(1);
			iw_shared_detach(&s);
			(void)read(ends[0], &c, 1);
			_exit(0);
		}
		_exit(iw_shared_is_gone(&watcher, 1) ? 2 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(iw_shared_is_gone(&watcher, 1));
	assert_int_equal(write(ends[1], "x", 1), 1);
	iw_shared_detach(&watcher);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_no_files),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_create_once),
		cmocka_unit_test(test_other_heads),
		cmocka_unit_test(test_other_layout),
		cmocka_unit_test(test_other_lengths),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_a_dead_sender),
		cmocka_unit_test(test_a_dead_receiver),
		cmocka_unit_test(test_the_living),
		cmocka_unit_test(test_an_heir),
		cmocka_unit_test(test_a_lost_descriptor),
		cmocka_unit_test(test_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
