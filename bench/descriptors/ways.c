/* SPDX-License-Identifier: MIT */
/* How an end waits: by the plain call, after looks of its own for a fixed time, by the library. */
#include "pairs.h"

#include "../common/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ipcwait/fd.h>

/* Of what a call has returned, with errno. */
static int whole(ssize_t bytes)
{
	if (bytes < 0)
		return -errno;
	return bytes == sizeof(uint64_t) ? 0 : -EPIPE;
}

/* Of what the library has returned. */
static int whole_or_error(ssize_t r)
{
	if (r < 0)
		return (int)r;
	return r == sizeof(uint64_t) ? 0 : -EPIPE;
}

static int read_word(int fd, uint64_t *word)
{
	return whole(read(fd, word, sizeof(*word)));
}

static int events(const struct end *e, int timeout_ms)
{
	struct epoll_event event;
	int n = epoll_wait(e->epoll, &event, 1, timeout_ms);

	return n < 0 ? -errno : n;
}

static int wait_plain(const struct end *e, uint64_t *word)
{
	if (e->kind == KIND_UNIX || e->kind == KIND_TCP)
		return whole(recv(e->in, word, sizeof(*word), 0));
	if (e->kind == KIND_EVENTFD) {
		int n = events(e, -1);

		if (n < 0)
			return n;
	}
	return read_word(e->in, word);
}

/* Without blocking. Return: 1 if it was there, 0 if not, or -errno. */
static int look(const struct end *e, uint64_t *word)
{
	struct pollfd p = { .fd = e->in, .events = POLLIN };
	int n;

	if (e->kind == KIND_UNIX || e->kind == KIND_TCP) {
		int r = whole(recv(e->in, word, sizeof(*word), MSG_DONTWAIT));

		return r == -EAGAIN ? 0 : r < 0 ? r : 1;
	}
	n = e->kind == KIND_EVENTFD ? events(e, 0) : poll(&p, 1, 0);
	if (n <= 0)
		return n;
	n = read_word(e->in, word);
	return n < 0 ? n : 1;
}

static int wait_fixed(const struct end *e, uint64_t *word)
{
	int64_t until = clock_now_ns() + e->window_ns;

	do {
		int r = look(e, word);

		if (r)
			return r < 0 ? r : 0;
	} while (clock_now_ns() < until);
	return wait_plain(e, word);
}

static int wait_library(const struct end *e, uint64_t *word)
{
	struct epoll_event event;
	int n;

	if (e->kind == KIND_UNIX || e->kind == KIND_TCP)
		return whole_or_error(ipcwait_recv(e->in, word, sizeof(*word), 0, NULL));
	if (e->kind == KIND_PIPE)
		return whole_or_error(ipcwait_read(e->in, word, sizeof(*word), NULL));
	n = ipcwait_epoll_wait(e->epoll, &event, 1, IPCWAIT_FOREVER, NULL);
	return n < 0 ? n : read_word(e->in, word);
}

int end_wait(const struct end *e, uint64_t *word)
{
	switch (e->way) {
	case WAY_FIXED:
		return wait_fixed(e, word);
	case WAY_LIBRARY:
		return wait_library(e, word);
	default:
		return wait_plain(e, word);
	}
}

int end_write(const struct end *e, uint64_t word)
{
	return whole(write(e->out, &word, sizeof(word)));
}
