/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fd_ways.h"
#include "say.h"

#define ROUNDS 300

const char *const way_names[WAYS] = {
	[READ_PIPE] = "read of a pipe",
	[READ_SOCKET] = "read of a socket",
	[READ_EVENTFD] = "read of an eventfd",
	[RECV] = "recv",
	[RECVFROM] = "recvfrom",
	[RECVMSG] = "recvmsg",
	[POLL] = "poll",
	[PPOLL] = "ppoll",
	[SELECT] = "select",
	[PSELECT] = "pselect",
	[EPOLL_WAIT] = "epoll_wait",
	[EPOLL_PWAIT] = "epoll_pwait",
};

static bool on_pipe(enum way way)
{
	return way == READ_PIPE || way == POLL || way == PSELECT;
}

static bool on_eventfd(enum way way)
{
	return way == READ_EVENTFD || way == EPOLL_WAIT;
}

void line_open(struct line *l, enum way way)
{
	struct epoll_event event = { .events = EPOLLIN };
	int ends[2];

	*l = (struct line){ .way = way, .epoll = -1 };
	if (on_eventfd(way)) {
		l->in = l->out = eventfd(0, 0);
	} else {
		NEEDS((on_pipe(way) ? pipe(ends)
				    : socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) == 0);
		l->in = ends[0];
		l->out = ends[1];
	}
	if (way < EPOLL_WAIT)
		return;
	l->epoll = epoll_create1(0);
	NEEDS(epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->in, &event) == 0);
}

void line_close(struct line *l)
{
	(void)close(l->in);
	if (l->out != l->in)
		(void)close(l->out);
	if (l->epoll >= 0)
		(void)close(l->epoll);
}

void line_give(const struct line *l)
{
	const uint64_t one = 1;

	NEEDS(write(l->out, &one, sizeof(one)) == sizeof(one));
}

static ssize_t wait_by_recvmsg(int fd)
{
	uint64_t bytes;
	struct iovec part = { &bytes, sizeof(bytes) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	return recvmsg(fd, &message, 0);
}

static ssize_t wait_by_poll(const struct line *l, int timeout_ms)
{
	struct timespec time = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
	struct pollfd fds = { .fd = l->in, .events = POLLIN };

	if (l->way == POLL)
		return poll(&fds, 1, timeout_ms);
	return ppoll(&fds, 1, timeout_ms < 0 ? NULL : &time, NULL);
}

static ssize_t wait_by_select(const struct line *l, int timeout_ms)
{
	struct timespec time = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
	struct timeval old = { time.tv_sec, time.tv_nsec / 1000 };
	fd_set in;

	FD_ZERO(&in);
	FD_SET(l->in, &in);
	if (l->way == SELECT)
		return select(l->in + 1, &in, NULL, NULL, timeout_ms < 0 ? NULL : &old);
	return pselect(l->in + 1, &in, NULL, NULL, timeout_ms < 0 ? NULL : &time, NULL);
}

static ssize_t wait_once(const struct line *l, int timeout_ms)
{
	struct epoll_event event;
	uint64_t bytes;

	switch (l->way) {
	case READ_PIPE:
	case READ_SOCKET:
	case READ_EVENTFD:
		return read(l->in, &bytes, sizeof(bytes));
	case RECV:
		return recv(l->in, &bytes, sizeof(bytes), 0);
	case RECVFROM:
		return recvfrom(l->in, &bytes, sizeof(bytes), 0, NULL, NULL);
	case RECVMSG:
		return wait_by_recvmsg(l->in);
	case POLL:
	case PPOLL:
		return wait_by_poll(l, timeout_ms);
	case SELECT:
	case PSELECT:
		return wait_by_select(l, timeout_ms);
	case EPOLL_WAIT:
		return epoll_wait(l->epoll, &event, 1, timeout_ms);
	default:
		return epoll_pwait(l->epoll, &event, 1, timeout_ms, NULL);
	}
}

int line_handled;

ssize_t line_wait(const struct line *l, int timeout_ms)
{
	int kept = errno, handled;
	ssize_t n;

	do {
		errno = kept;
		handled = get(&line_handled);
		n = wait_once(l, timeout_ms);
	} while (n < 0 && errno == EINTR && get(&line_handled) == handled);
	return n;
}

int line_take(const struct line *l)
{
	ssize_t n = line_wait(l, -1);
	uint64_t bytes;

	if (n < 0)
		return errno;
	NEEDS(n > 0);
	if (way_is_poll(l->way))
		NEEDS(read(l->in, &bytes, sizeof(bytes)) == sizeof(bytes));
	return 0;
}

struct partner {
	const struct line *in, *out;
};

static void *echo(void *arg)
{
	const struct partner *p = arg;

	for (int i = 0; i < ROUNDS; i++) {
		NEEDS(line_take(p->in) == 0);
		line_give(p->out);
	}
	return NULL;
}

void line_train(struct line *l)
{
	struct line back;
	struct partner p = { &back, l };
	pthread_t t;

	line_open(&back, READ_PIPE);
	t = begin_thread(echo, &p);
	for (int i = 0; i < ROUNDS; i++) {
		line_give(&back);
		NEEDS(line_take(l) == 0);
	}
	(void)end_thread(t);
	line_close(&back);
}
