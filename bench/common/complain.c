/* SPDX-License-Identifier: MIT */
#include "complain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void complain_list(const char *format, va_list args)
{
	fprintf(stderr, "%s: ", program_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

int complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_list(format, args);
	va_end(args);
	return -EINVAL;
}

void give_up(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_list(format, args);
	va_end(args);
	_exit(EXIT_FAILURE);
}

static const char *make_plain(char *line, int size, const char *text, int length)
{
	int i;

	for (i = 0; text[i] && i != length && i < size - 4; i++)
		line[i] = (unsigned char)text[i] < ' ' || text[i] == 127 ? '?' : text[i];
	strcpy(line + i, text[i] && i != length ? "..." : "");
	return line;
}

const char *shown(const char *text, int length)
{
	static char line[48];

	return make_plain(line, sizeof(line), text, length);
}

const char *shown_path(const char *path)
{
	static char line[200];

	return make_plain(line, sizeof(line), path, -1);
}
