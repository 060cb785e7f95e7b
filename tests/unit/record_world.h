/* SPDX-License-Identifier: MIT */
/* What the tests of IPCWAIT_RECORD share: a folder with a record in it, and what is in that. */
#ifndef TESTS_UNIT_RECORD_WORLD_H
#define TESTS_UNIT_RECORD_WORLD_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "watch/observe.h"
#include "watch/record.h"

#define RECORD_BYTES 72
#define FIRST_AT     4096
#define CHUNK_BYTES  (IW_RECORD_CHUNK * RECORD_BYTES)

static char folder[] = "/tmp/ipcwait-record-XXXXXX";
static char path[64], complaints[64];

/* The file, as it was read last. */
static struct ipcwait_record_head *head;
static size_t size;

static struct ipcwait_window window;

/* In a folder of its own, with stderr in a file beside it. */
static inline void prepare(void)
{
	int fd;

	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/waits", folder);
	snprintf(complaints, sizeof(complaints), "%s/stderr", folder);
	fd = open(complaints, O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	fflush(stderr);
	CHECK_EQ(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	close(fd);
}

static inline void tidy_up(void)
{
	free(head);
	head = NULL;
	(void)unlink(path);
	CHECK_EQ(unlink(complaints), 0);
	CHECK_EQ(rmdir(folder), 0);
}

/* With a zero behind it, to be freed. */
static inline char *read_whole(const char *name, size_t *bytes)
{
	struct stat st;
	int fd = open(name, O_RDONLY);
	char *text;

	CHECK(fd >= 0);
	CHECK_EQ(fstat(fd, &st), 0);
	*bytes = (size_t)st.st_size;
	text = malloc(*bytes + 1);
	CHECK(text);
	CHECK_EQ(read(fd, text, *bytes), *bytes);
	text[*bytes] = '\0';
	close(fd);
	return text;
}

static inline void read_file(void)
{
	free(head);
	head = (void *)read_whole(path, &size);
	CHECK_EQ(head->magic, IPCWAIT_RECORD_MAGIC);
	CHECK_EQ(head->version, IPCWAIT_RECORD_VERSION);
	CHECK_EQ(head->record_bytes, RECORD_BYTES);
	CHECK_EQ(head->first_at, FIRST_AT);
	CHECK_EQ(size, FIRST_AT + head->room * RECORD_BYTES);
	CHECK(head->used <= head->room && head->room <= head->most);
}

static inline const void *record_at(uint64_t i)
{
	return (const char *)head + FIRST_AT + i * RECORD_BYTES;
}

/* The @n-th of that type, from 0; NULL if there are not so many. */
static inline const void *find(uint32_t type, uint64_t n)
{
	for (uint64_t i = 0; i < head->used; i++)
		if (*(const uint32_t *)record_at(i) == type && n-- == 0)
			return record_at(i);
	return NULL;
}

static inline const struct ipcwait_record_wait *wait_at(uint64_t n)
{
	return find(IPCWAIT_RECORD_WAIT, n);
}

static inline uint64_t waits(void)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < head->used; i++)
		n += *(const uint32_t *)record_at(i) == IPCWAIT_RECORD_WAIT;
	return n;
}

static inline unsigned lines_of_stderr(void)
{
	unsigned lines = 0;
	size_t bytes;
	char *text = read_whole(complaints, &bytes);

	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	free(text);
	return lines;
}

/* A wait of that length. */
static inline void record(uint64_t ns)
{
	iw_record_wait(path, &(struct iw_outcome){ .window = &window,
						   .site = 0x4711,
						   .kind = IPCWAIT_KIND_MUTEX,
						   .wait_ns = ns,
						   .reason = IW_WINDOW_OVER,
						   .slept_ns = 2 * ns,
						   .spun_wasted_ns = 5,
						   .window_ns = 7 });
}

#endif
