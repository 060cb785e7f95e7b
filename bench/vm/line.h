/* SPDX-License-Identifier: MIT */
/*
 * What the host reads: one line per result. It begins with a mark, because the kernel writes
 * to the same serial line, and is a JSON list of two: a head of our own and the document of the
 * program that was run, or null.
 */
#ifndef BENCH_VM_LINE_H
#define BENCH_VM_LINE_H

#include "../../tools/common/json_writer.h"

#include <stddef.h>

#define LINE_MARK "@@ipcwait "

struct line {
	struct json head;
	char *text;
	size_t size;
};

/* The caller writes the head's members between the two. */
void line_begin(struct line *l, const char *kind);

/* @document: JSON text of its own, or NULL. */
void line_end(struct line *l, const char *document);

/* The last line, with the number of those before it, so that a lost one is missed. */
void line_last(void);

/* A line of kind "error", which says what went wrong before anything was measured. */
void line_error(const char *what, int error);

#endif
