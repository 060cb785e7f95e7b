/* SPDX-License-Identifier: MIT */
#include "complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void say(const char *format, va_list args)
{
	fputs("ipcwait: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

int refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return EXIT_USAGE;
}

const char *shown(const char *text, int length)
{
	static char line[200];
	int i;

	for (i = 0; text[i] && i != length && i < (int)sizeof(line) - 4; i++)
		line[i] = (unsigned char)text[i] < ' ' || text[i] == 127 ? '?' : text[i];
	strcpy(line + i, text[i] && i != length ? "..." : "");
	return line;
}
