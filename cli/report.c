/* SPDX-License-Identifier: MIT */
#include "report.h"
#include "record.h"
#include "symbol.h"
#include "../tools/common/arguments.h"
#include "../tools/common/complain.h"
#include "../tools/common/outfile.h"

#include <stdlib.h>
#include <string.h>

/* CPU time for finding places. */
#define PLACES_MS 2000

/* Without --all. */
#define ROWS_SHOWN 10

static const char help[] =
	"Usage: ipcwait report [OPTION]... [FILE]\n"
	"\n"
	"What programs have waited for, and how long, from a record that `ipcwait record`\n"
	"or IPCWAIT_RECORD has made. FILE is " RECORD_FILE " if it is not given.\n"
	"\n"
	"  --sites        by where the programs wait, not by what they wait for\n"
	"  --all          all rows, not the first ten\n"
	"  --histograms   under each row how many waits were how long\n"
	"  --html         as a page with pictures, which needs no other file\n"
	"  --json         as a JSON object, with all rows (up to 65536)\n"
	"  --folded       a line for each stack of program, call site, object and reason,\n"
	"                 for flame graphs\n"
	"  --by WEIGHT    with --folded: waits, time (that they took, in us; the default)\n"
	"                 or cpu (that was spun, in us)\n"
	"  --waits        the length of each wait in ns and the address of its object,\n"
	"                 for policy_sim\n"
	"  --output FILE  write to FILE, in one step\n"
	"  -h, --help\n"
	"\n"
	"Exit status: 0; 1 it cannot be read or written; 2 bad arguments.\n";

struct options {
	bool sites, all, histograms;
	bool html, json, folded, waits;
	bool weighed;
	enum report_weight weight;
	const char *file, *output;
};

static void print_help(void)
{
	fputs(help, stdout);
}

static int set_weight(struct options *o, const char *text)
{
	static const char *const names[] = { "waits", "time", "cpu" };

	o->weighed = true;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			o->weight = (enum report_weight)i;
			return 0;
		}
	}
	return refuse("--by is '%s', but must be one of waits, time, cpu", shown(text, -1));
}

static int set_file(struct options *o, const char *text, unsigned i)
{
	return waits_take_file(&o->file, text, i);
}

static const struct argument known[] = {
	{ "--sites", ARGUMENT_FLAG, .at = offsetof(struct options, sites) },
	{ "--all", ARGUMENT_FLAG, .at = offsetof(struct options, all) },
	{ "--histograms", ARGUMENT_FLAG, .at = offsetof(struct options, histograms) },
	{ "--html", ARGUMENT_FLAG, .at = offsetof(struct options, html) },
	{ "--json", ARGUMENT_FLAG, .at = offsetof(struct options, json) },
	{ "--folded", ARGUMENT_FLAG, .at = offsetof(struct options, folded) },
	{ "--by", ARGUMENT_VALUE, .set = set_weight },
	{ "--waits", ARGUMENT_FLAG, .at = offsetof(struct options, waits) },
	{ "--output", ARGUMENT_PATH, .at = offsetof(struct options, output) },
	{ "--help", ARGUMENT_PRINT, .print = print_help },
};

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]),
					    set_file };

static int check(const struct options *o)
{
	if (o->html + o->json + o->folded + o->waits > 1)
		return refuse("--html, --json, --folded and --waits exclude each other");
	if (o->weighed && !o->folded)
		return refuse("--by needs --folded");
	if ((o->folded || o->waits) && (o->sites || o->all || o->histograms))
		return refuse("%s has no rows to choose",
			      o->folded ? "--folded" : "--waits");
	return o->output ? outfile_check("--output", o->output) : 0;
}

static void write_rows(FILE *f, const struct options *o, const struct waits *w)
{
	struct report r = { .waits = w,
			    .by = o->sites ? WAITS_BY_SITE : WAITS_BY_OBJECT,
			    .shown = o->all ? SIZE_MAX : ROWS_SHOWN,
			    .histograms = o->histograms };

	waits_sum(&r.sums, w, r.by);
	if (o->json)
		report_write_json(f, &r);
	else if (o->html)
		report_write_html(f, &r);
	else
		report_print(f, &r);
	waits_sum_free(&r.sums);
}

static void write_to(FILE *f, const struct options *o, const struct waits *w)
{
	if (o->folded)
		report_write_folded(f, w, o->weight);
	else if (o->waits)
		report_write_waits(f, w);
	else
		write_rows(f, o, w);
}

static int write_out(const struct options *o, const struct waits *w)
{
	struct outfile file;
	int r;

	if (!o->output) {
		write_to(stdout, o, w);
		return EXIT_DONE;
	}
	if (outfile_open(&file, "--output", o->output))
		return EXIT_FAILED;
	write_to(file.f, o, w);
	r = outfile_complete(&file);
	outfile_abandon(&file);
	return r ? EXIT_FAILED : EXIT_DONE;
}

int report_main(int argc, char **argv)
{
	struct options o = { .weight = REPORT_TIME, .file = RECORD_FILE };
	int r = arguments_parse(&o, &arguments, argc, argv);
	struct waits w;

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	if (check(&o))
		return EXIT_BAD_INPUT;
	if (waits_open(&w, o.file))
		return EXIT_FAILED;
	symbols_begin(PLACES_MS);
	r = write_out(&o, &w);
	waits_close(&w);
	return r;
}
