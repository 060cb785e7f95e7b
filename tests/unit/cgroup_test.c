/* SPDX-License-Identifier: MIT */
/* lib/env/cgroup.h over made-up files: every way of laying out control groups, and nonsense. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "common/fixture.h"
#include "env/cgroup.h"
#include "os/lines.h"

#define NAMES  "/proc/self/cgroup"
#define MOUNTS "/proc/self/mountinfo"

#define MOUNT_V2      "30 23 0:26 / /cg rw,nosuid - cgroup2 cgroup2 rw\n"
#define MOUNT_CPU     "31 23 0:27 / /cg/cpu rw shared:7 - cgroup cgroup rw,cpu,cpuacct\n"
#define MOUNT_CPUSET  "32 23 0:28 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n"
#define MOUNT_UNIFIED "33 23 0:29 / /cg/unified rw - cgroup2 cgroup2 rw\n"

#define LINE_BYTES sizeof(((struct iw_lines *)NULL)->text)

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

static uint32_t limit_now(void)
{
	struct iw_cgroup_names names;
	struct iw_cgroup_places places;

	(void)iw_cgroup_read_names(f.root, &names);
	iw_cgroup_find(f.root, &names, &places);
	return iw_cgroup_hundredths(&places);
}

static uint32_t limit(const char *names, const char *mounts)
{
	fixture_put(&f, NAMES, names);
	fixture_put(&f, MOUNTS, mounts);
	return limit_now();
}

static void put_v1(const char *group, const char *quota, const char *period)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", group);
	fixture_put(&f, path, quota);
	(void)snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", group);
	fixture_put(&f, path, period);
}

static void test_nothing(void **state)
{
	(void)state;
	assert_int_equal(limit_now(), 0);
	assert_int_equal(limit("", ""), 0);
	assert_int_equal(limit("0::/\n", ""), 0);
	assert_int_equal(limit("", MOUNT_V2), 0);
	assert_int_equal(limit("0::/\n", MOUNT_V2), 0);
}

static void test_v2(void **state)
{
	(void)state;
	fixture_put(&f, "/cg/a/b/cpu.max", "250000 100000\n");
	assert_int_equal(limit("0::/a/b\n", MOUNT_V2), 250);
	assert_int_equal(limit("0::/a/b/c\n", MOUNT_V2), 250);
	assert_int_equal(limit("0::/a\n", MOUNT_V2), 0);
	assert_int_equal(limit("0::/\n", MOUNT_V2), 0);
	fixture_put(&f, "/cg/a/b/cpu.max", "max 100000\n");
	assert_int_equal(limit("0::/a/b\n", MOUNT_V2), 0);
}

static void test_v1(void **state)
{
	(void)state;
	put_v1("/cg/cpu/x", "50000\n", "100000\n");
	assert_int_equal(limit("4:cpu,cpuacct:/x\n", MOUNT_CPUSET MOUNT_CPU), 50);
	assert_int_equal(limit("4:cpuacct,cpu:/x\n", MOUNT_CPU), 50);
	assert_int_equal(limit("4:cpuset:/x\n", MOUNT_CPU), 0);
	assert_int_equal(limit("4:cpuacct:/x\n", MOUNT_CPU), 0);
	assert_int_equal(limit("4:name=cpu:/x\n", MOUNT_CPU), 0);
	assert_int_equal(limit("4:cpu:/x\n", MOUNT_CPUSET), 0);
	assert_int_equal(limit("4:cpu:/x\n", "31 23 0:27 / /cg/cpu rw - tmpfs x rw,cpu\n"),
			 0);
	put_v1("/cg/cpu/x", "-1\n", "100000\n");
	assert_int_equal(limit("4:cpu:/x\n", MOUNT_CPU), 0);
}

/* The tightest of all levels. */
static void test_nested(void **state)
{
	(void)state;
	put_v1("/cg/cpu", "100000\n", "100000\n");
	put_v1("/cg/cpu/a", "40000\n", "100000\n");
	put_v1("/cg/cpu/a/b", "-1\n", "100000\n");
	put_v1("/cg/cpu/a/b/c", "30000\n", "50000\n");
	put_v1("/cg/cpu/a/b/c/d", "10000\n", "100000\n");
	assert_int_equal(limit("4:cpu:/a/b/c\n", MOUNT_CPU), 40);
	/* Not below the mount point. */
	put_v1("/cg", "1000\n", "100000\n");
	assert_int_equal(limit("4:cpu:/a/b/c\n", MOUNT_CPU), 40);
}

