/* SPDX-License-Identifier: MIT */
/* Making a tally, and reading it when the processes are gone that have counted in it. */
#include "run.h"
#include "../tools/common/tally_form.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Anybody can send them. */
#define MESSAGES_MOST 10000

/* Sealed, so that no program can take the memory away on which others count. */
static int fill(int fd)
{
	const struct tally_head head = { .magic = TALLY_MAGIC, .version = TALLY_VERSION };
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	char where[64];
	struct stat st;

	if (fstat(fd, &st) != 0 || ftruncate(fd, TALLY_BYTES) != 0 ||
	    pwrite(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    fcntl(fd, F_ADD_SEALS, seals) != 0)
		return -errno;
	snprintf(where, sizeof(where), TALLY_FORMAT, (unsigned long long)st.st_ino,
		 getpid(), fd);
	return setenv(TALLY_VARIABLE, where, 1) != 0 ? -errno : 0;
}

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x8U
#endif

/* If one of the standard streams was closed, it is to stay so. A descriptor, or -1. */
static int above_streams(int fd)
{
	int high;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return high;
}

/* Some kernels want to be told that nobody will execute it, older ones do not know of that. */
static int make(void)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("ipcwait-tally", flags | MFD_NOEXEC_SEAL);

	if (fd < 0)
		fd = memfd_create("ipcwait-tally", flags);
	return above_streams(fd);
}

/*
 * Where programs tell that they are not counted. Without it, where no socket can be made, nobody
 * tells. A descriptor, or -1.
 */
static int listen_for(int tally)
{
	int fd = above_streams(
		socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct stat st;
	int length;

	if (fd < 0 || fstat(tally, &st) != 0)
		return fd;
	length = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, TALLY_SOCKET,
			  (unsigned long long)st.st_ino);
	(void)bind(
		fd, (struct sockaddr *)&at,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length));
	return fd;
}

/* The kernel keeps ten messages or so; others are lost. */
static uint64_t heard(int fd)
{
	uint64_t n = 0;
	char byte;

	while (fd >= 0 && n < MESSAGES_MOST && recv(fd, &byte, 1, MSG_DONTWAIT) >= 0)
		n++;
	return n;
}

/* Memory comes as it is touched; a limit for the size of files would end this process. */
int run_tally_make(struct run_tally *t)
{
	struct rlimit most;
	int r;

	*t = (struct run_tally){ .fd = -1, .socket = -1 };
	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < TALLY_BYTES)
		return -EFBIG;
	t->fd = make();
	if (t->fd < 0)
		return -errno;
	r = fill(t->fd);
	if (!r) {
		t->socket = listen_for(t->fd);
		return 0;
	}
	close(t->fd);
	return r;
}

static struct counters_shape shape_of(const struct tally_head *h)
{
	const struct tally_shape *s = &h->shape;

	return (struct counters_shape){ s->shards,     s->shard_bytes, s->kinds,
					s->kind_bytes, s->events,      s->reasons,
					s->reasons_at, s->moves };
}

static bool is_sound(const struct tally_head *h)
{
	const struct counters_shape shape = shape_of(h);

	return h->magic == TALLY_MAGIC && h->version == TALLY_VERSION &&
	       counters_fit(&shape, TALLY_SLOT_BYTES);
}

/* To read what was never written would cost as much as if it had been. */
static bool is_empty(int fd, off_t begin)
{
	off_t data = lseek(fd, begin, SEEK_DATA);

	return data < 0 ? errno == ENXIO : data >= begin + (off_t)TALLY_SLOT_BYTES;
}

static void add_slot(struct run_counts *c, const struct counters_shape *s, int fd,
		     uint64_t number, uint64_t *slot)
{
	off_t begin = (off_t)(TALLY_HEAD_BYTES + number * TALLY_SLOT_BYTES);

	if (is_empty(fd, begin) ||
	    pread(fd, slot, TALLY_SLOT_BYTES, begin) != (ssize_t)TALLY_SLOT_BYTES)
		return;
	counters_add(&c->counters, s, slot);
}

int run_tally_read(const struct run_tally *t, struct run_counts *c)
{
	uint64_t *slot = malloc(TALLY_SLOT_BYTES);
	struct tally_head head = { 0 };
	struct counters_shape shape;
	uint64_t slots;

	*c = (struct run_counts){ .uncounted = heard(t->socket) };
	if (!slot || pread(t->fd, &head, sizeof(head), 0) != sizeof(head) ||
	    (head.taken && !is_sound(&head))) {
		free(slot);
		return -EINVAL;
	}
	shape = shape_of(&head);
	slots = head.taken < TALLY_SLOTS ? head.taken : TALLY_SLOTS;
	c->programs = head.programs;
	c->forks = head.forks;
	c->left_out = head.left_out;
	c->sharing = head.unopened + (head.taken - slots);
	for (uint64_t i = 0; i < slots; i++)
		add_slot(c, &shape, t->fd, i, slot);
	counters_settle(&c->counters);
	free(slot);
	return 0;
}
