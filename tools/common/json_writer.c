/* SPDX-License-Identifier: MIT */
#include "json_writer.h"

#include <inttypes.h>
#include <math.h>

static void string(struct json *j, const char *s)
{
	fputc('"', j->f);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(j->f, "\\%c", c);
		else if (c < ' ' || c > 126)
			fprintf(j->f, "\\u%04x", c); /* bytes above 126 read as Latin-1 */
		else
			fputc(c, j->f);
	}
	fputc('"', j->f);
}

static void next(struct json *j, const char *key)
{
	fprintf(j->f, "%s\n%*s", j->first ? "" : ",", j->depth * 2, "");
	j->first = false;
	if (key) {
		string(j, key);
		fputs(": ", j->f);
	}
}

struct json json_begin(FILE *f)
{
	fputc('{', f);
	return (struct json){ .f = f, .depth = 1, .first = true };
}

void json_end(struct json *j)
{
	fputs("\n}\n", j->f);
}

void json_open(struct json *j, const char *key, char bracket)
{
	next(j, key);
	fputc(bracket, j->f);
	j->depth++;
	j->first = true;
}

void json_close(struct json *j, char bracket)
{
	j->depth--;
	fprintf(j->f, "\n%*s%c", j->depth * 2, "", bracket);
	j->first = false;
}

void json_text(struct json *j, const char *key, const char *text)
{
	next(j, key);
	if (text)
		string(j, text);
	else
		fputs("null", j->f);
}

void json_null(struct json *j, const char *key)
{
	json_text(j, key, NULL);
}

void json_texts(struct json *j, const char *key, int n, char *const *texts)
{
	json_open(j, key, '[');
	for (int i = 0; i < n; i++)
		json_text(j, NULL, texts[i]);
	json_close(j, ']');
}

void json_time(struct json *j, const char *key, time_t then)
{
	char line[32] = "";
	struct tm tm;

	if (gmtime_r(&then, &tm))
		strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_text(j, key, line);
}

void json_number(struct json *j, const char *key, double v)
{
	next(j, key);
	if (isfinite(v))
		fprintf(j->f, "%.12g", v);
	else
		fputs("null", j->f);
}

/* A seed may have more digits than a double keeps. */
void json_whole(struct json *j, const char *key, uint64_t v)
{
	next(j, key);
	fprintf(j->f, "%" PRIu64, v);
}

void json_integer(struct json *j, const char *key, int64_t v)
{
	next(j, key);
	fprintf(j->f, "%" PRId64, v);
}

void json_boolean(struct json *j, const char *key, bool v)
{
	next(j, key);
	fputs(v ? "true" : "false", j->f);
}
