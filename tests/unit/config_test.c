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

/* Illegal in each variable. So is a megabyte of anything. */
static const char *const bad_values[] = {
	"garbage",
	"-1",
	"-99999999999999999999999999",
	"101000",
	"4294967296",
	"4294967297",
	"18446744073709551616",
	"18446744073709551617",
	"99999999999999999999999999",
	"0000000000000000000",
	"nan",
	"NaN",
	"inf",
	"-inf",
	"1e3",
	"1.0",
	"0x1",
	"+1",
	" 1",
	"1 ",
	"1\n",
	"1,000",
	"1us",
	",",
	",,,",
	"1,1,0,0,0",
	"/\033[31m",
	"/a\nb",
	"/\x7f",
	"\x01",
	"\xb2",
	"\xff\xfe",
	"Adaptive",
	"SPIN",
	" spin",
	"spin ",
	"spin\n",
	"spi",
	"spinn",
	"inherit",
	"adaptive,block",
	"relative/path",
};

/* A megabyte of one character, to be freed. */
static char *long_text(char c)
{
	char *text = malloc(MEGABYTE + 1);

	CHECK(text != NULL);
	memset(text, c, MEGABYTE);
	text[MEGABYTE] = '\0';
	return text;
}

static const struct iw_setting *setting(const char *name)
{
	for (unsigned i = 0; i < IW_SETTINGS; i++)
		if (strcmp(iw_settings[i].name, name) == 0)
			return &iw_settings[i];
	fail_msg("no such variable: %s", name);
	return NULL;
}

static struct iw_config take(const char *name, const char *text)
{
	struct iw_config c = { .preset = IPCWAIT_INHERIT, .spin_budget_percent = -1 };

	if (!setting(name)->take(&c, text))
		fail_msg("%s=%s was not taken", name, text);
	return c;
}

static void test_good_values(void **state)
{
	(void)state;
	assert_int_equal(take("IPCWAIT_POLICY", "adaptive").preset, IPCWAIT_ADAPTIVE);
	assert_int_equal(take("IPCWAIT_POLICY", "latency").preset, IPCWAIT_LATENCY);
	assert_int_equal(take("IPCWAIT_POLICY", "power").preset, IPCWAIT_POWER);
	assert_int_equal(take("IPCWAIT_POLICY", "spin").preset, IPCWAIT_SPIN);
	assert_int_equal(take("IPCWAIT_POLICY", "block").preset, IPCWAIT_BLOCK);
	assert_int_equal(take("IPCWAIT_POLICY", "haltpoll").preset, IPCWAIT_HALTPOLL);
	assert_int_equal(take("IPCWAIT_POLICY", "ticks").preset, IPCWAIT_TICKS);
	assert_int_equal(take("IPCWAIT_MAX_SPIN_US", "1").max_spin_us, 1);
	assert_int_equal(take("IPCWAIT_MAX_SPIN_US", "100000").max_spin_us, 100000);
	assert_int_equal(take("IPCWAIT_MAX_SPIN_US", "010").max_spin_us, 10);
	assert_int_equal(take("IPCWAIT_SPIN_BUDGET", "0").spin_budget_percent, 0);
	assert_int_equal(take("IPCWAIT_SPIN_BUDGET", "100").spin_budget_percent, 100);
	assert_int_equal(take("IPCWAIT_SPIN_BUDGET", "007").spin_budget_percent, 7);
	assert_true(take("IPCWAIT_STATS", "1").stats);
	assert_false(take("IPCWAIT_STATS", "0").stats);
	assert_true(take("IPCWAIT_EXPLAIN", "1").explain);
	assert_false(take("IPCWAIT_EXPLAIN", "0").explain);
	assert_string_equal(take("IPCWAIT_RECORD", "/tmp/a b").record_path, "/tmp/a b");
	assert_string_equal(take("IPCWAIT_RECORD", "/%%/%p").record_path, "/%%/%p");
}

static void test_haltpoll(void **state)
{
	static const struct {
		const char *text;
		struct iw_haltpoll want;
	} rows[] = {
		{ "200000,2,50000,2", { 200000, 2, 50000, 2 } },
		{ "1,1,0,0", { 1, 1, 0, 0 } },
		{ "100000000,1000,100000000,1000", { 100000000, 1000, 100000000, 1000 } },
		{ "00010,02,0,007", { 10, 2, 0, 7 } },
		/* To start with more than the most is allowed, as it is by the kernel. */
		{ "1000,2,50000,2", { 1000, 2, 50000, 2 } },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct iw_config c = take("IPCWAIT_HALTPOLL", rows[i].text);

		assert_memory_equal(&c.haltpoll, &rows[i].want, sizeof(c.haltpoll));
	}
}

