/* SPDX-License-Identifier: MIT */
#include "complain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHOWN_MOST 200

const char *program_command;

static void say(const char *format, va_list args)
{
	fprintf(stderr, "%s: ", program_name);
	if (program_command)
		fprintf(stderr, "%s: ", program_command);
	vfprintf(stderr, format, args);
}

int complain_list(const char *format, va_list args)
{
	say(format, args);
	fputc('\n', stderr);
	return -EINVAL;
}

int complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_list(format, args);
	va_end(args);
	return -EINVAL;
}

int refuse(const char *format, ...)
{
	const char *command = program_command ? program_command : "";
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	fprintf(stderr, "; see %s%s%s --help\n", program_name, *command ? " " : "",
		command);
	return -EINVAL;
}

void give_up(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_list(format, args);
	_exit(EXIT_FAILED);
}

static char printable(char c)
{
	return (unsigned char)c < ' ' || c == 127 ? '?' : c;
}

const char *shown(const char *text, int length)
{
	static char lines[2][SHOWN_MOST + sizeof("...")];
	static unsigned turn;
	char *line = lines[turn++ % 2];
	int i;

	for (i = 0; text[i] && i != length && i < SHOWN_MOST; i++)
		line[i] = printable(text[i]);
	strcpy(line + i, text[i] && i != length ? "..." : "");
	return line;
}

void show_command_line(int argc, char **argv)
{
	fputs(program_name, stdout);
	for (int i = 1; i < argc; i++) {
		putchar(' ');
		for (const char *c = argv[i]; *c; c++)
			putchar(printable(*c));
	}
	putchar('\n');
}
