/* SPDX-License-Identifier: MIT */
#include "symbol.h"
#include "elf_place.h"
#include "../tools/common/foreign_file.h"
#include "../tools/common/foreign_name.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Of /proc/<pid>/maps; 100,000 mappings. */
#define MAPS_BYTES_MOST (8 << 20)

/* Smaller files are no ELF, or files of the kernel's, to read which may be to do something. */
#define FILE_BYTES_LEAST 64

/* Many rows are of one call site. */
#define MEMORIES     256
#define MEMORY_BYTES 160

/* Part of a file as a process has mapped it. */
struct mapping {
	uint64_t begin, end, offset;
	char path[PATH_MAX];
};

/* What was found. */
struct memory {
	uint64_t of, at; /* a process or a path, 0 if it is free; and the place in it */
	char text[MEMORY_BYTES];
};

static struct memory memory[MEMORIES];
static int64_t left_ns; /* CPU time */

static int64_t cpu_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void symbols_begin(unsigned most_ms)
{
	memset(memory, 0, sizeof(memory));
	left_ns = (int64_t)most_ms * 1000000;
}

/* A line that is longer than @line ends the search: no sound process has one. */
static bool find_in_maps(FILE *f, uint64_t address, struct mapping *m)
{
	char line[PATH_MAX + 128];
	size_t left = MAPS_BYTES_MOST;

	while (fgets(line, sizeof(line), f)) {
		size_t length = strlen(line);

		m->path[0] = '\0';
		/* NOLINTNEXTLINE(cert-err34-c): the kernel has written it */
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %[^\n]",
			   &m->begin, &m->end, &m->offset, m->path) >= 3 &&
		    m->begin <= address && address < m->end)
			return m->path[0] == '/';
		if (length >= left || line[length - 1] != '\n')
			return false;
		left -= length;
	}
	return false;
}

static bool find_mapping(pid_t pid, uint64_t address, struct mapping *m)
{
	char path[32];
	bool found;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%ld/maps", (long)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	found = find_in_maps(f, address, m);
	(void)fclose(f);
	return found;
}

static int open_file(const char *path)
{
	struct stat st;
	int fd = foreign_file_open(AT_FDCWD, path, 0, &st);

	if (fd >= 0 && st.st_size < FILE_BYTES_LEAST) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

/* The file as the process sees it, be it in another root, or removed since. */
static int open_mapped(pid_t pid, const struct mapping *m)
{
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%ld/map_files/%" PRIx64 "-%" PRIx64,
		       (long)pid, m->begin, m->end);
	fd = open_file(path);
	return fd < 0 ? open_file(m->path) : fd;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* @fd is closed; it may be none. */
static void describe(int fd, const char *path, uint64_t offset, char *text, size_t size)
{
	struct elf_place place = { .address = offset };

	if (fd >= 0) {
		(void)elf_place_find(fd, offset, &place);
		(void)close(fd);
	}
	if (place.function[0])
		(void)snprintf(text, size, "%s:%s+0x%" PRIx64, last_part(path),
			       place.function, place.into);
	else
		(void)snprintf(text, size, "%s+0x%" PRIx64, last_part(path), place.address);
}

static void find_in_process(pid_t pid, uint64_t address, char *text, size_t size)
{
	struct mapping m;

	if (find_mapping(pid, address, &m))
		describe(open_mapped(pid, &m), m.path, address - m.begin + m.offset, text,
			 size);
	else
		(void)snprintf(text, size, "0x%" PRIx64, address);
}

static struct memory *memory_of(uint64_t of, uint64_t at)
{
	uint64_t mixed = (of ^ at) * UINT64_C(0x9e3779b97f4a7c15);

	return &memory[mixed >> 32 & (MEMORIES - 1)];
}

/* A place in a process or, if @pid is 0, in a file; NULL: there is no time left. */
static const char *find(pid_t pid, const char *path, uint64_t at)
{
	uint64_t of = pid ? (uint64_t)pid : (uint64_t)(uintptr_t)path;
	struct memory *m = memory_of(of, at);
	int64_t begin_ns;

	if (m->of == of && m->at == at)
		return m->text;
	if (left_ns <= 0)
		return NULL;
	begin_ns = cpu_ns();
	m->of = of;
	m->at = at;
	if (pid)
		find_in_process(pid, at, m->text, sizeof(m->text));
	else
		describe(open_file(path), path, at, m->text, sizeof(m->text));
	foreign_name_clean(m->text);
	left_ns -= cpu_ns() - begin_ns;
	return m->text;
}

void symbol_of(pid_t pid, uint64_t address, char *text, size_t size)
{
	const char *found = pid > 0 ? find(pid, NULL, address) : NULL;

	if (found)
		(void)snprintf(text, size, "%s", found);
	else
		(void)snprintf(text, size, "0x%" PRIx64, address);
	/* The end of what did not fit. */
	foreign_name_clean(text);
}

void symbol_in(const char *path, uint64_t offset, char *text, size_t size)
{
	const char *found = find(0, path, offset);

	if (found)
		(void)snprintf(text, size, "%s", found);
	else
		describe(-1, path, offset, text, size);
	foreign_name_clean(text);
}
