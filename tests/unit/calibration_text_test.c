/* SPDX-License-Identifier: MIT */
/*
 * The saved calibration as text: lib/env/calibration_{rules,format,parse}.c. What is not
 * exactly what the library writes is damaged, whatever it is, and is never believed. Random
 * changes are in tests/fuzz.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/calibration.h"
#include "common/cmocka_all.h"
#include "env/calibration_text.h"

static const struct iw_calibration_key key = {
	.part = { "5b1c9e20-7f43-4d18-9a6e-2c04d7b8f135", "6.1.0-18-amd64",
		  "AMD EPYC a10f11 KVMKVMKVM 1007efb", "haltpoll haltpoll 200000",
		  "2 a8cffdc6" },
};

static char text[2 * IW_CALIBRATION_TEXT_BYTES];
static size_t length;
static struct ipcwait_calibration parsed;

static void write_example(unsigned pairs)
{
	struct ipcwait_calibration c = calibration_example(pairs);
	int n = iw_calibration_format(text, &key, &c);

	assert_true(n > 0);
	length = (size_t)n;
	assert_int_equal(strlen(text), length);
}

/* In pieces of @step bytes, 0: all at once. */
static enum iw_calibration_verdict parse_as(const struct iw_calibration_key *k, size_t step)
{
	struct iw_calibration_parser p;

	iw_calibration_parse_begin(&p, k, &parsed);
	for (size_t at = 0; at < length; at += step ? step : length)
		iw_calibration_parse(&p, text + at,
				     step && step < length - at ? step : length - at);
	return iw_calibration_parse_end(&p);
}

static enum iw_calibration_verdict parse(void)
{
	return parse_as(&key, 0);
}

/* Make the last line right again, so that the rest is judged for itself. */
static void mend_sum(void)
{
	char *end = strstr(text, "\nend ");
	size_t body;

	assert_non_null(end);
	body = (size_t)(end + 1 - text);
	length = body + (size_t)sprintf(end + 1, "end %08" PRIx32 "\n",
					iw_fnv(IW_FNV_BEGIN, text, body));
}

/* Put @with in place of the first @what. */
static void replace(const char *what, const char *with)
{
	char rest[sizeof(text)];
	char *at = strstr(text, what);

	assert_non_null(at);
	strcpy(rest, at + strlen(what));
	strcpy(at, with);
	strcat(at, rest);
	length = strlen(text);
}

static void test_round_trip(void **state)
{
	(void)state;
	for (unsigned pairs = 1; pairs <= IPCWAIT_CALIBRATION_PAIRS; pairs++) {
		struct ipcwait_calibration c = calibration_example(pairs);

		c.size = 0;
		write_example(pairs);
		assert_int_equal(parse(), IW_CALIBRATION_GOOD);
		assert_memory_equal(&parsed, &c, sizeof(c));
		assert_int_equal(parse_as(&key, 1), IW_CALIBRATION_GOOD);
		assert_memory_equal(&parsed, &c, sizeof(c));
		assert_int_equal(parse_as(&key, 7), IW_CALIBRATION_GOOD);
		mend_sum();
		assert_int_equal(parse(), IW_CALIBRATION_GOOD);
	}
}

/* The longest text that a calibration can give has room. */
static void test_longest(void **state)
{
	struct iw_calibration_key wide;
	struct ipcwait_calibration c = calibration_example(IPCWAIT_CALIBRATION_PAIRS);

	(void)state;
	memset(&wide, 'x', sizeof(wide));
	for (unsigned i = 0; i < IW_KEY_PARTS; i++)
		wide.part[i][sizeof(wide.part[i]) - 1] = '\0';
	for (unsigned i = 0; i < IW_FIGURES; i++)
		iw_figure_set(&iw_figures[i], &c, iw_figures[i].max);
	c.timer_ns = c.timer_p90_ns;
	for (unsigned i = 0; i < c.pair_count; i++) {
		c.pair[i].cpu_a = 8190;
		c.pair[i].cpu_b = 8191;
		c.pair[i].line_ns = 1000000000;
		for (unsigned k = 0; k < IPCWAIT_IDLE_AGES; k++) {
			struct ipcwait_wake_latency *l = &c.pair[i].latency[k];

			l->p10_ns = l->median_ns = l->p90_ns = l->waker_ns = 1000000000;
			l->used = l->discarded = 1000000000;
		}
	}
	assert_true(iw_calibration_format(text, &wide, &c) > 0);
	length = strlen(text);
	assert_int_equal(parse_as(&wide, 0), IW_CALIBRATION_GOOD);
}

