/* SPDX-License-Identifier: MIT */
/*
 * wait_bench: does the waiting engine keep its promises on this machine?
 *
 *	options.c, usage.c   the command line      runner.c           a process per row
 *	rows.c, row_*.c      the questions         report.c           values, medians, bars
 *	handoff.c            one waits, one wakes  table.c, json.c    the reports
 *	crowd.c, quota.c     pairs of threads      sem_*.c            what is compared
 */
#include "json.h"
#include "runner.h"
#include "table.h"
#include "../common/complain.h"
#include "../common/outfile.h"

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
static int run_rows(const struct options *o, struct report *reports[ROW_COUNT],
		    struct sum *sum)
{
	for (unsigned i = 0; i < ROW_COUNT; i++) {
		int status;

		if (!(o->rows >> i & 1))
			continue;
		reports[i] = report_create(rows[i]->one_round ? 1 : o->rounds);
		if (!reports[i]) {
			complain("no memory");
			return EXIT_FAILED;
		}
		status = runner_run(rows[i], reports[i], o);
		if (status)
			return status;
		table_print_row(rows[i], reports[i]);
		count(sum, reports[i]);
	}
	return 0;
}

static int run(const struct options *o, struct outfile *json)
{
	struct report *reports[ROW_COUNT] = { NULL };
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
	setenv("IPCWAIT_CALIBRATION", "none", 0);
	runner_prepare();
	if (o.json_path && outfile_open(&json, "--json", o.json_path))
		return EXIT_BAD_INPUT;
	r = run(&o, &json);
	outfile_abandon(&json);
	return r;
}
