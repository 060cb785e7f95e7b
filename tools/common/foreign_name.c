/* SPDX-License-Identifier: MIT */
#include "foreign_name.h"

#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define UTF8_MOST 4

/* U+FFFD, "replacement character". */
static const char replacement[] = "\xef\xbf\xbd";

/* What a first byte says: by how many others it is followed, and the least legal character. */
static unsigned followers(unsigned char first, uint32_t *code, uint32_t *least)
{
	if (first < 0x80) {
		*code = first;
		*least = 0;
		return 0;
	}
	if (first >> 5 == 0x06) {
		*code = first & 0x1f;
		*least = 0x80;
		return 1;
	}
	if (first >> 4 == 0x0e) {
		*code = first & 0x0f;
		*least = 0x800;
		return 2;
	}
	if (first >> 3 == 0x1e) {
		*code = first & 0x07;
		*least = 0x10000;
		return 3;
	}
	return UTF8_MOST;
}

/* The length of the character that @text begins with; 0: it is no UTF-8 (RFC 3629). */
static unsigned decode(const char *text, uint32_t *code)
{
	uint32_t least = 0;
	unsigned more = followers((unsigned char)text[0], code, &least);

	if (more == UTF8_MOST)
		return 0;
	for (unsigned i = 1; i <= more; i++) {
		unsigned char byte = (unsigned char)text[i];

		/* The end of the text is no such byte either. */
		if (byte >> 6 != 0x02)
			return 0;
		*code = *code << 6 | (byte & 0x3f);
	}
	if (*code < least || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return more + 1;
}

/* Characters that a terminal or a reader's eye obeys instead of showing them. */
static bool is_obeyed(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x0000, 0x001f },   /* C0 */
		{ 0x007f, 0x009f },   /* DEL, C1 */
		{ 0x061c, 0x061c },   /* directions of writing */
		{ 0x200e, 0x200f },   /* the same */
		{ 0x2028, 0x202e },   /* ends of lines, directions */
		{ 0x2066, 0x2069 },   /* directions */
		{ 0xfeff, 0xfeff },   /* byte order */
		{ 0xfff9, 0xfffb },   /* annotations */
		{ 0xe0000, 0xe007f }, /* tags */
	};

	for (unsigned i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

static const char *take(char piece[FOREIGN_NAME_PIECE], const char *text,
			const char *instead)
{
	uint32_t code = 0;
	unsigned length = decode(text, &code);

	if (!length || is_obeyed(code)) {
		strcpy(piece, instead);
		return text + (length ? length : 1);
	}
	memcpy(piece, text, length);
	piece[length] = '\0';
	return text + length;
}

/* Asked only if a name has more than ASCII: a locale is a file to read. */
static bool terminal_is_utf8(void)
{
	static enum { NOT_ASKED, YES, NO } answer;
	locale_t locale;

	if (answer != NOT_ASKED)
		return answer == YES;
	answer = NO;
	locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	if (locale == (locale_t)0)
		return false;
	if (!strcmp(nl_langinfo_l(CODESET, locale), "UTF-8"))
		answer = YES;
	freelocale(locale);
	return answer == YES;
}

const char *foreign_name_take(char piece[FOREIGN_NAME_PIECE], const char *text)
{
	if ((unsigned char)*text < 0x80 || terminal_is_utf8())
		return take(piece, text, "?");
	strcpy(piece, "?");
	return text + 1;
}

const char *foreign_name_take_utf8(char piece[FOREIGN_NAME_PIECE], const char *text)
{
	return take(piece, text, replacement);
}

void foreign_name_clean(char *text)
{
	char piece[FOREIGN_NAME_PIECE], *to = text;

	for (const char *from = text; *from;) {
		size_t length;

		from = foreign_name_take(piece, from);
		length = strlen(piece);
		memcpy(to, piece, length);
		to += length;
	}
	*to = '\0';
}

int foreign_name_cut(const char *text, int most)
{
	int n = (int)strnlen(text, most < 0 ? 0 : (size_t)most);

	if (!text[n])
		return n;
	while (n > 0 && (unsigned char)text[n] >> 6 == 0x02)
		n--;
	return n;
}
