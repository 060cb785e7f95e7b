/* SPDX-License-Identifier: MIT */
/* What the programs over channels share: options, the workers' work, what is said at the end. */
#ifndef CHANNELS_WORK_H
#define CHANNELS_WORK_H

#include <ipcwait/channel.h>
#include <pthread.h>
#include <stdint.h>

/* An option "-name=N"; the list of them ends with a NULL. */
struct option {
	const char *name;
	uint64_t least, most;
	uint64_t *value;
};

/* Ends the program with a line on stderr if there is anything else. */
void read_options(int argc, char **argv, const struct option *options);

/* Bytes of a record. */
#define RECORD 30

/* The null device; ends the program if it is not there. */
int open_null(void);

/* A record to @fd. Returns the bytes written. */
int64_t write_record(int fd);

/* @a is added to itself for ten times @a. */
int64_t spin(int64_t a);

/* As Go computes: what does not fit wraps. */
int64_t times(int64_t a, int64_t b);
int64_t plus(int64_t a, int64_t b);

/* These end the program if there is no memory, no thread, or the channel is closed. */
struct ipcwait_channel *new_channel(size_t elem_size, uint64_t capacity);
pthread_t start(void *(*body)(void *), void *arg);
void send_number(struct ipcwait_channel *ch, int64_t number);
int64_t receive_number(struct ipcwait_channel *ch);

struct stopwatch {
	double wall, cpu; /* seconds */
};

struct stopwatch stopwatch_start(void);

/* Since it was started. */
struct stopwatch stopwatch_read(const struct stopwatch *s);

/* A line with what @units, each a @unit, took. */
void say(const struct stopwatch *began, uint64_t units, const char *unit);

#endif
