/* SPDX-License-Identifier: MIT */
/* Whether a text is UTF-8, by the table of RFC 3629. */
#ifndef TESTS_FUZZ_UTF8_H
#define TESTS_FUZZ_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long a character is by its first byte, and what its second byte is. */
static const struct utf8_row {
	unsigned char first, last, length, second, second_last;
} utf8_rows[] = {
	{ 0x00, 0x7f, 1, 0, 0 },       { 0xc2, 0xdf, 2, 0x80, 0xbf },
	{ 0xe0, 0xe0, 3, 0xa0, 0xbf }, { 0xe1, 0xec, 3, 0x80, 0xbf },
	{ 0xed, 0xed, 3, 0x80, 0x9f }, { 0xee, 0xef, 3, 0x80, 0xbf },
	{ 0xf0, 0xf0, 4, 0x90, 0xbf }, { 0xf1, 0xf3, 4, 0x80, 0xbf },
	{ 0xf4, 0xf4, 4, 0x80, 0x8f },
};

/* The length of the character at @text, of which @left bytes are there; 0: it is none. */
static inline size_t utf8_length(const unsigned char *text, size_t left)
{
	for (unsigned i = 0; i < sizeof(utf8_rows) / sizeof(utf8_rows[0]); i++) {
		const struct utf8_row *row = &utf8_rows[i];

		if (text[0] < row->first || text[0] > row->last)
			continue;
		if (row->length > left || (row->length > 1 && (text[1] < row->second ||
							       text[1] > row->second_last)))
			return 0;
		for (size_t k = 2; k < row->length; k++)
			if (text[k] < 0x80 || text[k] > 0xbf)
				return 0;
		return row->length;
	}
	return 0;
}

static inline bool is_utf8(const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;

	for (size_t n = 0; size; at += n, size -= n) {
		n = utf8_length(at, size);
		if (!n)
			return false;
	}
	return true;
}

/* Nothing that a terminal obeys: neither C0, DEL nor C1. */
static inline bool is_harmless(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	for (; *at; at++)
		if (*at < ' ' || *at == 0x7f ||
		    (*at == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f))
			return false;
	return true;
}

#endif
