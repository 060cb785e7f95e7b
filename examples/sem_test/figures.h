/* SPDX-License-Identifier: MIT */
/*
 * From raw runs to figures: medians over the rounds that are kept. A figure that compares
 * two runs compares runs of one round, before the median is taken.
 */
#ifndef SEM_TEST_FIGURES_H
#define SEM_TEST_FIGURES_H

#include "results.h"

/* NAN: not measured, or nothing to compare with. Doubles only. */
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
};

void figures_of_entry(const struct results *r, const struct entry *e, struct figures *f);

#endif
