/* SPDX-License-Identifier: MIT */
/* Writing JSON: objects and lists nest, and what comes next gets its comma and its indent. */
#ifndef TOOLS_JSON_WRITER_H
#define TOOLS_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

struct json {
	FILE *f;
	int depth;
	bool first; /* nothing stands yet in the innermost bracket */
};

/* The whole is one object. */
struct json json_begin(FILE *f);
void json_end(struct json *j);

/* @key is NULL in a list. @bracket is '{' or '[', and the matching one to close. */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);

void json_text(struct json *j, const char *key, const char *text); /* NULL: null */
void json_number(struct json *j, const char *key, double v);       /* not finite: null */
void json_whole(struct json *j, const char *key, uint64_t v);
void json_integer(struct json *j, const char *key, int64_t v);
void json_boolean(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);

/* A list of texts. */
void json_texts(struct json *j, const char *key, int n, char *const *texts);

/* In UTC, to a second: "2026-01-31T12:00:00Z". */
void json_time(struct json *j, const char *key, time_t then);

#endif
