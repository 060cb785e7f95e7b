/* SPDX-License-Identifier: MIT */
#include "run.h"
#include "../tools/common/complain.h"
#include "../tools/common/json_writer.h"

#include <ipcwait/base.h>

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#define FORMAT_VERSION 1

/* The report names so many reasons, and none that is rarer than one in a hundred. */
#define REASONS_SHOWN 3

static const char *const kinds[IPCWAIT_KIND_COUNT] = {
	[IPCWAIT_KIND_FUTEX] = "futex",       [IPCWAIT_KIND_SEM] = "sem",
	[IPCWAIT_KIND_MUTEX] = "mutex",       [IPCWAIT_KIND_COND] = "cond",
	[IPCWAIT_KIND_EVENT] = "event",       [IPCWAIT_KIND_EVENTCOUNT] = "eventcount",
	[IPCWAIT_KIND_BARRIER] = "barrier",   [IPCWAIT_KIND_LATCH] = "latch",
	[IPCWAIT_KIND_ONCE] = "once",         [IPCWAIT_KIND_RWLOCK] = "rwlock",
	[IPCWAIT_KIND_WAIT_ANY] = "wait_any", [IPCWAIT_KIND_QUEUE] = "queue",
	[IPCWAIT_KIND_CHANNEL] = "channel",   [IPCWAIT_KIND_FD] = "fd",
};

static const char *const reasons[RUN_REASONS] = {
	[IPCWAIT_REASON_WINDOW_OVER] = "window_over",
	[IPCWAIT_REASON_LEARNED_LONG] = "learned_long",
	[IPCWAIT_REASON_PRESET_BLOCK] = "preset_block",
	[IPCWAIT_REASON_ONE_CPU] = "one_cpu",
	[IPCWAIT_REASON_RATIONED] = "rationed",
	[IPCWAIT_REASON_SAME_CPU] = "same_cpu",
	[IPCWAIT_REASON_BUDGET_EMPTY] = "budget_empty",
	[IPCWAIT_REASON_CROWDED] = "crowded",
	[IPCWAIT_REASON_PREEMPTED] = "preempted",
	[IPCWAIT_REASON_STOLEN] = "stolen",
	[IPCWAIT_REASON_PROBE] = "probe",
	[IPCWAIT_REASON_NO_FACTS] = "no_facts",
	[IPCWAIT_REASON_OVERTAKEN] = "overtaken",
	[IPCWAIT_REASON_DEADLINE] = "deadline",
	[IPCWAIT_REASON_INTERRUPTIBLE] = "interruptible",
	[IPCWAIT_REASON_CHEAP] = "cheap",
};

static uint64_t waits_of(const struct ipcwait_kind_stats *k)
{
	return k->spun + k->slept + k->expired + k->interrupted;
}

static bool has_any(const struct ipcwait_kind_stats *k)
{
	static const struct ipcwait_kind_stats none;

	return memcmp(k, &none, sizeof(none)) != 0;
}

static void print_kind(FILE *f, const char *name, const struct ipcwait_kind_stats *k)
{
	fprintf(f,
		"  %-10s %11" PRIu64 " %11" PRIu64 " %11" PRIu64 " %11" PRIu64
		" %11.0f %11.0f\n",
		name, waits_of(k), k->spun, k->slept, k->expired + k->interrupted,
		(double)k->spun_useful_ns / 1e3, (double)k->spun_wasted_ns / 1e3);
}

static void print_table(FILE *f, const struct run_counts *c)
{
	fprintf(f, "  %-10s %11s %11s %11s %11s %11s %11s\n", "", "waits", "spun", "slept",
		"gave up", "us spun", "us in vain");
	for (unsigned i = 0; i < IPCWAIT_KIND_COUNT; i++)
		if (has_any(&c->kind[i]))
			print_kind(f, kinds[i], &c->kind[i]);
}

/* With three digits or four. */
static void print_time(FILE *f, uint64_t ns)
{
	double us = (double)ns / 1e3;

	if (us < 1e4)
		fprintf(f, "%.0f us", us);
	else if (us < 1e7)
		fprintf(f, "%.0f ms", us / 1e3);
	else
		fprintf(f, "%.0f s", us / 1e6);
}

static void print_gain(FILE *f, const struct ipcwait_kind_stats *all)
{
	uint64_t ended = all->spun + all->slept;

	if (!ended) {
		fputs("  No wait came to an end that had to wait.\n", f);
		return;
	}
	fprintf(f,
		"  %" PRIu64 " of %" PRIu64 " waits (%.0f %%) ended without a sleep, for ",
		all->spun, ended, 100.0 * (double)all->spun / (double)ended);
	print_time(f, all->spun_useful_ns + all->spun_wasted_ns);
	fputs(" of spinning in all.\n", f);
}

