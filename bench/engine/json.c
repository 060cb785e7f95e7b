/* SPDX-License-Identifier: MIT */
#include "json.h"
#include "../common/clock.h"
#include "../../tools/common/json_writer.h"

#include <ipcwait/base.h>

#include <string.h>
#include <time.h>
#include <unistd.h>

#define FORMAT_VERSION 1

extern char **environ;

static void write_options(struct json *j, const struct options *o)
{
	json_texts(j, "command", o->argc, o->argv);
	json_open(j, "settings", '[');
	for (char **e = environ; *e; e++)
		if (!strncmp(*e, "IPCWAIT_", strlen("IPCWAIT_")))
			json_text(j, NULL, *e);
	json_close(j, ']');
	json_whole(j, "rounds", o->rounds);
	json_number(j, "scale", o->scale);
	json_text(j, "tick", o->timer ? "timer" : "busy");
}

static void write_machine(struct json *j, const struct machine *m)
{
	json_open(j, "machine", '{');
	machine_write(j, m);
	json_whole(j, "clock_reading_ns", (uint64_t)clock_cost_ns());
	json_close(j, '}');
}

static void write_line(struct json *j, const struct report *r, const struct line *line)
{
	json_open(j, NULL, '{');
	json_text(j, "point", line->point);
	json_text(j, "variant", line->variant);
	json_open(j, "medians", '{');
	for (unsigned c = 0; c < r->n_columns; c++)
		json_number(j, r->columns[c].key, report_median(r, line->value[c]));
	json_close(j, '}');
	json_open(j, "rounds", '[');
	for (unsigned i = 0; i < r->rounds; i++) {
		json_open(j, NULL, '{');
		json_boolean(j, "kept",
			     i >= r->first_kept && i < r->first_kept + r->n_kept);
		for (unsigned c = 0; c < r->n_columns; c++)
			json_number(j, r->columns[c].key, line->value[c][i]);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void write_bar(struct json *j, const struct bar *b)
{
	json_open(j, NULL, '{');
	json_text(j, "text", b->text);
	json_number(j, "value", b->value);
	json_text(j, "relation", b->at_least ? ">=" : "<=");
	json_number(j, "limit", b->limit);
	json_boolean(j, "reached", report_reached(b));
	json_close(j, '}');
}

static void write_curve(struct json *j, const struct curve *c)
{
	json_open(j, NULL, '{');
	json_text(j, "name", c->name);
	json_open(j, "seconds", '[');
	for (unsigned i = 0; i < c->n; i++)
		json_number(j, NULL, c->at[i]);
	json_close(j, ']');
	json_open(j, "values", '[');
	for (unsigned i = 0; i < c->n; i++)
		json_number(j, NULL, c->value[i]);
	json_close(j, ']');
	json_close(j, '}');
}

static void write_measured(struct json *j, const struct report *r)
{
	json_open(j, "lines", '[');
	for (unsigned i = 0; i < r->n_lines; i++)
		write_line(j, r, &r->lines[i]);
	json_close(j, ']');
	json_open(j, "curves", '[');
	for (unsigned i = 0; i < r->n_curves; i++)
		write_curve(j, &r->curves[i]);
	json_close(j, ']');
	json_open(j, "notes", '[');
	for (unsigned i = 0; i < r->n_notes; i++)
		json_text(j, NULL, r->notes[i]);
	json_close(j, ']');
	json_open(j, "bars", '[');
	for (unsigned i = 0; i < r->n_bars; i++)
		write_bar(j, &r->bars[i]);
	json_close(j, ']');
}

static void write_row(struct json *j, const struct row *row, const struct report *r)
{
	json_open(j, NULL, '{');
	json_text(j, "row", row->name);
	json_text(j, "what", row->what);
	json_text(j, "wakes", wakes_names[r->wakes]);
	json_text(j, "not_available", r->unavailable);
	json_number(j, "seconds", r->seconds);
	json_number(j, "cpus_busy_by_others", r->busy_others);
	json_boolean(j, "disturbed", report_disturbed(r));
	write_measured(j, r);
	json_close(j, '}');
}

void json_write(FILE *f, const struct options *o, const struct machine *m,
		struct report *const reports[REPORTS])
{
	struct json j = json_begin(f);

	json_text(&j, "program", "wait_bench");
	json_whole(&j, "format", FORMAT_VERSION);
	json_text(&j, "libipcwait", ipcwait_version());
	json_time(&j, "finished", time(NULL));
	write_options(&j, o);
	write_machine(&j, m);
	json_open(&j, "rows", '[');
	for (unsigned i = 0; i < REPORTS; i++)
		if (reports[i])
			write_row(&j, rows[i / WAKES_KINDS], reports[i]);
	json_close(&j, ']');
	json_end(&j);
}
