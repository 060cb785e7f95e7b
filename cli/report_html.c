/* SPDX-License-Identifier: MIT */
/* The report as a page: no script, no other file, and for dark rooms too. */
#include "report.h"

#include <ipcwait/base.h>

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#define BAR_WIDTH   8
#define BAR_HEIGHT  40
#define TIME_STRING "2026-01-31 12:00:00 UTC"

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<title>What was waited for</title>\n"
	"<style>\n"
	":root { color-scheme: light dark; --ink: #1b1f24; --faint: #667; --line: "
	"#d8dce2;\n"
	"  --paper: #fff; --bar: #2f6fb7; --slept: #c8642c; }\n"
	"@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --faint: #99a;\n"
	"  --line: #3a3f47; --paper: #16191d; --bar: #6aa7e8; --slept: #e8935e; } }\n"
	"body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink);\n"
	"  background: var(--paper); max-width: 75em; margin: 1.5em auto; padding: 0 1em; "
	"}\n"
	"h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; }\n"
	"p, .faint { color: var(--faint); }\n"
	".scroll { overflow-x: auto; }\n"
	"table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
	"th, td { text-align: right; padding: .25em .7em; white-space: nowrap;\n"
	"  border-bottom: 1px solid var(--line); }\n"
	"th.text, td.text { text-align: left; }\n"
	"td.text { font-family: ui-monospace, monospace; font-size: .9em; }\n"
	"rect { fill: var(--bar); } .split { display: flex; width: 8em; height: .8em;\n"
	"  background: var(--slept); } .split i { background: var(--bar); }\n"
	"</style></head><body>\n";

static void put_text(FILE *f, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '&' || c == '<' || c == '>' || c == '"' || c < ' ' || c > '~')
			fprintf(f, "&#%u;", c < ' ' || c > '~' ? '?' : c);
		else
			fputc(c, f);
	}
}

static void put_time(FILE *f, uint64_t ns)
{
	char text[REPORT_TIME_BYTES];

	fprintf(f, "<td>%s</td>", report_time(text, ns));
}

/* How many of the waits needed no sleep, as a figure and as a bar. */
static void put_share(FILE *f, const struct waits_row *row)
{
	double share =
		row->waits ? 100.0 * (double)(row->waits - row->slept) / (double)row->waits
			   : 0;

	fprintf(f,
		"<td>%.0f %%</td><td><div class=\"split\"><i style=\"width:%.1f%%\">"
		"</i></div></td>",
		share, share);
}