/* Each a little beyond what is legal. */
static void test_limits(void **state)
{
	static const char *const rows[][2] = {
		{ "IPCWAIT_MAX_SPIN_US", "0" },
		{ "IPCWAIT_MAX_SPIN_US", "00" },
		{ "IPCWAIT_MAX_SPIN_US", "100001" },
		{ "IPCWAIT_SPIN_BUDGET", "101" },
		{ "IPCWAIT_STATS", "2" },
		{ "IPCWAIT_STATS", "yes" },
		{ "IPCWAIT_EXPLAIN", "2" },
		{ "IPCWAIT_EXPLAIN", "true" },
		{ "IPCWAIT_RECORD", "none" },
		{ "IPCWAIT_RECORD", "/tmp/%d" },
		{ "IPCWAIT_RECORD", "/tmp/%" },
		{ "IPCWAIT_HALTPOLL", "0,2,50000,2" },
		{ "IPCWAIT_HALTPOLL", "100000001,2,50000,2" },
		{ "IPCWAIT_HALTPOLL", "200000,0,50000,2" },
		{ "IPCWAIT_HALTPOLL", "200000,1001,50000,2" },
		{ "IPCWAIT_HALTPOLL", "200000,2,100000001,2" },
		{ "IPCWAIT_HALTPOLL", "200000,2,50000,1001" },
		{ "IPCWAIT_HALTPOLL", "200000,2,50000" },
		{ "IPCWAIT_HALTPOLL", "200000,2,50000," },
		{ "IPCWAIT_HALTPOLL", "200000,2,50000,2,2" },
		{ "IPCWAIT_HALTPOLL", "200000,2,50000,2," },
		{ "IPCWAIT_HALTPOLL", ",2,50000,2" },
		{ "IPCWAIT_HALTPOLL", "200000,,50000,2" },
		{ "IPCWAIT_HALTPOLL", ",,," },
		{ "IPCWAIT_HALTPOLL", "200000, 2,50000,2" },
		{ "IPCWAIT_HALTPOLL", "200000;2;50000;2" },
		{ "IPCWAIT_HALTPOLL", "200000,2,-1,2" },
		{ "IPCWAIT_HALTPOLL", "+200000,2,50000,2" },
		{ "IPCWAIT_HALTPOLL", "2e5,2,50000,2" },
		{ "IPCWAIT_HALTPOLL", "4295167296,2,50000,2" },
		{ "IPCWAIT_HALTPOLL", "18446744073709751616,2,50000,2" },
		{ "IPCWAIT_HALTPOLL", "0000000000000200000,2,50000,2" },
		{ "IPCWAIT_HALTPOLL", "000000000000000000000000200000,2,50000,2" },
	};
	struct iw_config c, unchanged;

	(void)state;
	memset(&c, 0x5a, sizeof(c));
	unchanged = c;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (setting(rows[i][0])->take(&c, rows[i][1]))
			fail_msg("%s=%s was taken", rows[i][0], rows[i][1]);
		assert_memory_equal(&c, &unchanged, sizeof(c));
	}
}

