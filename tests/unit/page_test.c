/* SPDX-License-Identifier: MIT */
/*
 * The statistics page as another process sees it: its file, what is in it, forks and deaths. Runs
 * itself anew with IPCWAIT_PAGE=1, which is read before main().
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "os/page_file.h"
#include "os/shared_file.h"
#include "watch/stats.h"

#define PATH_BYTES 128

static void path_of(pid_t pid, char path[PATH_BYTES])
{
	int n = snprintf(path, PATH_BYTES, IPCWAIT_PAGE_FOLDER, geteuid());

	(void)snprintf(path + n, PATH_BYTES - (size_t)n, "/%d", (int)pid);
}

/* -1: there is none. */
static int open_page(pid_t pid)
{
	char path[PATH_BYTES];

	path_of(pid, path);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static struct ipcwait_page_head head_of(int fd)
{
	struct ipcwait_page_head h;

	assert_int_equal(pread(fd, &h, sizeof(h), 0), sizeof(h));
	return h;
}

static uint64_t word_at(int fd, uint64_t at)
{
	uint64_t word;

	assert_int_equal(pread(fd, &word, sizeof(word), (off_t)at), sizeof(word));
	return word;
}

static uint64_t spun_on_sems(int fd)
{
	struct ipcwait_page_head h = head_of(fd);
	uint64_t sum = 0;

	for (unsigned i = 0; i < h.shards; i++)
		sum += word_at(fd, h.counters_at + (uint64_t)i * h.shard_bytes +
					   (uint64_t)IPCWAIT_KIND_SEM * h.kind_bytes);
	return sum;
}

/* False: no row has that name. */
static bool find_row(int fd, const char *name, struct ipcwait_page_row *row)
{
	struct ipcwait_page_head h = head_of(fd);

	for (unsigned i = 0; i < h.rows; i++) {
		off_t at = (off_t)(h.objects_at + (uint64_t)i * h.row_bytes);

		assert_int_equal(pread(fd, row, sizeof(*row), at), sizeof(*row));
		if (row->address && !strcmp(row->name, name))
			return true;
	}
	return false;
}

static void test_head(void **state)
{
	int fd = open_page(getpid());
	struct ipcwait_page_head h;
	struct stat st;

	(void)state;
	assert_true(fd >= 0);
	h = head_of(fd);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, S_IRUSR | S_IWUSR);
	assert_int_equal(h.magic, IPCWAIT_PAGE_MAGIC);
	assert_memory_equal(&h.magic, "ipwpage\n", 8);
	assert_int_equal(h.version, IPCWAIT_PAGE_VERSION);
	assert_int_equal(h.pid, getpid());
	assert_int_equal(h.bytes, st.st_size);
	assert_string_equal(h.program, "page_test");
	assert_string_equal(h.library, ipcwait_version());
	assert_int_equal(h.moves, IW_MOVES);
	assert_true(h.reasons_at + (h.reasons + h.moves) * 8 <= h.shard_bytes);
	assert_true(h.counters_at + (uint64_t)h.shards * h.shard_bytes <= h.objects_at);
	assert_true(h.objects_at + (uint64_t)h.rows * h.row_bytes + 8 <= h.call_sites_at);
	assert_true(h.call_sites_at + (uint64_t)h.rows * h.row_bytes + 8 <= h.bytes);
	assert_true(h.row_bytes >= sizeof(struct ipcwait_page_row));
	assert_false(iw_shared_file_lock_is_free(fd, 0));
	(void)close(fd);
}

