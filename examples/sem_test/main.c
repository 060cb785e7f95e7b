/* SPDX-License-Identifier: MIT */
/*
 * sem_test: what a semaphore costs when one thread waits a microsecond for another.
 *
 *	options.c   the command line            rows.c, sem_*.c   the semaphores
 *	baseline.c  what is possible            bodies.c, work.c  what the two workers do
 *	rounds.c    the measurement             job.c, team.c     running and watching workers
 *	measure.c   what a run cost             hog.c, awake.c    what runs beside a row
 *	results.c   runs, medians and ratios    verdict.c         the sentence and the bars
 *	objects.c   counters by name
 *	table.c, json.c   the reports           finish.c          ending early
 *
 * handoff beside it is the same in a hundred lines.
 */
#include "baseline.h"
#include "finish.h"
#include "json.h"
#include "rounds.h"
#include "table.h"
#include "team.h"
#include "verdict.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/place.h"

#include <stdio.h>
#include <string.h>

const char program_name[] = "sem_test";

/* Before any other thread exists and before the library looks at the CPUs. */
static void go_to_one_cpu(void)
{
	unsigned cpu = 0;
	int r;

	place_cpus(&cpu, 1);
	r = place_thread(pthread_self(), &cpu, 1);
	if (r)
		finish_failed("--one-cpu: cannot stay on CPU %u: %s", cpu, strerror(-r));
}

static void measure(struct results *r, struct arena *a)
{
	double seconds;

	machine_read(&r->machine);
	r->loop_ns = baseline_loop_ns(a);
	r->round_trip_ns = baseline_round_trip_ns(a);
	seconds = rounds_estimate(r, a);
	table_print_header(r, seconds);
	rounds_run(r, a, seconds);
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

static int run(const struct options *o, struct outfile *json)
{
	struct results *results = results_create(o);
	struct arena *arena = arena_create();
	int status = EXIT_DONE;

	if (!results || !arena)
		finish_failed("no memory");
	measure(results, arena);
	table_print(results);
	if (json->f) {
		json_write(json->f, results);
		if (finish_completes(json))
			return EXIT_FAILED;
	}
	if (o->check && !all_reached(results))
		status = EXIT_NOT_REACHED;
	results_destroy(results);
	if (fflush(stdout) || ferror(stdout))
		finish_failed("cannot write the table");
	return status;
}

int main(int argc, char **argv)
{
	struct outfile json = { 0 };
	struct options o;
	int r = options_parse(&o, argc, argv);

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	finish_on_signals();
	team_prepare();
	if (o.one_cpu)
		go_to_one_cpu();
	if (o.json_path && finish_opens(&json, "--json", o.json_path))
		return EXIT_BAD_INPUT;
	return run(&o, &json);
}
