/* SPDX-License-Identifier: MIT */
#include "line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned lines;

void line_begin(struct line *l, const char *kind)
{
	FILE *f = open_memstream(&l->text, &l->size);

	if (!f)
		abort();
	l->head = json_begin(f);
	json_text(&l->head, "kind", kind);
}

/* A newline and the indent behind it never stand in a string: JSON has them escaped there. */
static void put_on_one_line(const char *document)
{
	while (*document) {
		size_t n = strcspn(document, "\n");

		fwrite(document, 1, n, stdout);
		document += n;
		document += strspn(document, "\n ");
	}
}

void line_end(struct line *l, const char *document)
{
	json_end(&l->head);
	if (fclose(l->head.f))
		abort();
	fputs(LINE_MARK "[", stdout);
	put_on_one_line(l->text);
	fputs(", ", stdout);
	put_on_one_line(document ? document : "null");
	fputs("]\n", stdout);
	fflush(stdout);
	free(l->text);
	lines++;
}

void line_last(void)
{
	struct line l;

	line_begin(&l, "end");
	json_whole(&l.head, "lines", lines);
	line_end(&l, NULL);
}

void line_error(const char *what, int error)
{
	struct line l;

	line_begin(&l, "error");
	json_text(&l.head, "what", what);
	json_text(&l.head, "error", strerror(error));
	line_end(&l, NULL);
}
