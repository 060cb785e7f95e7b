/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "os/file.h"
#include "os/lines.h"
#include "os/status.h"

/*
 * What is read at first: 1.5 KiB is usual. A process may be in 65536 groups, which are listed
 * before the lines that count here: then it is read by lines.
 */
#define USUAL_BYTES 4096
#define BYTES_MOST  (1u << 20)

/* As last read. */
static struct iw_cpu_set last_cpus;

struct iw_cpu_set iw_status_cpus(const char *list)
{
	struct iw_cpu_set set = { 0, 0 };
	char *at;

	for (; *list >= '0' && *list <= '9'; list = at + (*at == ',')) {
		unsigned long first = strtoul(list, &at, 10), last = first;

		if (*at == '-')
			last = strtoul(at + 1, &at, 10);
		if (last < first)
			break;
		if (!set.count)
			set.first = (unsigned)first;
		set.count += (unsigned)(last - first + 1);
	}
	return set;
}

/* What follows @name and blanks; NULL if it is another line. */
static const char *value_in(const char *line, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(line, name, length) != 0)
		return NULL;
	return line + length + strspn(line + length, " \t");
}

/* True if it was the last that counts. */
static bool take_line(struct iw_status *s, const char *line)
{
	const char *value;

	if ((value = value_in(line, "Seccomp:")))
		s->filtered = *value != '0';
	else if ((value = value_in(line, "Seccomp_filters:")))
		s->filters = (uint32_t)strtoul(value, NULL, 10);
	else if ((value = value_in(line, "Cpus_allowed_list:")))
		s->cpus = iw_status_cpus(value);
	return s->cpus.count;
}

/* False: it is longer than usual, or cannot be read. */
static bool read_usual(struct iw_status *s)
{
	char text[USUAL_BYTES];

	if (iw_file_read("/proc/self/status", text, sizeof(text)) <= 0)
		return false;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (take_line(s, line))
			return true;
	}
	return false;
}

static bool read_by_lines(struct iw_status *s)
{
	struct iw_lines l;
	char *line;

	if (!iw_lines_open(&l, "/proc/self/status", BYTES_MOST))
		return false;
	while ((line = iw_lines_next(&l)))
		if (take_line(s, line))
			break;
	iw_lines_close(&l);
	return true;
}

bool iw_status_read(struct iw_status *s)
{
	*s = (struct iw_status){ .filtered = false };
	if (!read_usual(s) && !read_by_lines(s))
		return false;
	last_cpus = s->cpus;
	return true;
}

struct iw_cpu_set iw_status_last_cpus(void)
{
	struct iw_status s;

	if (!last_cpus.count)
		(void)iw_status_read(&s);
	return last_cpus;
}