static void test_hybrid(void **state)
{
	static const char names[] = "4:cpu:/old\n3:cpuset:/\n0::/new\n";
	static const char mounts[] = MOUNT_UNIFIED MOUNT_CPU MOUNT_CPUSET;

	(void)state;
	put_v1("/cg/cpu/old", "70000\n", "100000\n");
	assert_int_equal(limit(names, mounts), 70);
	fixture_put(&f, "/cg/unified/new/cpu.max", "60000 100000\n");
	assert_int_equal(limit(names, mounts), 60);
	put_v1("/cg/cpu/old", "20000\n", "100000\n");
	assert_int_equal(limit(names, mounts), 20);
}

#define MOUNT_OF(top) "30 23 0:26 " top " /cg rw - cgroup2 cgroup2 rw\n"

static void test_container(void **state)
{
	(void)state;
	fixture_put(&f, "/cg/cpu.max", "80000 100000\n");
	fixture_put(&f, "/cg/job/cpu.max", "30000 100000\n");
	assert_int_equal(limit("0::/docker/1\n", MOUNT_OF("/docker/1")), 80);
	assert_int_equal(limit("0::/docker/1/job\n", MOUNT_OF("/docker/1")), 30);
	fixture_put(&f, "/cg2/job/cpu.max", "10000 100000\n");
	/* Seen from elsewhere: what is mounted is the best guess. */
	assert_int_equal(limit("0::/docker/1\n", MOUNT_V2), 80);
	assert_int_equal(limit("0::/docker/1\n", MOUNT_OF("/docker/2")), 80);
	assert_int_equal(limit("0::/docker/12/job\n", MOUNT_OF("/docker/1")), 80);
	assert_int_equal(limit("0::/../1/job\n", MOUNT_V2), 80);
	assert_int_equal(limit("0::/../job\n", MOUNT_OF("/..")), 80);
}

static void test_best_mount(void **state)
{
	(void)state;
	fixture_put(&f, "/cg/cpu.max", "80000 100000\n");
	fixture_put(&f, "/cg 2/cpu.max", "10000 100000\n");
	assert_int_equal(
		limit("0::/a\n",
		      MOUNT_OF("/b") "31 23 0:26 / /cg\\0402 rw - cgroup2 none rw\n"
				     "32 23 0:26 / /nowhere rw - cgroup2 none rw\n"),
		10);
}

static void test_first_of_bad_mounts(void **state)
{
	(void)state;
	fixture_put(&f, "/cg/cpu.max", "80000 100000\n");
	fixture_put(&f, "/cg/2/cpu.max", "10000 100000\n");
	assert_int_equal(limit("0::/a\n",
			       MOUNT_OF("/b") "31 23 0:26 /c /cg/2 rw - cgroup2 none rw\n"),
			 80);
}

static void test_nonsense_limits(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"max",
		"max 100000\n",
		"-1 100000\n",
		"-50000 100000\n",
		"50000\n",
		"50000",
		"50000 0\n",
		"50000 999\n",
		"50000 1000001\n",
		"0 100000\n",
		"50000 -100000\n",
		"50000 1e5\n",
		"0x5000 100000\n",
		" 50000 100000\n",
		"50000  100000\n",
		"+50000 100000\n",
		"99999999999999999999 100000\n",
		"18446744073709601616 100000\n", /* 50000 modulo 2^64 */

		"50000 99999999999999999999\n",
		"999999999999999 1000\n",
		"5OOOO 100000\n",
		"nan 100000\n",
		"50000\t100000\n",
		"50000 100000",
	};
	char *digits = malloc(5000);

	(void)state;
	assert_non_null(digits);
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fixture_put(&f, "/cg/a/cpu.max", texts[i]);
		assert_int_equal(limit("0::/a\n", MOUNT_V2), 0);
	}
	memset(digits, '9', 5000);
	fixture_put_bytes(&f, "/cg/a/cpu.max", digits, 5000);
	assert_int_equal(limit("0::/a\n", MOUNT_V2), 0);
	fixture_put_bytes(&f, "/cg/a/cpu.max", "50000\0 100000\n", 14);
	assert_int_equal(limit("0::/a\n", MOUNT_V2), 0);
	free(digits);
	/* And what is just legal. */
	fixture_put(&f, "/cg/a/cpu.max", "1 1000000\n");
	assert_int_equal(limit("0::/a\n", MOUNT_V2), 1);
	fixture_put(&f, "/cg/a/cpu.max", "8000000 1000\n");
	assert_int_equal(limit("0::/a\n", MOUNT_V2), 800000);
}

