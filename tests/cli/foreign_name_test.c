/* SPDX-License-Identifier: MIT */
/* What of a name that another user has chosen reaches a terminal, or a text for programs. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "../tools/common/complain.h"
#include "../tools/common/foreign_name.h"

const char program_name[] = "foreign_name_test";

static bool utf8;

static void cleaned(const char *name, const char *want)
{
	char text[100];

	assert_true(strlen(name) < sizeof(text));
	strcpy(text, name);
	foreign_name_clean(text);
	assert_string_equal(text, want);
	assert_string_equal(shown(name, -1), want);
}

static void test_ascii_stays(void **state)
{
	(void)state;
	cleaned("", "");
	cleaned("redis-server ~!{}|", "redis-server ~!{}|");
}

static void test_control_characters(void **state)
{
	(void)state;
	cleaned("\x1b]0;OWNED\a\x1b[31mX", "?]0;OWNED??[31mX");
	cleaned("a\nb\tc\rd\x7f", "a?b?c?d?");
}

/* CSI is one byte in an eight-bit terminal, and two in some of UTF-8. */
static void test_c1(void **state)
{
	(void)state;
	cleaned("\x9b"
		"31mX",
		"?31mX");
	cleaned("\xc2\x9b"
		"31mX",
		utf8 ? "?31mX" : "??31mX");
}

static void test_letters(void **state)
{
	(void)state;
	cleaned("caf\xc3\xa9", utf8 ? "caf\xc3\xa9" : "caf??");
	/* The second byte is CSI to an eight-bit terminal. */
	cleaned("\xc3\x9b", utf8 ? "\xc3\x9b" : "??");
	cleaned("\xf0\x9f\x90\xa2", utf8 ? "\xf0\x9f\x90\xa2" : "????");
}

/* The right-to-left override makes "exe.txt" of "txt.exe". */
static void test_directions(void **state)
{
	(void)state;
	cleaned("a\xe2\x80\xaez", utf8 ? "a?z" : "a???z");
	cleaned("\xe2\x81\xa6", utf8 ? "?" : "???");
}

static void test_what_is_no_utf8(void **state)
{
	static const char *const wrong[] = {
		"\xe9",
		"\xc0\x80",
		"\xe0\x80\x80",
		"\xf0\x80\x80\x80",
		"\xed\xa0\x80",
		"\xf4\x90\x80\x80",
		"\xff\xfe",
		"\x80",
		"\xe2\x82",
		"\xf0\x9f\x90",
		"\xf8\x88\x80\x80\x80",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char want[10] = "";

		memset(want, '?', strlen(wrong[i]));
		cleaned(wrong[i], want);
	}
}

static void is_utf8(const char *name, const char *want)
{
	char text[100] = "", piece[FOREIGN_NAME_PIECE];

	while (*name) {
		name = foreign_name_take_utf8(piece, name);
		strcat(text, piece);
	}
	assert_string_equal(text, want);
}

/* Whatever the locale. */
static void test_for_programs(void **state)
{
	(void)state;
	is_utf8("caf\xe9", "caf\xef\xbf\xbd");
	is_utf8("caf\xc3\xa9", "caf\xc3\xa9");
	is_utf8("\x1b[m\xc2\x9b", "\xef\xbf\xbd[m\xef\xbf\xbd");
}

static void test_whole_characters(void **state)
{
	(void)state;
	assert_int_equal(foreign_name_cut("abc", 5), 3);
	assert_int_equal(foreign_name_cut("abc", 2), 2);
	assert_int_equal(foreign_name_cut("ab\xc3\xa9", 3), 2);
	assert_int_equal(foreign_name_cut("ab\xc3\xa9", 4), 4);
	assert_int_equal(foreign_name_cut("\xe2\x82\xac", 2), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ascii_stays),
		cmocka_unit_test(test_control_characters),
		cmocka_unit_test(test_c1),
		cmocka_unit_test(test_letters),
		cmocka_unit_test(test_directions),
		cmocka_unit_test(test_what_is_no_utf8),
		cmocka_unit_test(test_for_programs),
		cmocka_unit_test(test_whole_characters),
	};

	if (argc != 2 || setenv("LC_ALL", argv[1], 1) != 0)
		return 2;
	utf8 = strcmp(argv[1], "C.UTF-8") == 0;
	/* A machine may have no such locale. */
	if (utf8 && !setlocale(LC_CTYPE, ""))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
