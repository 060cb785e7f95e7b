/* SPDX-License-Identifier: MIT */
#include "bar.h"
#include "terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 30

bool bar_possible(void)
{
	return terminal_obeys(STDERR_FILENO);
}

void bar_draw(double share, const char *format, ...)
{
	size_t full = share >= 1 ? WIDTH : share > 0 ? (size_t)(share * WIDTH) : 0;
	char bar[WIDTH + 1];
	va_list args;

	if (!bar_possible())
		return;
	memset(bar, '.', WIDTH);
	memset(bar, '#', full);
	bar[WIDTH] = 0;
	fprintf(stderr, BAR_TO_LINE_START_AND_CLEAR "[%s] ", bar);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
}

void bar_clear(void)
{
	if (bar_possible())
		fputs(BAR_TO_LINE_START_AND_CLEAR, stderr);
}