static void test_nonsense_names(void **state)
{
	static const char *const names[] = {
		"0::a\n",   "0:/a\n",        "0\n",    ":\n", "::\n",
		":::\n",    "1::/a\n",       "::/a\n", "0::", "0::/a",
		"00::/a\n", "0:cpuset:/a\n", "\n\n\n",
	};
	char long_name[2 * IW_CGROUP_PATH_BYTES];

	(void)state;
	fixture_put(&f, "/cg/a/cpu.max", "50000 100000\n");
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(limit(names[i], MOUNT_V2), 0);
	assert_int_equal(limit("\n:::\n0::/a\n", MOUNT_V2), 50);
	memset(long_name, 'a', sizeof(long_name));
	memcpy(long_name, "0::/", 4);
	memcpy(long_name + sizeof(long_name) - 2, "\n", 2);
	fixture_put(&f, "/cg/cpu.max", "50000 100000\n");
	assert_int_equal(limit(long_name, MOUNT_V2), 0);
}

static void test_nonsense_mounts(void **state)
{
	static const char *const mounts[] = {
		"\n",
		"30\n",
		"30 23 0:26 /\n",
		"30 23 0:26 / /cg\n",
		" - \n",
		"30 23 0:26 / /cg rw - cgroup2\n",
		"30 23 0:26 / /cg rw - cgroup2 x\n",
		"30 23 0:26 / /cg rw cgroup2 cgroup2 rw\n",
		"30 23 0:26 / /cg rw - cgroup3 cgroup2 rw\n",
		"30 23 0:26 / /cg rw - cgroup2 cgroup2 rw",
		"30 23 0:26 / /c\\g rw - cgroup2 cgroup2 rw\n",
	};

	(void)state;
	fixture_put(&f, "/cg/a/cpu.max", "50000 100000\n");
	for (unsigned i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++)
		assert_int_equal(limit("0::/a\n", mounts[i]), 0);
	assert_int_equal(limit("0::/a\n", "\n - \n30 23\n" MOUNT_V2), 50);
}

/* Other mounts before ours: one too long for a line, many, and too many. */
static void test_huge_mounts(void **state)
{
	static const char other[] = "30 23 0:26 / /home rw - ext4 /dev/sda1 rw\n";
	static const char wrong[] = "30 23 0:26 / /wrong rw - cgroup2 none rw\n";
	size_t room = 400000, used = 9000;
	char *mounts = malloc(room);

	(void)state;
	assert_non_null(mounts);
	fixture_put(&f, "/cg/a/cpu.max", "50000 100000\n");
	fixture_put(&f, "/wrong/cpu.max", "10000 100000\n");
	memset(mounts, 'x', used - 1);
	/* The second buffer full of the long line looks like a line. */
	memcpy(mounts + LINE_BYTES, wrong, sizeof(wrong) - 1);
	mounts[used - 1] = '\n';
	while (used < 200000)
		used += (size_t)sprintf(mounts + used, "%s", other);
	strcpy(mounts + used, MOUNT_V2);
	assert_int_equal(limit("0::/a\n", mounts), 50);
	while (used < 300000)
		used += (size_t)sprintf(mounts + used, "%s", other);
	strcpy(mounts + used, MOUNT_V2);
	assert_int_equal(limit("0::/a\n", mounts), 0);
	free(mounts);
}

/* Only so many levels are looked at, from the process's own. */
static void test_deep(void **state)
{
	char name[128] = "0::";

	(void)state;
	fixture_put(&f, "/cg/a/cpu.max", "50000 100000\n");
	for (int level = 1; level <= 32; level++)
		strcat(name, "/a");
	strcat(name, "\n");
	assert_int_equal(limit(name, MOUNT_V2), 50);
	name[strlen(name) - 1] = '\0';
	strcat(name, "/a\n");
	assert_int_equal(limit(name, MOUNT_V2), 0);
}

#define FIXTURE_TEST(body) cmocka_unit_test_setup_teardown(body, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(test_nothing),
		FIXTURE_TEST(test_v2),
		FIXTURE_TEST(test_v1),
		FIXTURE_TEST(test_nested),
		FIXTURE_TEST(test_hybrid),
		FIXTURE_TEST(test_container),
		FIXTURE_TEST(test_best_mount),
		FIXTURE_TEST(test_first_of_bad_mounts),
		FIXTURE_TEST(test_nonsense_limits),
		FIXTURE_TEST(test_nonsense_names),
		FIXTURE_TEST(test_nonsense_mounts),
		FIXTURE_TEST(test_huge_mounts),
		FIXTURE_TEST(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