static void test_counts(void **state)
{
	int fd = open_page(getpid());
	uint64_t before = spun_on_sems(fd);
	struct ipcwait_page_row row;
	struct ipcwait_sem s;

	(void)state;
	iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 1000);
	assert_int_equal(spun_on_sems(fd), before + 1000);
	assert_int_equal(ipcwait_sem_init(&s, 0, 0), 0);
	assert_int_equal(ipcwait_object_set_name(&s.window, "counted"), 0);
	/* A wait that begins after its deadline is none, and not counted. */
	do {
		assert_int_equal(
			ipcwait_sem_wait_until(&s, ipcwait_deadline_in_ns(50000000)),
			-ETIMEDOUT);
		assert_true(find_row(fd, "counted", &row));
	} while (row.waits < 3);
	assert_int_equal(row.address, (uintptr_t)&s.window);
	assert_int_equal(row.kind, IPCWAIT_KIND_SEM + 1);
	assert_int_equal(row.waits, 3);
	assert_int_equal(row.gave_up, 3);
	assert_true(head_of(fd).block_ns > 0);
	(void)close(fd);
}

/* What the child found is its exit status: 0, or the line. */
#define MUST(condition)                            \
	do {                                       \
		if (!(condition))                  \
			_exit(__LINE__ % 255 + 1); \
	} while (0)

static int status_of(pid_t child)
{
	int status = -1;

	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void in_child(void)
{
	struct ipcwait_page_row row;
	int mine = open_page(getpid()), parents = open_page(getppid());
	uint64_t before;

	MUST(mine >= 0 && parents >= 0);
	MUST(head_of(mine).pid == (uint32_t)getpid());
	MUST(spun_on_sems(mine) == 0);
	MUST(find_row(mine, "kept", &row) && row.waits == 0);
	before = spun_on_sems(parents);
	iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 30);
	MUST(spun_on_sems(mine) == 30);
	MUST(spun_on_sems(parents) == before);
}

/* Children count from 0 in pages of their own, and take these with them at exit(3). */
static void test_children(void **state)
{
	struct ipcwait_window w = { 0 };
	pid_t child;

	(void)state;
	assert_int_equal(ipcwait_object_set_name(&w, "kept"), 0);
	iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 5);
	child = fork();
	if (!child) {
		int status = -1;

		in_child();
		if (fork() == 0) {
			in_child();
			exit(0);
		}
		MUST(wait(&status) > 0 && status == 0);
		exit(0);
	}
	assert_int_equal(status_of(child), 0);
	assert_int_equal(open_page(child), -1);
	assert_true(open_page(getpid()) >= 0);
}

/* The child's page, once the child has counted @n waits in it. */
static int page_with(pid_t child, uint64_t n)
{
	int fd;

	do
		fd = open_page(child);
	while (fd < 0);
	while (spun_on_sems(fd) != n)
		(void)usleep(100);
	return fd;
}

static pid_t fork_to_be_killed(void)
{
	pid_t child = fork();

	if (!child) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 30);
		for (;;)
			(void)pause();
	}
	return child;
}

/* One that has died otherwise leaves its page behind, and nobody holds the lock. */
static void test_killed(void **state)
{
	pid_t child = fork_to_be_killed();
	int fd = page_with(child, 30);

	(void)state;
	assert_false(iw_shared_file_lock_is_free(fd, 0));
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(status_of(child), -SIGKILL);
	assert_int_equal(spun_on_sems(fd), 30);
	assert_true(iw_shared_file_lock_is_free(fd, 0));
	(void)close(fd);
}

/* A process that makes a page removes what the dead have left; nothing of the living. */
static void test_swept(void **state)
{
	pid_t dead = fork_to_be_killed(), living = fork_to_be_killed(), next;

	(void)state;
	(void)close(page_with(dead, 30));
	(void)close(page_with(living, 30));
	assert_int_equal(kill(dead, SIGKILL), 0);
	assert_int_equal(status_of(dead), -SIGKILL);
	next = fork_to_be_killed();
	(void)close(page_with(next, 30));
	assert_int_equal(open_page(dead), -1);
	assert_true(open_page(living) >= 0);
	assert_true(open_page(getpid()) >= 0);
	assert_int_equal(kill(living, SIGKILL), 0);
	assert_int_equal(status_of(living), -SIGKILL);
	assert_int_equal(kill(next, SIGKILL), 0);
	assert_int_equal(status_of(next), -SIGKILL);
}

