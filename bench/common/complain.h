/* SPDX-License-Identifier: MIT */
/* Errors are one line on stderr, whatever the user typed. */
#ifndef BENCH_COMPLAIN_H
#define BENCH_COMPLAIN_H

#ifdef __cplusplus
extern "C" {
#endif

/* Each program defines its own. */
extern const char program_name[];

/* The program's name, the text and a newline. Return: -EINVAL, always. */
__attribute__((format(printf, 1, 2))) int complain(const char *format, ...);

/*
 * While measuring: one line on stderr, and the end of the process with status 1, without
 * the handlers of exit(), as other threads may still run.
 */
__attribute__((noreturn, format(printf, 1, 2))) void give_up(const char *format, ...);

/*
 * Up to @length characters of @text, all if -1, with '?' for control characters and "..."
 * for what is too long. Valid until the next call.
 */
const char *shown(const char *text, int length);

/* The same for a path, which may be longer. Valid until the next call. */
const char *shown_path(const char *path);

#ifdef __cplusplus
}
#endif

#endif
