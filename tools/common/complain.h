/* SPDX-License-Identifier: MIT */
/* Errors are one line on stderr, whatever the user typed. */
#ifndef TOOLS_COMPLAIN_H
#define TOOLS_COMPLAIN_H

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What main() returns. */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,      /* what was begun has no result, or it could not be written */
	EXIT_BAD_INPUT = 2,   /* nothing was begun */
	EXIT_NOT_REACHED = 3, /* with --check: a bar was not reached */
};

/* Each program defines its own. */
extern const char program_name[];

/* In a program that has subcommands, the one that runs; else NULL. */
extern const char *program_command;

/* The program's name, the text and a newline. Return: -EINVAL, always. */
__attribute__((format(printf, 1, 2))) int complain(const char *format, ...);

/* The same with a list of arguments. */
__attribute__((format(printf, 1, 0))) int complain_list(const char *format, va_list args);

/* The same about an argument: it ends in where to find help. */
__attribute__((format(printf, 1, 2))) int refuse(const char *format, ...);

/*
 * While measuring: one line on stderr, and the end of the process with status 1, without
 * the handlers of exit(), as other threads may still run.
 */
__attribute__((noreturn, format(printf, 1, 2))) void give_up(const char *format, ...);

/*
 * Up to @length bytes of @text, all if -1, with '?' for what a terminal would not only show, as
 * foreign_name_take(), and "..." for what is too long. Valid until the second call from now.
 */
const char *shown(const char *text, int length);

/* What the user typed, to stdout, on one line. */
void show_command_line(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