static void test_longest_path(void **state)
{
	char text[IW_CONFIG_PATH_BYTES + 1], path[IW_CONFIG_PATH_BYTES] = "unchanged";

	(void)state;
	memset(text, '/', sizeof(text));
	text[IW_CONFIG_PATH_BYTES] = '\0';
	assert_false(iw_config_take_path(path, text));
	assert_string_equal(path, "unchanged");
	text[IW_CONFIG_PATH_BYTES - 1] = '\0';
	assert_true(iw_config_take_path(path, text));
	assert_string_equal(path, text);
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

static void check_haltpoll(const struct iw_haltpoll *p, uint32_t most, uint32_t grow,
			   uint32_t start, uint32_t shrink)
{
	CHECK_EQ(p->guest_halt_poll_ns, most);
	CHECK_EQ(p->guest_halt_poll_grow, grow);
	CHECK_EQ(p->guest_halt_poll_grow_start, start);
	CHECK_EQ(p->guest_halt_poll_shrink, shrink);
}

static void check_defaults(void)
{
	const struct iw_config *c = &iw_facts()->config;

	CHECK_EQ(c->preset, IPCWAIT_INHERIT);
	CHECK_EQ(c->max_spin_us, 0);
	CHECK_EQ(c->spin_budget_percent, -1);
	check_haltpoll(&c->haltpoll, 200000, 2, 50000, 2);
	CHECK(!c->stats && !c->explain);
	CHECK_EQ(c->record_path[0], 0);
	CHECK(!iw_facts()->calibrated);
}

static void nothing_set_is_silent(void)
{
	CHECK_EQ(lines_in(warnings()), 0);
	check_defaults();
}

static void good_values_are_silent(void)
{
	const struct iw_config *c;

	set("IPCWAIT_POLICY", "power");
	set("IPCWAIT_MAX_SPIN_US", "17");
	set("IPCWAIT_SPIN_BUDGET", "30");
	set("IPCWAIT_HALTPOLL", "100000,3,20000,4");
	set("IPCWAIT_STATS", "0");
	set("IPCWAIT_EXPLAIN", "0");
	CHECK_EQ(lines_in(warnings()), 0);
	c = &iw_facts()->config;
	CHECK_EQ(c->preset, IPCWAIT_POWER);
	CHECK_EQ(c->max_spin_us, 17);
	CHECK_EQ(c->spin_budget_percent, 30);
	check_haltpoll(&c->haltpoll, 100000, 3, 20000, 4);
	CHECK(!c->stats && !c->explain);
	CHECK_EQ(c->record_path[0], 0);
}

static void empty_is_not_set(void)
{
	for (unsigned i = 0; i < IW_SETTINGS; i++)
		set(iw_settings[i].name, "");
	CHECK_EQ(lines_in(warnings()), 0);
	check_defaults();
}

static const char *bad_name, *bad_value;

/* One line that names the variable, and as much of the value as can be shown. */
static void bad_value_warns_once(void)
{
	const char *text;
	char begin[64];

	snprintf(begin, sizeof(begin), "libipcwait: %s='", bad_name);
	set(bad_name, bad_value);
	text = warnings();
	CHECK_EQ(lines_in(text), 1);
	CHECK(strlen(text) < 256 && text[strlen(text) - 1] == '\n');
	CHECK(strstr(text, "' ignored: not "));
	for (const char *c = text; c[1]; c++)
		CHECK(*c >= ' ' && *c <= '~');
	if (strncmp(text, begin, strlen(begin)) != 0) {
		fprintf(stderr, "not '%s...': %s", begin, text);
		CHECK(false);
	}
	check_defaults();
}

static void check_bad(const char *name, const char *value)
{
	bad_name = name;
	bad_value = value;
	if (check_in_child(bad_value_warns_once) != 0)
		fail_msg("%s=%.40s", name, value);
}

static void check_all_bad(const char *name)
{
	static const char ends[] = "0/a";

	for (unsigned i = 0; i < sizeof(bad_values) / sizeof(bad_values[0]); i++)
		check_bad(name, bad_values[i]);
	for (const char *c = ends; *c; c++) {
		char *text = long_text(*c);

		check_bad(name, text);
		free(text);
	}
}

static void test_every_bad_value_of_every_variable(void **state)
{
	(void)state;
	for (unsigned i = 0; i < IW_SETTINGS; i++)
		check_all_bad(iw_settings[i].name);
	check_all_bad("IPCWAIT_CALIBRATION");
}

static void all_bad_warn_once_each(void)
{
	for (unsigned i = 0; i < IW_SETTINGS; i++)
		set(iw_settings[i].name, "nonsense");
	CHECK_EQ(lines_in(warnings()), IW_SETTINGS);
	check_defaults();
}

static void a_bad_value_spares_the_others(void)
{
	const char *text;

	set("IPCWAIT_POLICY", "sp\033[31min-zzz");
	set("IPCWAIT_MAX_SPIN_US", "17");
	text = warnings();
	CHECK_EQ(lines_in(text), 1);
	CHECK(strstr(text, "adaptive, latency, power, spin, block, haltpoll, ticks"));
	CHECK(strstr(text, "IPCWAIT_POLICY='sp?[31min-zzz' ignored"));
	CHECK_EQ(iw_facts()->config.preset, IPCWAIT_INHERIT);
	CHECK_EQ(iw_facts()->config.max_spin_us, 17);
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

/* Before the library has been loaded, and more threads than places to gather facts in. */
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
		cmocka_unit_test(test_good_values),
		cmocka_unit_test(test_haltpoll),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_longest_path),
		cmocka_unit_test(test_every_bad_value_of_every_variable),
		CHILD_TEST(good_values_are_silent),
		CHILD_TEST(empty_is_not_set),
		CHILD_TEST(nothing_set_is_silent),
		CHILD_TEST(all_bad_warn_once_each),
		CHILD_TEST(a_bad_value_spares_the_others),
		CHILD_TEST(stderr_closed_leaves_errno_alone),
		CHILD_TEST(many_threads_begin_at_once),
		CHILD_TEST(later_changes_are_ignored),
	};

	for (unsigned i = 0; i < IW_SETTINGS; i++)
		unsetenv(iw_settings[i].name);
	/* No calibration, and no default place for one that a bad value leads back to. */
	unsetenv("HOME");
	unsetenv("XDG_CACHE_HOME");
	set("IPCWAIT_CALIBRATION", "none");
	iw_facts_forget();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
