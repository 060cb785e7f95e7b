/* SPDX-License-Identifier: MIT */
/* What `ipcwait awake` keeps of a trial, and when it is believed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cmocka_all.h"

#include "../../cli/awake_found.h"

static const struct awake_wakes some = { { 15100, 9000, 2400 } };
static const struct awake_wakes none = { { 0, 0, 0 } };
static char folder[] = "awake-found-XXXXXX";

/* The folder's whole path, and @name in it. */
static const char *in_folder(const char *name)
{
	static char path[4096];
	char here[2048];

	assert_non_null(getcwd(here, sizeof(here)));
	assert_true(snprintf(path, sizeof(path), "%s/%s%s", here, folder, name) <
		    (int)sizeof(path));
	return path;
}

static int begin(void **state)
{
	(void)state;
	setenv("IPCWAIT_CALIBRATION", in_folder("/calibration"), 1);
	unsetenv("XDG_CACHE_HOME");
	awake_found_save(&some, 0, 1);
	return 0;
}

static bool is_found(unsigned a, unsigned b)
{
	struct awake_wakes w = some;
	bool found = awake_found_load(&w, a, b);

	assert_memory_equal(&w, found ? &some : &none, sizeof(w));
	return found;
}

static void rewrite(const char *text)
{
	FILE *f = fopen(in_folder("/calibration.awake"), "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void is_of_two_cpus(void **state)
{
	(void)state;
	assert_true(is_found(0, 1));
	assert_false(is_found(0, 2));
	assert_false(is_found(1, 0));
}

static void is_of_one_boot(void **state)
{
	(void)state;
	rewrite("ipcwait-awake 1 another-boot 0 1 15100 9000 2400\n");
	assert_false(is_found(0, 1));
}

static void damaged_files_are_ignored(void **state)
{
	static const char *const after_boot[] = { "", " 0 1 15100", " 0 1 15100 9000 x",
						  " 0 1 15100 9000 1000000001",
						  " 0 1 15100 9000 -1" };
	char boot[64] = "", text[256];
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");

	(void)state;
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%63s", boot), 1);
	assert_int_equal(fclose(f), 0);
	for (size_t i = 0; i < sizeof(after_boot) / sizeof(after_boot[0]); i++) {
		snprintf(text, sizeof(text), "ipcwait-awake 1 %s%s\n", boot, after_boot[i]);
		rewrite(text);
		assert_false(is_found(0, 1));
	}
	rewrite("");
	assert_false(is_found(0, 1));
	snprintf(text, sizeof(text), "ipcwait-awake 1 %s 0 1 15100 9000 2400\n", boot);
	rewrite(text);
	assert_true(is_found(0, 1));
}

static void what_others_can_write_is_ignored(void **state)
{
	(void)state;
	assert_int_equal(chmod(in_folder("/calibration.awake"), 0620), 0);
	assert_false(is_found(0, 1));
	assert_int_equal(unlink(in_folder("/calibration.awake")), 0);
	assert_int_equal(symlink("/proc/self/status", in_folder("/calibration.awake")), 0);
	assert_false(is_found(0, 1));
	/* The link is replaced, and what it leads to is not written. */
	awake_found_save(&some, 0, 1);
	assert_true(is_found(0, 1));
}

static void the_cache_is_made(void **state)
{
	struct stat st;

	(void)state;
	unsetenv("IPCWAIT_CALIBRATION");
	setenv("HOME", in_folder("/user"), 1);
	assert_false(is_found(0, 1));
	awake_found_save(&some, 0, 1);
	assert_false(is_found(0, 1));
	assert_int_equal(mkdir(in_folder("/user"), 0700), 0);
	awake_found_save(&some, 0, 1);
	assert_true(is_found(0, 1));
	assert_int_equal(stat(in_folder("/user/.cache/ipcwait/awake"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	setenv("XDG_CACHE_HOME", in_folder("/user/other"), 1);
	assert_false(is_found(0, 1));
	assert_int_equal(mkdir(in_folder("/user/other"), 0700), 0);
	awake_found_save(&some, 0, 1);
	assert_int_equal(stat(in_folder("/user/other/ipcwait/awake"), &st), 0);
}

static void none_keeps_nothing(void **state)
{
	(void)state;
	setenv("IPCWAIT_CALIBRATION", "none", 1);
	awake_found_save(&some, 0, 1);
	assert_false(is_found(0, 1));
	assert_int_equal(access("none.awake", F_OK), -1);
}

/* Neither a signal nor half a file. */
static void where_no_file_may_grow(void **state)
{
	const struct awake_wakes other = { { 1, 2, 3 } };
	struct rlimit before, limit;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	awake_found_save(&other, 0, 1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_true(is_found(0, 1));
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(is_of_two_cpus, begin),
		cmocka_unit_test_setup(is_of_one_boot, begin),
		cmocka_unit_test_setup(damaged_files_are_ignored, begin),
		cmocka_unit_test_setup(what_others_can_write_is_ignored, begin),
		cmocka_unit_test_setup(the_cache_is_made, begin),
		cmocka_unit_test_setup(none_keeps_nothing, begin),
		cmocka_unit_test_setup(where_no_file_may_grow, begin),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
