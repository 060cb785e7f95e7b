/* SPDX-License-Identifier: MIT */
/*
 * The quota that `ipcwait info` shows, beside what the library makes of the same files: the
 * command cannot ask, so it reads for itself, and must come to the same.
 */
#include <stdio.h>
#include <string.h>

#include "../../cli/info.h"
#include "common/cmocka_all.h"
#include "common/fixture.h"
#include "env/cgroup.h"

#define NAMES  "/proc/self/cgroup"
#define MOUNTS "/proc/self/mountinfo"

#define MOUNT_V2  "30 23 0:26 / /cg rw,nosuid - cgroup2 cgroup2 rw\n"
#define MOUNT_CPU "31 23 0:27 / /cg/cpu rw shared:7 - cgroup cgroup rw,cpu,cpuacct\n"

static struct fixture f;

static int begin(void **state)
{
	(void)state;
	fixture_begin(&f);
	return 0;
}

static int end(void **state)
{
	(void)state;
	fixture_end(&f);
	return 0;
}

static uint32_t by_library(void)
{
	struct iw_cgroup_names names;
	struct iw_cgroup_places places;

	(void)iw_cgroup_read_names(f.root, &names);
	iw_cgroup_find(f.root, &names, &places);
	return iw_cgroup_hundredths(&places);
}

/* What the command says, after a look at what the library does. */
static struct info_fact agreed(void)
{
	static struct info info;
	const struct info_fact *fact;
	uint32_t hundredths = by_library();

	memset(&info, 0, sizeof(info));
	info.root = f.root;
	info_read_quota(&info);
	fact = info_find(&info, "quota_cpus");
	assert_non_null(fact);
	if (hundredths) {
		assert_int_equal(fact->kind, INFO_NUMBER);
		assert_true(fact->number == (double)hundredths / 100);
	} else {
		assert_true(fact->kind == INFO_NONE || fact->kind == INFO_MISSING);
	}
	return *fact;
}

static double cpus(const char *names, const char *mounts)
{
	fixture_put(&f, NAMES, names);
	fixture_put(&f, MOUNTS, mounts);
	return agreed().number;
}

static enum info_kind kind(const char *names, const char *mounts)
{
	fixture_put(&f, NAMES, names);
	fixture_put(&f, MOUNTS, mounts);
	return agreed().kind;
}

static void test_both_versions(void **state)
{
	static const char names[] = "4:cpu,cpuacct:/a\n3:cpuset:/\n0::/a/b\n";

	(void)state;
	assert_int_equal(agreed().kind, INFO_MISSING);
	assert_int_equal(kind(names, MOUNT_V2 MOUNT_CPU), INFO_MISSING);
	fixture_put(&f, "/cg/cpu/a/cpu.cfs_quota_us", "-1\n");
	fixture_put(&f, "/cg/cpu/a/cpu.cfs_period_us", "100000\n");
	assert_int_equal(kind(names, MOUNT_V2 MOUNT_CPU), INFO_NONE);
	fixture_put(&f, "/cg/a/cpu.max", "150000 100000\n");
	fixture_put(&f, "/cg/a/b/cpu.max", "max 100000\n");
	assert_true(cpus(names, MOUNT_V2 MOUNT_CPU) == 1.5);
	fixture_put(&f, "/cg/cpu/a/cpu.cfs_quota_us", "70000\n");
	assert_true(cpus(names, MOUNT_CPU MOUNT_V2) == 0.7);
	assert_int_equal(kind("0::/\n", MOUNT_V2), INFO_NONE);
}

static void test_hundredths(void **state)
{
	(void)state;
	fixture_put(&f, "/cg/a/cpu.max", "100000 300000\n");
	assert_true(cpus("0::/a\n", MOUNT_V2) == 0.33);
	fixture_put(&f, "/cg/a/cpu.max", "1 1000000\n");
	assert_true(cpus("0::/a\n", MOUNT_V2) == 0.01);
}

static void test_escapes(void **state)
{
	(void)state;
	fixture_put(&f, "/c g/x\\y/cpu.max", "50000 100000\n");
	assert_true(cpus("0::/a b/x\\y\n",
			 "30 23 0:26 /a\\040b /c\\040g rw - cgroup2 none rw\n") == 0.5);
	assert_true(cpus("0::/x\\y\n", "30 23 0:26 / /c\\040g rw - cgroup2 none rw\n") ==
		    0.5);
	assert_int_equal(kind("0::/a\n", "30 23 0:26 / /c\\g rw - cgroup2 none rw\n"),
			 INFO_MISSING);
}