static void test_another_key_is_no_damage(void **state)
{
	(void)state;
	write_example(1);
	for (unsigned i = 0; i < IW_KEY_PARTS; i++) {
		struct iw_calibration_key other = key;

		other.part[i][0] ^= 1;
		assert_int_equal(parse_as(&other, 0), IW_CALIBRATION_OTHER);
		other.part[i][0] = '\0';
		assert_int_equal(parse_as(&other, 0), IW_CALIBRATION_OTHER);
	}
	/* But damage is damage whatever the key. */
	text[length - 3] ^= 1;
	for (unsigned i = 0; i < IW_KEY_PARTS; i++) {
		struct iw_calibration_key other = key;

		other.part[i][0] ^= 1;
		assert_int_equal(parse_as(&other, 0), IW_CALIBRATION_DAMAGED);
	}
}

/* Two unknown boots need not be the same one. */
static void test_an_unknown_boot_is_never_this_one(void **state)
{
	struct iw_calibration_key unknown = key;

	(void)state;
	strcpy(unknown.part[IW_KEY_BOOT], IW_KEY_UNKNOWN);
	write_example(1);
	replace(key.part[IW_KEY_BOOT], IW_KEY_UNKNOWN);
	mend_sum();
	assert_int_equal(parse_as(&unknown, 0), IW_CALIBRATION_OTHER);
	/* Any other part may be unknown. */
	unknown = key;
	strcpy(unknown.part[IW_KEY_IDLE], IW_KEY_UNKNOWN);
	write_example(1);
	replace(key.part[IW_KEY_IDLE], IW_KEY_UNKNOWN);
	mend_sum();
	assert_int_equal(parse_as(&unknown, 0), IW_CALIBRATION_GOOD);
}

static void test_another_version_is_no_damage(void **state)
{
	(void)state;
	write_example(1);
	replace("ipcwait-calibration 1", "ipcwait-calibration 2");
	assert_int_equal(parse(), IW_CALIBRATION_OTHER);
	strcpy(text, "ipcwait-calibration 27\n\xff\001 anything");
	length = strlen(text);
	assert_int_equal(parse(), IW_CALIBRATION_OTHER);
	strcpy(text, "ipcwait-calibration x\n");
	length = strlen(text);
	assert_int_equal(parse(), IW_CALIBRATION_DAMAGED);
	strcpy(text, "ipcwait-calibration 2");
	length = strlen(text);
	assert_int_equal(parse(), IW_CALIBRATION_DAMAGED);
}

static void test_every_truncation(void **state)
{
	size_t whole;

	(void)state;
	write_example(2);
	whole = length;
	for (length = 0; length < whole; length++)
		assert_int_equal(parse(), IW_CALIBRATION_DAMAGED);
}

static void test_every_flipped_bit(void **state)
{
	(void)state;
	write_example(1);
	for (size_t i = 0; i < 8 * length; i++) {
		enum iw_calibration_verdict verdict;

		text[i / 8] ^= (char)(1 << i % 8);
		verdict = parse();
		/* The version's digit can become another version's. */
		if (i / 8 == strlen(IW_CALIBRATION_MAGIC) && text[i / 8] >= '0' &&
		    text[i / 8] <= '9')
			assert_int_equal(verdict, IW_CALIBRATION_OTHER);
		else
			assert_int_equal(verdict, IW_CALIBRATION_DAMAGED);
		text[i / 8] ^= (char)(1 << i % 8);
	}
	assert_int_equal(parse(), IW_CALIBRATION_GOOD);
}

static void test_more_behind_the_end(void **state)
{
	static const char *const tails[] = {
		"\n", "x", "end\n", " ", "age 5000 19000 20000 30000 10000 32 0\n",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		write_example(1);
		strcat(text, tails[i]);
		length = strlen(text);
		assert_int_equal(parse(), IW_CALIBRATION_DAMAGED);
	}
	write_example(1);
	text[length++] = '\0';
	assert_int_equal(parse(), IW_CALIBRATION_DAMAGED);
}

