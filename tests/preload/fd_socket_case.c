/* SPDX-License-Identifier: MIT */
/* What only sockets have: flags, datagrams, addresses, descriptors, times, and connections. */
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "fd_ways.h"
#include "say.h"

#define HALVES_MOST 20
#define NUDGE_MS    500

static int halves_read;

/*
 * A reader of TCP that begins between the halves takes the first one, and the kernel does not wake
 * it for the second one, which is less than SO_RCVLOWAT. More bytes do.
 */
static void *write_halves(void *arg)
{
	int fd = *(int *)arg;

	pass_ms(2);
	NEEDS(write(fd, "abcd", 4) == 4);
	pass_ms(5);
	NEEDS(write(fd, "efgh", 4) == 4);
	for (int ms = 0; ms < NUDGE_MS && !get(&halves_read); ms += 5)
		pass_ms(5);
	if (!get(&halves_read))
		NEEDS(write(fd, "ijklmnop", 8) == 8);
	return NULL;
}

/*
 * What a call answers that is to wait for both halves. If the process is stopped between them, the
 * kernel lets it end with the first one: so that counts only if it comes each time. @flags: of
 * recv(2), or -1 for read(2).
 */
static long read_halves(int *ends, int flags, char *text)
{
	char left[16];
	long n = 0;

	for (int i = 0; n != 8 && i < HALVES_MOST; i++) {
		set(&halves_read, 0);
		pthread_t t = begin_thread(write_halves, &ends[1]);

		n = flags < 0 ? read(ends[0], text, 8) : recv(ends[0], text, 8, flags);
		set(&halves_read, 1);
		(void)end_thread(t);
		while (recv(ends[0], left, sizeof(left), MSG_DONTWAIT) > 0)
			;
	}
	return n;
}

