/* SPDX-License-Identifier: MIT */
#include "json.h"
#include "job.h"
#include "verdict.h"
#include "../../tools/common/json_writer.h"

#include <ipcwait/base.h>
#include <math.h>
#include <time.h>

#define FORMAT_VERSION 1

static void write_command(struct json *j, const struct options *o)
{
	static const char *const modes[] = {
		[MODE_HAND_OFF] = "hand-off",
		[MODE_IDLE] = "idle",
		[MODE_UNCONTENDED] = "uncontended",
	};

	json_texts(j, "command", o->argc, o->argv);
	json_text(j, "mode", modes[o->mode]);
	json_number(j, "items", (double)o->items);
	json_number(j, "loops", o->loops ? (double)o->loops : NAN);
	json_number(j, "idle_us", o->idle_us ? (double)o->idle_us : NAN);
	json_boolean(j, "one_cpu", o->one_cpu);
	json_number(j, "repeat", o->repeat);
}

static void write_start(struct json *j, const struct results *r)
{
	bool meet = r->options->mode != MODE_UNCONTENDED && r->machine.cpus_usable > 1;

	json_text(j, "start", results_start(r));
	json_number(j, "meeting_ms_most", meet ? JOB_MEET_NS_MOST / 1e6 : 0);
}

static void write_baseline(struct json *j, const struct results *r)
{
	json_open(j, "baseline", '{');
	json_number(j, "ns_per_loop", r->loop_ns);
	json_number(j, "cache_line_round_trip_ns", r->round_trip_ns);
	json_number(j, "block_cost_ns", r->block_cost_ns);
	json_number(j, "block_samples", r->block_samples);
	json_close(j, '}');
}

static void write_objects(struct json *j, const struct run *x)
{
	json_open(j, "objects", '[');
	for (unsigned i = 0; i < OBJECTS; i++) {
		const struct object_cost *o = &x->objects[i];

		json_open(j, NULL, '{');
		json_text(j, "name", object_names[i]);
		json_number(j, "waits", (double)o->waits);
		json_number(j, "gave_up", (double)o->gave_up);
		json_number(j, "slept", (double)o->slept);
		json_number(j, "spun_useful_ns", (double)o->spun_useful_ns);
		json_number(j, "spun_wasted_ns", (double)o->spun_wasted_ns);
		json_number(j, "slept_ns", (double)o->slept_ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_run(struct json *j, const struct run *x, bool kept, bool objects)
{
	json_open(j, NULL, '{');
	json_boolean(j, "kept", kept);
	json_number(j, "seconds", x->seconds);
	json_number(j, "cpu_seconds", x->cpu_seconds);
	json_number(j, "hog_cpu_seconds", x->hog_cpu_seconds);
	json_number(j, "consumer_cpu_seconds", x->consumer_cpu_seconds);
	json_number(j, "machine_cpu_seconds", x->machine_cpu_seconds);
	json_number(j, "bound_seconds", x->bound_seconds);
	json_number(j, "cache_line_round_trip_ns", x->round_trip_ns);
	json_number(j, "voluntary_switches", x->switches_voluntary);
	json_number(j, "involuntary_switches", x->switches_involuntary);
	json_number(j, "futex_waits", x->futex_waits);
	json_number(j, "futex_wakes", x->futex_wakes);
	json_number(j, "waits_spun", x->spun);
	json_number(j, "waits_slept", x->slept);
	json_number(j, "waits_slept_same_cpu", x->same_cpu);
	json_number(j, "rescheduling_interrupts", x->rescheduling_interrupts);
	json_number(j, "function_call_interrupts", x->function_call_interrupts);
	if (objects)
		write_objects(j, x);
	json_close(j, '}');
}

static void write_medians(struct json *j, const struct figures *f)
{
	json_open(j, "medians", '{');
	json_number(j, "seconds", f->seconds);
	json_number(j, "items_per_second", f->items_per_second);
	json_number(j, "ns_per_item", f->ns_per_item);
	json_number(j, "cpu_seconds", f->cpu_seconds);
	json_number(j, "cpu_us_per_item", f->cpu_us_per_item);
	json_number(j, "consumer_cpu_us_per_item", f->consumer_cpu_us_per_item);
	json_number(j, "bound_seconds", f->bound_seconds);
	json_number(j, "times_bound", f->times_bound);
	json_number(j, "times_bound_and_round_trips", f->times_ideal);
	json_number(j, "switches", f->switches);
	json_number(j, "futex_waits", f->futex_waits);
	json_number(j, "futex_wakes", f->futex_wakes);
	json_number(j, "interrupts", f->interrupts);
	json_number(j, "roi", f->roi);
	json_number(j, "seconds_vs_glibc", f->seconds_vs_glibc);
	json_number(j, "times_faster_than_glibc", f->times_faster);
	json_number(j, "cpu_vs_glibc", f->cpu_vs_glibc);
	json_close(j, '}');
}

static void write_entry(struct json *j, const struct results *r, const struct entry *e)
{
	struct figures f;

	json_open(j, NULL, '{');
	json_text(j, "row", e->row->name);
	json_text(j, "what", e->row->what);
	json_text(j, "form", e->processes ? "processes" : "threads");
	figures_of_entry(r, e, &f);
	write_medians(j, &f);
	json_open(j, "runs", '[');
	for (unsigned i = 0; i < r->options->repeat; i++)
		write_run(j, &e->runs[i],
			  i >= r->first_kept && i < r->first_kept + r->n_kept,
			  results_objects(r, e));
	json_close(j, ']');
	json_close(j, '}');
}

static void write_bars(struct json *j, const struct results *r)
{
	struct bar bars[BARS_MOST];
	unsigned n = bars_get(r, bars);

	json_open(j, "bars", '[');
	for (unsigned i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		json_text(j, "text", bars[i].text);
		json_text(j, "form", bars[i].processes ? "processes" : "threads");
		json_number(j, "value", bars[i].value);
		json_text(j, "relation", bars[i].at_least ? ">=" : "<=");
		json_number(j, "limit", bars[i].limit);
		json_boolean(j, "reached", bars[i].reached);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void json_write(FILE *f, const struct results *r)
{
	struct json j = json_begin(f);
	char sentence[SENTENCE_SIZE];

	json_text(&j, "program", "sem_test");
	json_number(&j, "format", FORMAT_VERSION);
	json_text(&j, "libipcwait", ipcwait_version());
	json_time(&j, "finished", time(NULL));
	write_command(&j, r->options);
	write_start(&j, r);
	json_open(&j, "environment", '{');
	machine_write(&j, &r->machine);
	json_close(&j, '}');
	write_baseline(&j, r);
	json_open(&j, "rows", '[');
	for (unsigned i = 0; i < r->n_entries; i++)
		write_entry(&j, r, &r->entries[i]);
	json_close(&j, ']');
	sentence_write(r, sentence);
	json_text(&j, "summary", sentence);
	write_bars(&j, r);
	json_end(&j);
}