/* What to replace, and with what. The sum is right in all of these: the line is wrong. */
static const char *const bad_lines[][2] = {
	{ "pause_ps 26012", "pause_ps 0" },
	{ "pause_ps 26012", "pause_ps -26012" },
	{ "pause_ps 26012", "pause_ps +26012" },
	{ "pause_ps 26012", "pause_ps  26012" },
	{ "pause_ps 26012", "pause_ps 26012 " },
	{ "pause_ps 26012", "pause_ps 26012 1" },
	{ "pause_ps 26012", "pause_ps 0x659c" },
	{ "pause_ps 26012", "pause_ps 26012.0" },
	{ "pause_ps 26012", "pause_ps nan" },
	{ "pause_ps 26012", "pause_ps inf" },
	{ "pause_ps 26012", "pause_ps" },
	{ "pause_ps 26012", "pause_ps " },
	{ "pause_ps 26012", "pause_ps\t26012" },
	{ "pause_ps 26012", "pause_ps 10000001" },
	{ "pause_ps 26012", "pause_ps 18446744073709551617" },
	{ "pause_ps 26012", "pause_ps 99999999999999999999999999999999999" },
	{ "pause_ps 26012", "pause_ns 26012" },
	{ "pause_ps 26012", "PAUSE_PS 26012" },
	{ "pause_ps 26012\n", "" },
	{ "pause_ps 26012\n", "pause_ps 26012\npause_ps 26012\n" },
	{ "pause_ps 26012\n", "\npause_ps 26012\n" },
	{ "pause_ps 26012\n", "pause_ps 26012\r\n" },
	{ "counter_offset_ns -12", "counter_offset_ns --12" },
	{ "counter_offset_ns -12", "counter_offset_ns -" },
	{ "counter_offset_ns -12", "counter_offset_ns -1000000001" },
	{ "counter_one_way 1", "counter_one_way 2" },
	{ "samples_used 400", "samples_used 0" },
	{ "samples_used 400", "samples_used 4294967696" },
	{ "timer_ns 60000", "timer_ns 70001" },
	{ "timer_ns 60000", "timer_ns 0" },
	{ "pair 3 0 1 111", "pair 6 0 1 111" },
	{ "pair 3 0 1 111", "pair 3 1 1 111" },
	{ "pair 3 0 1 111", "pair 3 0 8192 111" },
	{ "pair 3 0 1 111", "pair 4294967299 0 1 111" },
	{ "pair 3 0 1 111", "pair 3 0 1 0" },
	{ "pair 3 0 1 111", "pair 3 0 1 1000000001" },
	{ "pair 3 0 1 111", "pair 3 0 1" },
	{ "pair 3 0 1 111", "age 3 0 1 111" },
	{ "age 5000 19000", "age 5001 19000" },
	{ "age 5000 19000", "age 5000 0" },
	{ "age 5000 19000", "age 5000 20001" },
	{ "age 5000 19000 20000", "age 5000 19000 30001" },
	{ "30000 10000 32 0", "1000000001 10000 32 0" },
	{ "30000 10000 32 0", "30000 0 32 0" },
	{ "30000 10000 32 0", "30000 10000 0 0" },
	{ "30000 10000 32 0", "30000 10000 4294967328 0" },
	{ "30000 10000 32 0", "30000 10000 32 -1" },
	{ "30000 10000 32 0", "30000 10000 32" },
	{ "boot 5b1c", "boots 5b1c" },
	{ "boot 5b1c9e20-7f43-4d18-9a6e-2c04d7b8f135\n", "" },
	{ "cpu AMD", "cpu \033[31mAMD" },
	{ "cpu AMD", "cpu \xc3\xa4MD" },
	{ "ipcwait-calibration 1", "ipcwait-calibration 01x" },
	{ "ipcwait-calibration 1", " ipcwait-calibration 1" },
};

static void test_bad_lines(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(bad_lines) / sizeof(bad_lines[0]); i++) {
		write_example(2);
		replace(bad_lines[i][0], bad_lines[i][1]);
		mend_sum();
		if (parse() != IW_CALIBRATION_DAMAGED)
			fail_msg("believed: %s", bad_lines[i][1]);
	}
}

/* A line is another machine's if it is as long as may be, and damage if it is longer. */
static void test_long_lines(void **state)
{
	(void)state;
	for (size_t bytes = IW_CALIBRATION_LINE_BYTES - 2;
	     bytes < IW_CALIBRATION_LINE_BYTES + 400; bytes++) {
		char line[IW_CALIBRATION_LINE_BYTES + 400] = "kernel ";

		memset(line + 7, 'y', bytes - 7);
		line[bytes] = '\0';
		write_example(1);
		replace("kernel 6.1.0-18-amd64", line);
		mend_sum();
		assert_int_equal(parse(), bytes <= IW_CALIBRATION_LINE_BYTES
						  ? IW_CALIBRATION_OTHER
						  : IW_CALIBRATION_DAMAGED);
	}
}

