/* SPDX-License-Identifier: MIT */
/* lib/env/config.c: the environment, and what becomes of nonsense in it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "env/config.h"
#include "env/facts.h"

#define MEGABYTE (1024 * 1024)

static void test_presets(void **state)
{
	static const struct {
		const char *text;
		enum ipcwait_preset preset;
	} rows[] = {
		{ "adaptive", IPCWAIT_ADAPTIVE }, { "latency", IPCWAIT_LATENCY },
		{ "power", IPCWAIT_POWER },       { "spin", IPCWAIT_SPIN },
		{ "block", IPCWAIT_BLOCK },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum ipcwait_preset preset = IPCWAIT_INHERIT;

		assert_true(iw_config_parse_preset(rows[i].text, &preset));
		assert_int_equal(preset, rows[i].preset);
	}
}

static void test_no_presets(void **state)
{
	static const char *const texts[] = {
		"",       "Adaptive", "SPIN",  " spin",    "spin ",
		"spin\n", "spi",      "spinn", "inherit",  "0",
		"5",      "-1",       "*",     "\xff\xfe", "adaptive,block",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		enum ipcwait_preset preset = IPCWAIT_POWER;

		assert_false(iw_config_parse_preset(texts[i], &preset));
		assert_int_equal(preset, IPCWAIT_POWER);
	}
}

static void test_max_spins(void **state)
{
	static const struct {
		const char *text;
		uint32_t us;
	} rows[] = {
		{ "1", 1 },           { "200", 200 },           { "99999", 99999 },
		{ "100000", 100000 }, { "000000000000007", 7 }, { "010", 10 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t us = 0;

		assert_true(iw_config_parse_max_spin_us(rows[i].text, &us));
		assert_int_equal(us, rows[i].us);
	}
}

static void test_no_max_spins(void **state)
{
	static const char *const texts[] = {
		"",
		"0",
		"00",
		"-1",
		"+5",
		" 5",
		"5 ",
		"5\n",
		"0x10",
		"1e3",
		"5us",
		"100001",
		"4294967296",
		"4294967297",
		"5.0",
		",",
		"/",
		":",
		"1,000",
		"18446744073709551617",
		"99999999999999999999999999",
		"\xb2",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		uint32_t us = 77;

		assert_false(iw_config_parse_max_spin_us(texts[i], &us));
		assert_int_equal(us, 77);
	}
}

/* A megabyte of one character, to be freed. */
static char *long_text(char c)
{
	char *text = malloc(MEGABYTE + 1);

	CHECK(text != NULL);
	memset(text, c, MEGABYTE);
	text[MEGABYTE] = '\0';
	return text;
}

static void test_a_megabyte(void **state)
{
	enum ipcwait_preset preset = IPCWAIT_POWER;
	uint32_t us = 77;

	(void)state;
	for (const char *c = "0159 az"; *c; c++) {
		char *text = long_text(*c);

		assert_false(iw_config_parse_preset(text, &preset));
		assert_false(iw_config_parse_max_spin_us(text, &us));
		free(text);
	}
	assert_int_equal(preset, IPCWAIT_POWER);
	assert_int_equal(us, 77);
}

/* From here on in child processes. Stderr goes into a pipe until end_of_stderr(). */
static int stderr_pipe[2], saved_stderr;

static void begin_of_stderr(void)
{
	CHECK(pipe(stderr_pipe) == 0);
	saved_stderr = dup(STDERR_FILENO);
	CHECK(dup2(stderr_pipe[1], STDERR_FILENO) >= 0);
}

static void end_of_stderr(char *text, size_t size)
{
	ssize_t n;

	CHECK(dup2(saved_stderr, STDERR_FILENO) >= 0);
	close(stderr_pipe[1]);
	n = read(stderr_pipe[0], text, size - 1);
	CHECK(n >= 0);
	text[n] = '\0';
	CHECK_EQ(read(stderr_pipe[0], text + n, 1), 0);
}

static void wait_a_little(struct ipcwait_sem *s)
{
	CHECK_EQ(ipcwait_sem_wait_until(s, ipcwait_deadline_in_ns(20000)), -ETIMEDOUT);
}

static void *wait_in_thread(void *s)
{
	wait_a_little(s);
	return NULL;
}

/* Waits in several threads at once and one after the other. */
static void use_the_library(void)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);
	pthread_t thread[6];

	for (int i = 0; i < 6; i++)
		CHECK(pthread_create(&thread[i], NULL, wait_in_thread, &s) == 0);
	for (int i = 0; i < 6; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	for (int i = 0; i < 3; i++)
		wait_a_little(&s);
}

