/* SPDX-License-Identifier: MIT */
/* Making a tally, and reading it when the processes are gone that have counted in it. */
#include "run.h"
#include "../tools/common/tally_form.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Some kernels want to be told that nobody will execute it, older ones do not know of that. */
static int make(void)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("ipcwait-tally", flags | MFD_NOEXEC_SEAL), high;

	if (fd < 0)
		fd = memfd_create("ipcwait-tally", flags);
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	/* One of the standard streams was closed, and is to stay so. */
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return high;
}

/* Memory comes as it is touched; a limit for the size of files would end this process. */
int run_tally_make(void)
{
	struct rlimit most;
	int fd, r;

	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < TALLY_BYTES)
		return -EFBIG;
	fd = make();
	if (fd < 0)
		return -errno;
	r = fill(fd);
	if (!r)
		return fd;
	close(fd);
	return r;
}

static struct counters_shape shape_of(const struct tally_head *h)
{
	const struct tally_shape *s = &h->shape;

	return (struct counters_shape){ s->shards,     s->shard_bytes, s->kinds,
					s->kind_bytes, s->events,      s->reasons,
					s->reasons_at };
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

int run_tally_read(int fd, struct run_counts *c)
{
	uint64_t *slot = malloc(TALLY_SLOT_BYTES);
	struct tally_head head = { 0 };
	struct counters_shape shape;
	uint64_t slots;

	*c = (struct run_counts){ 0 };
	if (!slot || pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    (head.taken && !is_sound(&head))) {
		free(slot);
		return -EINVAL;
	}
	shape = shape_of(&head);
	slots = head.taken < TALLY_SLOTS ? head.taken : TALLY_SLOTS;
	c->programs = head.programs;
	c->forks = head.forks;
	c->sharing = head.unopened + (head.taken - slots);
	for (uint64_t i = 0; i < slots; i++)
		add_slot(c, &shape, fd, i, slot);
	counters_settle(&c->counters);
	free(slot);
	return 0;
}
