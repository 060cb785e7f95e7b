/* SPDX-License-Identifier: MIT */
#include "trace.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/number.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LONGEST_NS    UINT64_C(1000000000000)
#define OBJECT_DIGITS 16

/* A trace that is being read. */
struct reader {
	struct trace *trace;
	const char *path;
	size_t room;
	unsigned long line;
};

static int append(struct reader *r, uint64_t ns)
{
	struct trace *t = r->trace;

	if (t->n == WAITS_MOST)
		return complain("%s:%lu: more than %d waits", r->path, r->line, WAITS_MOST);
	if (t->n == r->room) {
		size_t room = r->room ? 2 * r->room : 4096;
		uint64_t *more = realloc(t->waits_ns, room * sizeof(*more));

		if (!more)
			return complain("%s: no memory", r->path);
		t->waits_ns = more;
		r->room = room;
	}
	t->waits_ns[t->n++] = ns;
	return 0;
}

/* The wait of a line that `ipcwait report --waits` wrote, else the line as it is. */
static char *without_object(char *text)
{
	char *blank = strrchr(text, ' ');

	if (!blank || strspn(blank + 1, "0123456789abcdef") != OBJECT_DIGITS ||
	    blank[1 + OBJECT_DIGITS])
		return text;
	*blank = 0;
	return text + strspn(text, " ");
}

/* @length counts a NUL byte that would end the text too early. */
static int read_line(struct reader *r, char *text, size_t length)
{
	const char *wait = NULL;
	uint64_t ns;

	r->line++;
	if (length && text[length - 1] == '\n')
		text[--length] = 0;
	if (length && text[length - 1] == '\r')
		text[--length] = 0;
	if (!length || *text == '#')
		return 0;
	if (strlen(text) == length)
		wait = without_object(text);
	if (!wait || number_parse(wait, 0, LONGEST_NS, &ns))
		return complain("%s:%lu: '%s' is no wait in ns, a whole number up to %llu",
				r->path, r->line, shown(text, -1),
				(unsigned long long)LONGEST_NS);
	return append(r, ns);
}

static int read_lines(struct reader *r, FILE *f)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t length;
	int result = 0;

	while (!result && (length = getline(&text, &size, f)) >= 0)
		result = read_line(r, text, (size_t)length);
	free(text);
	if (!result && ferror(f))
		return complain("%s: cannot be read", r->path);
	if (!result && !r->trace->n)
		return complain("%s: holds no waits", r->path);
	return result;
}

/* A directory opens, and a pipe would wait for ever. */
static FILE *open_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return NULL;
	if (!S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
		return NULL;
	}
	return fopen(path, "re");
}

int trace_read(struct trace *t, const char *path)
{
	struct reader r = { .trace = t, .path = shown(path, -1) };
	const char *slash = strrchr(path, '/');
	FILE *f = open_file(path);
	int result;

	*t = (struct trace){ 0 };
	if (!f)
		return complain("--trace: cannot read '%s': %s", r.path, strerror(errno));
	snprintf(t->name, sizeof(t->name), "%.39s", slash ? slash + 1 : path);
	t->name[strcspn(t->name, ".")] = 0;
	result = read_lines(&r, f);
	fclose(f);
	if (result)
		trace_destroy(t);
	return result;
}

size_t trace_find_recorded(const char *paths[TRACES_MOST])
{
	static glob_t found;
	size_t n = 0;

	if (glob(POLICY_SIM_TRACES "/*.txt", 0, NULL, &found) &&
	    glob(POLICY_SIM_INSTALLED_TRACES "/*.txt", 0, NULL, &found))
		return 0;
	for (; n < found.gl_pathc && n < TRACES_MOST; n++)
		paths[n] = found.gl_pathv[n];
	return n;
}

void trace_destroy(struct trace *t)
{
	free(t->waits_ns);
	*t = (struct trace){ 0 };
}
