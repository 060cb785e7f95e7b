/* SPDX-License-Identifier: MIT */
/*
 * Channels between processes: exact sums, a file that comes through a socket, sleepers in other
 * processes that are woken by an element, by room and by a close.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "process.h"
#include "region.h"

#define SENDERS   2
#define RECEIVERS 2
#define EACH      20000

static int fd;

static struct ipcwait_channel *make(uint64_t capacity)
{
	struct ipcwait_channel_params params = { .elem_size = sizeof(uint64_t),
						 .capacity = capacity };
	struct ipcwait_channel *ch = NULL;

	fd = memfd_create("channel_ipc_test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(fd >= 0);
	CHECK_EQ(ipcwait_channel_create_shared(fd, &params, &ch), 0);
	return ch;
}

static struct ipcwait_channel *attach(void)
{
	struct ipcwait_channel *ch = NULL;

	CHECK_EQ(ipcwait_channel_attach(fd, &ch), 0);
	return ch;
}

static void end(struct ipcwait_channel *ch)
{
	ipcwait_channel_destroy(ch);
	CHECK(close(fd) == 0);
}

static void send_each(struct region *r)
{
	struct ipcwait_channel *ch = attach();

	(void)r;
	for (uint64_t i = 1; i <= EACH; i++)
		CHECK_EQ(ipcwait_channel_send(ch, &i), 0);
	ipcwait_channel_destroy(ch);
}

/* Adds up in the ring of the region. */
static void receive_all(struct region *r)
{
	struct ipcwait_channel *ch = attach();
	uint64_t value, sum = 0, n = 0;
	int result;

	while ((result = ipcwait_channel_recv(ch, &value)) == 0) {
		sum += value;
		n++;
	}
	CHECK_EQ(result, -EPIPE);
	(void)__atomic_fetch_add(&r->ring[0], sum, __ATOMIC_RELAXED);
	(void)__atomic_fetch_add(&r->ring[1], n, __ATOMIC_RELAXED);
	ipcwait_channel_destroy(ch);
}

static void exact(uint64_t capacity)
{
	struct ipcwait_channel *ch = make(capacity);
	struct region *r = region_create();
	pid_t sender[SENDERS], receiver[RECEIVERS];

	for (unsigned i = 0; i < RECEIVERS; i++)
		receiver[i] = region_fork(r, receive_all);
	for (unsigned i = 0; i < SENDERS; i++)
		sender[i] = region_fork(r, send_each);
	for (unsigned i = 0; i < SENDERS; i++)
		region_join(sender[i]);
	CHECK_EQ(ipcwait_channel_close(ch), 0);
	for (unsigned i = 0; i < RECEIVERS; i++)
		region_join(receiver[i]);
	CHECK_EQ(r->ring[1], SENDERS * EACH);
	CHECK_EQ(r->ring[0], SENDERS * (EACH * (EACH + 1) / 2));
	region_destroy(r);
	end(ch);
}

static void test_sums(void **state)
{
	(void)state;
	exact(1);
	exact(5);
	exact(256);
}

static void send_fd(int socket, int sent)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	char x = 'x';
	struct iovec byte = { .iov_base = &x, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &byte,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &sent, sizeof(sent));
	CHECK(sendmsg(socket, &m, 0) == 1);
}

static int receive_fd(int socket)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char c;
	struct iovec byte = { .iov_base = &c, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &byte,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	int received;

	CHECK(recvmsg(socket, &m, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&m));
	memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(received));
	return received;
}

static int ends[2];

static void attach_from_socket(struct region *r)
{
	struct ipcwait_channel *ch;
	uint64_t value = 42;

	(void)r;
	fd = receive_fd(ends[1]);
	ch = attach();
	CHECK(close(fd) == 0);
	CHECK_EQ(ipcwait_channel_send(ch, &value), 0);
	ipcwait_channel_destroy(ch);
}

/* Both have the same open file description, and are different participants all the same. */
static void test_socket(void **state)
{
	struct region *r = region_create();
	struct ipcwait_channel *ch;
	uint64_t value = 0;
	pid_t child;

	(void)state;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	child = region_fork(r, attach_from_socket);
	ch = make(1);
	send_fd(ends[0], fd);
	CHECK_EQ(ipcwait_channel_recv(ch, &value), 0);
	CHECK_EQ(value, 42);
	region_join(child);
	CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
	region_destroy(r);
	end(ch);
}

static void send_one(struct region *r)
{
	struct ipcwait_channel *ch = attach();
	uint64_t value = 7;

	r->result = ipcwait_channel_send(ch, &value);
	ipcwait_channel_destroy(ch);
}

static void receive_one(struct region *r)
{
	struct ipcwait_channel *ch = attach();
	uint64_t value = 0;

	r->result = ipcwait_channel_recv(ch, &value);
	CHECK(r->result || value == 7);
	ipcwait_channel_destroy(ch);
}

static pid_t start_sleeper(struct region *r, void (*body)(struct region *r))
{
	pid_t pid;

	r->result = 1;
	pid = region_fork(r, body);
	while (process_state(pid) != 'S')
		(void)sched_yield();
	return pid;
}

static void test_sleepers(void **state)
{
	struct region *r = region_create();
	struct ipcwait_channel *ch = make(1);
	uint64_t value = 7;
	pid_t child;

	(void)state;
	child = start_sleeper(r, receive_one);
	CHECK_EQ(ipcwait_channel_send(ch, &value), 0);
	region_join(child);
	CHECK_EQ(r->result, 0);
	CHECK_EQ(ipcwait_channel_send(ch, &value), 0);
	child = start_sleeper(r, send_one);
	CHECK_EQ(ipcwait_channel_recv(ch, &value), 0);
	region_join(child);
	CHECK_EQ(r->result, 0);
	child = start_sleeper(r, send_one);
	CHECK_EQ(ipcwait_channel_close(ch), 0);
	region_join(child);
	CHECK_EQ(r->result, -EPIPE);
	region_destroy(r);
	end(ch);
}

static void test_close_wakes_receivers(void **state)
{
	struct region *r = region_create();
	struct ipcwait_channel *ch = make(1);
	pid_t child = start_sleeper(r, receive_one);

	(void)state;
	CHECK_EQ(ipcwait_channel_close(ch), 0);
	region_join(child);
	CHECK_EQ(r->result, -EPIPE);
	region_destroy(r);
	end(ch);
}

/*
 * A process that was killed asleep takes a notification with it; another sleeper looks by itself.
 */
static void test_killed_asleep(void **state)
{
	struct region *r = region_create();
	struct ipcwait_channel *ch = make(1);
	pid_t first = start_sleeper(r, receive_one), second = start_sleeper(r, receive_one);
	uint64_t value = 7;

	(void)state;
	region_kill(first);
	CHECK_EQ(ipcwait_channel_send(ch, &value), 0);
	region_join(second);
	CHECK_EQ(r->result, 0);
	region_destroy(r);
	end(ch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_socket),
		cmocka_unit_test(test_sleepers),
		cmocka_unit_test(test_close_wakes_receivers),
		cmocka_unit_test(test_killed_asleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
