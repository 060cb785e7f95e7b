/* SPDX-License-Identifier: MIT */
/* The functions that a program calls which is compiled with _FORTIFY_SOURCE. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fd_ways.h"
#include "say.h"

static int ends[2];

/* Not known when this is compiled. */
static volatile size_t bytes;

static void overflow_by_read(void *unused)
{
	char text[4];

	(void)unused;
	_exit(read(ends[0], text, bytes) > 0);
}

static void overflow_by_recv(void *unused)
{
	char text[4];

	(void)unused;
	_exit(recv(ends[0], text, bytes, 0) > 0);
}

static void overflow_by_recvfrom(void *unused)
{
	char text[4];

	(void)unused;
	_exit(recvfrom(ends[0], text, bytes, 0, NULL, NULL) > 0);
}

static void overflow_by_poll(void *unused)
{
	struct pollfd fds[2] = { { .fd = ends[0], .events = POLLIN } };

	(void)unused;
	_exit(poll(fds, bytes, 1000) > 0);
}

static void overflow_by_ppoll(void *unused)
{
	struct pollfd fds[2] = { { .fd = ends[0], .events = POLLIN } };

	(void)unused;
	_exit(ppoll(fds, bytes, NULL, NULL) > 0);
}

/* The C library says why on the terminal or nowhere. */
static void aborts(const char *name, void (*overflow)(void *))
{
	pid_t child;
	int status;

	NEEDS(write(ends[1], "abcdefgh", 8) == 8);
	(void)fflush(NULL);
	child = fork();
	if (!child) {
		(void)close(STDERR_FILENO);
		overflow(NULL);
	}
	NEEDS(waitpid(child, &status, 0) == child);
	expect_true(name, WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
	char text[8];
	struct pollfd fds[2] = { { .fd = -1 } };

	say_begin();
	NEEDS(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	bytes = 8;
	NEEDS(write(ends[1], "abcdefgh", 8) == 8);
	expect_number("read", read(ends[0], text, bytes), 8);
	NEEDS(write(ends[1], "abcdefgh", 8) == 8);
	expect_number("recv", recv(ends[0], text, bytes, 0), 8);
	bytes = 2;
	fds[1] = (struct pollfd){ .fd = ends[1], .events = POLLOUT };
	expect_number("poll", poll(fds, bytes, -1), 1);
	expect_number("ppoll", ppoll(fds, bytes, NULL, NULL), 1);
	bytes = 8;
	aborts("overflow by read", overflow_by_read);
	aborts("overflow by recv", overflow_by_recv);
	aborts("overflow by recvfrom", overflow_by_recvfrom);
	aborts("overflow by poll", overflow_by_poll);
	aborts("overflow by ppoll", overflow_by_ppoll);
	return say_end();
}
