/* SPDX-License-Identifier: MIT */
#include "calibrate.h"
#include "../tools/common/json_writer.h"

#include <ipcwait/base.h>

#define FORMAT_VERSION 1

static const char *const distances[] = {
	[IPCWAIT_DISTANCE_UNKNOWN] = NULL,      [IPCWAIT_DISTANCE_CORE] = "core",
	[IPCWAIT_DISTANCE_L2] = "l2",           [IPCWAIT_DISTANCE_L3] = "l3",
	[IPCWAIT_DISTANCE_PACKAGE] = "package", [IPCWAIT_DISTANCE_OTHER] = "other",
};

/* 0 means not measured. */
static void figure(struct json *j, const char *key, uint64_t v)
{
	if (v)
		json_whole(j, key, v);
	else
		json_null(j, key);
}

static void write_latency(struct json *j, const struct ipcwait_wake_latency *l)
{
	json_open(j, NULL, '{');
	json_whole(j, "idle_ns", l->idle_ns);
	figure(j, "p10_ns", l->p10_ns);
	figure(j, "median_ns", l->median_ns);
	figure(j, "p90_ns", l->p90_ns);
	figure(j, "waker_ns", l->waker_ns);
	json_whole(j, "samples_used", l->used);
	json_whole(j, "samples_discarded", l->discarded);
	json_close(j, '}');
}

static void write_pair(struct json *j, const struct ipcwait_calibration_pair *pair)
{
	json_open(j, NULL, '{');
	json_text(j, "nearest_shared", distances[pair->distance]);
	json_whole(j, "waker_cpu", pair->cpu_a);
	json_whole(j, "sleeper_cpu", pair->cpu_b);
	figure(j, "line_ns", pair->line_ns);
	json_open(j, "latency", '[');
	for (unsigned i = 0; i < IPCWAIT_IDLE_AGES; i++)
		write_latency(j, &pair->latency[i]);
	json_close(j, ']');
	json_close(j, '}');
}

static void write_figures(struct json *j, const struct ipcwait_calibration *c)
{
	json_number(j, "pause_ns", (double)c->pause_ps / 1000);
	figure(j, "line_ns", c->line_ns);
	figure(j, "empty_wake_ns", c->empty_wake_ns);
	figure(j, "latency_ns", c->latency_ns);
	figure(j, "waker_ns", c->waker_ns);
	figure(j, "sleeper_cpu_ns", c->sleeper_cpu_ns);
	figure(j, "timer_ns", c->timer_ns);
	figure(j, "timer_p90_ns", c->timer_p90_ns);
	figure(j, "block_ns", c->block_ns);
	json_integer(j, "counter_offset_ns", c->counter_offset_ns);
	json_boolean(j, "counter_one_way", c->counter_one_way);
	json_whole(j, "samples_used", c->samples_used);
	json_whole(j, "samples_discarded", c->samples_discarded);
}

void calibrate_write_json(FILE *f, const struct calibrate_result *r)
{
	struct json j = json_begin(f);

	json_text(&j, "program", "ipcwait calibrate");
	json_whole(&j, "format", FORMAT_VERSION);
	json_text(&j, "libipcwait", ipcwait_version());
	json_time(&j, "measured_at", (time_t)r->now.measured_at_s);
	json_boolean(&j, "thorough", r->options->thorough);
	json_number(&j, "seconds", r->seconds);
	if (r->other_cpus < 0)
		json_null(&j, "other_programs_cpus");
	else
		json_number(&j, "other_programs_cpus", r->other_cpus);
	json_boolean(&j, "disturbed", calibrate_disturbed(r));
	json_text(&j, "saved_in",
		  r->options->no_save || r->saved || r->refused ? NULL : r->path);
	write_figures(&j, &r->now);
	json_open(&j, "pairs", '[');
	for (unsigned i = 0; i < r->now.pair_count; i++)
		write_pair(&j, &r->now.pair[i]);
	json_close(&j, ']');
	json_end(&j);
}
