/* SPDX-License-Identifier: MIT */
#include "stat.h"
#include "run.h"
#include "symbol.h"
#include "../tools/common/arguments.h"
#include "../tools/common/complain.h"
#include "../tools/common/outfile.h"

#include <ipcwait/base.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define FORMAT_VERSION 1

#define SECONDS_MOST 1000000
#define ROWS_SHOWN   10
#define LABEL_BYTES  128

/* CPU time for finding places. */
#define PLACES_MS 500

/* How soon it is noticed that the process has ended. */
#define LOOK_NS 100000000

static const char help[] =
	"Usage: ipcwait stat [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"       ipcwait stat [OPTION]... --pid PID\n"
	"       ipcwait stat [OPTION]... --openmetrics\n"
	"\n"
	"Counts what a program waits for: how often it spun, how often it slept and why.\n"
	"PROGRAM runs with the module, as with `ipcwait run --stats`. A process that runs\n"
	"already must have a statistics page: it was started with IPCWAIT_PAGE=1, or by\n"
	"`ipcwait run --page`.\n"
	"\n"
	"  -p, --pid PID  count in this process, until it ends or with Ctrl-C\n"
	"  --for SECONDS  with --pid: no longer than that\n"
	"  --total        with --pid: what it has counted since it began, at once\n"
	"  --openmetrics  what all processes have counted since they began, or that of\n"
	"                 --pid, as text for Prometheus\n"
	"  --json         as a JSON object\n"
	"  --output FILE  write to FILE, in one step\n"
	"  -h, --help\n"
	"\n"
	"Exit status: 0; 1 there is no such page; 2 bad arguments; with PROGRAM that of\n"
	"`ipcwait run`.\n";

struct options {
	bool total, openmetrics, json;
	uint64_t pid, seconds;
	const char *output;
};

static void print_help(void)
{
	fputs(help, stdout);
}

static int set_pid(struct options *o, const char *text)
{
	return argument_number("--pid", text, 1, INT32_MAX, &o->pid);
}

static int set_seconds(struct options *o, const char *text)
{
	return argument_number("--for", text, 1, SECONDS_MOST, &o->seconds);
}

static const struct argument known[] = {
	{ "--pid", ARGUMENT_VALUE, .set = set_pid, .letter = 'p' },
	{ "--for", ARGUMENT_VALUE, .set = set_seconds },
	{ "--total", ARGUMENT_FLAG, .at = offsetof(struct options, total) },
	{ "--openmetrics", ARGUMENT_FLAG, .at = offsetof(struct options, openmetrics) },
	{ "--json", ARGUMENT_FLAG, .at = offsetof(struct options, json) },
	{ "--output", ARGUMENT_PATH, .at = offsetof(struct options, output) },
	{ "--help", ARGUMENT_PRINT, .print = print_help },
};

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]), NULL };

static int check(const struct options *o, bool program)
{
	if (program && (o->pid || o->openmetrics))
		return refuse("a program and %s exclude each other",
			      o->pid ? "--pid" : "--openmetrics");
	if (!program && !o->pid && !o->openmetrics)
		return refuse("a program, --pid or --openmetrics is missing");
	if (o->openmetrics && (o->json || o->seconds))
		return refuse("--openmetrics and %s exclude each other",
			      o->json ? "--json" : "--for");
	if (o->seconds && (!o->pid || o->total))
		return refuse("--for needs --pid, without --total");
	return o->output ? outfile_check("--output", o->output) : 0;
}

static void tell_of_refused(unsigned refused)
{
	if (refused)
		complain("%u statistics page%s of another version, and not counted",
			 refused, refused == 1 ? " is" : "s are");
}

static int find(struct pages *pages, const struct options *o)
{
	pages_open(pages, (pid_t)o->pid);
	tell_of_refused(pages->refused);
	if (pages->n)
		return 0;
	if (kill((pid_t)o->pid, 0) != 0 && errno == ESRCH)
		return complain("there is no process %" PRIu64, o->pid);
	return complain("process %" PRIu64 " has no statistics page: start it with "
			"IPCWAIT_PAGE=1, or by `ipcwait run --page`, where it has one as "
			"soon as it has had to wait",
			o->pid);
}

/* Until the process ends, or this one is to. The last look comes after that. */
static void watch(struct watched *w, struct pages *pages, const struct options *o)
{
	int64_t end_ns =
		o->seconds ? w->at_ns + (int64_t)o->seconds * 1000000000 : INT64_MAX;
	bool lives = true, ends = false;
	sigset_t set;

	run_block_ends(&set);
	while (lives && !ends && w->at_ns < end_ns) {
		ends = run_pause(&set, LOOK_NS);
		watched_free(w);
		lives = watched_look_again(w, pages);
	}
}

static void print_row(FILE *f, const struct watched_row *r)
{
	char label[LABEL_BYTES];

	watched_label(r, label, sizeof(label));
	fprintf(f, "  %-10s %11" PRIu64 " %11" PRIu64 " %11" PRIu64 "  %s\n",
		r->kind < IPCWAIT_KIND_COUNT ? counters_kind(r->kind) : "", r->waits,
		r->spun, r->waits - r->spun, label);
}

static void print_rows(FILE *f, const struct watched *w, enum page_table table,
		       const char *what)
{
	unsigned n = w->rows[table] < ROWS_SHOWN ? w->rows[table] : ROWS_SHOWN;

	if (!n)
		return;
	fprintf(f, "  %-10s %11s %11s %11s  %s\n", "", "waits", "no sleep", "slept", what);
	for (unsigned i = 0; i < n; i++)
		print_row(f, &w->row[table][i]);
	if (w->rows[table] > n)
		fprintf(f, "  and %u more, see --json\n", w->rows[table] - n);
}

