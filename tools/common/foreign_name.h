/* SPDX-License-Identifier: MIT */
/*
 * Names that another user has chosen: of programs, files, functions and objects. They may hold
 * bytes that a terminal obeys, and bytes that are not UTF-8.
 */
#ifndef TOOLS_FOREIGN_NAME_H
#define TOOLS_FOREIGN_NAME_H

#ifdef __cplusplus
extern "C" {
#endif

/* A character with its end. */
#define FOREIGN_NAME_PIECE 8

/*
 * The next character of @text, which is not empty, as a terminal may have it. Control characters,
 * those that turn the direction of writing, and bytes that are no character become '?'. So does
 * everything outside ASCII if the locale is not UTF-8, because such a terminal takes some of these
 * bytes for control characters. Return: what is behind the character.
 */
const char *foreign_name_take(char piece[FOREIGN_NAME_PIECE], const char *text);

/* The same as UTF-8, whatever the locale, and with U+FFFD instead of '?'. */
const char *foreign_name_take_utf8(char piece[FOREIGN_NAME_PIECE], const char *text);

/* All characters of @text, as foreign_name_take(); it does not become longer. */
void foreign_name_clean(char *text);

/* The length of the longest beginning of @text, of at most @most bytes, that ends with a whole
 * character. */
int foreign_name_cut(const char *text, int most);

#ifdef __cplusplus
}
#endif

#endif
