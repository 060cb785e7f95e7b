/* SPDX-License-Identifier: MIT */
/*
 * guest_init: the only process of a guest but for sem_test, which it starts.
 *
 * Each run is a process of its own, and in each round every row has one, in an order that moves
 * on from round to round. Around the process stand the kernel's counters. The host runs the very
 * same program, so that both sides do the same. Results are lines on stdout (line.h).
 *
 * A first process is a guest's, whatever its command line says: if it returned, the kernel would
 * panic, and nobody would learn what was wrong with the command line.
 */
#include "child.h"
#include "counters.h"
#include "idle.h"
#include "line.h"
#include "machine.h"
#include "matrix.h"
#include "pid1.h"
#include "../common/clock.h"
#include "../../tools/common/complain.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char program_name[] = "guest_init";

struct run {
	const struct matrix *matrix;
	char *row;
	unsigned round;
	char json[PATH_MAX];
	char err[PATH_MAX];
};

static bool run_program(const struct run *r, char *why, int size)
{
	const struct matrix *m = r->matrix;
	char *argv[] = { (char *)m->sem_test,
			 (char *)m->items,
			 (char *)m->loops,
			 (char *)"--rows",
			 r->row,
			 (char *)"--repeat",
			 (char *)"1",
			 (char *)"--no-progress",
			 (char *)"--json",
			 (char *)r->json,
			 NULL };

	unlink(r->json);
	return child_run(argv, NULL, r->err, why, size);
}

static void measure(const struct run *r)
{
	static struct idle_states idle;
	struct counters counters;
	char why[200] = "";
	char *document;
	struct line l;
	int64_t begin;

	idle_read(&idle);
	counters_read(&counters);
	begin = clock_now_ns();
	if (run_program(r, why, sizeof(why)))
		document = child_read_file(r->json);
	else
		document = NULL;
	line_begin(&l, "run");
	json_text(&l.head, "row", r->row);
	json_whole(&l.head, "round", r->round);
	json_number(&l.head, "wall_s", (double)(clock_now_ns() - begin) / 1e9);
	if (*why)
		json_text(&l.head, "error", why);
	counters_write_since(&l.head, &counters);
	idle_write_since(&l.head, &idle);
	line_end(&l, document);
	free(document);
}

static void measure_all(const struct matrix *m)
{
	struct run r = { .matrix = m };

	snprintf(r.json, sizeof(r.json), "%s/sem_test.json", m->dir);
	snprintf(r.err, sizeof(r.err), "%s/stderr.txt", m->dir);
	for (r.round = 0; m->n_rows && r.round < m->runs; r.round++)
		for (unsigned i = 0; i < m->n_rows; i++) {
			r.row = m->row[(r.round + i) % m->n_rows];
			measure(&r);
		}
	unlink(r.json);
	unlink(r.err);
}

/* What the project's own command says about the machine, if it was brought along. */
static void describe(const struct matrix *m)
{
	char out[PATH_MAX], err[PATH_MAX], why[200] = "";
	char *argv[] = { (char *)m->info, (char *)"info", (char *)"--json", NULL };
	char *document = NULL;
	struct line l;

	snprintf(out, sizeof(out), "%s/info.json", m->dir);
	snprintf(err, sizeof(err), "%s/stderr.txt", m->dir);
	if (child_run(argv, out, err, why, sizeof(why)))
		document = child_read_file(out);
	line_begin(&l, "info");
	if (*why)
		json_text(&l.head, "error", why);
	line_end(&l, document);
	free(document);
	unlink(out);
	unlink(err);
}

int main(int argc, char **argv)
{
	struct matrix m;
	struct line l;
	int r = matrix_parse(&m, argc, argv);
	bool first = getpid() == 1;

	/* Anybody else would mount over, and power off, a machine in use. */
	if (!r && m.guest && !first)
		r = complain("--guest is for the first process of a guest");
	if (r && !first)
		return 2;
	if (first)
		pid1_mount();
	if (r)
		line_error("command line", -r);
	line_begin(&l, "hello");
	machine_write(&l.head);
	line_end(&l, NULL);
	if (m.info && !r)
		describe(&m);
	if (!r)
		measure_all(&m);
	line_last();
	if (first)
		pid1_power_off();
	return 0;
}
