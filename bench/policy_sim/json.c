/* SPDX-License-Identifier: MIT */
#include "json.h"
#include "bars.h"
#include "../../tools/common/json_writer.h"

#include <math.h>

#define FORMAT_VERSION 1

static void write_members(struct json *j, const struct series *s)
{
	json_open(j, "members", '[');
	for (size_t i = 0; i < s->suite.n; i++) {
		json_open(j, NULL, '{');
		json_text(j, "name", s->suite.members[i].name);
		json_text(j, "kind", kind_names[s->suite.members[i].kind]);
		json_whole(j, "waits", s->suite.members[i].n);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_scores(struct json *j, const struct series *s, const struct verdict *v)
{
	json_open(j, "scores", '[');
	for (size_t i = 0; i < s->suite.n; i++) {
		const struct score *score = &v->scores[i];
		bool none = v == &s->hindsight && s->suite.members[i].kind == ADVERSARIAL;

		json_open(j, NULL, '{');
		json_text(j, "member", s->suite.members[i].name);
		json_number(j, "ratio", none ? NAN : score->ratio);
		json_number(j, "spun_share_of_time", none ? NAN : score->spun);
		json_number(j, "slept_share_of_waits", none ? NAN : score->slept);
		json_number(j, "loss_max_us", none ? NAN : (double)score->loss_ns / 1000);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_verdict(struct json *j, const char *key, const struct series *s,
			  const struct verdict *v)
{
	bool hindsight = v == &s->hindsight;

	json_open(j, key, '{');
	json_text(j, "policy", v->name);
	json_number(j, "suite_mean", v->mean);
	json_number(j, "worst_stationary", v->worst);
	json_text(j, "worst_stationary_member", s->suite.members[v->worst_member].name);
	json_number(j, "loss_p50_us", hindsight ? NAN : (double)v->loss_p50_ns / 1000);
	json_number(j, "loss_p99_us", hindsight ? NAN : (double)v->loss_p99_ns / 1000);
	json_number(j, "loss_max_us", hindsight ? NAN : (double)v->loss_max_ns / 1000);
	json_number(j, "loss_max_b",
		    hindsight ? NAN : (double)v->loss_max_ns / (double)s->block_ns);
	json_number(j, "spun_share_of_time", v->spun);
	json_number(j, "slept_share_of_waits", v->slept);
	write_scores(j, s, v);
	json_close(j, '}');
}

static void write_bars(struct json *j, const struct series *s)
{
	struct bar bars[BARS];
	int n = bars_get(s, bars) ? BARS : 0;

	json_open(j, "bars", '[');
	for (int i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		json_text(j, "text", bars[i].text);
		json_number(j, "value", bars[i].value);
		json_text(j, "relation", bars[i].strict ? "<" : "<=");
		json_number(j, "limit", bars[i].limit);
		json_text(j, "decided_by", bars[i].who ? bars[i].who : "");
		json_boolean(j, "reached", bars[i].reached);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_series(struct json *j, const struct series *s)
{
	json_open(j, NULL, '{');
	json_number(j, "b_us", (double)s->block_ns / 1000);
	write_members(j, s);
	json_open(j, "policies", '[');
	for (size_t i = 0; i < s->n; i++)
		write_verdict(j, NULL, s, &s->verdicts[i]);
	json_close(j, ']');
	write_verdict(j, "hindsight", s, &s->hindsight);
	write_bars(j, s);
	json_close(j, '}');
}

void json_write(FILE *f, const struct results *r)
{
	struct json j = json_begin(f);

	json_text(&j, "program", "policy_sim");
	json_number(&j, "format", FORMAT_VERSION);
	json_whole(&j, "seed", r->options->seed);
	json_open(&j, "series", '[');
	for (size_t i = 0; i < r->n; i++)
		write_series(&j, &r->series[i]);
	json_close(&j, ']');
	json_end(&j);
}