/* The most frequent reason that is not in @shown; 0: there is none. */
static unsigned next_reason(const struct run_counts *c, const bool *shown)
{
	uint64_t most = 0;
	unsigned best = 0;

	for (unsigned i = 0; i < RUN_REASONS; i++) {
		if (reasons[i] && !shown[i] && c->reasons[i] > most) {
			most = c->reasons[i];
			best = i;
		}
	}
	return best;
}

static void print_reasons(FILE *f, const struct run_counts *c)
{
	bool shown[RUN_REASONS] = { false };
	uint64_t all = 0;

	for (unsigned i = 0; i < RUN_REASONS; i++)
		all += reasons[i] ? c->reasons[i] : 0;
	for (unsigned n = 0; n < REASONS_SHOWN; n++) {
		unsigned next = next_reason(c, shown);

		if (!next || c->reasons[next] * 100 < all)
			break;
		shown[next] = true;
		fprintf(f, "%s %s (%.0f %%)",
			n ? "," : "  Reasons to sleep:", reasons[next],
			100.0 * (double)c->reasons[next] / (double)all);
	}
	if (all)
		fputs(".\n", f);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void run_print(FILE *f, const struct run_report *r)
{
	const struct run_counts *c = &r->counts;

	fprintf(f, "%s: %s: %.3f s, %.3f s of CPU time (%.3f user, %.3f system)",
		program_name, program_command, r->end.seconds,
		r->end.user_seconds + r->end.system_seconds, r->end.user_seconds,
		r->end.system_seconds);
	if (r->program->plain) {
		fprintf(f, ", nothing counted\n");
		return;
	}
	fprintf(f, ", %" PRIu64 " program%s and %" PRIu64 " fork%s counted\n", c->programs,
		plural(c->programs), c->forks, plural(c->forks));
	if (!c->programs) {
		fputs("  The program has not loaded the module, or may not open what is "
		      "under /proc.\n",
		      f);
		return;
	}
	if (has_any(&c->all))
		print_table(f, c);
	print_gain(f, &c->all);
	print_reasons(f, c);
	if (c->sharing)
		fprintf(f,
			"  %" PRIu64
			" process%s had to share counters with others: the figures "
			"may be too low.\n",
			c->sharing, c->sharing == 1 ? "" : "es");
}

static void write_counts(struct json *j, const char *key,
			 const struct ipcwait_kind_stats *k)
{
	json_open(j, key, '{');
	json_whole(j, "spun", k->spun);
	json_whole(j, "slept", k->slept);
	json_whole(j, "expired", k->expired);
	json_whole(j, "interrupted", k->interrupted);
	json_whole(j, "futex_waits", k->futex_waits);
	json_whole(j, "futex_wakes", k->futex_wakes);
	json_whole(j, "wakes_avoided", k->wakes_avoided);
	json_whole(j, "spun_useful_ns", k->spun_useful_ns);
	json_whole(j, "spun_wasted_ns", k->spun_wasted_ns);
	json_whole(j, "slept_ns", k->slept_ns);
	json_whole(j, "preempted", k->preempted);
	json_whole(j, "stolen", k->stolen);
	json_whole(j, "timed_sleeps", k->timed_sleeps);
	json_close(j, '}');
}

static void write_all_counts(struct json *j, const struct run_counts *c)
{
	json_whole(j, "programs", c->programs);
	json_whole(j, "forks", c->forks);
	json_whole(j, "sharing", c->sharing);
	write_counts(j, "all", &c->all);
	json_open(j, "kinds", '{');
	for (unsigned i = 0; i < IPCWAIT_KIND_COUNT; i++)
		if (has_any(&c->kind[i]))
			write_counts(j, kinds[i], &c->kind[i]);
	json_close(j, '}');
	json_open(j, "reasons", '{');
	for (unsigned i = 0; i < RUN_REASONS; i++)
		if (reasons[i] && c->reasons[i])
			json_whole(j, reasons[i], c->reasons[i]);
	json_close(j, '}');
}

static int count_of(char *const *texts)
{
	int n = 0;

	while (texts[n])
		n++;
	return n;
}

void run_write_json(FILE *f, const struct run_report *r)
{
	int status = r->end.wait_status;
	struct json j = json_begin(f);

	json_text(&j, "program", "ipcwait run");
	json_whole(&j, "format", FORMAT_VERSION);
	json_text(&j, "libipcwait", ipcwait_version());
	json_texts(&j, "command", count_of(r->program->argv), r->program->argv);
	json_text(&j, "module", r->program->plain ? NULL : r->module);
	json_text(&j, "why_no_module", r->program->plain);
	json_integer(&j, "status", run_status_of(status));
	if (WIFSIGNALED(status))
		json_integer(&j, "signal", WTERMSIG(status));
	else
		json_null(&j, "signal");
	json_number(&j, "seconds", r->end.seconds);
	json_number(&j, "user_seconds", r->end.user_seconds);
	json_number(&j, "system_seconds", r->end.system_seconds);
	write_all_counts(&j, &r->counts);
	json_end(&j);
}
