/* SPDX-License-Identifier: MIT */
/* The descriptors of a pair: opened before its processes are made. */
#include "pairs.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static void put(struct end ends[2], int in0, int out0, int in1, int out1)
{
	ends[0].in = in0;
	ends[0].out = out0;
	ends[1].in = in1;
	ends[1].out = out1;
}

static int open_pipes(struct end ends[2])
{
	int there[2], back[2];

	if (pipe(there))
		return -errno;
	if (pipe(back)) {
		int r = -errno;

		(void)close(there[0]);
		(void)close(there[1]);
		return r;
	}
	put(ends, back[0], there[1], there[0], back[1]);
	return 0;
}

static int open_unix(struct end ends[2])
{
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		return -errno;
	put(ends, s[0], s[0], s[1], s[1]);
	return 0;
}

static int open_events(struct end ends[2])
{
	int there = eventfd(0, 0), back = eventfd(0, 0);

	if (there < 0 || back < 0)
		return -errno;
	put(ends, back, there, there, back);
	return 0;
}

/* A listener on a port of the kernel's choice, one connection, and the listener is closed. */
static int connected(int listener, int s[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(at);
	const int one = 1;

	if (bind(listener, (struct sockaddr *)&at, bytes) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &bytes))
		return -errno;
	s[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (s[0] < 0 || connect(s[0], (struct sockaddr *)&at, bytes))
		return -errno;
	s[1] = accept(listener, NULL, NULL);
	if (s[1] < 0)
		return -errno;
	for (int i = 0; i < 2; i++)
		if (setsockopt(s[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
			return -errno;
	return 0;
}

static int open_tcp(struct end ends[2])
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), s[2] = { -1, -1 }, r;

	if (listener < 0)
		return -errno;
	r = connected(listener, s);
	(void)close(listener);
	put(ends, s[0], s[0], s[1], s[1]);
	return r;
}

int ends_open(struct end ends[2], const struct options *o)
{
	static int (*const open_kind[KINDS])(struct end[2]) = {
		[KIND_PIPE] = open_pipes,
		[KIND_UNIX] = open_unix,
		[KIND_TCP] = open_tcp,
		[KIND_EVENTFD] = open_events,
	};

	for (int i = 0; i < 2; i++)
		ends[i] = (struct end){ .in = -1,
					.out = -1,
					.epoll = -1,
					.kind = (enum kind)o->kind,
					.way = (enum way)o->way,
					.window_ns = (int64_t)o->window_us * 1000 };
	return open_kind[o->kind](ends);
}

static void close_end(struct end *e)
{
	(void)close(e->in);
	if (e->out != e->in)
		(void)close(e->out);
}

void ends_close(struct end ends[2])
{
	close_end(&ends[0]);
	/* Two eventfds are both ends. */
	if (ends[0].kind != KIND_EVENTFD)
		close_end(&ends[1]);
}

int ends_keep(struct end ends[2], unsigned mine)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct end *e = &ends[mine];

	if (e->kind != KIND_EVENTFD) {
		close_end(&ends[1 - mine]);
		return 0;
	}
	e->epoll = epoll_create1(0);
	if (e->epoll < 0 || epoll_ctl(e->epoll, EPOLL_CTL_ADD, e->in, &event))
		return -errno;
	return 0;
}
