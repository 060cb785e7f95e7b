/* SPDX-License-Identifier: MIT */
#include "report.h"
#include "counters.h"
#include "../tools/common/complain.h"
#include "../tools/common/json_writer.h"

#include <ipcwait/base.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_VERSION 1

#define BAR_COLUMNS 40

const char *report_time(char text[REPORT_TIME_BYTES], uint64_t ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	unsigned i = 0;
	double n;

	while (i < 3 && (double)ns < units[i].ns)
		i++;
	n = (double)ns / units[i].ns;
	(void)snprintf(text, REPORT_TIME_BYTES, n < 10 && i < 3 ? "%.1f %s" : "%.0f %s", n,
		       units[i].unit);
	return text;
}

const char *report_kind(unsigned kind)
{
	const char *name = kind < IPCWAIT_KIND_COUNT ? counters_kind(kind) : NULL;

	return name ? name : "";
}

const char *report_reason(unsigned reason)
{
	const char *name = reason < IPCWAIT_REASON_COUNT ? counters_reason(reason) : NULL;

	if (!reason)
		return "no sleep";
	return name ? name : "unknown";
}

static void print_process(FILE *f, const struct waits_row *total)
{
	char spun[REPORT_TIME_BYTES], wasted[REPORT_TIME_BYTES], slept[REPORT_TIME_BYTES];
	const struct waits_process *p = total->process;

	fprintf(f, "process %" PRIu32 " (%s): ", p->pid,
		p->program[0] ? p->program : "unknown");
	fprintf(f,
		"%" PRIu64 " waits, %.0f %% without a sleep\n"
		"  spun for %s, of which %s in vain; slept for %s",
		total->waits,
		100.0 * (double)(total->waits - total->slept) / (double)total->waits,
		report_time(spun, total->useful_ns + total->wasted_ns),
		report_time(wasted, total->wasted_ns), report_time(slept, total->slept_ns));
	if (p->block_ns)
		fprintf(f, "; B %.1f us", (double)p->block_ns / 1e3);
	fputc('\n', f);
}

/* Those that waited, up to as many as rows are shown. */
static void print_processes(FILE *f, const struct report *r)
{
	struct waits_row *all = waits_totals(r->waits);
	size_t waited = 0, idle = 0;

	for (size_t i = 0; i < r->waits->processes; i++) {
		if (!all[i].waits)
			idle++;
		else if (waited++ < r->shown)
			print_process(f, &all[i]);
	}
	if (waited > r->shown)
		fprintf(f, "and %zu more processes, see --all\n", waited - r->shown);
	if (idle)
		fprintf(f, "and %zu in which no wait had to wait\n", idle);
	free(all);
}

static void print_bar(FILE *f, const struct waits_row *row, unsigned bin)
{
	static const char hashes[BAR_COLUMNS + 1] =
		"########################################";
	uint64_t n = row->bins[bin];
	char below[REPORT_TIME_BYTES];

	fprintf(f, "    below %-8s %10" PRIu64 " %.*s\n",
		report_time(below, UINT64_C(2) << bin), n,
		(int)((n * BAR_COLUMNS + row->waits - 1) / row->waits), hashes);
}

static void print_histogram(FILE *f, const struct waits_row *row)
{
	unsigned first = 0, last = WAITS_BINS - 1;

	while (first < last && !row->bins[first])
		first++;
	while (last > first && !row->bins[last])
		last--;
	for (; first <= last; first++)
		print_bar(f, row, first);
}

static void print_row(FILE *f, const struct report *r, const struct waits_row *row)
{
	char label[REPORT_LABEL_BYTES], time[4][REPORT_TIME_BYTES];

	waits_label(row, r->by, label, sizeof(label));
	fprintf(f, "  %-10s %8" PRIu64 " %4.0f%% %7s %7s %7s %7s  %s\n",
		report_kind(row->kind), row->waits,
		100.0 * (double)(row->waits - row->slept) / (double)row->waits,
		report_time(time[0], row->p50_ns), report_time(time[1], row->p99_ns),
		report_time(time[2], row->length_ns),
		report_time(time[3], row->useful_ns + row->wasted_ns), label);
	if (r->histograms)
		print_histogram(f, row);
}

