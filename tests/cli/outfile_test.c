/* SPDX-License-Identifier: MIT */
/* Files of results: complete in their place, or as they were, and nothing beside them. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "common/fixture.h"
#include "../tools/common/complain.h"
#include "../tools/common/outfile.h"

const char program_name[] = "outfile_test";

static struct fixture here;
static char path[128];
static struct outfile o;

static void begin(void)
{
	fixture_begin(&here);
	CHECK(snprintf(path, sizeof(path), "%s/out", here.root) < (int)sizeof(path));
}

/* How many files there are; what fails says so on stderr, which is not looked at. */
static unsigned files(void)
{
	DIR *d = opendir(here.root);
	unsigned n = 0;

	CHECK(d != NULL);
	for (const struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void assert_text(const char *want)
{
	char text[64] = "";
	FILE *f = fopen(path, "r");

	CHECK(f != NULL);
	CHECK(fread(text, 1, sizeof(text) - 1, f) == strlen(want));
	fclose(f);
	CHECK_EQ(strcmp(text, want), 0);
}

/* Written beside its place, with what was there still there. */
static void open_over_an_old_one(void)
{
	fixture_put(&here, "/out", "old");
	CHECK_EQ(outfile_open(&o, "--json", path), 0);
	CHECK(fputs("new", o.f) >= 0);
	CHECK_EQ(files(), 2);
	assert_text("old");
}

static void completed(void)
{
	begin();
	open_over_an_old_one();
	CHECK_EQ(outfile_complete(&o), 0);
	CHECK(!o.f);
	CHECK_EQ(files(), 1);
	assert_text("new");
	/* What is not open is left alone. */
	outfile_abandon(&o);
	assert_text("new");
	fixture_end(&here);
}

static void abandoned(void)
{
	begin();
	open_over_an_old_one();
	outfile_abandon(&o);
	CHECK(!o.f);
	CHECK_EQ(files(), 1);
	assert_text("old");
	fixture_end(&here);
}

/* Somebody has put a directory into its place meanwhile. */
static void rename_fails(void)
{
	struct stat st;

	begin();
	CHECK_EQ(outfile_open(&o, "--json", path), 0);
	CHECK(fputs("new", o.f) >= 0);
	CHECK_EQ(mkdir(path, 0700), 0);
	CHECK_EQ(outfile_complete(&o), -EINVAL);
	CHECK(!o.f);
	CHECK_EQ(files(), 1);
	CHECK(stat(path, &st) == 0 && S_ISDIR(st.st_mode));
	fixture_end(&here);
}

/* The disk is full, or as good as. */
static void write_fails(void)
{
	begin();
	open_over_an_old_one();
	CHECK_EQ(fflush(o.f), 0);
	CHECK_EQ(close(fileno(o.f)), 0);
	CHECK(fputs("more", o.f) >= 0);
	CHECK_EQ(outfile_complete(&o), -EINVAL);
	CHECK_EQ(files(), 1);
	assert_text("old");
	fixture_end(&here);
}

/* At the limit for the size of files, with SIGXFSZ as it is: the tool says so, and lives. */
static void limit_is_reached(void)
{
	const struct rlimit most = { 4096, 4096 };

	begin();
	fixture_put(&here, "/out", "old");
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &most), 0);
	CHECK_EQ(outfile_open(&o, "--json", path), 0);
	for (int i = 0; i < 10000; i++)
		(void)fputs("more", o.f);
	CHECK_EQ(outfile_complete(&o), -EINVAL);
	CHECK_EQ(files(), 1);
	assert_text("old");
	fixture_end(&here);
}

static void no_place(void)
{
	char other[160];

	begin();
	CHECK_EQ(outfile_check("--json", path), 0);
	CHECK_EQ(outfile_check("--json", here.root), -EINVAL);
	CHECK_EQ(outfile_check("--json", ""), -EINVAL);
	CHECK(snprintf(other, sizeof(other), "%s/no/out", here.root) > 0);
	CHECK_EQ(outfile_check("--json", other), -EINVAL);
	CHECK_EQ(outfile_open(&o, "--json", other), -EINVAL);
	CHECK(!o.f);
	/* A pipe is no file that could be replaced; one's own, and no device of the machine's. */
	CHECK_EQ(mkfifo(path, 0600), 0);
	CHECK_EQ(outfile_open(&o, "--json", path), -EINVAL);
	CHECK_EQ(files(), 1);
	fixture_end(&here);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(completed),        CHILD_TEST(abandoned),
		CHILD_TEST(rename_fails),     CHILD_TEST(write_fails),
		CHILD_TEST(limit_is_reached), CHILD_TEST(no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
