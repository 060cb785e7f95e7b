/* SPDX-License-Identifier: MIT */
/*
 * What was measured. NAN stands for "not measured in this mode or on this machine" and is
 * never mixed with zero.
 */
#ifndef SEM_TEST_RESULTS_H
#define SEM_TEST_RESULTS_H

#include "objects.h"
#include "options.h"
#include "rows.h"
#include "../../tools/common/machine.h"

#include <stdbool.h>

/* One run of one row. */
struct run {
	double seconds;
	double cpu_seconds;          /* user and system, hogs or awake included */
	double hog_cpu_seconds;      /* of these: of hogs, or awake */
	double consumer_cpu_seconds; /* of these; NAN where there is one worker */
	double machine_cpu_seconds;  /* busy or stolen, all CPUs, this program included */
	double bound_seconds;        /* of the work alone, measured right before */
	double round_trip_ns;        /* of a cache line, measured in the same round */
	double switches_voluntary;
	double switches_involuntary;
	double futex_waits;
	double futex_wakes;
	double spun;
	double slept;
	double same_cpu; /* of those that slept: the waker was on the same CPU */
	double rescheduling_interrupts;
	double function_call_interrupts;
	struct object_cost objects[OBJECTS]; /* with --objects, of the library's rows */
};

/* A row in one form. */
struct entry {
	const struct row *row;
	bool processes;
	char label[32];   /* "glibc, threads" */
	double estimate;  /* seconds that one run takes, the last known */
	struct run *runs; /* one per round */
};

#define ENTRIES_MOST (2 * ROW_COUNT)

struct results {
	const struct options *options;
	struct machine machine;
	double loop_ns;
	double round_trip_ns; /* measured before the first round */
	unsigned n_entries;
	struct entry entries[ENTRIES_MOST];
	unsigned first_kept; /* rounds: the medians are over first_kept .. */
	unsigned n_kept;     /* .. first_kept + n_kept - 1 */
	/* B at the end of the last run that used the library */
	double block_cost_ns;
	double block_samples;
};

/* Entries for the options, with room for their runs. NULL: no memory. */
struct results *results_create(const struct options *o);
void results_destroy(struct results *r);

/* How a run begins, in words: what the workers do before the clock starts. */
const char *results_start(const struct results *r);

/* Are its semaphores counted by name? */
bool results_objects(const struct results *r, const struct entry *e);

/* The entry of a row in a form; NULL: not chosen. */
const struct entry *results_find(const struct results *r, int row, bool processes);

/*
 * Medians over the rounds that are kept. A figure that compares two runs compares runs of one
 * round, before the median is taken. NAN: not measured, or nothing to compare with. Doubles only.
 */
struct figures {
	double seconds;
	double items_per_second;
	double cpu_seconds;
	double cpu_us_per_item; /* of both workers */
	double consumer_cpu_us_per_item;
	double ns_per_item;
	double bound_seconds;
	double times_bound; /* seconds / bound */
	double times_ideal; /* seconds / (bound + items x cache line round trip) */
	double switches;
	double futex_waits;
	double futex_wakes;
	double interrupts; /* RES + CAL */
	double roi;        /* T^2 / C: T items per second, C CPUs busy; glibc's is 1 */
	double seconds_vs_glibc;
	double cpu_vs_glibc;
	double times_faster; /* glibc's seconds / seconds */
	double same_cpu; /* share of waits that slept because the waker was on the same CPU */
};

void figures_of_entry(const struct results *r, const struct entry *e, struct figures *f);

#endif
