/* SPDX-License-Identifier: MIT */
/*
 * sem_test: what a semaphore costs when one thread waits a microsecond for another.
 *
 *	options.c   the command line         rows.c, sem_*.c   the semaphores
 *	baseline.c  what is possible         bodies.c          the work of the two workers
 *	rounds.c    the measurement          job.c, team.c     running and watching workers
 *	figures.c   medians and ratios       table.c, json.c   the reports
 */
#include "bars.h"
#include "baseline.h"
#include "cpus.h"
#include "finish.h"
#include "json.h"
#include "options.h"
#include "rounds.h"
#include "shown.h"
#include "table.h"
#include "team.h"

#include <stdio.h>
#include <string.h>

/* Before any other thread exists and before the library looks at the CPUs. */
static void go_to_one_cpu(void)
{
	unsigned cpu = 0;
	int r;

	cpus_usable(&cpu, 1);
	r = cpus_pin(pthread_self(), cpu);
	if (r)
		finish_failed("--one-cpu: cannot stay on CPU %u: %s", cpu, strerror(-r));
}

static void measure(struct results *r, struct arena *a)
{
	struct progress p;
	double seconds;

	environment_read(&r->environment);
	r->loop_ns = baseline_loop_ns(a);
	r->round_trip_ns = baseline_round_trip_ns(a);
	progress_init(&p, r->options->progress);
	seconds = rounds_estimate(r, a);
	table_print_header(r, seconds);
	progress_begin(&p, seconds);
	rounds_run(r, a, &p);
}

static bool all_reached(const struct results *r)
{
	struct bar bars[BARS_MOST];
	unsigned n = bars_get(r, bars);

	for (unsigned i = 0; i < n; i++)
		if (!bars[i].reached)
			return false;
	return true;
}

static int run(const struct options *o, struct json_file *json)
{
	struct results *results = results_create(o);
	struct arena *arena = arena_create();
	int status = 0;
	int r = 0;

	if (!results || !arena)
		finish_failed("no memory");
	measure(results, arena);
	table_print(results);
	if (json)
		r = json_write(json, results);
	if (r)
		finish_failed("--json: cannot write '%s': %s", shown(o->json_path, -1),
			      strerror(-r));
	if (o->check && !all_reached(results))
		status = EXIT_NOT_REACHED;
	results_destroy(results);
	if (fflush(stdout) || ferror(stdout))
		finish_failed("cannot write the table");
	return status;
}

int main(int argc, char **argv)
{
	struct json_file *json = NULL;
	struct options o;
	int r = options_parse(&o, argc, argv);

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : 0;
	finish_on_signals();
	team_prepare();
	if (o.one_cpu)
		go_to_one_cpu();
	if (o.json_path) {
		json = json_open(o.json_path);
		if (!json)
			return EXIT_BAD_INPUT;
	}
	return run(&o, json);
}
