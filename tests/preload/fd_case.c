/* SPDX-License-Identifier: MIT */
/* Descriptors: what comes sooner or later, ends, O_NONBLOCK, and numbers that are used again. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fd_ways.h"
#include "say.h"

static const char *named(const char *what, enum way way)
{
	static char text[96];

	(void)snprintf(text, sizeof(text), "%s: %s", way_names[way], what);
	return text;
}

static struct line line;
static long later_us;

static void *give_later(void *unused)
{
	(void)unused;
	pass_us(later_us);
	line_give(&line);
	return NULL;
}

static void give_from_child(void *unused)
{
	(void)give_later(unused);
}

/* From another thread, and from another process. */
static void comes_later(enum way way)
{
	static const long us[] = { 1, 5, 30, 300, 20000 };
	int errors = 0;

	for (size_t i = 0; i < 2 * sizeof(us) / sizeof(us[0]); i++) {
		later_us = us[i / 2];
		errno = ERANGE;
		if (i % 2) {
			pid_t child = begin_child(give_from_child, NULL);

			errors += line_take(&line) != 0;
			NEEDS(waitpid(child, NULL, 0) == child);
		} else {
			pthread_t t = begin_thread(give_later, NULL);

			errors += line_take(&line) != 0;
			(void)end_thread(t);
		}
	}
	expect_number(named("came later, errors", way), errors, 0);
}

static void there_already(enum way way)
{
	line_give(&line);
	errno = ERANGE;
	expect_number(named("what is there", way), line_wait(&line, -1),
		      way_is_poll(way) ? 1 : 8);
	expect(named("errno after it", way), errno, ERANGE);
	if (way_is_poll(way))
		NEEDS(line_take(&line) == 0);
}

/* The calls themselves; a poll does not care. */
static void nonblocking(enum way way)
{
	int again = 0;

	if (way_is_poll(way))
		return;
	NEEDS(fcntl(line.in, F_SETFL, O_NONBLOCK) == 0);
	for (int i = 0; i < 200; i++)
		again += line_wait(&line, -1) == -1 && errno == EAGAIN;
	expect_number(named("O_NONBLOCK, EAGAIN", way), again, 200);
	line_give(&line);
	expect_number(named("O_NONBLOCK, there", way), line_wait(&line, -1), 8);
	NEEDS(fcntl(line.in, F_SETFL, 0) == 0);
}

/* The number of the line's end becomes a file's. */
static void number_is_a_file(enum way way)
{
	char path[] = "/tmp/fd_caseXXXXXX", text[8];
	int fd = mkstemp(path);

	NEEDS(fd >= 0 && unlink(path) == 0 && write(fd, "abc", 3) == 3);
	NEEDS(lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, line.in) == line.in);
	expect_number(named("a file by its number", way), read(line.in, text, 2), 2);
	expect_number(named("the rest of it", way), read(line.in, text, 8), 1);
	expect_number(named("its end", way), read(line.in, text, 8), 0);
	expect(named("recv of it", way), error_of(recv(line.in, text, 8, 0)), ENOTSOCK);
	(void)close(fd);
}

/* And of a file a pipe's again: what comes is waited for. */
static void number_is_a_pipe(enum way way)
{
	int ends[2];
	char c = 0;
	pid_t child;

	NEEDS(pipe(ends) == 0 && dup2(ends[0], line.in) == line.in);
	child = fork();
	if (!child) {
		pass_ms(20);
		_exit(write(ends[1], "x", 1) != 1);
	}
	expect_number(named("a pipe by its number", way), read(line.in, &c, 1), 1);
	expect_true(named("what was sent", way), c == 'x');
	NEEDS(waitpid(child, NULL, 0) == child);
	(void)close(ends[0]);
	(void)close(ends[1]);
	expect_number(named("its end", way), read(line.in, &c, 1), 0);
}

static void hangs_up(enum way way)
{
	if (line.in == line.out)
		return;
	(void)close(line.out);
	line.out = dup(line.in);
	for (int i = 0; i < 3; i++)
		expect_number(named("after the other end has closed", way),
			      line_wait(&line, -1), way_is_poll(way));
}

