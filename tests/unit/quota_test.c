/* SPDX-License-Identifier: MIT */
/* lib/env/quota.h: what changes in time, over made-up files and with a real quota. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ipcwait/base.h>

#include "common/cmocka_all.h"
#include "common/fixture.h"
#include "env/quota.h"

#define MS UINT64_C(1000000)

/* Ticks are nanoseconds. */
static const struct iw_tick_rate rate = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 };

static struct fixture f;
static struct iw_quota_watch watch;

static int begin(void **state)
{
	(void)state;
	fixture_begin(&f);
	memset(&watch, 0, sizeof(watch));
	fixture_put(&f, "/proc/self/cgroup", "0::/a\n");
	fixture_put(&f, "/proc/self/mountinfo", "30 23 0:26 / /cg rw - cgroup2 none rw\n");
	fixture_put(&f, "/cg/a/cpu.max", "50000 100000\n");
	fixture_put(&f, "/cg/b/cpu.max", "70000 100000\n");
	return 0;
}

static int end(void **state)
{
	(void)state;
	fixture_end(&f);
	return 0;
}

static void put_throttled(const char *group, unsigned count)
{
	char path[64], text[64];

	(void)snprintf(path, sizeof(path), "/cg/%s/cpu.stat", group);
	(void)snprintf(text, sizeof(text), "usage_usec 1\nnr_throttled %u\nx 2\n", count);
	fixture_put(&f, path, text);
}

static struct iw_quota at(uint64_t ms)
{
	return iw_quota_watch(&watch, f.root, &rate, ms * MS);
}

static void test_changes(void **state)
{
	(void)state;
	assert_int_equal(at(5000).hundredths, 50);
	fixture_put(&f, "/cg/a/cpu.max", "120000 100000\n");
	assert_int_equal(at(5100).hundredths, 120);
	fixture_put(&f, "/cg/a/cpu.max", "max 100000\n");
	assert_int_equal(at(5200).hundredths, 0);
}

static void test_moved(void **state)
{
	(void)state;
	assert_int_equal(at(5000).hundredths, 50);
	fixture_put(&f, "/proc/self/cgroup", "0::/b\n");
	assert_int_equal(at(5900).hundredths, 50);
	assert_int_equal(at(6100).hundredths, 70);
	fixture_put(&f, "/proc/self/cgroup", "");
	assert_int_equal(at(7200).hundredths, 0);
}

static void test_throttled(void **state)
{
	(void)state;
	put_throttled("a", 5);
	assert_false(at(5000).throttled);
	assert_false(at(5100).throttled);
	put_throttled("a", 6);
	assert_true(at(5200).throttled);
	assert_true(at(6100).throttled);
	assert_false(at(6300).throttled);
	put_throttled("a", 7);
	assert_true(at(6400).throttled);
	put_throttled("a", 8);
	assert_true(at(7300).throttled);
	assert_true(at(8200).throttled);
	assert_int_equal(at(8200).hundredths, 50);
}

/* Growth that nobody watched may be old, and another group's count says nothing. */
static void test_not_throttled(void **state)
{
	(void)state;
	put_throttled("a", 5);
	put_throttled("b", 9);
	assert_false(at(5000).throttled);
	put_throttled("a", 6);
	assert_false(at(6100).throttled);
	fixture_put(&f, "/proc/self/cgroup", "0::/b\n");
	assert_false(at(6900).throttled);
	assert_false(at(7200).throttled);
	put_throttled("b", 3);
	assert_false(at(7300).throttled);
	put_throttled("b", 4);
	assert_true(at(7400).throttled);
}

#define MARK 4711

static bool refreshes_at(uint64_t now)
{
	ipcwait_impl_store32_relaxed(&iw_quota_word, MARK);
	iw_quota_refresh(&rate, now);
	return iw_quota().hundredths != MARK;
}

static void ten_a_second(void)
{
	CHECK(refreshes_at(5000 * MS));
	CHECK(!refreshes_at(5000 * MS));
	CHECK(!refreshes_at(5099 * MS));
	CHECK(refreshes_at(5100 * MS));
	CHECK(!refreshes_at(5199 * MS));
	/* An hour later, the next boot, and the end of all time. */
	CHECK(refreshes_at(3600000 * MS));
	CHECK(refreshes_at(7 * MS));
	CHECK(!refreshes_at(8 * MS));
	CHECK(refreshes_at(UINT64_MAX));
	CHECK(refreshes_at(5000 * MS));
}

static void the_word(void)
{
	ipcwait_impl_store32_relaxed(&iw_quota_word, 0);
	CHECK(!iw_quota().throttled);
	CHECK_EQ(iw_quota().hundredths, 0);
	ipcwait_impl_store32_relaxed(&iw_quota_word, IW_QUOTA_THROTTLED | 150);
	CHECK(iw_quota().throttled);
	CHECK_EQ(iw_quota().hundredths, 150);
}

