/* SPDX-License-Identifier: MIT */
#include "sample_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * 25 minutes of one thread at 100 Hz, one of two threads at 1 kHz, with stacks of ten
 * frames. All of it is allocated at the start: a disk that fills up later would be a SIGBUS.
 */
#define FILE_BYTES (16 * 1024 * 1024)
#define PATH_MOST  4096
#define MAPS       ".maps"
#define EXECS_MOST 1000

/* raw.py reads the layout. All in the machine's byte order. */
struct header {
	char magic[8];
	uint64_t bytes;
	uint64_t used;
	uint64_t dropped;
	uint64_t rate_hz;
	uint64_t clock;
};

/* Followed by the frames. A weight of 0: the writer died before it was done. */
struct record {
	uint32_t frames;
	uint32_t weight;
	uint32_t process;
	uint32_t thread;
	char name[16];
};

_Static_assert(sizeof(struct header) == 48 && sizeof(struct record) == 32, "as in raw.py");

static struct header *header;
static char maps_path[PATH_MOST + sizeof(MAPS)];

static bool fail(const char *path, int error)
{
	fprintf(stderr, "stacks: cannot write %s: %s\n", path, strerror(error));
	return false;
}

/* Return: a new file, its name in @path; or -1. */
static int create(const char *prefix, char *path)
{
	int fd = -1;

	for (int i = 0; fd < 0 && i < EXECS_MOST; i++) {
		int n = snprintf(path, PATH_MOST, "%s.%d.%d", prefix, (int)getpid(), i);

		/* Cut off, it would be another file's name. */
		if (n < 0 || n + sizeof(MAPS) > PATH_MOST) {
			errno = ENAMETOOLONG;
			return -1;
		}
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

bool sample_file_open(const char *prefix, uint64_t rate_hz, enum sample_clock clock)
{
	char path[PATH_MOST];
	int fd = create(prefix, path);
	int error;
	void *map;

	if (fd < 0)
		return fail(path, errno);
	error = posix_fallocate(fd, 0, FILE_BYTES);
	map = error ? MAP_FAILED
		    : mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!error && map == MAP_FAILED)
		error = errno;
	close(fd);
	if (error)
		return fail(path, error);
	header = map;
	*header = (struct header){
		"IWSTACK", FILE_BYTES, sizeof(*header), 0, rate_hz, clock
	};
	snprintf(maps_path, sizeof(maps_path), "%s" MAPS, path);
	return true;
}

/* Room for @bytes, which no other thread or process gets. Return: NULL: the file is full. */
static struct record *reserve(uint64_t bytes)
{
	uint64_t used = __atomic_load_n(&header->used, __ATOMIC_RELAXED);

	do {
		if (used + bytes > header->bytes) {
			__atomic_fetch_add(&header->dropped, 1, __ATOMIC_RELAXED);
			return NULL;
		}
	} while (!__atomic_compare_exchange_n(&header->used, &used, used + bytes, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return (void *)((char *)header + used);
}

void sample_file_add(uint32_t weight, const uint64_t *pcs, uint32_t frames)
{
	struct record *r = reserve(sizeof(*r) + frames * sizeof(*pcs));

	if (!r)
		return;
	r->frames = frames;
	r->process = (uint32_t)getpid();
	r->thread = (uint32_t)gettid();
	prctl(PR_GET_NAME, r->name);
	memcpy(r + 1, pcs, frames * sizeof(*pcs));
	__atomic_store_n(&r->weight, weight, __ATOMIC_RELEASE);
}

void sample_file_save_maps(void)
{
	char block[4096];
	ssize_t n;
	int in, out;

	in = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	out = open(maps_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	while (in >= 0 && out >= 0 && (n = read(in, block, sizeof(block))) > 0) {
		if (write(out, block, (size_t)n) != n)
			break;
	}
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
}