void report_print(FILE *f, const struct report *r)
{
	const struct waits *w = r->waits;
	size_t n = r->sums.n < r->shown ? r->sums.n : r->shown;

	fprintf(f, "%s: %zu waits of %zu process%s in %.3f s\n", shown(w->path, -1), w->n,
		w->processes, w->processes == 1 ? "" : "es", w->seconds);
	if (w->lost)
		fprintf(f, "%" PRIu64 " more were not recorded: %s\n", w->lost,
			w->stopped ? w->stopped : "there was no room");
	print_processes(f, r);
	if (!n)
		return;
	fprintf(f, "\n  %-10s %8s %5s %7s %7s %7s %7s  %s\n", "", "waits", "spun", "median",
		"99 %", "in all", "CPU", r->by == WAITS_BY_SITE ? "call site" : "object");
	for (size_t i = 0; i < n; i++)
		print_row(f, r, &r->sums.row[i]);
	if (r->sums.all > n)
		fprintf(f, "  and %zu more, see --all\n", r->sums.all - n);
}

static void write_process(struct json *j, const struct waits_row *total)
{
	const struct waits_process *p = total->process;

	json_open(j, NULL, '{');
	json_whole(j, "pid", p->pid);
	json_text(j, "name", p->program);
	json_whole(j, "parent", p->parent ? p->parent->pid : 0);
	json_whole(j, "block_ns", p->block_ns);
	json_whole(j, "samples", p->samples);
	json_whole(j, "waits", total->waits);
	json_whole(j, "slept", total->slept);
	json_whole(j, "gave_up", total->gave_up);
	json_whole(j, "length_ns", total->length_ns);
	json_whole(j, "spun_useful_ns", total->useful_ns);
	json_whole(j, "spun_wasted_ns", total->wasted_ns);
	json_whole(j, "slept_ns", total->slept_ns);
	json_open(j, "reasons", '{');
	for (unsigned i = 1; i < IPCWAIT_REASON_COUNT; i++)
		if (total->reasons[i])
			json_whole(j, report_reason(i), total->reasons[i]);
	json_close(j, '}');
	json_close(j, '}');
}

static void write_bins(struct json *j, const struct waits_row *row)
{
	json_open(j, "histogram", '[');
	for (unsigned i = 0; i < WAITS_BINS; i++) {
		if (!row->bins[i])
			continue;
		json_open(j, NULL, '{');
		json_whole(j, "below_ns", UINT64_C(2) << i);
		json_whole(j, "waits", row->bins[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_row(struct json *j, const struct waits_row *row)
{
	char text[REPORT_LABEL_BYTES], name[WAITS_NAME_BYTES];
	bool named = waits_name_of(row->process, row->address, name);

	json_open(j, NULL, '{');
	json_whole(j, "pid", row->process->pid);
	json_text(j, "kind", report_kind(row->kind));
	json_text(j, "name", named ? name : NULL);
	(void)snprintf(text, sizeof(text), "0x%" PRIx64, row->address);
	json_text(j, "address", text);
	waits_place(row->process, row->site, text, sizeof(text));
	json_text(j, "where", text);
	json_whole(j, "waits", row->waits);
	json_whole(j, "slept", row->slept);
	json_whole(j, "gave_up", row->gave_up);
	json_whole(j, "length_ns", row->length_ns);
	json_whole(j, "median_ns", row->p50_ns);
	json_whole(j, "p90_ns", row->p90_ns);
	json_whole(j, "p99_ns", row->p99_ns);
	json_whole(j, "longest_ns", row->most_ns);
	json_whole(j, "spun_useful_ns", row->useful_ns);
	json_whole(j, "spun_wasted_ns", row->wasted_ns);
	json_whole(j, "slept_ns", row->slept_ns);
	json_whole(j, "window_ns", row->window_ns);
	write_bins(j, row);
	json_close(j, '}');
}

void report_write_json(FILE *f, const struct report *r)
{
	const struct waits *w = r->waits;
	struct waits_row *totals = waits_totals(w);
	struct json j = json_begin(f);

	json_text(&j, "program", "ipcwait report");
	json_whole(&j, "format", FORMAT_VERSION);
	json_text(&j, "libipcwait", ipcwait_version());
	json_time(&j, "began", (time_t)(w->head->began_ns / 1000000000));
	json_number(&j, "seconds", w->seconds);
	json_whole(&j, "waits", w->n);
	json_whole(&j, "lost", w->lost);
	json_open(&j, "processes", '[');
	for (size_t i = 0; i < w->processes; i++)
		write_process(&j, &totals[i]);
	json_close(&j, ']');
	free(totals);
	json_open(&j, r->by == WAITS_BY_SITE ? "call_sites" : "objects", '[');
	for (size_t i = 0; i < r->sums.n; i++)
		write_row(&j, &r->sums.row[i]);
	json_close(&j, ']');
	json_whole(&j, "further_rows", r->sums.all - r->sums.n);
	json_end(&j);
}
