/* SPDX-License-Identifier: MIT */
#include "json_text.h"
#include "bars.h"
#include "figures.h"
#include "job.h"
#include "sentence.h"

#include <ipcwait/base.h>
#include <math.h>
#include <time.h>

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

static void boolean(struct json *j, const char *key, bool v)
{
	next(j, key);
	fputs(v ? "true" : "false", j->f);
}

static void write_command(struct json *j, const struct options *o)
{
	static const char *const modes[] = {
		[MODE_HAND_OFF] = "hand-off",
		[MODE_IDLE] = "idle",
		[MODE_UNCONTENDED] = "uncontended",
	};

	begin(j, "command", '[');
	for (int i = 0; i < o->argc; i++)
		text(j, NULL, o->argv[i]);
	end(j, ']');
	text(j, "mode", modes[o->mode]);
	number(j, "items", (double)o->items);
	number(j, "loops", o->loops ? (double)o->loops : NAN);
	number(j, "idle_us", o->idle_us ? (double)o->idle_us : NAN);
	boolean(j, "one_cpu", o->one_cpu);
	number(j, "repeat", o->repeat);
}

static void write_start(struct json *j, const struct results *r)
{
	bool meet = r->options->mode != MODE_UNCONTENDED && r->environment.cpus_usable > 1;

	text(j, "start", results_start(r));
	number(j, "meeting_ms_most", meet ? JOB_MEET_NS_MOST / 1e6 : 0);
}

static void write_environment(struct json *j, const struct environment *e)
{
	begin(j, "environment", '{');
	text(j, "hypervisor", e->hypervisor);
	number(j, "cpus_usable", e->cpus_usable);
	number(j, "cpus_online", e->cpus_online);
	text(j, "cpu", e->cpu);
	text(j, "kernel", e->kernel);
	text(j, "clock_source", e->clock);
	text(j, "load_average", e->load_average);
	text(j, "idle_driver", e->idle_driver);
	text(j, "idle_governor", e->idle_governor);
	text(j, "idle_states", e->idle_states);
	text(j, "guest_halt_poll_ns", e->guest_halt_poll_ns);
	end(j, '}');
}

static void write_baseline(struct json *j, const struct results *r)
{
	begin(j, "baseline", '{');
	number(j, "ns_per_loop", r->loop_ns);
	number(j, "cache_line_round_trip_ns", r->round_trip_ns);
	number(j, "block_cost_ns", r->block_cost_ns);
	number(j, "block_samples", r->block_samples);
	end(j, '}');
}

static void write_run(struct json *j, const struct run *x, bool kept)
{
	begin(j, NULL, '{');
	boolean(j, "kept", kept);
	number(j, "seconds", x->seconds);
	number(j, "cpu_seconds", x->cpu_seconds);
	number(j, "hog_cpu_seconds", x->hog_cpu_seconds);
	number(j, "consumer_cpu_seconds", x->consumer_cpu_seconds);
	number(j, "machine_cpu_seconds", x->machine_cpu_seconds);
	number(j, "bound_seconds", x->bound_seconds);
	number(j, "cache_line_round_trip_ns", x->round_trip_ns);
	number(j, "voluntary_switches", x->switches_voluntary);
	number(j, "involuntary_switches", x->switches_involuntary);
	number(j, "futex_waits", x->futex_waits);
	number(j, "futex_wakes", x->futex_wakes);
	number(j, "waits_spun", x->spun);
	number(j, "waits_slept", x->slept);
	number(j, "rescheduling_interrupts", x->rescheduling_interrupts);
	number(j, "function_call_interrupts", x->function_call_interrupts);
	end(j, '}');
}

static void write_medians(struct json *j, const struct figures *f)
{
	begin(j, "medians", '{');
	number(j, "seconds", f->seconds);
	number(j, "items_per_second", f->items_per_second);
	number(j, "ns_per_item", f->ns_per_item);
	number(j, "cpu_seconds", f->cpu_seconds);
	number(j, "cpu_us_per_item", f->cpu_us_per_item);
	number(j, "consumer_cpu_us_per_item", f->consumer_cpu_us_per_item);
	number(j, "bound_seconds", f->bound_seconds);
	number(j, "times_bound", f->times_bound);
	number(j, "times_bound_and_round_trips", f->times_ideal);
	number(j, "switches", f->switches);
	number(j, "futex_waits", f->futex_waits);
	number(j, "futex_wakes", f->futex_wakes);
	number(j, "interrupts", f->interrupts);
	number(j, "roi", f->roi);
	number(j, "seconds_vs_glibc", f->seconds_vs_glibc);
	number(j, "times_faster_than_glibc", f->times_faster);
	number(j, "cpu_vs_glibc", f->cpu_vs_glibc);
	end(j, '}');
}

static void write_entry(struct json *j, const struct results *r, const struct entry *e)
{
	struct figures f;

	begin(j, NULL, '{');
	text(j, "row", e->row->name);
	text(j, "what", e->row->what);
	text(j, "form", e->processes ? "processes" : "threads");
	figures_of_entry(r, e, &f);
	write_medians(j, &f);
	begin(j, "runs", '[');
	for (unsigned i = 0; i < r->options->repeat; i++)
		write_run(j, &e->runs[i],
			  i >= r->first_kept && i < r->first_kept + r->n_kept);
	end(j, ']');
	end(j, '}');
}

static void write_bars(struct json *j, const struct results *r)
{
	struct bar bars[BARS_MOST];
	unsigned n = bars_get(r, bars);

	begin(j, "bars", '[');
	for (unsigned i = 0; i < n; i++) {
		begin(j, NULL, '{');
		text(j, "text", bars[i].text);
		text(j, "form", bars[i].processes ? "processes" : "threads");
		number(j, "value", bars[i].value);
		text(j, "relation", bars[i].at_least ? ">=" : "<=");
		number(j, "limit", bars[i].limit);
		boolean(j, "reached", bars[i].reached);
		end(j, '}');
	}
	end(j, ']');
}

static void write_time(struct json *j)
{
	time_t now = time(NULL);
	char line[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%SZ", &tm);
	text(j, "finished", line);
}

void json_text_write(FILE *f, const struct results *r)
{
	struct json j = { .f = f, .depth = 1, .first = true };
	char sentence[SENTENCE_SIZE];

	fputc('{', f);
	text(&j, "program", "sem_test");
	number(&j, "format", FORMAT_VERSION);
	text(&j, "libipcwait", ipcwait_version());
	write_time(&j);
	write_command(&j, r->options);
	write_start(&j, r);
	write_environment(&j, &r->environment);
	write_baseline(&j, r);
	begin(&j, "rows", '[');
	for (unsigned i = 0; i < r->n_entries; i++)
		write_entry(&j, r, &r->entries[i]);
	end(&j, ']');
	sentence_write(r, sentence);
	text(&j, "summary", sentence);
	write_bars(&j, r);
	fputs("\n}\n", f);
}
