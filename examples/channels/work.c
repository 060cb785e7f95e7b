/* SPDX-License-Identifier: MIT */
#include "work.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/number.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* As the originals have it with one dash; two are as good. */
static bool is_option(const char *text, const struct option *o, const char **value)
{
	size_t n = strlen(o->name);

	text += *text == '-';
	text += *text == '-';
	*value = text + n + 1;
	return !strncmp(text, o->name, n) && text[n] == '=';
}

static int read_option(const char *text, const struct option *o)
{
	const char *value;

	if (*text != '-')
		return complain("no option: '%s'", shown(text, 40));
	for (; o->name; o++)
		if (is_option(text, o, &value)) {
			if (!number_parse(value, o->least, o->most, o->value))
				return 0;
			return complain("-%s: want %" PRIu64 " to %" PRIu64 ", not '%s'",
					o->name, o->least, o->most, shown(value, 40));
		}
	return complain("no such option: '%s'", shown(text, 40));
}

static _Noreturn void print_help(const struct option *o)
{
	printf("usage: %s [-NAME=NUMBER]...\n", program_name);
	for (; o->name; o++)
		printf("  -%-10s %" PRIu64 " to %" PRIu64 " (%" PRIu64 ")\n", o->name,
		       o->least, o->most, *o->value);
	exit(EXIT_DONE);
}

void read_options(int argc, char **argv, const struct option *options)
{
	if (argc == 2 && !strcmp(argv[1], "--help"))
		print_help(options);
	for (int i = 1; i < argc; i++)
		if (read_option(argv[i], options))
			exit(EXIT_BAD_INPUT);
}

int open_null(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		give_up("cannot open the null device");
	return fd;
}

int64_t write_record(int fd)
{
	static const char record[RECORD + 1] = "a record of thirty characters.";

	return write(fd, record, RECORD);
}

/* Volatile, or the compiler would multiply. */
int64_t spin(int64_t a)
{
	volatile int64_t step = a;
	int64_t sum = 0;

	for (int64_t i = 0; i < a * 10; i++)
		sum += step;
	return sum;
}

int64_t times(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

struct ipcwait_channel *new_channel(size_t elem_size, uint64_t capacity)
{
	const struct ipcwait_channel_params params = { .elem_size = elem_size,
						       .capacity = capacity };
	struct ipcwait_channel *ch = ipcwait_channel_create(&params);

	if (!ch)
		give_up("cannot make a channel");
	return ch;
}

pthread_t start(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, arg))
		give_up("cannot make a thread");
	return thread;
}

void send_number(struct ipcwait_channel *ch, int64_t number)
{
	if (ipcwait_channel_send(ch, &number))
		give_up("cannot send");
}

int64_t receive_number(struct ipcwait_channel *ch)
{
	int64_t number;

	if (ipcwait_channel_recv(ch, &number))
		give_up("cannot receive");
	return number;
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct stopwatch stopwatch_start(void)
{
	return (struct stopwatch){ seconds(CLOCK_MONOTONIC),
				   seconds(CLOCK_PROCESS_CPUTIME_ID) };
}

struct stopwatch stopwatch_read(const struct stopwatch *s)
{
	struct stopwatch now = stopwatch_start();

	return (struct stopwatch){ now.wall - s->wall, now.cpu - s->cpu };
}

void say(const struct stopwatch *began, uint64_t units, const char *unit)
{
	struct stopwatch took = stopwatch_read(began);

	printf("%" PRIu64 " %ss in %.3f s, for %.3f CPU-s: %.1f ns a %s\n", units, unit,
	       took.wall, took.cpu, took.wall * 1e9 / (double)units, unit);
}
