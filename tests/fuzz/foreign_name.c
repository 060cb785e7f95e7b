/* SPDX-License-Identifier: MIT */
/* Names that others have chosen. The first byte says where the name is cut, the others are it. */
#include <stdlib.h>
#include <string.h>

#include "../tools/common/complain.h"
#include "../tools/common/foreign_name.h"
#include "common/fuzz.h"
#include "fuzz/utf8.h"

#define MOST 1000

const char program_name[] = "foreign_name";

static void check_for_terminals(const char *name)
{
	char text[MOST + 1], again[MOST + 1];

	strcpy(text, name);
	foreign_name_clean(text);
	FUZZ_CHECK(strlen(text) <= strlen(name));
	FUZZ_CHECK(is_utf8(text, strlen(text)) && is_harmless(text));
	strcpy(again, text);
	foreign_name_clean(again);
	FUZZ_CHECK(!strcmp(again, text));
}

static void check_for_programs(const char *name)
{
	char piece[FOREIGN_NAME_PIECE];

	while (*name) {
		const char *next = foreign_name_take_utf8(piece, name);

		FUZZ_CHECK(next > name && next <= name + strlen(name));
		FUZZ_CHECK(is_utf8(piece, strlen(piece)) && is_harmless(piece));
		name = next;
	}
}

/* A name that is UTF-8 stays so. */
static void check_cut(const char *name, int most)
{
	int n = foreign_name_cut(name, most);

	FUZZ_CHECK(n >= 0 && n <= most && (size_t)n <= strlen(name));
	FUZZ_CHECK(!is_utf8(name, strlen(name)) || is_utf8(name, (size_t)n));
	FUZZ_CHECK((size_t)most < strlen(name) || (size_t)n == strlen(name));
	FUZZ_CHECK(is_utf8(shown(name, most), strlen(shown(name, most))));
	FUZZ_CHECK(is_harmless(shown(name, -1)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[MOST + 1];

	if (!size || size > MOST || setenv("LC_ALL", "C.UTF-8", 1) != 0)
		return 0;
	memcpy(name, data + 1, size - 1);
	name[size - 1] = '\0';
	check_for_terminals(name);
	check_for_programs(name);
	check_cut(name, data[0]);
	return 0;
}