/* A child without a way to a page of its own goes on with a copy of what its parent had. */
static void test_child_without_a_page(void **state)
{
	char path[PATH_BYTES];
	uint64_t before;
	pid_t child;
	int fd = open_page(getpid());

	(void)state;
	if (geteuid() != 0)
		skip();
	before = spun_on_sems(fd);
	child = fork();
	if (!child) {
		struct ipcwait_stats st;
		uint64_t had;

		MUST(setresuid(65534, 65534, 65534) == 0);
		(void)ipcwait_stats_get(&st, sizeof(st));
		had = st.kind[IPCWAIT_KIND_SEM].spun;
		if (fork() == 0) {
			/* The user's folder may be made, but this one is root's. */
			iw_count(IPCWAIT_KIND_SEM, IW_SPUN, 7);
			(void)ipcwait_stats_get(&st, sizeof(st));
			MUST(st.kind[IPCWAIT_KIND_SEM].spun == had + 7 ||
			     st.kind[IPCWAIT_KIND_SEM].spun == 7);
			exit(0);
		}
		(void)wait(NULL);
		exit(0);
	}
	assert_int_equal(status_of(child), 0);
	assert_int_equal(spun_on_sems(fd), before);
	(void)close(fd);
	/* Which it could not remove any more. */
	path_of(child, path);
	(void)unlink(path);
	(void)rmdir("/dev/shm/ipcwait-65534");
}

/* As a page, before it has a name. */
static void *map_file(const struct iw_page_file *f)
{
	void *memory = iw_shared_file_map(f->fd, 4096, true);

	assert_non_null(memory);
	return memory;
}

static void test_files(void **state)
{
	char folder[] = "/dev/shm/ipcwait.test.XXXXXX", other[PATH_BYTES];
	struct iw_page_file file[10], f;
	void *memory[9];
	int r;

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(other, sizeof(other), "%s/%d.3", folder, (int)getpid());
	errno = 4711;
	/* A file that nobody has locked is in the way, and does not stay. */
	assert_true(close(open(other, O_CREAT | O_WRONLY, 0600)) == 0);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(iw_page_file_make(&file[i], folder, 4096), 0);
		memory[i] = map_file(&file[i]);
		assert_int_equal(iw_page_file_publish(&file[i]), 0);
	}
	assert_int_equal(iw_page_file_make(&f, folder, 4096), 0);
	memory[8] = map_file(&f);
	assert_int_equal(iw_page_file_publish(&f), -EEXIST);
	iw_page_file_close(&f);
	/* Without a mapping nothing would show that its process lives. */
	assert_int_equal(iw_page_file_make(&f, folder, 4096), 0);
	assert_int_equal(iw_page_file_publish(&f), -EOPNOTSUPP);
	iw_page_file_close(&f);
	for (unsigned i = 0; i < 9; i++)
		iw_shared_file_unmap(memory[i], 4096);
	for (unsigned i = 0; i < 8; i++) {
		iw_page_file_remove(&file[i]);
		iw_page_file_close(&file[i]);
	}
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(iw_page_file_make(&f, folder, 4096), -EPERM);
	assert_int_equal(chmod(folder, 0700), 0);
	(void)snprintf(other, sizeof(other), "%s/link", folder);
	assert_int_equal(symlink(folder, other), 0);
	r = iw_page_file_make(&f, other, 4096);
	assert_true(r == -ELOOP || r == -ENOTDIR);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(iw_page_file_make(&f, "/no/such/folder", 4096), -ENOENT);
	assert_int_equal(errno, 4711);
	assert_int_equal(rmdir(folder), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_swept),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_child_without_a_page),
	};

	(void)argc;
	check_environment(argv, "IPCWAIT_PAGE", "1");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
