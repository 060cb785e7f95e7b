/* SPDX-License-Identifier: MIT */
/* Writing JSON: objects and lists nest, and what comes next gets its comma and its indent. */
#ifndef BENCH_JSON_WRITER_H
#define BENCH_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

void json_text(struct json *j, const char *key, const char *text);
void json_number(struct json *j, const char *key, double v); /* not finite: null */
void json_whole(struct json *j, const char *key, uint64_t v);
void json_boolean(struct json *j, const char *key, bool v);

#endif