static void test_more_pairs_than_there_is_room_for(void **state)
{
	char pairs[IW_CALIBRATION_TEXT_BYTES];
	char *begin, *end;

	(void)state;
	write_example(IPCWAIT_CALIBRATION_PAIRS);
	begin = strstr(text, "pair ");
	end = strstr(begin + 1, "pair ");
	memcpy(pairs, begin, (size_t)(end - begin));
	pairs[end - begin] = '\0';
	strcat(pairs, "pair ");
	replace("pair ", pairs);
	mend_sum();
	assert_int_equal(parse(), IW_CALIBRATION_DAMAGED);
}

static void test_what_is_not_written(void **state)
{
	struct ipcwait_calibration c = calibration_example(1);

	(void)state;
	c.pause_ps = 0;
	assert_int_equal(iw_calibration_format(text, &key, &c), -EINVAL);
	c = calibration_example(1);
	c.pair_count = 0;
	assert_int_equal(iw_calibration_format(text, &key, &c), -EINVAL);
	c.pair_count = IPCWAIT_CALIBRATION_PAIRS + 1;
	assert_int_equal(iw_calibration_format(text, &key, &c), -EINVAL);
	c = calibration_example(1);
	c.pair[0].latency[3].median_ns = UINT64_MAX;
	assert_int_equal(iw_calibration_format(text, &key, &c), -EINVAL);
}

static void test_b_is_taken_where_the_age_is_b(void **state)
{
	struct ipcwait_calibration c = calibration_example(1);
	struct ipcwait_wake_latency *l = c.pair[0].latency;

	(void)state;
	for (unsigned i = 0; i < IPCWAIT_IDLE_AGES; i++) {
		l[i].median_ns = 10000 * (i + 1);
		l[i].waker_ns = 1000 * (i + 1);
	}
	/* 11 us at 5 us, 22 at 20, 33 at 50: the first that is not shorter. */
	assert_true(iw_calibration_conclude(&c));
	assert_int_equal(c.latency_ns, 30000);
	assert_int_equal(c.waker_ns, 3000);
	assert_int_equal(c.line_ns, 111);
	/* A dear machine: no age is as long as its B. */
	for (unsigned i = 0; i < IPCWAIT_IDLE_AGES; i++)
		l[i].median_ns = 20000000;
	assert_true(iw_calibration_conclude(&c));
	assert_int_equal(c.latency_ns, 20000000);
	assert_int_equal(c.waker_ns, 8000);
}

/* One age that stands out between its neighbours does not count. */
static void test_b_is_smoothed(void **state)
{
	(void)state;
	for (unsigned i = 1; i < 4; i++) {
		struct ipcwait_calibration c = calibration_example(1);

		c.pair[0].latency[i].median_ns = 3000;
		c.pair[0].latency[i].waker_ns = 300;
		assert_true(iw_calibration_conclude(&c));
		assert_int_equal(c.latency_ns, 20000);
		assert_int_equal(c.waker_ns, 10000);
	}
}

static void test_b_from_what_there_is(void **state)
{
	struct ipcwait_calibration c = calibration_example(1);
	struct ipcwait_wake_latency *l = c.pair[0].latency;

	(void)state;
	for (unsigned i = 0; i < IPCWAIT_IDLE_AGES; i++)
		if (i != 1)
			l[i] = (struct ipcwait_wake_latency){ .idle_ns = iw_idle_ages[i] };
	assert_true(iw_calibration_legal(&c));
	assert_true(iw_calibration_conclude(&c));
	assert_int_equal(c.latency_ns, 20000);
	l[1] = (struct ipcwait_wake_latency){ .idle_ns = iw_idle_ages[1] };
	assert_true(iw_calibration_legal(&c));
	assert_false(iw_calibration_conclude(&c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_another_key_is_no_damage),
		cmocka_unit_test(test_an_unknown_boot_is_never_this_one),
		cmocka_unit_test(test_another_version_is_no_damage),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_flipped_bit),
		cmocka_unit_test(test_more_behind_the_end),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_more_pairs_than_there_is_room_for),
		cmocka_unit_test(test_what_is_not_written),
		cmocka_unit_test(test_b_is_taken_where_the_age_is_b),
		cmocka_unit_test(test_b_is_smoothed),
		cmocka_unit_test(test_b_from_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
