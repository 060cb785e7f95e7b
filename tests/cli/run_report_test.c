/* SPDX-License-Identifier: MIT */
/* What `ipcwait run --stats` says of the reasons for which waits slept. */
#include <stdio.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "../cli/run.h"
#include "../tools/common/complain.h"

const char program_name[] = "run_report_test";

static char text[4096];

int run_status_of(int wait_status)
{
	return wait_status;
}

/* The report's last line, of a program whose waits slept for these reasons. */
static const char *line(const uint64_t reasons[IPCWAIT_REASON_COUNT])
{
	static const struct run_program program;
	struct run_report r = { .program = &program, .counts = { .programs = 1 } };
	FILE *f = fmemopen(text, sizeof(text), "w");
	char *end, *last;

	assert_non_null(f);
	program_command = "run";
	memcpy(r.counts.counters.reasons, reasons, sizeof(r.counts.counters.reasons));
	run_print(f, &r);
	assert_int_equal(fclose(f), 0);
	end = strrchr(text, '\n');
	assert_true(end && end[1] == 0);
	*end = 0;
	last = strrchr(text, '\n');
	return last + 1;
}

static void says(const char *want, const uint64_t reasons[IPCWAIT_REASON_COUNT])
{
	assert_string_equal(line(reasons), want);
}

static void test_the_most_frequent_three(void **state)
{
	(void)state;
	says("  Reasons to sleep: probe (40 %), same_cpu (30 %), stolen (20 %).",
	     (const uint64_t[IPCWAIT_REASON_COUNT]){ [IPCWAIT_REASON_CROWDED] = 10,
						     [IPCWAIT_REASON_STOLEN] = 20,
						     [IPCWAIT_REASON_PROBE] = 40,
						     [IPCWAIT_REASON_SAME_CPU] = 30 });
}

static void test_none_that_is_rare(void **state)
{
	(void)state;
	says("  Reasons to sleep: probe (99 %), one_cpu (1 %).",
	     (const uint64_t[IPCWAIT_REASON_COUNT]){ [IPCWAIT_REASON_PROBE] = 98900,
						     [IPCWAIT_REASON_ONE_CPU] = 1001,
						     [IPCWAIT_REASON_STOLEN] = 99 });
}

/* Two that are as frequent come both. */
static void test_equals(void **state)
{
	(void)state;
	says("  Reasons to sleep: one_cpu (50 %), stolen (50 %).",
	     (const uint64_t[IPCWAIT_REASON_COUNT]){
		     [IPCWAIT_REASON_STOLEN] = 7, [IPCWAIT_REASON_ONE_CPU] = 7 });
}

static void test_none(void **state)
{
	(void)state;
	assert_null(strstr(line((const uint64_t[IPCWAIT_REASON_COUNT]){ 0 }), "Reasons"));
	assert_null(strstr(
		line((const uint64_t[IPCWAIT_REASON_COUNT]){ [IPCWAIT_REASON_NONE] = 5 }),
		"Reasons"));
}

/* The report of 200 waits of which 50 began beside their waker. */
static const char *report_of_moves(const uint64_t moves[COUNTERS_MOVES])
{
	static char *argv[] = { (char *)"program", NULL };
	static const struct run_program program = { .argv = argv };
	struct run_report r = { .program = &program, .counts = { .programs = 1 } };
	FILE *f = fmemopen(text, sizeof(text), "w");

	assert_non_null(f);
	r.counts.counters.all = (struct ipcwait_kind_stats){
		.spun = 90, .slept = 60, .expired = 40, .interrupted = 10
	};
	r.counts.counters.reasons[IPCWAIT_REASON_SAME_CPU] = 50;
	memcpy(r.counts.counters.moves, moves, sizeof(r.counts.counters.moves));
	run_print(f, &r);
	run_write_json(f, &r);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void test_beside_the_waker(void **state)
{
	const char *report = report_of_moves((const uint64_t[COUNTERS_MOVES]){ 0 });

	(void)state;
	assert_non_null(strstr(
		report, "  50 of 200 waits (25 %) began on the CPU of their waker.\n{"));
	assert_null(strstr(report, "moved"));
}

static void test_moves(void **state)
{
	(void)state;
	assert_non_null(strstr(
		report_of_moves((const uint64_t[COUNTERS_MOVES]){ 7, 1, 4, 2 }),
		"  Threads moved to another CPU: 7, of which 4 stayed (it paid), 1 went "
		"back, 2 undone.\n"));
	assert_non_null(
		strstr(report_of_moves((const uint64_t[COUNTERS_MOVES]){ 9, 1, 4, 2 }),
		       "2 undone, 2 not decided.\n"));
	assert_non_null(strstr(text, "\"apart\": 9"));
	assert_non_null(strstr(text, "\"back\": 1"));
	assert_non_null(strstr(text, "\"kept\": 4"));
	assert_non_null(strstr(text, "\"undone\": 2"));
}

/* All of the report, of a tree of processes that started @n programs without the module. */
static const char *report_of(uint64_t n)
{
	static char *argv[] = { (char *)"program", NULL };
	static const struct run_program program = { .argv = argv };
	struct run_report r = { .program = &program,
				.counts = { .programs = 1, .left_out = n } };
	FILE *f = fmemopen(text, sizeof(text), "w");

	assert_non_null(f);
	run_print(f, &r);
	run_write_json(f, &r);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void test_programs_without_the_module(void **state)
{
	(void)state;
	assert_null(strstr(report_of(0), "without the module"));
	assert_non_null(strstr(report_of(1), "1 program was started without the module"));
	assert_non_null(strstr(report_of(2), "2 programs were started without the module"));
	assert_non_null(strstr(report_of(2), "\"left_out\": 2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_most_frequent_three),
		cmocka_unit_test(test_none_that_is_rare),
		cmocka_unit_test(test_equals),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_beside_the_waker),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_programs_without_the_module),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
