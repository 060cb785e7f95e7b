/* SPDX-License-Identifier: MIT */
/* Descriptors and signals: who is interrupted, when, and who is not; and masks. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "fd_ways.h"
#include "say.h"

static struct line line;
static int ready;

static void on_signal(int signal)
{
	(void)signal;
	add(&line_handled, 1);
}

struct waiter {
	int done, error;
};

static void *waiter(void *arg)
{
	struct waiter *w = arg;

	set(&ready, 1);
	w->error = line_take(&line);
	set(&w->done, 1);
	return NULL;
}

/*
 * A signal @us after the wait began. What comes when its handler has run ends a wait that goes on,
 * or is read after one that does not. Returns what the wait answered.
 */
static int interrupt(long us)
{
	struct waiter w = { .done = 0 };
	pthread_t t;

	set(&line_handled, 0);
	set(&ready, 0);
	t = begin_thread(waiter, &w);
	NEEDS(becomes(&ready, 1));
	if (us)
		pass_us(us);
	NEEDS(pthread_kill(t, SIGUSR1) == 0);
	NEEDS(becomes(&line_handled, 1));
	settle(t, &w.done);
	line_give(&line);
	(void)end_thread(t);
	if (w.error)
		NEEDS(line_take(&line) == 0);
	return w.error;
}

#define LATE       4
#define TRIES_MOST 100

static void interrupted(enum way way, int flags)
{
	static const long late_us[LATE] = { 1000, 2000, 10000, 20000 };
	bool restarts = !way_is_poll(way) && flags & SA_RESTART;
	int ended = 0, other = 0;
	char text[96];

	handle(SIGUSR1, on_signal, flags);
	/* The thread may be slow to begin its wait: such a signal is sent again. */
	for (int i = 0; i < LATE || (!restarts && ended < LATE / 2 && i < TRIES_MOST);
	     i++) {
		int error = interrupt(late_us[i % LATE]);

		ended += error == EINTR;
		other += error != EINTR && error != 0;
	}
	(void)snprintf(text, sizeof(text), "%s, %s: %s", way_names[way],
		       flags & SA_RESTART ? "SA_RESTART" : "no SA_RESTART",
		       restarts ? "goes on" : "interrupted");
	if (restarts)
		expect_number(text, ended, 0);
	else
		expect_least(text, ended, LATE / 2);
	expect_number("... and what is neither", other, 0);
}

/* So early that the handler may run anywhere in the call, and before it: both are legal. */
static void interrupted_early(void)
{
	int other = 0;

	handle(SIGUSR1, on_signal, 0);
	for (long us = 0; us < 60; us += 4) {
		int error = interrupt(us);

		other += error != EINTR && error != 0;
	}
	expect_number("early: neither EINTR nor what came", other, 0);
}

#define TIMED_ROUNDS 40
#define TIMED_LEAST  36

/* Where a socket has a time, a handler ends the call whatever its flags. */
static void timed(enum way way)
{
	const struct timeval far = { FAR_MS / 1000, 0 };
	int ended = 0;
	char text[96];

	if (way != READ_SOCKET && way != RECV && way != RECVFROM && way != RECVMSG)
		return;
	handle(SIGUSR1, on_signal, SA_RESTART);
	NEEDS(setsockopt(line.in, SOL_SOCKET, SO_RCVTIMEO, &far, sizeof(far)) == 0);
	for (int i = 0; i < TIMED_ROUNDS; i++) {
		struct waiter w = { .done = 0 };
		pthread_t t;

		set(&line_handled, 0);
		set(&ready, 0);
		t = begin_thread(waiter, &w);
		while (!get(&ready))
			continue;
		settle_briefly(t);
		NEEDS(pthread_kill(t, SIGUSR1) == 0);
		NEEDS(becomes(&line_handled, 1));
		settle(t, &w.done);
		line_give(&line);
		(void)end_thread(t);
		ended += w.error == EINTR;
		if (w.error)
			NEEDS(line_take(&line) == 0);
	}
	/* A thread that is slow does not wait yet. */
	(void)snprintf(text, sizeof(text), "%s, SO_RCVTIMEO: interrupted", way_names[way]);
	expect_least(text, ended, TIMED_LEAST);
}

static pthread_t program;
static int stop;

static void *pester(void *unused)
{
	(void)unused;
	while (!get(&stop)) {
		(void)pthread_kill(program, SIGUSR1);
		pass_us(20);
	}
	return NULL;
}

