/* SPDX-License-Identifier: MIT */
/*
 * policy_sim: how good is a rule for how long to spin?
 *
 *	options.c, usage.c   the command line        suite.c, waits.c   the waits
 *	../../tools/rules    the rules               trace.c            recorded waits
 *	run.c                the virtual clock       results.c          all runs
 *	table.c, json.c, picture.c   the reports     bars.c             what must be reached
 */
#include "bars.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/gnuplot.h"
#include "json.h"
#include "options.h"
#include "../../tools/common/outfile.h"
#include "picture.h"
#include "results.h"
#include "table.h"
#include "trace.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

const char program_name[] = "policy_sim";

/* The files that were asked for; f is NULL for the others. */
struct files {
	struct outfile json, svg;
};

static int open_files(struct files *files, const struct options *o)
{
	if (o->svg_path && gnuplot_check())
		return -1;
	if (o->json_path && outfile_open(&files->json, "--json", o->json_path))
		return -1;
	return o->svg_path ? outfile_open(&files->svg, "--svg", o->svg_path) : 0;
}

static int read_traces(struct trace *traces, const struct options *o)
{
	for (size_t i = 0; i < o->n_traces; i++)
		if (trace_read(&traces[i], o->trace_paths[i]))
			return -1;
	return 0;
}

/* Return: 0, or -1 after one line on stderr. */
static int write_files(struct files *files, const struct results *r)
{
	if (files->json.f) {
		json_write(files->json.f, r);
		if (outfile_complete(&files->json))
			return -1;
	}
	if (files->svg.f) {
		if (picture_draw(files->svg.f, r) || outfile_complete(&files->svg))
			return -1;
	}
	return 0;
}

static enum exit_status run(struct files *files, const struct options *o,
			    const struct trace *traces)
{
	enum exit_status status = EXIT_DONE;
	struct results results;

	if (results_run(&results, o, traces)) {
		complain("no memory");
		return EXIT_FAILED;
	}
	table_print(&results);
	if (o->check && !bars_all_reached(&results))
		status = EXIT_NOT_REACHED;
	if (write_files(files, &results))
		status = EXIT_FAILED;
	results_destroy(&results);
	if (fflush(stdout) || ferror(stdout)) {
		complain("cannot write the table");
		status = EXIT_FAILED;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct trace traces[TRACES_MOST] = { 0 };
	enum exit_status status = EXIT_BAD_INPUT;
	struct files files = { 0 };
	struct options o;
	int r = options_parse(&o, argc, argv);

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	signal(SIGPIPE, SIG_IGN);
	if (!read_traces(traces, &o) && !open_files(&files, &o))
		status = run(&files, &o, traces);
	outfile_abandon(&files.json);
	outfile_abandon(&files.svg);
	for (size_t i = 0; i < o.n_traces; i++)
		trace_destroy(&traces[i]);
	return status;
}