static void put_summary(FILE *f, const struct waits *w)
{
	const time_t began = (time_t)(w->head->began_ns / 1000000000);
	char text[sizeof(TIME_STRING)];
	struct tm tm;

	if (!gmtime_r(&began, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		text[0] = '\0';
	fputs("<h1>What was waited for</h1>\n<p>", f);
	put_text(f, w->path);
	fprintf(f,
		", begun %s: %zu waits of %zu process%s in %.3f s. Read by libipcwait %s.",
		text, w->n, w->processes, w->processes == 1 ? "" : "es", w->seconds,
		ipcwait_version());
	if (w->lost)
		fprintf(f, " %" PRIu64 " more were not recorded: %s.", w->lost,
			w->stopped ? w->stopped : "there was no room");
	fputs("</p>\n", f);
}

static void put_process(FILE *f, const struct waits_row *total)
{
	const struct waits_process *p = total->process;

	fprintf(f, "<tr><td>%" PRIu32 "</td><td class=\"text\">", p->pid);
	put_text(f, p->program);
	fprintf(f, "</td><td>%" PRIu64 "</td>", total->waits);
	put_share(f, total);
	put_time(f, total->useful_ns);
	put_time(f, total->wasted_ns);
	put_time(f, total->slept_ns);
	put_time(f, p->block_ns);
	fputs("</tr>\n", f);
}

static void put_processes(FILE *f, const struct waits *w)
{
	struct waits_row *all = waits_totals(w);

	fputs("<h2>Processes</h2>\n<div class=\"scroll\"><table>\n"
	      "<tr><th>PID</th><th class=\"text\">program</th><th>waits</th>"
	      "<th colspan=\"2\">without a sleep</th><th>spun</th><th>in vain</th>"
	      "<th>slept</th><th>B</th></tr>\n",
	      f);
	for (size_t i = 0; i < w->processes; i++)
		if (all[i].waits)
			put_process(f, &all[i]);
	free(all);
	fputs("</table></div>\n<p>B: what a sleep and its wake cost, by what the process "
	      "had learned at its end.</p>\n",
	      f);
}

/* Lengths from left to right, each bar twice as long as the one before. */
static void put_histogram(FILE *f, const struct waits_row *row, unsigned first,
			  unsigned last)
{
	uint64_t most = 1;

	for (unsigned i = first; i <= last; i++)
		most = row->bins[i] > most ? row->bins[i] : most;
	fprintf(f, "<td><svg width=\"%u\" height=\"%u\" role=\"img\">",
		(last - first + 1) * BAR_WIDTH, BAR_HEIGHT);
	for (unsigned i = first; i <= last; i++) {
		double height = (double)row->bins[i] * BAR_HEIGHT / (double)most;
		char below[REPORT_TIME_BYTES];

		if (!row->bins[i])
			continue;
		fprintf(f,
			"<rect x=\"%u\" y=\"%.1f\" width=\"%u\" height=\"%.1f\">"
			"<title>%" PRIu64 " below %s</title></rect>",
			(i - first) * BAR_WIDTH, BAR_HEIGHT - height, BAR_WIDTH - 1, height,
			row->bins[i], report_time(below, UINT64_C(2) << i));
	}
	fputs("</svg></td>", f);
}

static void put_reasons(FILE *f, const struct waits_row *row)
{
	const char *between = "";

	fputs("<td class=\"text\">", f);
	for (unsigned i = 1; i < IPCWAIT_REASON_COUNT; i++) {
		if (!row->reasons[i])
			continue;
		fprintf(f, "%s%s %" PRIu64, between, report_reason(i), row->reasons[i]);
		between = ", ";
	}
	fputs("</td>", f);
}

static void put_row(FILE *f, const struct report *r, const struct waits_row *row,
		    unsigned first, unsigned last)
{
	char label[REPORT_LABEL_BYTES];

	waits_label(row, r->by, label, sizeof(label));
	fputs("<tr><td class=\"text\">", f);
	put_text(f, label);
	fprintf(f,
		"</td><td>%" PRIu32 "</td><td class=\"text\">%s</td><td>%" PRIu64 "</td>",
		row->process->pid, report_kind(row->kind), row->waits);
	put_share(f, row);
	put_time(f, row->p50_ns);
	put_time(f, row->p99_ns);
	put_time(f, row->length_ns);
	put_time(f, row->useful_ns + row->wasted_ns);
	put_histogram(f, row, first, last);
	put_reasons(f, row);
	fputs("</tr>\n", f);
}

/* The same lengths for all rows, so that they can be compared. */
static void find_bins(const struct report *r, unsigned *first, unsigned *last)
{
	*first = WAITS_BINS - 1;
	*last = 0;
	for (size_t i = 0; i < r->sums.n; i++) {
		for (unsigned k = 0; k < WAITS_BINS; k++) {
			if (!r->sums.row[i].bins[k])
				continue;
			*first = k < *first ? k : *first;
			*last = k > *last ? k : *last;
		}
	}
}

static void put_rows(FILE *f, const struct report *r)
{
	size_t n = r->sums.n < r->shown ? r->sums.n : r->shown;
	char from[REPORT_TIME_BYTES], to[REPORT_TIME_BYTES];
	unsigned first, last;

	if (!n)
		return;
	find_bins(r, &first, &last);
	fprintf(f,
		"<h2>%s</h2>\n<div class=\"scroll\"><table>\n<tr><th class=\"text\">where"
		"</th><th>PID</th><th class=\"text\">kind</th><th>waits</th>"
		"<th colspan=\"2\">without a sleep</th><th>median</th><th>99 %%</th>"
		"<th>in all</th><th>CPU spun</th><th>lengths, %s to %s</th>"
		"<th class=\"text\">why it slept</th></tr>\n",
		r->by == WAITS_BY_SITE ? "Call sites" : "Objects",
		report_time(from, UINT64_C(1) << first),
		report_time(to, UINT64_C(2) << last));
	for (size_t i = 0; i < n; i++)
		put_row(f, r, &r->sums.row[i], first, last);
	fputs("</table></div>\n<p>A bar is of waits up to twice as long as those of the "
	      "bar "
	      "before.</p>\n",
	      f);
	if (r->sums.all > n)
		fprintf(f, "<p>And %zu more, with --all.</p>\n", r->sums.all - n);
}

void report_write_html(FILE *f, const struct report *r)
{
	fputs(head, f);
	put_summary(f, r->waits);
	put_processes(f, r->waits);
	put_rows(f, r);
	fputs("</body></html>\n", f);
}