static _Atomic bool reader_ends;

static void *read_always(void *arg)
{
	uint64_t now = *(uint64_t *)arg;

	while (!reader_ends)
		iw_quota_refresh(&rate, now += 200 * MS);
	return NULL;
}

static void child_reads(void)
{
	CHECK(refreshes_at(UINT64_C(9000000000) * MS));
	CHECK(!refreshes_at(UINT64_C(9000000000) * MS));
}

/*
 * Forks mostly while a thread reads: the child has no such thread, and must not wait for it.
 * That two never read at once is for the thread sanitizer to see.
 */
static void fork_while_reading(void)
{
	uint64_t start[2] = { 5000 * MS, UINT64_C(1000000000) * MS };
	pthread_t reader[2];

	check_watchdog(30);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_create(&reader[i], NULL, read_always, &start[i]), 0);
	for (int i = 0; i < 40; i++)
		CHECK_EQ(check_in_child(child_reads), 0);
	reader_ends = true;
	for (int i = 0; i < 2; i++)
		CHECK_EQ(pthread_join(reader[i], NULL), 0);
}

/* A group of our own with half a CPU. */
struct group {
	char before[IW_CGROUP_PATH_BYTES]; /* where the process was */
	char path[IW_CGROUP_PATH_BYTES + 64];
	enum iw_cgroup_version version;
};

static bool write_to(const char *group, const char *name, const char *text)
{
	char path[IW_CGROUP_PATH_BYTES + 128];
	bool written;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", group, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	return close(fd) == 0 && written;
}

static bool make_group(struct group *g)
{
	struct iw_cgroup_names names;
	struct iw_cgroup_places places;

	(void)iw_cgroup_read_names("", &names);
	iw_cgroup_find("", &names, &places);
	g->version = places.place[IW_CGROUP_V1].path[0] ? IW_CGROUP_V1 : IW_CGROUP_V2;
	if (!places.place[g->version].path[0])
		return false;
	(void)snprintf(g->before, sizeof(g->before), "%s", places.place[g->version].path);
	(void)snprintf(g->path, sizeof(g->path), "%s/iw-quota-test-%d", g->before,
		       (int)getpid());
	if (mkdir(g->path, 0700) != 0)
		return false;
	if (g->version == IW_CGROUP_V2
		    ? write_to(g->path, "cpu.max", "50000 100000")
		    : write_to(g->path, "cpu.cfs_period_us", "100000") &&
			      write_to(g->path, "cpu.cfs_quota_us", "50000"))
		return true;
	(void)rmdir(g->path);
	return false;
}

static struct group group;

static bool reading_says(uint32_t hundredths, bool throttled)
{
	int64_t until = ipcwait_now_ns() + 20000 * (int64_t)MS;
	struct iw_quota q;

	do {
		iw_quota_refresh(&rate, (uint64_t)ipcwait_now_ns());
		q = iw_quota();
	} while ((q.hundredths != hundredths || q.throttled != throttled) &&
		 ipcwait_now_ns() < until);
	return q.hundredths == hundredths && q.throttled == throttled;
}

/* The readings themselves are the busy loop. */
static void half_a_cpu(void)
{
	const struct timespec pause = { 1, 500000000 };
	uint32_t before;

	iw_quota_refresh(&rate, (uint64_t)ipcwait_now_ns());
	before = iw_quota().hundredths;
	CHECK(write_to(group.path, "cgroup.procs", "0"));
	CHECK(reading_says(50, true));
	/* At rest it is not stopped, and what it did before the rest is forgotten. */
	CHECK_EQ(nanosleep(&pause, NULL), 0);
	iw_quota_refresh(&rate, (uint64_t)ipcwait_now_ns());
	CHECK(!iw_quota().throttled);
	CHECK_EQ(iw_quota().hundredths, 50);
	CHECK(write_to(group.before, "cgroup.procs", "0"));
	CHECK(reading_says(before, false));
}

static void test_real(void **state)
{
	int status;

	(void)state;
	if (!make_group(&group)) {
		print_message("no control group with a CPU limit can be made here: %s\n",
			      strerror(errno));
		skip();
	}
	status = check_in_child(half_a_cpu);
	assert_int_equal(rmdir(group.path), 0);
	assert_int_equal(status, 0);
}

#define FIXTURE_TEST(body) cmocka_unit_test_setup_teardown(body, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_changes),     FIXTURE_TEST(test_moved),
		FIXTURE_TEST(test_throttled),   FIXTURE_TEST(test_not_throttled),
		CHILD_TEST(ten_a_second),       CHILD_TEST(the_word),
		CHILD_TEST(fork_while_reading), cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