static unsigned lines_in(const char *text)
{
	unsigned lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void set(const char *name, const char *value)
{
	CHECK(setenv(name, value, 1) == 0);
}

/* Use the library in this environment. Returns what it wrote to stderr. */
static const char *warnings(void)
{
	static char text[4096];

	begin_of_stderr();
	use_the_library();
	end_of_stderr(text, sizeof(text));
	return text;
}

static void good_values_are_silent(void)
{
	set("IPCWAIT_POLICY", "power");
	set("IPCWAIT_MAX_SPIN_US", "17");
	CHECK_EQ(lines_in(warnings()), 0);
	CHECK_EQ(iw_facts()->config.preset, IPCWAIT_POWER);
	CHECK_EQ(iw_facts()->config.max_spin_us, 17);
}

static void nothing_set_is_silent(void)
{
	CHECK_EQ(lines_in(warnings()), 0);
	CHECK_EQ(iw_facts()->config.preset, IPCWAIT_INHERIT);
	CHECK_EQ(iw_facts()->config.max_spin_us, 0);
}

static void bad_policy_warns_once(void)
{
	const char *text;

	set("IPCWAIT_POLICY", "sp\033[31min-zzz");
	set("IPCWAIT_MAX_SPIN_US", "17");
	text = warnings();
	CHECK_EQ(lines_in(text), 1);
	CHECK(strstr(text, "libipcwait: IPCWAIT_POLICY "));
	CHECK(strstr(text, "adaptive, latency, power, spin, block"));
	CHECK(!strstr(text, "zzz"));
	CHECK(!strchr(text, '\033'));
	CHECK_EQ(iw_facts()->config.preset, IPCWAIT_INHERIT);
	CHECK_EQ(iw_facts()->config.max_spin_us, 17);
}

static void bad_max_spin_warns_once(void)
{
	const char *text;

	set("IPCWAIT_POLICY", "block");
	set("IPCWAIT_MAX_SPIN_US", "987654321");
	text = warnings();
	CHECK_EQ(lines_in(text), 1);
	CHECK(strstr(text, "libipcwait: IPCWAIT_MAX_SPIN_US "));
	CHECK(!strstr(text, "987654321"));
	CHECK_EQ(iw_facts()->config.preset, IPCWAIT_BLOCK);
	CHECK_EQ(iw_facts()->config.max_spin_us, 0);
}

static void two_bad_values_warn_once_each(void)
{
	const char *text;

	set("IPCWAIT_POLICY", "");
	set("IPCWAIT_MAX_SPIN_US", "");
	text = warnings();
	CHECK_EQ(lines_in(text), 2);
	CHECK(strstr(text, "IPCWAIT_POLICY") && strstr(text, "IPCWAIT_MAX_SPIN_US"));
}

static void a_megabyte_warns_once(void)
{
	char *text = long_text('7');
	const char *warned;

	set("IPCWAIT_POLICY", text);
	set("IPCWAIT_MAX_SPIN_US", text);
	warned = warnings();
	CHECK_EQ(lines_in(warned), 2);
	CHECK(strlen(warned) < 300);
	free(text);
}

/* A daemon may have closed it, or opened something else in its place. */
static void stderr_closed_leaves_errno_alone(void)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);
	int saved = dup(STDERR_FILENO), result, after;

	set("IPCWAIT_POLICY", "nonsense");
	close(STDERR_FILENO);
	errno = 4711;
	result = ipcwait_sem_wait_until(&s, ipcwait_deadline_in_ns(20000));
	after = errno;
	CHECK(dup2(saved, STDERR_FILENO) >= 0);
	CHECK_EQ(result, -ETIMEDOUT);
	CHECK_EQ(after, 4711);
}

static pthread_barrier_t start_line;

static void *wait_at_once(void *s)
{
	pthread_barrier_wait(&start_line);
	wait_a_little(s);
	return NULL;
}

/* More threads than there are places to gather facts in: some do without at first. */
static void many_threads_begin_at_once(void)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);
	pthread_t thread[40];
	char text[4096];

	set("IPCWAIT_POLICY", "nonsense");
	set("IPCWAIT_MAX_SPIN_US", "23");
	CHECK_EQ(pthread_barrier_init(&start_line, NULL, 40), 0);
	begin_of_stderr();
	for (int i = 0; i < 40; i++)
		CHECK(pthread_create(&thread[i], NULL, wait_at_once, &s) == 0);
	for (int i = 0; i < 40; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	end_of_stderr(text, sizeof(text));
	CHECK_EQ(lines_in(text), 1);
	CHECK(iw_facts() != NULL);
	CHECK_EQ(iw_facts()->config.max_spin_us, 23);
	wait_a_little(&s);
}

/* The environment is read once: what the program puts there later changes nothing. */
static void later_changes_are_ignored(void)
{
	set("IPCWAIT_POLICY", "spin");
	use_the_library();
	set("IPCWAIT_POLICY", "nonsense");
	CHECK_EQ(lines_in(warnings()), 0);
	CHECK_EQ(iw_facts()->config.preset, IPCWAIT_SPIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_presets),
		cmocka_unit_test(test_no_presets),
		cmocka_unit_test(test_max_spins),
		cmocka_unit_test(test_no_max_spins),
		cmocka_unit_test(test_a_megabyte),
		CHILD_TEST(good_values_are_silent),
		CHILD_TEST(nothing_set_is_silent),
		CHILD_TEST(bad_policy_warns_once),
		CHILD_TEST(bad_max_spin_warns_once),
		CHILD_TEST(two_bad_values_warn_once_each),
		CHILD_TEST(a_megabyte_warns_once),
		CHILD_TEST(stderr_closed_leaves_errno_alone),
		CHILD_TEST(many_threads_begin_at_once),
		CHILD_TEST(later_changes_are_ignored),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
