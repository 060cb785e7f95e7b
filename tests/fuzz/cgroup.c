/* SPDX-License-Identifier: MIT */
/*
 * What the kernel and a container tell about control groups. Up to two '%' part the input:
 * the process's groups, its mounts, and the content of each file of two groups.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fuzz.h"
#include "env/cgroup.h"
#include "os/cpu_mask.h"

static const char *const folders[] = { "/proc", "/proc/self", "/cg", "/cg/cpu" };

/* Links to files in memory: on disk it takes a millisecond to write these. */
enum { GROUPS, MOUNTS, LIMITS, MEMORIES };

static int memory[MEMORIES];

static const struct {
	const char *path;
	int memory;
} files[] = {
	{ "/proc/self/cgroup", GROUPS },
	{ "/proc/self/mountinfo", MOUNTS },
	{ "/cg/cpu.max", LIMITS },
	{ "/cg/cpu/cpu.cfs_quota_us", LIMITS },
	{ "/cg/cpu/cpu.cfs_period_us", LIMITS },
};

static void make_link(const char *root, unsigned i)
{
	char path[300], to[32];

	snprintf(path, sizeof(path), "%s%s", root, files[i].path);
	snprintf(to, sizeof(to), "/proc/self/fd/%d", memory[files[i].memory]);
	FUZZ_CHECK(symlink(to, path) == 0);
}

/* In the directory for temporary files, which run.py takes away. */
static const char *make_root(void)
{
	static char root[256];
	const char *folder = getenv("TMPDIR");
	char path[300];

	if (*root)
		return root;
	snprintf(root, sizeof(root), "%s/root-XXXXXX", folder ? folder : "/tmp");
	FUZZ_CHECK(mkdtemp(root));
	for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, folders[i]);
		FUZZ_CHECK(mkdir(path, 0700) == 0);
	}
	for (unsigned i = 0; i < MEMORIES; i++)
		memory[i] = memfd_create("fuzz", 0);
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		make_link(root, i);
	return root;
}

static void write_file(int i, const uint8_t *data, size_t size)
{
	FUZZ_CHECK(ftruncate(memory[i], 0) == 0);
	FUZZ_CHECK(pwrite(memory[i], data, size, 0) == (ssize_t)size);
}

/* The size of the part that begins here; then goes on behind its end. */
static size_t take_part(const uint8_t **data, size_t *left, const uint8_t **part)
{
	const uint8_t *end = memchr(*data, '%', *left);
	size_t size = end ? (size_t)(end - *data) : *left;

	*part = *data;
	*data += end ? size + 1 : size;
	*left -= end ? size + 1 : size;
	return size;
}

static void check(const char *root)
{
	struct iw_cgroup_names names;
	struct iw_cgroup_places places;

	(void)iw_cgroup_read_names(root, &names);
	iw_cgroup_find(root, &names, &places);
	for (int v = 0; v < IW_CGROUP_VERSIONS; v++) {
		size_t length = strnlen(places.place[v].path, IW_CGROUP_PATH_BYTES);

		FUZZ_CHECK(length < IW_CGROUP_PATH_BYTES);
		FUZZ_CHECK(length == 0 || places.place[v].top <= length);
	}
	FUZZ_CHECK(iw_cgroup_hundredths(&places) < 100 * IW_CPU_MOST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *root = make_root();
	const uint8_t *part;
	size_t length;

	length = take_part(&data, &size, &part);
	write_file(GROUPS, part, length);
	length = take_part(&data, &size, &part);
	write_file(MOUNTS, part, length);
	write_file(LIMITS, data, size);
	check(root);
	return 0;
}
