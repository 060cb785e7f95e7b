/* SPDX-License-Identifier: MIT */
/*
 * wait_bench: does the waiting engine keep its promises on this machine?
 *
 *	options.c, usage.c   the command line      runner.c           a process per row
 *	rows.c, row_*.c      the questions         report.c           values, medians, bars
 *	handoff.c            one waits, one wakes  table.c, json.c    the reports
 *	crowd.c, quota.c     pairs of threads      wakes.c            dear and cheap wakes
 *	burst.c, cells.c     pairs that begin      turn.c             what hands turns over
 */
#include "json.h"
#include "runner.h"
#include "table.h"
#include "../../tools/common/begin_again.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/outfile.h"

#include <stdio.h>
#include <stdlib.h>

const char program_name[] = "wait_bench";

struct sum {
	unsigned bars, reached;
};

static void count(struct sum *sum, const struct report *r)
{
	sum->bars += r->n_bars;
	for (unsigned i = 0; i < r->n_bars; i++)
		sum->reached += report_reached(&r->bars[i]);
}

/* Return: an exit status, 0 to go on. */
static int run_row(const struct options *o, const struct row *row, enum wakes wakes,
		   struct report **report, struct sum *sum)
{
	struct report *r = report_create(row->one_round ? 1 : o->rounds);
	int status;

	if (!r) {
		complain("no memory");
		return EXIT_FAILED;
	}
	*report = r;
	r->wakes = wakes;
	status = runner_run(row, r, o);
	if (status)
		return status;
	table_print_row(row, r);
	count(sum, r);
	return 0;
}

/* Return: an exit status, 0 to go on. */
static int run_rows(const struct options *o, struct report *reports[REPORTS],
		    struct sum *sum)
{
	int status = 0;

	for (unsigned i = 0; i < REPORTS && !status; i++) {
		unsigned row = i / WAKES_KINDS;
		enum wakes wakes = i % WAKES_KINDS;

		if (o->rows >> row & 1 && o->wakes >> wakes & 1)
			status = run_row(o, rows[row], wakes, &reports[i], sum);
	}
	return status;
}

static int run(const struct options *o, struct outfile *json)
{
	struct report *reports[REPORTS] = { NULL };
	struct sum sum = { 0, 0 };
	struct machine machine;
	int status;

	machine_read(&machine);
	table_print_header(o, &machine);
	status = run_rows(o, reports, &sum);
	if (status)
		return status;
	table_print_sum(sum.reached, sum.bars);
	if (json->f)
		json_write(json->f, o, &machine, reports);
	if (json->f && outfile_complete(json))
		return EXIT_FAILED;
	if (fflush(stdout) || ferror(stdout)) {
		complain("cannot write the table");
		return EXIT_FAILED;
	}
	return o->check && sum.reached < sum.bars ? EXIT_NOT_REACHED : EXIT_DONE;
}

int main(int argc, char **argv)
{
	struct outfile json = { 0 };
	struct options o;
	int r = options_parse(&o, argc, argv);

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	/* Figures must not depend on what was calibrated here some day. */
	if (!getenv("IPCWAIT_CALIBRATION"))
		begin_again(argv, "IPCWAIT_CALIBRATION", "none");
	runner_prepare();
	if (o.json_path && outfile_open(&json, "--json", o.json_path))
		return EXIT_BAD_INPUT;
	r = run(&o, &json);
	outfile_abandon(&json);
	return r;
}
