/* SPDX-License-Identifier: MIT */
#include "complain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int complain(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return -EINVAL;
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