static void flags(void)
{
	char text[16] = "";
	int ends[2];
	pthread_t t;

	NEEDS(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	expect("MSG_DONTWAIT", error_of(recv(ends[0], text, 8, MSG_DONTWAIT)), EAGAIN);
	expect_number("MSG_WAITALL", read_halves(ends, MSG_WAITALL, text), 8);
	expect_true("... both halves", memcmp(text, "abcdefgh", 8) == 0);
	t = begin_thread(write_halves, &ends[1]);
	expect_number("MSG_PEEK", recv(ends[0], text, 4, MSG_PEEK), 4);
	expect_number("what was peeked at", recv(ends[0], text, 4, 0), 4);
	(void)end_thread(t);
	expect_number("the rest", recv(ends[0], text, 8, 0), 4);
	NEEDS(shutdown(ends[1], SHUT_WR) == 0);
	expect_number("the end", recv(ends[0], text, 8, 0), 0);
	expect("no socket", error_of(recv(0, text, 8, 0)), ENOTSOCK);
	expect("no descriptor", error_of(recv(-1, text, 8, 0)), EBADF);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void datagrams(void)
{
	char text[16] = "";
	int ends[2];

	NEEDS(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
	for (int i = 0; i < 2; i++) {
		NEEDS(write(ends[1], "abcdef", 6) == 6);
		NEEDS(send(ends[1], "", 0, 0) == 0);
		expect_number("a part of a datagram", recv(ends[0], text, 3, MSG_TRUNC), 6);
		expect_number("an empty one", recv(ends[0], text, 3, 0), 0);
		NEEDS(write(ends[1], "xyz", 3) == 3);
		expect_number("read of one", read(ends[0], text, 2), 2);
	}
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static struct sockaddr_in bound(int fd)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(a);

	NEEDS(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0);
	NEEDS(getsockname(fd, (struct sockaddr *)&a, &length) == 0);
	return a;
}

static struct sockaddr_in to;
static int sender;

static void *send_later(void *unused)
{
	(void)unused;
	pass_ms(3);
	NEEDS(sendto(sender, "hi", 2, 0, (struct sockaddr *)&to, sizeof(to)) == 2);
	return NULL;
}

static void addresses(void)
{
	int receiver = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in from, own;
	socklen_t length = sizeof(from);
	pthread_t t;
	char text[8];

	sender = socket(AF_INET, SOCK_DGRAM, 0);
	to = bound(receiver);
	own = bound(sender);
	for (int i = 0; i < 3; i++) {
		memset(&from, 0, sizeof(from));
		length = sizeof(from);
		t = begin_thread(send_later, NULL);
		expect_number("recvfrom",
			      recvfrom(receiver, text, sizeof(text), 0,
				       (struct sockaddr *)&from, &length),
			      2);
		expect_true("... from whom", from.sin_port == own.sin_port);
		expect_number("... length", length, sizeof(from));
		(void)end_thread(t);
	}
	(void)close(receiver);
	(void)close(sender);
}

/* A descriptor that is sent arrives once. */
static void descriptors(void)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char c = 'x';
	struct iovec part = { &c, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int ends[2], before = dup(0), after, sent = 0;

	(void)close(before);
	NEEDS(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	for (int i = 0; i < 3; i++) {
		message.msg_control = control.room;
		message.msg_controllen = sizeof(control.room);
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &sent, sizeof(sent));
		NEEDS(sendmsg(ends[1], &message, 0) == 1);
		message.msg_controllen = sizeof(control.room);
		expect_number("recvmsg", recvmsg(ends[0], &message, 0), 1);
		expect_number("... control", (long)message.msg_controllen,
			      CMSG_SPACE(sizeof(int)));
		memcpy(&after, CMSG_DATA(&control.header), sizeof(after));
		(void)close(after);
	}
	(void)close(ends[0]);
	(void)close(ends[1]);
	after = dup(0);
	expect_true("no descriptor is left", after == before);
	(void)close(after);
}

static void times(void)
{
	struct timeval time = { 0, 20000 };
	struct line l;
	int64_t begun;

	for (enum way way = READ_SOCKET; way <= RECVMSG; way++) {
		if (way == READ_EVENTFD)
			continue;
		line_open(&l, way);
		line_train(&l);
		NEEDS(setsockopt(l.in, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) == 0);
		begun = clock_ns(CLOCK_MONOTONIC);
		expect(way_names[way], error_of(line_wait(&l, -1)), EAGAIN);
		expect_true("... after SO_RCVTIMEO",
			    clock_ns(CLOCK_MONOTONIC) - begun >= 19 * 1000000);
		line_close(&l);
	}
}

static struct sockaddr_in server;

static void *connect_later(void *unused)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)unused;
	pass_ms(3);
	NEEDS(connect(fd, (struct sockaddr *)&server, sizeof(server)) == 0);
	(void)close(fd);
	return NULL;
}

static void connections(void)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd;
	struct sockaddr_in from = { 0 };
	socklen_t length = sizeof(from);
	pthread_t t;

	server = bound(listener);
	expect("accept before listen", error_of(accept(listener, NULL, NULL)), EINVAL);
	NEEDS(listen(listener, 4) == 0);
	t = begin_thread(connect_later, NULL);
	fd = accept(listener, (struct sockaddr *)&from, &length);
	expect_true("accept", fd >= 0 && from.sin_family == AF_INET);
	(void)close(fd);
	(void)end_thread(t);
	t = begin_thread(connect_later, NULL);
	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	expect_true("accept4", fd >= 0 && fcntl(fd, F_GETFL) & O_NONBLOCK &&
				       fcntl(fd, F_GETFD) & FD_CLOEXEC);
	(void)close(fd);
	(void)end_thread(t);
	NEEDS(fcntl(listener, F_SETFL, O_NONBLOCK) == 0);
	expect("accept, O_NONBLOCK", error_of(accept(listener, NULL, NULL)), EAGAIN);
	expect("accept4, bad flags", error_of(accept4(listener, NULL, NULL, 1)), EINVAL);
	expect("accept, no socket", error_of(accept(0, NULL, NULL)), ENOTSOCK);
	(void)close(listener);
}

/* TCP on loopback. */
static void connected(int ends[2])
{
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = bound(listener);

	NEEDS(listen(listener, 1) == 0);
	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	NEEDS(connect(ends[1], (struct sockaddr *)&a, sizeof(a)) == 0);
	ends[0] = accept(listener, NULL, NULL);
	NEEDS(ends[0] >= 0);
	(void)close(listener);
}

/* Last, as looks at sockets have an end then. Trained, so that there would be looks. */
static void low_water_mark(void)
{
	int ends[2], mark = 8;
	char text[16] = "";

	connected(ends);
	for (int i = 0; i < 100; i++) {
		NEEDS(write(ends[1], "x", 1) == 1);
		NEEDS(recv(ends[0], text, 8, 0) == 1);
	}
	NEEDS(setsockopt(ends[0], SOL_SOCKET, SO_RCVLOWAT, &mark, sizeof(mark)) == 0);
	for (int i = 0; i < 2; i++)
		expect_number("SO_RCVLOWAT", read_halves(ends, i ? -1 : 0, text), 8);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

int main(void)
{
	say_begin();
	flags();
	datagrams();
	addresses();
	descriptors();
	times();
	connections();
	low_water_mark();
	return say_end();
}