static void each_way(void)
{
	for (enum way way = READ_PIPE; way < WAYS; way++) {
		line_open(&line, way);
		there_already(way);
		comes_later(way);
		line_train(&line);
		there_already(way);
		comes_later(way);
		nonblocking(way);
		comes_later(way);
		if (way < POLL) {
			number_is_a_file(way);
			number_is_a_pipe(way);
		} else {
			hangs_up(way);
		}
		line_close(&line);
		line_open(&line, way);
		line_train(&line);
		hangs_up(way);
		line_close(&line);
	}
}

/* Whatever read(2) may be given. */
static void other_kinds(void)
{
	struct itimerspec soon = { .it_value = { 0, 2000000 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, 0),
	    semaphore = eventfd(2, EFD_SEMAPHORE);
	int null = open("/dev/null", O_RDONLY), zero = open("/dev/zero", O_RDONLY);
	void *volatile nowhere = NULL;
	uint64_t n = 7;

	expect_number("/dev/null", read(null, &n, 8), 0);
	expect_number("/dev/zero", read(zero, &n, 8), 8);
	expect_number("zeros", (long)n, 0);
	for (int i = 0; i < 2; i++)
		expect_number("eventfd that counts down", read(semaphore, &n, 8) + (long)n,
			      9);
	for (int i = 0; i < 3; i++) {
		NEEDS(timerfd_settime(timer, 0, &soon, NULL) == 0);
		expect_number("timerfd", read(timer, &n, 8) + (long)n, 9);
	}
	expect("a directory", error_of(read(open("/", O_RDONLY), &n, 8)), EISDIR);
	expect("too short for an eventfd", error_of(read(semaphore, &n, 4)), EINVAL);
	expect("no descriptor", error_of(read(-1, &n, 8)), EBADF);
	expect("a closed one", error_of(read(1000, &n, 8)), EBADF);
	expect("no memory", error_of(read(zero, nowhere, 8)), EFAULT);
	expect_number("nothing", read(null, NULL, 0), 0);
	expect("opened for writing", error_of(read(open("/dev/null", O_WRONLY), &n, 8)),
	       EBADF);
}

/* What is there is less than the buffer holds, and all that a read waits for. */
static void larger_buffers(void)
{
	struct itimerspec soon = { .it_value = { 0, 1 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), ends[2];
	int event = eventfd(3, 0), semaphore = eventfd(3, EFD_SEMAPHORE), signals;
	uint64_t bytes[64];
	sigset_t mask;

	expect_number("eventfd", read(event, bytes, sizeof(bytes)) + (long)bytes[0], 11);
	for (int i = 0; i < 3; i++)
		expect_number("eventfd that counts down",
			      read(semaphore, bytes, sizeof(bytes)) + (long)bytes[0], 9);
	NEEDS(timerfd_settime(timer, 0, &soon, NULL) == 0);
	expect_number("timerfd", read(timer, bytes, sizeof(bytes)) + (long)bytes[0], 9);
	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGUSR1);
	NEEDS(pthread_sigmask(SIG_BLOCK, &mask, NULL) == 0);
	signals = signalfd(-1, &mask, 0);
	NEEDS(signals >= 0 && raise(SIGUSR1) == 0);
	expect_number("signalfd", read(signals, bytes, sizeof(bytes)),
		      sizeof(struct signalfd_siginfo));
	NEEDS(pipe(ends) == 0 && write(ends[1], "abc", 3) == 3);
	expect_number("a pipe", read(ends[0], bytes, sizeof(bytes)), 3);
}

#define READERS 4
#define BYTES   4000

static int shared_pipe[2], taken;

static void *read_bytes(void *unused)
{
	char c;

	(void)unused;
	while (read(shared_pipe[0], &c, 1) == 1)
		add(&taken, 1);
	return NULL;
}

static void several_readers(void)
{
	pthread_t t[READERS];

	NEEDS(pipe(shared_pipe) == 0);
	for (int i = 0; i < READERS; i++)
		t[i] = begin_thread(read_bytes, NULL);
	for (int i = 0; i < BYTES; i++) {
		NEEDS(write(shared_pipe[1], "x", 1) == 1);
		if (i % 50 == 0)
			pass_us(i % 7 * 10);
	}
	NEEDS(close(shared_pipe[1]) == 0);
	for (int i = 0; i < READERS; i++)
		(void)end_thread(t[i]);
	expect_number("bytes, each read once", get(&taken), BYTES);
}

int main(void)
{
	say_begin();
	each_way();
	other_kinds();
	larger_buffers();
	several_readers();
	return say_end();
}
