/* SPDX-License-Identifier: MIT */
/* Reading files of this machine, or of a tree that was saved on another. */
#include "info.h"
#include "../tools/common/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The longest path of ours: a control group's, and what is below it. */
#define PATH_BYTES 1024

FILE *info_open(const struct info *info, const char *path)
{
	char whole[PATH_MAX];
	FILE *f;
	int fd;

	if (snprintf(whole, sizeof(whole), "%s%s", info->root, path) >=
	    (int)sizeof(whole)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	/* A saved tree may hold anything, pipes and devices too. */
	fd = foreign_file_open_any(whole);
	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	f = fdopen(fd, "r");
	if (!f)
		close(fd);
	return f;
}

static void say_why(char *text, size_t size, const char *path, int error)
{
	char why[PATH_BYTES + 64];

	if (error == ENOENT || error == ENOTDIR)
		(void)snprintf(why, sizeof(why), "no %s", path);
	else
		(void)snprintf(why, sizeof(why), "%s: %s", path,
			       error == EINVAL ? "cannot be read" : strerror(error));
	info_make_printable(why);
	text[0] = '\0';
	info_append(text, size, why);
}

static bool read_path(const struct info *info, char *text, size_t size, const char *path)
{
	FILE *f = info_open(info, path);
	int error = f ? 0 : errno;
	size_t n = 0;

	if (f) {
		n = fread(text, 1, size - 1, f);
		error = ferror(f) ? errno : 0;
		fclose(f);
	}
	if (error)
		say_why(text, size, path, error);
	else
		text[n] = '\0';
	return !error;
}

static bool line_of(const struct info *info, char *text, size_t size, const char *path)
{
	if (!read_path(info, text, size, path))
		return false;
	text[strcspn(text, "\n")] = '\0';
	for (size_t n = strlen(text); n && text[n - 1] == ' ';)
		text[--n] = '\0';
	info_make_printable(text);
	return true;
}

static void make_path(char path[PATH_BYTES], const char *format, va_list args)
{
	if (vsnprintf(path, PATH_BYTES, format, args) < 0)
		path[0] = '\0';
}

bool info_read(const struct info *info, char *text, size_t size, const char *path, ...)
{
	char made[PATH_BYTES];
	va_list args;

	va_start(args, path);
	make_path(made, path, args);
	va_end(args);
	return read_path(info, text, size, made);
}

bool info_line(const struct info *info, char *text, size_t size, const char *path, ...)
{
	char made[PATH_BYTES];
	va_list args;

	va_start(args, path);
	make_path(made, path, args);
	va_end(args);
	return line_of(info, text, size, made);
}

void info_put_file(struct info *info, const char *key, const char *path, ...)
{
	char made[PATH_BYTES], text[INFO_TEXT_BYTES];
	va_list args;

	va_start(args, path);
	make_path(made, path, args);
	va_end(args);
	if (!line_of(info, text, sizeof(text), made))
		info_put_missing(info, key, text);
	else if (*text)
		info_put_text(info, key, text);
	else
		info_put_missing(info, key, "the file is empty");
}

void info_put_file_number(struct info *info, const char *key, const char *path, ...)
{
	char made[PATH_BYTES], text[INFO_TEXT_BYTES];
	double number;
	va_list args;

	va_start(args, path);
	make_path(made, path, args);
	va_end(args);
	if (!line_of(info, text, sizeof(text), made))
		info_put_missing(info, key, text);
	else if (info_to_number(text, &number))
		info_put_number(info, key, number);
	else
		info_put_missing(info, key, "the file holds no number");
}

bool info_to_number(const char *text, double *number)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(text, &end, 10);
	*number = (double)n;
	return end != text && !errno && (!*end || *end == '\n');
}

bool info_field(const char *text, const char *name, char *value, size_t size)
{
	size_t length = strlen(name);

	value[0] = '\0';
	for (const char *line = text; *line; line += *line == '\n') {
		if (!strncmp(line, name, length)) {
			const char *at = line + length + strspn(line + length, " \t");

			if (*at == ':') {
				at += 1 + strspn(at + 1, " \t");
				(void)snprintf(value, size, "%.*s", (int)strcspn(at, "\n"),
					       at);
				info_make_printable(value);
				return *value != '\0';
			}
		}
		line += strcspn(line, "\n");
	}
	return false;
}
