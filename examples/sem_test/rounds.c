/* SPDX-License-Identifier: MIT */
#include "rounds.h"
#include "baseline.h"
#include "bodies.h"
#include "finish.h"
#include "awake.h"
#include "hog.h"
#include "job.h"
#include "../../tools/common/bar.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Share of the items that a row runs for the estimate, and its limits. */
#define TRIAL_SHARE 100
#define TRIAL_LEAST 200
#define TRIAL_MOST  5000

/* What a sleep and a wake add to a pause, and what a post and a wait take; roughly. */
#define IDLE_EXTRA_US 80
#define PAIR_NS       10

/* The plan is a number of steps with estimated lengths; a step tells how far it is. */
struct progress {
	struct job_watcher watcher; /* first: a watcher is a progress */
	bool shown;
	char label[64];
	double step_seconds;    /* of this step, as estimated */
	double done_seconds;    /* of the steps before it */
	double planned_seconds; /* of all */
	int64_t began_ns;
};

static void tell(struct job_watcher *self, double fraction)
{
	const struct progress *p = (struct progress *)(void *)self;
	double done = p->done_seconds + fraction * p->step_seconds;
	double all = p->planned_seconds > done ? p->planned_seconds : done;
	double elapsed = (double)(measure_now_ns() - p->began_ns) / 1e9;

	bar_draw(all > 0 ? done / all : 0, "%.0f s, about %.0f s left  %s", elapsed,
		 all - done, p->label);
}

static void begin_step(struct progress *p, const struct entry *e, unsigned round,
		       unsigned rounds)
{
	p->done_seconds += p->step_seconds;
	p->step_seconds = e->estimate;
	snprintf(p->label, sizeof(p->label), "round %u of %u: %s", round + 1, rounds,
		 e->label);
	if (p->shown)
		tell(&p->watcher, 0);
}

static const struct job jobs[] = {
	[MODE_HAND_OFF] = { .role = { "producer", "consumer" },
			    .body = { body_produce, body_consume } },
	[MODE_IDLE] = { .role = { "producer", "consumer" },
			.body = { body_idle_produce, body_idle_consume } },
	[MODE_UNCONTENDED] = { .role = { "thread" }, .body = { body_pairs } },
};

static void init_semaphores(const struct entry *e, struct arena *a)
{
	int r;

	a->ops = e->row->ops;
	a->processes = e->processes;
	r = a->ops->init(&a->full, 0, e->processes);
	if (!r)
		r = a->ops->init(&a->empty, 1, e->processes);
	if (r)
		finish_failed("%s: cannot make a semaphore: %s", e->label, strerror(-r));
}

static void check_semaphore(const struct entry *e, struct arena *a, struct sem_room *sem,
			    const char *name, int expected)
{
	int value = a->ops->value(sem);

	if (value != expected)
		finish_failed("%s: semaphore '%s' ended with the value %d instead of %d",
			      e->label, name, value, expected);
	a->ops->fini(sem);
}

/* Nothing lost, nothing twice. */
static void check_outcome(const struct job *j, const struct entry *e, struct arena *a)
{
	for (unsigned i = 0; i < JOB_WORKERS && j->role[i]; i++) {
		unsigned long long done = a->worker[i].done;

		if (done != a->items)
			finish_failed("%s: the %s counted %llu items instead of %llu",
				      e->label, j->role[i], done,
				      (unsigned long long)a->items);
	}
	check_semaphore(e, a, &a->full, "full", 0);
	check_semaphore(e, a, &a->empty, "empty", 1);
}

static void add_costs(const struct job *j, const struct arena *a, struct run *run)
{
	for (unsigned i = 0; i < JOB_WORKERS && j->role[i]; i++) {
		const struct thread_cost *c = &a->worker[i].cost;

		run->cpu_seconds += (double)c->cpu_ns / 1e9;
		run->switches_voluntary += (double)c->switches_voluntary;
		run->switches_involuntary += (double)c->switches_involuntary;
	}
	run->consumer_cpu_seconds =
		j->role[1] ? (double)a->worker[1].cost.cpu_ns / 1e9 : NAN;
}

/* The library counts per process: the workers' own counts, or those of this process. */
static void add_library(struct results *r, const struct entry *e, const struct arena *a,
			const struct library_cost *before, struct run *run)
{
	struct library_cost cost;

	measure_library_since(&cost, before);
	if (e->processes) {
		cost = a->worker[0].library;
		measure_library_add(&cost, &a->worker[1].library);
	}
	run->futex_waits = e->row->counted ? (double)cost.futex_waits : NAN;
	run->futex_wakes = e->row->counted ? (double)cost.futex_wakes : NAN;
	run->spun = e->row->counted ? (double)cost.spun : NAN;
	run->slept = e->row->counted ? (double)cost.slept : NAN;
	run->same_cpu = e->row->counted ? (double)cost.same_cpu : NAN;
	if (e->row->counted) {
		r->block_cost_ns = (double)cost.block_cost_ns;
		r->block_samples = (double)cost.block_samples;
	}
}

static void add_interrupts(const struct interrupts *before, struct run *run)
{
	struct interrupts since;

	measure_interrupts_since(&since, before);
	run->rescheduling_interrupts = since.available ? (double)since.rescheduling : NAN;
	run->function_call_interrupts =
		since.available ? (double)since.function_calls : NAN;
}

/* Busy and stolen CPU time of the whole machine; NAN: not available. */
static double machine_cpu_seconds(void)
{
	struct machine_time t;

	return machine_time_read(&t) ? NAN : t.busy_s + t.stolen_s;
}

