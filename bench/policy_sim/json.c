/* SPDX-License-Identifier: MIT */
#include "json.h"
#include "bars.h"

#include <math.h>

#define FORMAT_VERSION 1

/* The writer: what comes next is the first of its object or list, or needs a comma. */
struct json {
	FILE *f;
	int depth;
	bool first;
};

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

/* @key is NULL in a list. */
static void next(struct json *j, const char *key)
{
	fprintf(j->f, "%s\n%*s", j->first ? "" : ",", j->depth * 2, "");
	j->first = false;
	if (key) {
		string(j, key);
		fputs(": ", j->f);
	}
}

static void begin(struct json *j, const char *key, char bracket)
{
	next(j, key);
	fputc(bracket, j->f);
	j->depth++;
	j->first = true;
}

static void end(struct json *j, char bracket)
{
	j->depth--;
	fprintf(j->f, "\n%*s%c", j->depth * 2, "", bracket);
	j->first = false;
}

static void text(struct json *j, const char *key, const char *s)
{
	next(j, key);
	string(j, s);
}

static void number(struct json *j, const char *key, double v)
{
	next(j, key);
	if (isfinite(v))
		fprintf(j->f, "%.12g", v);
	else
		fputs("null", j->f);
}

/* A seed may have more digits than a double keeps. */
static void whole(struct json *j, const char *key, uint64_t v)
{
	next(j, key);
	fprintf(j->f, "%llu", (unsigned long long)v);
}

static void boolean(struct json *j, const char *key, bool v)
{
	next(j, key);
	fputs(v ? "true" : "false", j->f);
}

static void write_members(struct json *j, const struct series *s)
{
	begin(j, "members", '[');
	for (size_t i = 0; i < s->suite.n; i++) {
		begin(j, NULL, '{');
		text(j, "name", s->suite.members[i].name);
		text(j, "kind", kind_names[s->suite.members[i].kind]);
		whole(j, "waits", s->suite.members[i].n);
		end(j, '}');
	}
	end(j, ']');
}

static void write_scores(struct json *j, const struct series *s, const struct verdict *v)
{
	begin(j, "scores", '[');
	for (size_t i = 0; i < s->suite.n; i++) {
		const struct score *score = &v->scores[i];
		bool none = v == &s->hindsight && s->suite.members[i].kind == ADVERSARIAL;

		begin(j, NULL, '{');
		text(j, "member", s->suite.members[i].name);
		number(j, "ratio", none ? NAN : score->ratio);
		number(j, "spun_share_of_time", none ? NAN : score->spun);
		number(j, "slept_share_of_waits", none ? NAN : score->slept);
		number(j, "loss_max_us", none ? NAN : (double)score->loss_ns / 1000);
		end(j, '}');
	}
	end(j, ']');
}

static void write_verdict(struct json *j, const char *key, const struct series *s,
			  const struct verdict *v)
{
	bool hindsight = v == &s->hindsight;

	begin(j, key, '{');
	text(j, "policy", v->name);
	number(j, "suite_mean", v->mean);
	number(j, "worst_stationary", v->worst);
	text(j, "worst_stationary_member", s->suite.members[v->worst_member].name);
	number(j, "loss_p50_us", hindsight ? NAN : (double)v->loss_p50_ns / 1000);
	number(j, "loss_p99_us", hindsight ? NAN : (double)v->loss_p99_ns / 1000);
	number(j, "loss_max_us", hindsight ? NAN : (double)v->loss_max_ns / 1000);
	number(j, "loss_max_b",
	       hindsight ? NAN : (double)v->loss_max_ns / (double)s->block_ns);
	number(j, "spun_share_of_time", v->spun);
	number(j, "slept_share_of_waits", v->slept);
	write_scores(j, s, v);
	end(j, '}');
}

static void write_bars(struct json *j, const struct series *s)
{
	struct bar bars[BARS];
	int n = bars_get(s, bars) ? BARS : 0;

	begin(j, "bars", '[');
	for (int i = 0; i < n; i++) {
		begin(j, NULL, '{');
		text(j, "text", bars[i].text);
		number(j, "value", bars[i].value);
		text(j, "relation", bars[i].strict ? "<" : "<=");
		number(j, "limit", bars[i].limit);
		text(j, "decided_by", bars[i].who ? bars[i].who : "");
		boolean(j, "reached", bars[i].reached);
		end(j, '}');
	}
	end(j, ']');
}

static void write_series(struct json *j, const struct series *s)
{
	begin(j, NULL, '{');
	number(j, "b_us", (double)s->block_ns / 1000);
	write_members(j, s);
	begin(j, "policies", '[');
	for (size_t i = 0; i < s->n; i++)
		write_verdict(j, NULL, s, &s->verdicts[i]);
	end(j, ']');
	write_verdict(j, "hindsight", s, &s->hindsight);
	write_bars(j, s);
	end(j, '}');
}

void json_write(FILE *f, const struct results *r)
{
	struct json j = { .f = f, .depth = 1, .first = true };

	fputc('{', f);
	text(&j, "program", "policy_sim");
	number(&j, "format", FORMAT_VERSION);
	whole(&j, "seed", r->options->seed);
	begin(&j, "series", '[');
	for (size_t i = 0; i < r->n; i++)
		write_series(&j, &r->series[i]);
	end(&j, ']');
	fputs("\n}\n", f);
}