static void *give_some(void *unused)
{
	(void)unused;
	for (int i = 0; i < 500; i++) {
		pass_us(i % 5 * 10);
		line_give(&line);
	}
	return NULL;
}

/* Nothing is lost or read twice, whatever interrupts. */
static void pestered(enum way way)
{
	uint64_t left = 0;
	pthread_t t, giver;
	char text[96];
	long taken = 0;

	if (line.in == line.out)
		return;
	handle(SIGUSR1, on_signal, 0);
	program = pthread_self();
	set(&stop, 0);
	t = begin_thread(pester, NULL);
	giver = begin_thread(give_some, NULL);
	while (taken < 500) {
		ssize_t n = line_wait(&line, -1);

		NEEDS(n > 0 || errno == EINTR);
		if (n > 0 && way_is_poll(way))
			while (read(line.in, &left, sizeof(left)) < 0)
				NEEDS(errno == EINTR);
		taken += n > 0;
	}
	set(&stop, 1);
	(void)end_thread(t);
	(void)end_thread(giver);
	(void)snprintf(text, sizeof(text), "%s, pestered: taken", way_names[way]);
	expect_number(text, taken, 500);
}

/* A signal that is pending and blocked, but for the call. */
static void unmasked(void)
{
	static const char *const names[] = { "ppoll", "pselect", "epoll_pwait" };
	struct timespec time = { FAR_MS / 1000, 0 };
	struct epoll_event event = { .events = EPOLLIN };
	int ends[2], epoll = epoll_create1(0);
	sigset_t blocked, none;

	NEEDS(pipe(ends) == 0);
	NEEDS(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
	handle(SIGUSR1, on_signal, SA_RESTART);
	(void)sigemptyset(&none);
	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGUSR1);
	NEEDS(pthread_sigmask(SIG_BLOCK, &blocked, NULL) == 0);
	for (int i = 0; i < 3; i++) {
		struct pollfd fds = { .fd = ends[0], .events = POLLIN };
		fd_set in;
		int r;

		FD_ZERO(&in);
		FD_SET(ends[0], &in);
		set(&line_handled, 0);
		NEEDS(raise(SIGUSR1) == 0 && !get(&line_handled));
		if (i == 0)
			r = ppoll(&fds, 1, &time, &none);
		else if (i == 1)
			r = pselect(ends[0] + 1, &in, NULL, NULL, &time, &none);
		else
			r = epoll_pwait(epoll, &event, 1, FAR_MS, &none);
		expect(names[i], error_of(r), EINTR);
		expect_number("... handled", get(&line_handled), 1);
	}
	NEEDS(pthread_sigmask(SIG_UNBLOCK, &blocked, NULL) == 0);
}

#define MASKED_CALLS 200

/*
 * A mask that blocks a signal, which the thread itself does not block: no handler runs in the call,
 * and nothing interrupts it. What comes between two calls runs between them.
 */
static void masked(void)
{
	struct timespec time = { 0, 300000 };
	int ends[2], polled = 0, selected = 0;
	sigset_t blocks;
	pthread_t t;

	NEEDS(pipe(ends) == 0);
	handle(SIGUSR1, on_signal, SA_RESTART);
	(void)sigemptyset(&blocks);
	(void)sigaddset(&blocks, SIGUSR1);
	program = pthread_self();
	set(&stop, 0);
	t = begin_thread(pester, NULL);
	for (int i = 0; i < MASKED_CALLS; i++) {
		struct pollfd fds = { .fd = ends[0], .events = POLLIN };
		fd_set in;

		FD_ZERO(&in);
		FD_SET(ends[0], &in);
		polled += ppoll(&fds, 1, &time, &blocks) != 0;
		selected += pselect(ends[0] + 1, &in, NULL, NULL, &time, &blocks) != 0;
	}
	set(&stop, 1);
	(void)end_thread(t);
	expect_number("ppoll, ended in spite of its mask", polled, 0);
	expect_number("pselect, ended in spite of its mask", selected, 0);
}

int main(void)
{
	say_begin();
	for (enum way way = READ_PIPE; way < WAYS; way++) {
		line_open(&line, way);
		interrupted(way, 0);
		line_train(&line);
		interrupted_early();
		interrupted(way, SA_RESTART);
		line_train(&line);
		interrupted_early();
		pestered(way);
		timed(way);
		line_close(&line);
	}
	unmasked();
	masked();
	return say_end();
}
