/* SPDX-License-Identifier: MIT */
#include "complain.h"
#include "foreign_name.h"

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

const char *shown(const char *text, int length)
{
	static char lines[2][SHOWN_MOST + sizeof("...")];
	static unsigned turn;
	char *line = lines[turn++ % 2];
	int most = length < 0 || length > SHOWN_MOST ? SHOWN_MOST : length;
	int n = foreign_name_cut(text, most);

	memcpy(line, text, (size_t)n);
	line[n] = '\0';
	foreign_name_clean(line);
	if (text[n] && most != length)
		strcat(line, "...");
	return line;
}

void show_command_line(int argc, char **argv)
{
	char piece[FOREIGN_NAME_PIECE];

	fputs(program_name, stdout);
	for (int i = 1; i < argc; i++) {
		putchar(' ');
		for (const char *c = argv[i]; *c;) {
			c = foreign_name_take(piece, c);
			fputs(piece, stdout);
		}
	}
	putchar('\n');
}
