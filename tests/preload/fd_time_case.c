/* SPDX-License-Identifier: MIT */
/* Calls on descriptors with a time, and with what is none; sets, and what is no descriptor. */
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "fd_ways.h"
#include "say.h"

#define MS INT64_C(1000000)

/* Not early; how late is the machine's affair. */
static void expires(enum way way, bool trained)
{
	static const int times_ms[] = { 0, 1, 5, 30 };
	struct line line;
	char text[96];

	line_open(&line, way);
	if (trained)
		line_train(&line);
	for (size_t i = 0; i < sizeof(times_ms) / sizeof(times_ms[0]); i++) {
		int64_t begun = clock_ns(CLOCK_MONOTONIC), took;

		(void)snprintf(text, sizeof(text), "%s for %d ms%s", way_names[way],
			       times_ms[i], trained ? ", trained" : "");
		expect_number(text, line_wait(&line, times_ms[i]), 0);
		took = clock_ns(CLOCK_MONOTONIC) - begun;
		expect_true("... not early", took >= times_ms[i] * MS);
		expect_true("... nor very late", took < FAR_MS * MS);
	}
	line_give(&line);
	expect_number("... there, no time", line_wait(&line, 0), 1);
	expect_number("... there, a long time", line_wait(&line, FAR_MS), 1);
	line_close(&line);
}

static void polls(void)
{
	struct timespec bad = { 0, 1000000000 }, before = { -1, 0 },
			short_time = { 0, 1000 };
	struct pollfd fds[3] = { { .fd = -1, .events = POLLIN } };
	void *volatile nowhere = (void *)16;
	int ends[2], none;
	int64_t begun = clock_ns(CLOCK_MONOTONIC);

	NEEDS(pipe(ends) == 0);
	none = dup(ends[0]);
	(void)close(none);
	expect_number("poll of no descriptors", poll(NULL, 0, 10), 0);
	expect_true("... is a sleep", clock_ns(CLOCK_MONOTONIC) - begun >= 10 * MS);
	expect_number("poll of a negative one", poll(fds, 1, 5), 0);
	expect_number("... tells nothing", fds[0].revents, 0);
	fds[1] = (struct pollfd){ .fd = none, .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = ends[1], .events = POLLOUT };
	expect_number("poll of what is none, and one", poll(fds, 3, -1), 2);
	expect_number("... POLLNVAL", fds[1].revents, POLLNVAL);
	expect_number("... POLLOUT", fds[2].revents, POLLOUT);
	expect("ppoll, no time", error_of(ppoll(fds, 1, &bad, NULL)), EINVAL);
	expect("ppoll, before 1970", error_of(ppoll(fds, 1, &before, NULL)), EINVAL);
	expect_number("ppoll for 1 us", ppoll(fds, 1, &short_time, NULL), 0);
	expect("poll, no memory", error_of(poll(nowhere, 1, 1)), EFAULT);
	(void)close(ends[1]);
	fds[0] = (struct pollfd){ .fd = ends[0], .events = 0 };
	expect_number("poll of a closed pipe", poll(fds, 1, -1), 1);
	expect_number("... POLLHUP", fds[0].revents, POLLHUP);
	(void)close(ends[0]);
}

static void sets(void)
{
	struct timeval time = { 0, 30000 }, bad = { -1, 0 },
		       long_time = { FAR_MS / 1000, 0 };
	fd_set in, out;
	int ends[2];

	NEEDS(pipe(ends) == 0);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(ends[0], &in);
	expect_number("select that expires", select(ends[0] + 1, &in, &out, NULL, &time),
		      0);
	expect_true("... its set is empty", !FD_ISSET(ends[0], &in));
	expect_true("... no time is left", time.tv_sec == 0 && time.tv_usec == 0);
	FD_SET(ends[0], &in);
	FD_SET(ends[1], &out);
	expect_number("select, one of two",
		      select(ends[1] + 1, &in, &out, NULL, &long_time), 1);
	expect_true("... not this", !FD_ISSET(ends[0], &in));
	expect_true("... but that", FD_ISSET(ends[1], &out) != 0);
	expect_true("... time is left",
		    long_time.tv_sec >= 1 && long_time.tv_sec <= FAR_MS / 1000);
	expect("select, no time", error_of(select(1, &in, NULL, NULL, &bad)), EINVAL);
	expect("select, negative", error_of(select(-1, &in, NULL, NULL, NULL)), EINVAL);
	time.tv_usec = 3000;
	expect_number("select of nothing", select(0, NULL, NULL, NULL, &time), 0);
	(void)close(ends[0]);
	FD_ZERO(&in);
	FD_SET(ends[0], &in);
	expect("select of a closed one",
	       error_of(select(ends[0] + 1, &in, NULL, NULL, NULL)), EBADF);
	(void)close(ends[1]);
}

/* Without handlers only a stop of the process ends the call with EINTR: then it is made again. */
static int wait_for_events(int epoll, struct epoll_event *got, int timeout_ms)
{
	int n;

	do
		n = epoll_wait(epoll, got, 4, timeout_ms);
	while (n < 0 && errno == EINTR);
	return n;
}

static void events(void)
{
	struct epoll_event got[4], event = { .events = EPOLLIN | EPOLLET };
	void *volatile nowhere = (void *)16;
	volatile int negative = -1;
	int ends[2], epoll = epoll_create1(0), twice = 0;

	NEEDS(pipe(ends) == 0);
	event.data.u32 = 4711;
	NEEDS(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
	for (int i = 0; i < 200; i++) {
		NEEDS(write(ends[1], "x", 1) == 1);
		NEEDS(wait_for_events(epoll, got, -1) == 1 && got[0].data.u32 == 4711);
		if (i % 20 == 0)
			twice += wait_for_events(epoll, got, 2);
	}
	expect_number("an edge, told again", twice, 0);
	event.events = EPOLLIN | EPOLLONESHOT;
	NEEDS(epoll_ctl(epoll, EPOLL_CTL_MOD, ends[0], &event) == 0);
	expect_number("oneshot", wait_for_events(epoll, got, -1), 1);
	expect_number("oneshot, again", wait_for_events(epoll, got, 5), 0);
	expect("no room", error_of(epoll_wait(epoll, got, 0, -1)), EINVAL);
	expect("negative room", error_of(epoll_wait(epoll, got, negative, -1)), EINVAL);
	expect("no epoll", error_of(epoll_wait(ends[0], got, 1, -1)), EINVAL);
	expect("no descriptor", error_of(epoll_wait(-1, got, 1, -1)), EBADF);
	event.events = EPOLLIN;
	NEEDS(epoll_ctl(epoll, EPOLL_CTL_MOD, ends[0], &event) == 0);
	expect("no memory", error_of(epoll_wait(epoll, nowhere, 1, -1)), EFAULT);
	(void)close(epoll);
}

int main(void)
{
	say_begin();
	for (enum way way = POLL; way < WAYS; way++) {
		expires(way, false);
		expires(way, true);
	}
	polls();
	sets();
	events();
	return say_end();
}
