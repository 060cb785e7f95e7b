/* SPDX-License-Identifier: MIT */
#include "shown.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *forms(const struct options *o)
{
	if (o->mode == MODE_UNCONTENDED)
		return "one thread";
	if (o->threads && o->processes)
		return "two threads, two processes";
	return o->processes ? "two processes" : "two threads";
}

static void print_command(const struct options *o)
{
	printf("sem_test");
	for (int i = 1; i < o->argc; i++) {
		putchar(' ');
		shown_print(o->argv[i]);
	}
	printf("\n\n");
}

static void print_what(const struct options *o)
{
	printf("items       %llu, %s", (unsigned long long)o->items, forms(o));
	if (o->mode == MODE_HAND_OFF)
		printf("; per item the producer works 2 x %llu loops, the consumer %llu",
		       (unsigned long long)o->loops, (unsigned long long)o->loops);
	if (o->mode == MODE_IDLE)
		printf("; the producer sleeps %llu us before each",
		       (unsigned long long)o->idle_us);
	printf("%s\n", o->one_cpu ? "; all on one CPU" : "");
}

static void print_machine(const struct environment *e)
{
	int is_number = e->guest_halt_poll_ns[0] >= '0' && e->guest_halt_poll_ns[0] <= '9';

	printf("machine     %u of %u CPUs usable; hypervisor: %s; %s\n", e->cpus_usable,
	       e->cpus_online, e->hypervisor, e->cpu);
	printf("kernel      %s; clock source %s; load average %s\n", e->kernel, e->clock,
	       e->load_average);
	printf("idle        driver %s; governor %s; states %s\n", e->idle_driver,
	       e->idle_governor, e->idle_states);
	printf("            guest halt polling: %s%s\n", e->guest_halt_poll_ns,
	       is_number ? " ns" : "");
}

static void print_work(const struct results *r)
{
	const struct options *o = r->options;

	printf("work        %.3f ns per loop", r->loop_ns);
	if (o->mode == MODE_HAND_OFF)
		printf(", %.2f us for %llu loops", r->loop_ns * (double)o->loops / 1e3,
		       (unsigned long long)o->loops);
	printf("\ncache line  ");
	if (isnan(r->round_trip_ns))
		printf("round trip between CPUs not available: one CPU\n");
	else
		printf("%.0f ns for the round trip between two spinning threads\n",
		       r->round_trip_ns);
}

static void print_rounds(const struct results *r, double estimated_seconds)
{
	unsigned n = r->options->repeat;

	printf("runs        %u of each row, interleaved; ", n);
	if (r->n_kept < n)
		printf("the first and the last are dropped; medians of %u", r->n_kept);
	else
		printf("too few to drop any; %s",
		       n == 1 ? "single values" : "medians of all");
	printf("\nstart       %s", results_start(r));
	printf("\nduration    about %.0f s\n\n", estimated_seconds);
}

void table_print_header(const struct results *r, double estimated_seconds)
{
	print_command(r->options);
	print_what(r->options);
	print_machine(&r->environment);
	print_work(r);
	print_rounds(r, estimated_seconds);
	fflush(stdout);
}
