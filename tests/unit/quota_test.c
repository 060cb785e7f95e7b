/* SPDX-License-Identifier: MIT */
/* lib/env/quota.h: what the library takes for its share of the CPUs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/fixture.h"
#include "env/cgroup.h"
#include "env/quota.h"

static void test_made_up_files(void **state)
{
	struct fixture f;

	(void)state;
	fixture_begin(&f);
	assert_int_equal(iw_quota_hundredths(f.root), 0);
	fixture_put(&f, "/proc/self/cgroup", "0::/a\n");
	fixture_put(&f, "/proc/self/mountinfo", "30 23 0:26 / /cg rw - cgroup2 none rw\n");
	assert_int_equal(iw_quota_hundredths(f.root), 0);
	fixture_put(&f, "/cg/a/cpu.max", "50000 100000\n");
	fixture_put(&f, "/cg/b/cpu.max", "70000 100000\n");
	assert_int_equal(iw_quota_hundredths(f.root), 50);
	fixture_put(&f, "/proc/self/cgroup", "0::/b\n");
	assert_int_equal(iw_quota_hundredths(f.root), 70);
	fixture_put(&f, "/cg/b/cpu.max", "max 100000\n");
	assert_int_equal(iw_quota_hundredths(f.root), 0);
	fixture_end(&f);
}

/* At the usual places the list of mounts, which may be long, is not asked for. */
static void test_usual_places(void **state)
{
	struct iw_cgroup_places places;
	struct iw_cgroup_names names;
	struct fixture f;

	(void)state;
	fixture_begin(&f);
	fixture_put(&f, "/proc/self/cgroup", "0::/a/b\n");
	fixture_put(&f, "/sys/fs/cgroup/a/cpu.max", "40000 100000\n");
	assert_int_equal(iw_quota_hundredths(f.root), 0);
	fixture_put(&f, "/sys/fs/cgroup/a/b/cgroup.controllers", "");
	assert_int_equal(iw_quota_hundredths(f.root), 40);
	/* Version 1 has the CPU time here; version 2 is not asked. */
	fixture_put(&f, "/proc/self/cgroup", "1:cpu,cpuacct:/c\n0::/a/b\n");
	fixture_put(&f, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "30000\n");
	fixture_put(&f, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	assert_int_equal(iw_quota_hundredths(f.root), 0);
	fixture_put(&f, "/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "-1\n");
	assert_int_equal(iw_quota_hundredths(f.root), 30);
	assert_true(iw_cgroup_read_names(f.root, &names));
	assert_true(iw_cgroup_guess(f.root, &names, &places));
	assert_int_equal(places.place[IW_CGROUP_V2].path[0], 0);
	fixture_put(&f, "/proc/self/cgroup", "1:cpu,cpuacct:/../c\n");
	assert_true(iw_cgroup_read_names(f.root, &names));
	assert_false(iw_cgroup_guess(f.root, &names, &places));
	/* In no group at all there is nothing to look for. */
	fixture_put(&f, "/proc/self/cgroup", "1:memory:/c\n");
	assert_true(iw_cgroup_read_names(f.root, &names));
	assert_true(iw_cgroup_guess(f.root, &names, &places));
	assert_int_equal(iw_quota_hundredths(f.root), 0);
	fixture_end(&f);
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

static void half_a_cpu(void)
{
	uint32_t before = iw_quota_hundredths("");

	CHECK(write_to(group.path, "cgroup.procs", "0"));
	CHECK_EQ(iw_quota_hundredths(""), 50);
	CHECK(write_to(group.before, "cgroup.procs", "0"));
	CHECK_EQ(iw_quota_hundredths(""), before);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made_up_files),
		cmocka_unit_test(test_usual_places),
		cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