/* The first that shows the group counts; until then the first. */
static void test_several_mounts(void **state)
{
	static const char elsewhere[] = "30 23 0:26 /b /cg rw - cgroup2 none rw\n";
	static const char here[] = "31 23 0:26 / /cg2 rw - cgroup2 none rw\n";
	char both[256];

	(void)state;
	fixture_put(&f, "/cg/cpu.max", "80000 100000\n");
	fixture_put(&f, "/cg2/cpu.max", "10000 100000\n");
	(void)snprintf(both, sizeof(both), "%s%s", elsewhere, here);
	assert_true(cpus("0::/a\n", elsewhere) == 0.8);
	assert_true(cpus("0::/a\n", both) == 0.1);
	(void)snprintf(both, sizeof(both), "%s%s", here, elsewhere);
	assert_true(cpus("0::/a\n", both) == 0.1);
	assert_true(cpus("0::/b/../a\n", elsewhere) == 0.8);
	assert_true(cpus("0::/bc\n", elsewhere) == 0.8);
}

static void test_nonsense(void **state)
{
	static const char *const limits[] = {
		"",
		"\n",
		"50000",
		"50000\n",
		"50000 100000",
		"50000\t100000\n",
		"50000  100000\n",
		" 50000 100000\n",
		"+50000 100000\n",
		"-1 100000\n",
		"0 100000\n",
		"50000 0\n",
		"50000 999\n",
		"50000 1000001\n",
		"5e4 100000\n",
		"nan 100000\n",
		"9999999999999999 100000\n",
		"999999999999999 1000\n",
	};
	static const char *const names[] = { "0::a\n", "00::/a\n", "1::/a\n", "0:x:/a\n",
					     "0::/a",  "::/a\n",   ":\n" };

	(void)state;
	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		fixture_put(&f, "/cg/a/cpu.max", limits[i]);
		assert_true(cpus("0::/a\n", MOUNT_V2) == 0);
	}
	fixture_put(&f, "/cg/a/cpu.max", "50000 100000\n");
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(cpus(names[i], MOUNT_V2) == 0);
	assert_true(cpus("0::/a\n", "30 23 0:26 / /cg rw - cgroup2 x\n" MOUNT_V2) == 0.5);
	assert_true(cpus("0::/a\n", "30 23 0:26 / /cg rw - cgroup2 x rw") == 0);
}

/* A line that is too long is left out, and a file that is too long is not read to its end. */
static void test_long(void **state)
{
	static char mounts[400000];
	size_t length = 2047;

	(void)state;
	fixture_put(&f, "/cg/a/cpu.max", "50000 100000\n");
	for (; length < 2050; length++) {
		memset(mounts, 'x', length);
		(void)snprintf(mounts, sizeof(mounts), "%s", MOUNT_V2);
		memset(mounts + strlen(MOUNT_V2) - 1, ' ', length - strlen(MOUNT_V2));
		(void)snprintf(mounts + length - 1, sizeof(mounts) - length, "\n");
		assert_true(cpus("0::/a\n", mounts) == (length <= 2048 ? 0.5 : 0));
	}
	memset(mounts, '\n', sizeof(mounts));
	for (length = 262144; length < 262146; length++) {
		(void)snprintf(mounts + length - strlen(MOUNT_V2), 200, "%s", MOUNT_V2);
		assert_true(cpus("0::/a\n", mounts) == (length <= 262144 ? 0.5 : 0));
	}
}

static void test_deep(void **state)
{
	char name[128] = "0::";

	(void)state;
	fixture_put(&f, "/cg/a/cpu.max", "50000 100000\n");
	for (int level = 1; level <= 32; level++)
		strcat(name, "/a");
	strcat(name, "\n");
	assert_true(cpus(name, MOUNT_V2) == 0.5);
	strcpy(name + strlen(name) - 1, "/a\n");
	assert_true(cpus(name, MOUNT_V2) == 0);
}

#define FIXTURE_TEST(body) cmocka_unit_test_setup_teardown(body, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_both_versions), FIXTURE_TEST(test_hundredths),
		FIXTURE_TEST(test_escapes),       FIXTURE_TEST(test_several_mounts),
		FIXTURE_TEST(test_nonsense),      FIXTURE_TEST(test_long),
		FIXTURE_TEST(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