/* What runs beside a row. */
struct beside {
	struct hogs *hogs;
	pid_t awake; /* 0: it does not run */
};

static void start_beside(struct beside *b, const struct entry *e)
{
	int r = 0;

	*b = (struct beside){ .hogs = NULL };
	if (e->row->company == COMPANY_HOGS)
		r = hogs_start(&b->hogs);
	else if (e->row->company == COMPANY_AWAKE)
		b->awake = awake_start();
	if (b->awake < 0)
		finish_failed("%s: %s", e->label,
			      b->awake == -ENOENT ? "there is no command `ipcwait`"
						  : "`ipcwait awake` has ended");
	if (r)
		finish_failed("%s: cannot start the hogs: %s", e->label, strerror(-r));
}

/* Ends it. CPU seconds that it used since @before_ns of the hogs. */
static double stop_beside(struct beside *b, int64_t before_ns)
{
	double seconds = (double)(hogs_cpu_ns(b->hogs) - before_ns) / 1e9;

	hogs_stop(b->hogs);
	return b->awake ? awake_stop(b->awake) : seconds;
}

/* One run, and what runs beside it. */
static void run_measured(struct results *r, const struct entry *e, const struct job *j,
			 struct arena *a, struct run *run)
{
	struct library_cost library;
	struct interrupts interrupts;
	struct beside beside;
	double machine_seconds;
	int64_t hog_cpu_ns;

	start_beside(&beside, e);
	measure_interrupts(&interrupts);
	measure_library(&library);
	machine_seconds = machine_cpu_seconds();
	hog_cpu_ns = hogs_cpu_ns(beside.hogs);
	job_run(j, a);
	run->machine_cpu_seconds = machine_cpu_seconds() - machine_seconds;
	add_interrupts(&interrupts, run);
	run->hog_cpu_seconds = stop_beside(&beside, hog_cpu_ns);
	run->seconds = job_seconds(j, a);
	run->cpu_seconds = run->hog_cpu_seconds;
	add_costs(j, a, run);
	add_library(r, e, a, &library, run);
}

/* The same with names for its semaphores. */
static void run_counted(struct results *r, const struct entry *e, const struct job *j,
			struct arena *a, struct run *run)
{
	struct sem_room *const sems[OBJECTS] = { &a->full, &a->empty };
	int error = objects_begin(a->ops, sems, run->objects);

	if (!error) {
		run_measured(r, e, j, a, run);
		error = objects_end(a->ops, sems, run->objects);
	}
	if (error)
		finish_failed("%s: cannot count a semaphore: %s", e->label,
			      strerror(-error));
}

static void run_entry(struct results *r, const struct entry *e, struct arena *a,
		      struct progress *p, struct run *run)
{
	struct job j = jobs[r->options->mode];
	uint64_t checksum = 0;

	memset(run, 0, sizeof(*run));
	run->bound_seconds = NAN;
	j.name = e->label;
	j.watcher = p && p->shown ? &p->watcher : NULL;
	if (r->options->mode == MODE_HAND_OFF)
		run->bound_seconds = baseline_bound_seconds(a, NULL, &checksum);
	init_semaphores(e, a);
	if (results_objects(r, e))
		run_counted(r, e, &j, a, run);
	else
		run_measured(r, e, &j, a, run);
	check_outcome(&j, e, a);
	if (r->options->mode == MODE_HAND_OFF && a->worker[0].checksum != checksum)
		finish_failed(
			"%s: the producer's work came to another result than the bound's",
			e->label);
}

static void set_items(const struct results *r, struct arena *a, uint64_t items)
{
	a->items = items;
	a->loops = r->options->loops;
	a->idle_ns = (int64_t)r->options->idle_us * 1000;
}

/* Seconds of one run of an entry and of the bound before it. */
static double estimate_entry(struct results *r, const struct entry *e, struct arena *a)
{
	const struct options *o = r->options;
	uint64_t trial = o->items / TRIAL_SHARE;
	struct run run;

	if (o->mode == MODE_UNCONTENDED)
		return (double)o->items * PAIR_NS / 1e9;
	if (o->mode == MODE_IDLE)
		return (double)o->items * (double)(o->idle_us + IDLE_EXTRA_US) / 1e6;
	trial = trial < TRIAL_LEAST ? TRIAL_LEAST : trial > TRIAL_MOST ? TRIAL_MOST : trial;
	trial = trial < o->items ? trial : o->items;
	set_items(r, a, trial);
	run_entry(r, e, a, NULL, &run);
	return (run.seconds + run.bound_seconds) * (double)o->items / (double)trial;
}

double rounds_estimate(struct results *r, struct arena *a)
{
	double sum = 0;

	for (unsigned i = 0; i < r->n_entries; i++) {
		r->entries[i].estimate = estimate_entry(r, &r->entries[i], a);
		sum += r->entries[i].estimate;
	}
	return sum * r->options->repeat;
}

void rounds_run(struct results *r, struct arena *a, double estimated_seconds)
{
	struct progress p = {
		.watcher = { tell },
		.shown = !r->options->no_progress && bar_possible(),
		.planned_seconds = estimated_seconds,
		.began_ns = measure_now_ns(),
	};

	for (unsigned round = 0; round < r->options->repeat; round++) {
		double round_trip_ns = baseline_round_trip_ns(a);

		for (unsigned i = 0; i < r->n_entries; i++) {
			struct entry *e = &r->entries[i];

			begin_step(&p, e, round, r->options->repeat);
			set_items(r, a, r->options->items);
			run_entry(r, e, a, &p, &e->runs[round]);
			e->runs[round].round_trip_ns = round_trip_ns;
		}
	}
	if (p.shown)
		bar_clear();
}