static void print(FILE *f, const struct watched *w, double seconds)
{
	const struct watched_process *p = w->process;

	fprintf(f, "%s: %s: process %ld (%s)", program_name, program_command, (long)p->pid,
		shown(p->program, -1));
	if (seconds > 0)
		fprintf(f, " for %.3f s", seconds);
	if (p->block_ns)
		fprintf(f, "; a sleep and its wake cost it %.1f us",
			(double)p->block_ns / 1e3);
	fputc('\n', f);
	counters_print(f, &p->counters);
	print_rows(f, w, PAGE_OBJECTS, "object");
	print_rows(f, w, PAGE_CALL_SITES, "call site");
}

static void write_row(struct json *j, const struct watched_row *r)
{
	char text[LABEL_BYTES];

	json_open(j, NULL, '{');
	json_text(j, "kind", r->kind < IPCWAIT_KIND_COUNT ? counters_kind(r->kind) : NULL);
	json_text(j, "name", r->name[0] ? r->name : NULL);
	(void)snprintf(text, sizeof(text), "0x%" PRIx64, r->address);
	json_text(j, "address", text);
	watched_label(r, text, sizeof(text));
	json_text(j, "where", text);
	json_whole(j, "waits", r->waits);
	json_whole(j, "without_sleep", r->spun);
	json_whole(j, "gave_up", r->gave_up);
	json_whole(j, "spun_useful_ns", r->spun_useful_ns);
	json_whole(j, "spun_wasted_ns", r->spun_wasted_ns);
	json_whole(j, "slept_ns", r->slept_ns);
	json_whole(j, "window_ns", r->window_ns);
	json_close(j, '}');
}

static void write_rows(struct json *j, const char *key, const struct watched *w,
		       enum page_table table)
{
	json_open(j, key, '[');
	for (unsigned i = 0; i < w->rows[table]; i++)
		write_row(j, &w->row[table][i]);
	json_close(j, ']');
}

static void write_json(FILE *f, const struct watched *w, double seconds)
{
	const struct watched_process *p = w->process;
	struct json j = json_begin(f);

	json_text(&j, "program", "ipcwait stat");
	json_whole(&j, "format", FORMAT_VERSION);
	json_text(&j, "libipcwait", ipcwait_version());
	json_whole(&j, "pid", (uint64_t)p->pid);
	json_text(&j, "name", p->program);
	json_number(&j, "seconds", seconds > 0 ? seconds : NAN);
	json_whole(&j, "block_ns", p->block_ns);
	json_whole(&j, "samples", p->samples);
	counters_write(&j, &p->counters);
	write_rows(&j, "objects", w, PAGE_OBJECTS);
	json_whole(&j, "waits_on_further_objects", p->missed[PAGE_OBJECTS]);
	write_rows(&j, "call_sites", w, PAGE_CALL_SITES);
	json_end(&j);
}

static void write_to(FILE *f, const struct options *o, const struct watched *w,
		     double seconds)
{
	if (o->openmetrics)
		stat_write_metrics(f, w);
	else if (o->json)
		write_json(f, w, seconds);
	else
		print(f, w, seconds);
}

static int write_out(const struct options *o, const struct watched *w, double seconds)
{
	struct outfile file;
	int r;

	/* Its owner may have spoilt it since it was found. Metrics are a file all the same. */
	if (!w->processes && !o->openmetrics) {
		(void)complain("the statistics page is damaged: start the process anew");
		return EXIT_FAILED;
	}
	if (!o->output) {
		write_to(stdout, o, w, seconds);
		return EXIT_DONE;
	}
	if (outfile_open(&file, "--output", o->output))
		return EXIT_FAILED;
	write_to(file.f, o, w, seconds);
	r = outfile_complete(&file);
	outfile_abandon(&file);
	return r ? EXIT_FAILED : EXIT_DONE;
}

/* @w becomes what is counted from now on. Returns for how long, in seconds. */
static double count(struct watched *w, struct pages *pages, const struct options *o)
{
	struct watched before = *w, now;
	double seconds;

	(void)watched_look_again(&now, pages);
	watch(&now, pages, o);
	seconds = (double)(now.at_ns - before.at_ns) / 1e9;
	watched_since(w, &now, &before);
	watched_free(&before);
	watched_free(&now);
	return seconds;
}

/* Return: 0, or -EINVAL after one line on stderr. */
static int look(struct watched *w, const struct options *o, double *seconds)
{
	struct pages pages;

	*seconds = 0;
	if (!o->pid) {
		watched_look(w, 0);
		tell_of_refused(w->refused);
		return 0;
	}
	if (find(&pages, o)) {
		pages_close(&pages);
		return -EINVAL;
	}
	(void)watched_look_again(w, &pages);
	if (!o->total && !o->openmetrics)
		*seconds = count(w, &pages, o);
	pages_close(&pages);
	return 0;
}

static int stat_pages(const struct options *o)
{
	struct watched w;
	double seconds;
	int status;

	if (look(&w, o, &seconds))
		return EXIT_FAILED;
	watched_sort(&w);
	symbols_begin(PLACES_MS);
	status = write_out(o, &w, seconds);
	watched_free(&w);
	return status;
}

int stat_main(int argc, char **argv)
{
	struct options o = { .pid = 0 };
	int first = arguments_parse_front(&o, &arguments, argc, argv);

	if (!first)
		return EXIT_DONE;
	if (first < 0 || check(&o, first < argc))
		return EXIT_BAD_INPUT;
	return first < argc ? run_counted(argv + first, o.json, o.output) : stat_pages(&o);
}
