/* SPDX-License-Identifier: MIT */
/* What ipcwait calibrate writes as JSON: a figure that was not measured is null, and never 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "../cli/calibrate.h"

static const struct options options = { .no_save = true };
static struct calibrate_result r;
static char *text;

static void write_it(void)
{
	size_t size;
	FILE *f = open_memstream(&text, &size);

	CHECK(f != NULL);
	r.options = &options;
	calibrate_write_json(f, &r);
	CHECK_EQ(fclose(f), 0);
}

/* How often the text has that. */
static unsigned times(const char *what)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

/* Each of the names, which are figures, with this value, so often in all. */
static void assert_figures(const char *value, unsigned in_pair, unsigned in_latency)
{
	static const char *const once[] = { "empty_wake_ns",  "latency_ns",
					    "sleeper_cpu_ns", "timer_ns",
					    "timer_p90_ns",   "block_ns" };
	static const char *const latency[] = { "p10_ns", "median_ns", "p90_ns" };
	char line[64];

	for (unsigned i = 0; i < sizeof(once) / sizeof(once[0]); i++) {
		snprintf(line, sizeof(line), "\"%s\": %s", once[i], value);
		CHECK_EQ(times(line), 1);
	}
	for (unsigned i = 0; i < sizeof(latency) / sizeof(latency[0]); i++) {
		snprintf(line, sizeof(line), "\"%s\": %s", latency[i], value);
		CHECK_EQ(times(line), in_latency);
	}
	snprintf(line, sizeof(line), "\"line_ns\": %s", value);
	CHECK_EQ(times(line), 1 + in_pair);
	snprintf(line, sizeof(line), "\"waker_ns\": %s", value);
	CHECK_EQ(times(line), 1 + in_latency);
}

/* Counts and ages are there, and 0. */
static void nothing_measured(void)
{
	r = (struct calibrate_result){ .now = { .pair_count = 1 } };
	write_it();
	assert_figures("null", 1, IPCWAIT_IDLE_AGES);
	CHECK_EQ(times("\"idle_ns\": 0"), IPCWAIT_IDLE_AGES);
	CHECK_EQ(times("\"samples_used\": 0"), 1 + IPCWAIT_IDLE_AGES);
	CHECK_EQ(times("\"samples_discarded\": 0"), 1 + IPCWAIT_IDLE_AGES);
	CHECK_EQ(times("\"counter_offset_ns\": 0"), 1);
	CHECK_EQ(times("\"nearest_shared\": null"), 1);
	CHECK_EQ(times("\"waker_cpu\": 0"), 1);
	CHECK_EQ(times("\"saved_in\": null"), 1);
	free(text);
}

/* The least that can be measured. */
static void one_of_each(void)
{
	struct ipcwait_calibration *c = &r.now;

	r = (struct calibrate_result){ .now = { .pair_count = 1 } };
	c->line_ns = c->empty_wake_ns = c->latency_ns = c->waker_ns = 1;
	c->sleeper_cpu_ns = c->timer_ns = c->timer_p90_ns = c->block_ns = 1;
	c->pair[0].line_ns = 1;
	for (unsigned i = 0; i < IPCWAIT_IDLE_AGES; i++)
		c->pair[0].latency[i] = (struct ipcwait_wake_latency){
			.p10_ns = 1, .median_ns = 1, .p90_ns = 1, .waker_ns = 1
		};
	write_it();
	assert_figures("1", 1, IPCWAIT_IDLE_AGES);
	free(text);
}

/* That no other program ran is a figure; that it is not known is none. */
static void other_programs(void)
{
	static const struct {
		double cpus;
		const char *want;
	} rows[] = { { -1, "null" }, { -0.01, "null" }, { 0, "0" }, { 1.5, "1.5" } };
	char line[64];

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		r = (struct calibrate_result){ .other_cpus = rows[i].cpus };
		write_it();
		snprintf(line, sizeof(line), "\"other_programs_cpus\": %s", rows[i].want);
		CHECK_EQ(times(line), 1);
		CHECK_EQ(times("\"other_programs_cpus\": null"), rows[i].cpus < 0);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(nothing_measured),
		CHILD_TEST(one_of_each),
		CHILD_TEST(other_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
