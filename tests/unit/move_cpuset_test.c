/* SPDX-License-Identifier: MIT */
/*
 * lib/os/move.c in a cpuset that shrinks and grows: a thread that has moved follows it, as one that
 * has not. Skipped without the right to make a cpuset.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "os/move.h"

/* Version 1 with its controller, and version 2. */
static const char *const roots[] = { "/sys/fs/cgroup/cpuset", "/sys/fs/cgroup" };

static char folder[PATH_MAX];
static pid_t mover;

/* False: it cannot be written, or not so. */
static bool put(const char *name, const char *text)
{
	char path[PATH_MAX + 32];
	int fd;
	bool done;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	return !close(fd) && done;
}

static bool put_cpus(const cpu_set_t *set)
{
	char text[16 * CPU_SETSIZE] = "";

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, set))
			(void)sprintf(text + strlen(text), "%s%d", *text ? "," : "", cpu);
	return put("cpuset.cpus", text);
}

/* Version 1 wants its memory named too. */
static void put_mems(const char *root)
{
	char path[PATH_MAX], text[256] = "";
	int fd;

	(void)snprintf(path, sizeof(path), "%s/cpuset.mems", root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0)
		(void)put("cpuset.mems", text);
	(void)close(fd);
}

static bool make_cpuset(const char *root, const cpu_set_t *all)
{
	(void)snprintf(folder, sizeof(folder), "%s/ipcwait-move-test-%d", root,
		       (int)getpid());
	if (mkdir(folder, 0755))
		return false;
	put_mems(root);
	if (put_cpus(all))
		return true;
	(void)rmdir(folder);
	return false;
}

static bool make_some_cpuset(const cpu_set_t *all)
{
	for (unsigned i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (make_cpuset(roots[i], all))
			return true;
	return false;
}

static bool has_mask(pid_t id, const cpu_set_t *want)
{
	cpu_set_t now;

	return !sched_getaffinity(id, sizeof(now), &now) && CPU_EQUAL(&now, want);
}

/* One CPU of @all, the @nth of the first two. */
static cpu_set_t one_of(const cpu_set_t *all, int nth)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0, n = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, all) && n++ == nth)
			CPU_SET(cpu, &set);
	return set;
}

/* A process that moves once for each byte it reads, and writes one when it has. */
static void start(int orders[2], int done[2])
{
	char c;

	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(done), 0);
	mover = fork();
	if (mover)
		return;
	while (read(orders[0], &c, 1) == 1) {
		(void)iw_move_away();
		(void)write(done[1], &c, 1);
	}
	_exit(0);
}

static void move(const int orders[2], const int done[2])
{
	char c = 0;

	assert_int_equal(write(orders[1], &c, 1), 1);
	assert_int_equal(read(done[0], &c, 1), 1);
}

static void follows_its_cpuset(void **state)
{
	int orders[2], done[2];
	cpu_set_t all, one;
	char number[16];

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	if (CPU_COUNT(&all) < 2 || !make_some_cpuset(&all))
		skip();
	start(orders, done);
	(void)snprintf(number, sizeof(number), "%d", (int)mover);
	assert_true(put("cgroup.procs", number));
	for (int i = 0; i < 20; i++) {
		one = one_of(&all, i % 2);
		move(orders, done);
		assert_true(has_mask(mover, &all));
		assert_true(put_cpus(&one));
		assert_true(has_mask(mover, &one));
		/* Where there is nowhere to go. */
		move(orders, done);
		assert_true(has_mask(mover, &one));
		assert_true(put_cpus(&all));
		assert_true(has_mask(mover, &all));
	}
}

/* Also after a test that has failed. */
static int end(void **state)
{
	(void)state;
	if (!mover)
		return 0;
	return kill(mover, SIGKILL) || waitpid(mover, NULL, 0) != mover || rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(follows_its_cpuset) };

	return cmocka_run_group_tests(tests, NULL, end);
}
