/* SPDX-License-Identifier: MIT */
#include "shown.h"

#include <stdio.h>
#include <string.h>

#define LENGTH_MOST 200

static char printable(char c)
{
	return (unsigned char)c < ' ' || c == 127 ? '?' : c;
}

const char *shown(const char *text, int length)
{
	static char line[LENGTH_MOST + sizeof("...")];
	int i;

	for (i = 0; text[i] && i != length && i < LENGTH_MOST; i++)
		line[i] = printable(text[i]);
	strcpy(line + i, text[i] && i != length ? "..." : "");
	return line;
}

void shown_print(const char *text)
{
	for (; *text; text++)
		putchar(printable(*text));
}
