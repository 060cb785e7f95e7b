/* SPDX-License-Identifier: MIT */
/*
 * The saved calibration as a file: where it is, when it is believed, and what is said when it
 * is not. Each test is a process of its own, because facts are gathered once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/calibration.h"
#include "common/cmocka_all.h"
#include "env/calibration_text.h"
#include "env/facts.h"

#define MEGABYTE (1024 * 1024)

static char folder[] = "/tmp/iw-calibration-XXXXXX";
static char path[64];

static void set(const char *name, const char *value)
{
	CHECK(setenv(name, value, 1) == 0);
}

static void save_example(void)
{
	struct ipcwait_calibration c = calibration_example(2);

	CHECK_EQ(ipcwait_calibration_save(&c), 0);
}

static void write_file(const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, bytes, n), n);
	CHECK_EQ(close(fd), 0);
}

static size_t read_file(char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n;

	CHECK(fd >= 0);
	n = read(fd, bytes, size - 1);
	CHECK(n >= 0);
	bytes[n] = '\0';
	CHECK_EQ(close(fd), 0);
	return (size_t)n;
}

/* What the library writes to stderr when it gathers its facts. */
static const char *warnings(void)
{
	static char text[4096];
	int ends[2], saved = dup(STDERR_FILENO);
	struct ipcwait_calibration c;
	ssize_t n;

	CHECK(pipe(ends) == 0);
	CHECK(dup2(ends[1], STDERR_FILENO) >= 0);
	CHECK_EQ(ipcwait_calibration_get(&c), 0);
	CHECK_EQ(ipcwait_calibration_get(&c), 0);
	CHECK(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	close(ends[1]);
	n = read(ends[0], text, sizeof(text) - 1);
	CHECK(n >= 0);
	text[n] = '\0';
	close(ends[0]);
	return text;
}

static void check_believed(void)
{
	struct ipcwait_calibration c;

	CHECK_EQ(strlen(warnings()), 0);
	CHECK_EQ(ipcwait_calibration_get(&c), 0);
	CHECK_EQ(c.is_from_cache, 1);
	CHECK_EQ(c.samples_used, 400);
	CHECK_EQ(c.latency_ns, 20000);
	CHECK_EQ(c.waker_ns, 10000);
	CHECK_EQ(c.block_ns, 30000);
	CHECK_EQ(c.pair_count, 2);
	CHECK_EQ(c.size, sizeof(c));
}

static void check_not_believed(void)
{
	struct ipcwait_calibration c;

	CHECK_EQ(ipcwait_calibration_get(&c), 0);
	CHECK_EQ(c.is_from_cache, 0);
	CHECK_EQ(c.samples_used, 0);
	CHECK_EQ(c.pair_count, 0);
	CHECK(c.block_ns == 10000 || c.block_ns == 30000);
	CHECK_EQ(c.block_ns, c.latency_ns + c.waker_ns);
}

static void check_ignored_silently(void)
{
	CHECK_EQ(strlen(warnings()), 0);
	check_not_believed();
}

/* One line, which has the word. */
static void check_ignored_with(const char *word)
{
	const char *text = warnings();

	CHECK(strncmp(text, "libipcwait: ", 12) == 0);
	CHECK(strchr(text, '\n') == text + strlen(text) - 1);
	CHECK(strlen(text) < 160 && !strchr(text, '\033'));
	if (!strstr(text, word)) {
		fprintf(stderr, "no '%s' in: %s", word, text);
		CHECK(false);
	}
	check_not_believed();
}

static void saved_is_believed(void)
{
	struct stat st;

	save_example();
	CHECK(stat(path, &st) == 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	check_believed();
}

static void no_file_is_silent(void)
{
	check_ignored_silently();
}

static void saved_over_what_was_there(void)
{
	write_file("garbage", 7);
	save_example();
	check_believed();
}

static void empty(void)
{
	write_file("", 0);
	check_ignored_with("damaged");
}

/* As long as is read at all, and all of it lines that begin well. */
static void sixty_four_kilobytes(void)
{
	static char bytes[65536];
	size_t n;

	save_example();
	n = read_file(bytes, sizeof(bytes));
	memset(bytes + n, '\n', sizeof(bytes) - n);
	write_file(bytes, sizeof(bytes));
	check_ignored_with("damaged");
}

/* Save the example with another value in the line of this name, and the right sum. */
static void save_with(const char *name, const char *value)
{
	char *bytes = malloc(16384 + strlen(value)), *line, *rest, *end;
	char begin[32];

	CHECK(bytes != NULL);
	save_example();
	(void)read_file(bytes, 16384);
	snprintf(begin, sizeof(begin), "\n%s ", name);
	line = strstr(bytes, begin);
	CHECK(line != NULL);
	line += strlen(begin);
	rest = strchr(line, '\n');
	memmove(line + strlen(value), rest, strlen(rest) + 1);
	memcpy(line, value, strlen(value));
	end = strstr(line, "\nend ") + 1;
	end += sprintf(end, "end %08x\n",
		       (unsigned)iw_fnv(IW_FNV_BEGIN, bytes, (size_t)(end - bytes)));
	write_file(bytes, (size_t)(end - bytes));
	free(bytes);
}

static void another_boot(void)
{
	save_with("boot", "00000000-0000-4000-8000-000000000000");
	check_ignored_silently();
}

/* So that the next one tests what it says. */
static void another_figure(void)
{
	save_with("pause_ps", "26013");
	check_believed();
}

static const char *bad_name, *bad_value;

static void bad_field(void)
{
	save_with(bad_name, bad_value);
	check_ignored_with(strlen(bad_value) > 65536 ? "long" : "damaged");
}

static void check_bad_field(const char *name, const char *value)
{
	bad_name = name;
	bad_value = value;
	if (check_in_child(bad_field) != 0) {
		fprintf(stderr, "%s %.40s\n", name, value);
		CHECK(false);
	}
}

static void every_bad_value_of_every_field(void)
{
	/* With a NUL between them, and the empty one last. */
	static const char values[] =
		"nan\0inf\0garbage\0001e3\0001.5\0000x1\0+1\0 1\0001 \0"
		"1 1 1 1 1 1 1\0-1000000001\0004294967296000000\0"
		"18446744073709551617\0\033[31m\0\xff\0";
	static char megabyte[MEGABYTE + 1];

	memset(megabyte, '7', MEGABYTE);
	for (unsigned i = 0; i < IW_FIGURES + 2; i++) {
		const char *name = i < IW_FIGURES ? iw_figures[i].name
						  : (i == IW_FIGURES ? "pair" : "age");

		for (size_t at = 0; at < sizeof(values); at += strlen(values + at) + 1)
			check_bad_field(name, values + at);
		check_bad_field(name, megabyte);
	}
}

static void a_link(void)
{
	char real[80];

	save_example();
	snprintf(real, sizeof(real), "%s.real", path);
	CHECK(rename(path, real) == 0);
	CHECK(symlink(real, path) == 0);
	check_ignored_with("regular");
}

static void a_folder(void)
{
	CHECK(mkdir(path, 0700) == 0);
	check_ignored_with("regular");
}

/* Opening it must not wait for somebody who writes. */
static void a_pipe(void)
{
	CHECK(mkfifo(path, 0600) == 0);
	check_ignored_with("regular");
}

static void writable_by_all(void)
{
	save_example();
	CHECK(chmod(path, 0602) == 0);
	check_ignored_with("alone");
}

static void writable_by_the_group(void)
{
	save_example();
	CHECK(chmod(path, 0620) == 0);
	check_ignored_with("alone");
}

static void readable_by_all(void)
{
	save_example();
	CHECK(chmod(path, 0644) == 0);
	check_believed();
}

/* Only root can give files away; a user's process cannot get into this state alone. */
static void of_another_user(void)
{
	save_example();
	if (geteuid() != 0)
		return;
	CHECK(chown(path, 12345, (gid_t)-1) == 0);
	check_ignored_with("alone");
}

static void environment_none(void)
{
	char found[8];
	struct ipcwait_calibration c = calibration_example(1);

	set("IPCWAIT_CALIBRATION", "none");
	check_ignored_silently();
	CHECK_EQ(ipcwait_calibration_path(found, sizeof(found)), -ENOENT);
	CHECK_EQ(ipcwait_calibration_save(&c), -ENOENT);
}

/* What is said about the variable does not keep the default from being read. */
static void environment_bad_takes_the_default(void)
{
	CHECK(unsetenv("IPCWAIT_CALIBRATION") == 0);
	set("XDG_CACHE_HOME", folder);
	save_example();
	set("IPCWAIT_CALIBRATION", "relative");
	CHECK(strstr(warnings(), "IPCWAIT_CALIBRATION"));
	CHECK(iw_facts()->calibrated);
}

static void check_path(const char *want)
{
	char found[256] = "";

	CHECK_EQ(ipcwait_calibration_path(found, sizeof(found)), strlen(want));
	if (strcmp(found, want) != 0) {
		fprintf(stderr, "%s, not %s\n", found, want);
		CHECK(false);
	}
}

static void paths(void)
{
	char found[8] = "unused";

	check_path(path);
	CHECK_EQ(ipcwait_calibration_path(NULL, 100), -EINVAL);
	CHECK_EQ(ipcwait_calibration_path(found, sizeof(found)), -ENAMETOOLONG);
	CHECK(strcmp(found, "unused") == 0);
	CHECK_EQ(ipcwait_calibration_path(found, 0), -ENAMETOOLONG);
	CHECK(unsetenv("IPCWAIT_CALIBRATION") == 0);
	set("XDG_CACHE_HOME", "/x");
	set("HOME", "/h");
	check_path("/x/ipcwait/calibration");
	set("XDG_CACHE_HOME", "relative");
	check_path("/h/.cache/ipcwait/calibration");
	set("XDG_CACHE_HOME", "");
	check_path("/h/.cache/ipcwait/calibration");
	set("HOME", "");
	CHECK_EQ(ipcwait_calibration_path(found, sizeof(found)), -ENOENT);
	CHECK(unsetenv("HOME") == 0);
	CHECK_EQ(ipcwait_calibration_path(found, sizeof(found)), -ENOENT);
}

static void default_folder_is_made(void)
{
	char cache[64];
	struct stat st;

	CHECK(unsetenv("IPCWAIT_CALIBRATION") == 0);
	CHECK(unsetenv("XDG_CACHE_HOME") == 0);
	set("HOME", folder);
	save_example();
	snprintf(cache, sizeof(cache), "%s/.cache/ipcwait", folder);
	CHECK(stat(cache, &st) == 0);
	CHECK_EQ(st.st_mode & 07777, 0700);
	check_believed();
}

static void named_folder_is_not_made(void)
{
	struct ipcwait_calibration c = calibration_example(1);
	char deep[80];

	snprintf(deep, sizeof(deep), "%s/no/such", folder);
	set("IPCWAIT_CALIBRATION", deep);
	CHECK_EQ(ipcwait_calibration_save(&c), -ENOENT);
	check_ignored_silently();
}

static void nothing_is_left_when_saving_fails(void)
{
	struct ipcwait_calibration c = calibration_example(1);

	CHECK(mkdir(path, 0700) == 0);
	errno = 4711;
	CHECK_EQ(ipcwait_calibration_save(&c), -EISDIR);
	CHECK_EQ(errno, 4711);
	CHECK(rmdir(path) == 0);
	/* Empty, or this would fail. */
	CHECK(rmdir(folder) == 0);
	CHECK(mkdir(folder, 0700) == 0);
}

static void bad_calibrations_are_not_saved(void)
{
	struct ipcwait_calibration c = calibration_example(1);
	char room[sizeof(c) + 8];

	CHECK_EQ(ipcwait_calibration_save(NULL), -EINVAL);
	CHECK_EQ(ipcwait_calibration_save((void *)(room + (8 - (uintptr_t)room % 8) + 1)),
		 -EINVAL);
	c.pair_count = 0;
	CHECK_EQ(ipcwait_calibration_save(&c), -EINVAL);
	/* As an older program would have it: what it does not know is not there. */
	c = calibration_example(1);
	c.size = offsetof(struct ipcwait_calibration, pair);
	CHECK_EQ(ipcwait_calibration_save(&c), -EINVAL);
	memset(&c, 0xff, sizeof(c));
	CHECK_EQ(ipcwait_calibration_save(&c), -EINVAL);
	CHECK(access(path, F_OK) != 0);
}

/* The engine begins with it, and goes on with what it learns. */
static void the_engine_uses_it(void)
{
	struct ipcwait_calibration c = calibration_example(1);
	struct ipcwait_stats st;

	for (unsigned i = 0; i < IPCWAIT_IDLE_AGES; i++) {
		c.pair[0].latency[i].p10_ns = c.pair[0].latency[i].median_ns = 5432;
		c.pair[0].latency[i].waker_ns = 2100;
	}
	CHECK_EQ(ipcwait_calibration_save(&c), 0);
	CHECK(ipcwait_stats_get(&st, sizeof(st)) > 0);
	CHECK_EQ(st.block_cost_ns, 7532);
	CHECK_EQ(st.block_samples, 0);
}

static void make_folder(void)
{
	strcpy(strrchr(folder, '-') + 1, "XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/calibration", folder);
}

static int set_up(void **state)
{
	(void)state;
	make_folder();
	set("IPCWAIT_CALIBRATION", path);
	return 0;
}

static int tear_down(void **state)
{
	char command[80];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

#define FILE_TEST(body)                                                   \
	{                                                                 \
#body, run_in_child, set_up, tear_down, &(void (*)(void)) \
		{                                                         \
			body                                              \
		}                                                         \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(saved_is_believed),
		FILE_TEST(no_file_is_silent),
		FILE_TEST(saved_over_what_was_there),
		FILE_TEST(empty),
		FILE_TEST(sixty_four_kilobytes),
		FILE_TEST(another_boot),
		FILE_TEST(another_figure),
		FILE_TEST(every_bad_value_of_every_field),
		FILE_TEST(a_link),
		FILE_TEST(a_folder),
		FILE_TEST(a_pipe),
		FILE_TEST(writable_by_all),
		FILE_TEST(writable_by_the_group),
		FILE_TEST(readable_by_all),
		FILE_TEST(of_another_user),
		FILE_TEST(environment_none),
		FILE_TEST(environment_bad_takes_the_default),
		FILE_TEST(paths),
		FILE_TEST(default_folder_is_made),
		FILE_TEST(named_folder_is_not_made),
		FILE_TEST(nothing_is_left_when_saving_fails),
		FILE_TEST(bad_calibrations_are_not_saved),
		FILE_TEST(the_engine_uses_it),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	iw_facts_forget();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
