/* SPDX-License-Identifier: MIT */
#include "table.h"
#include "measure.h"
#include "verdict.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/median.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LABEL_WIDTH 11

/* CPUs kept busy by others from which on the figures are called disturbed. */
#define DISTURBED 0.05

/* Runs shorter than this in all say nothing about others: the machine counts in 10 ms. */
#define DISTURBED_SECONDS 1

struct column {
	const char *title;
	int width;
	int decimals; /* 0: a count, thousands apart */
	size_t figure;
};

#define FIGURE(name) offsetof(struct figures, name)

static const struct column hand_off_columns[] = {
	{ "seconds", 9, 3, FIGURE(seconds) },
	{ "items/s", 11, 0, FIGURE(items_per_second) },
	{ "CPU-s", 9, 3, FIGURE(cpu_seconds) },
	{ "x bound", 9, 2, FIGURE(times_bound) },
	{ "switches", 11, 0, FIGURE(switches) },
	{ "futex waits", 13, 0, FIGURE(futex_waits) },
	{ "wakes", 11, 0, FIGURE(futex_wakes) },
	{ "RES + CAL", 12, 0, FIGURE(interrupts) },
	{ "ROI T^2/C", 11, 2, FIGURE(roi) },
	{ NULL, 0, 0, 0 },
};

static const struct column idle_columns[] = {
	{ "seconds", 9, 3, FIGURE(seconds) },
	{ "CPU us/item", 13, 2, FIGURE(cpu_us_per_item) },
	{ "consumer's", 12, 2, FIGURE(consumer_cpu_us_per_item) },
	{ "vs glibc", 10, 2, FIGURE(cpu_vs_glibc) },
	{ "switches", 11, 0, FIGURE(switches) },
	{ "futex waits", 13, 0, FIGURE(futex_waits) },
	{ "wakes", 11, 0, FIGURE(futex_wakes) },
	{ "RES + CAL", 12, 0, FIGURE(interrupts) },
	{ NULL, 0, 0, 0 },
};

static const struct column uncontended_columns[] = {
	{ "ns per pair", 13, 2, FIGURE(ns_per_item) },
	{ "vs glibc", 10, 2, FIGURE(seconds_vs_glibc) },
	{ NULL, 0, 0, 0 },
};

static const struct column *const columns_of[] = {
	[MODE_HAND_OFF] = hand_off_columns,
	[MODE_IDLE] = idle_columns,
	[MODE_UNCONTENDED] = uncontended_columns,
};

static const char *forms(const struct options *o)
{
	if (o->mode == MODE_UNCONTENDED)
		return "one thread";
	if (o->threads && o->processes)
		return "two threads, two processes";
	return o->processes ? "two processes" : "two threads";
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

static void print_machine(const struct machine *m)
{
	int is_number = m->guest_halt_poll_ns[0] >= '0' && m->guest_halt_poll_ns[0] <= '9';

	printf("machine     %u of %u CPUs usable; hypervisor: %s; %s\n", m->cpus_usable,
	       m->cpus_online, m->hypervisor, m->cpu);
	printf("kernel      %s; clock source %s; load average %s\n", m->kernel,
	       m->clock_source, m->load_average);
	printf("idle        driver %s; governor %s; states %s\n", m->idle_driver,
	       m->idle_governor, m->idle_states);
	printf("            guest halt polling: %s%s\n", m->guest_halt_poll_ns,
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
	show_command_line(r->options->argc, r->options->argv);
	putchar('\n');
	print_what(r->options);
	print_machine(&r->machine);
	print_work(r);
	print_rounds(r, estimated_seconds);
	fflush(stdout);
}

/* "1 234 567" */
static void print_count(int width, double value)
{
	char digits[32], text[48];
	int n = snprintf(digits, sizeof(digits), "%.0f", value);
	int to = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0 && digits[i - 1] != '-')
			text[to++] = ' ';
		text[to++] = digits[i];
	}
	text[to] = 0;
	printf("%*s", width, text);
}

static void print_cell(const struct column *c, const struct figures *f)
{
	double value = *(const double *)(const void *)((const char *)f + c->figure);

	if (isnan(value))
		printf("%*s", c->width, c->figure == FIGURE(interrupts) ? "n/a" : "-");
	else if (c->decimals)
		printf("%*.*f", c->width, c->decimals, value);
	else
		print_count(c->width, value);
}

static void print_line(const char *label, const struct column *columns,
		       const struct figures *f)
{
	printf("  %-*s", LABEL_WIDTH, label);
	for (const struct column *c = columns; c->title; c++)
		print_cell(c, f);
	putchar('\n');
}

static void print_titles(const struct results *r, const struct column *columns,
			 bool processes)
{
	const char *form = r->options->mode == MODE_UNCONTENDED ? "one thread"
			   : processes                          ? "processes"
								: "threads";

	printf("%-*s", LABEL_WIDTH + 2, form);
	for (const struct column *c = columns; c->title; c++)
		printf("%*s", c->width, c->title);
	putchar('\n');
}

/* The work alone, as it was measured before each of the rows. */
static void print_bound(const struct results *r, const struct column *columns,
			bool processes)
{
	double seconds[ENTRIES_MOST];
	struct figures f;
	unsigned n = 0;

	for (unsigned i = 0; i < r->n_entries; i++)
		if (r->entries[i].processes == processes) {
			figures_of_entry(r, &r->entries[i], &f);
			seconds[n++] = f.bound_seconds;
		}
	for (size_t k = 0; k < sizeof(f) / sizeof(double); k++)
		((double *)&f)[k] = NAN;
	f.seconds = median(seconds, n);
	f.items_per_second = (double)r->options->items / f.seconds;
	f.times_bound = 1;
	printf("  %-*s", LABEL_WIDTH, "bound");
	for (const struct column *c = columns; c->figure != FIGURE(switches); c++)
		print_cell(c, &f);
	printf("   the work alone, no semaphores\n");
}

static void print_form(const struct results *r, bool processes)
{
	const struct column *columns = columns_of[r->options->mode];
	struct figures f;

	print_titles(r, columns, processes);
	if (r->options->mode == MODE_HAND_OFF)
		print_bound(r, columns, processes);
	for (unsigned i = 0; i < r->n_entries; i++) {
		const struct entry *e = &r->entries[i];

		if (e->processes != processes)
			continue;
		figures_of_entry(r, e, &f);
		print_line(e->row->name, columns, &f);
	}
	putchar('\n');
}

/* CPUs that others kept busy, on average over all runs; NAN where that is not known. */
static double busy_others(const struct results *r)
{
	double seconds = 0, others = 0;

	for (unsigned i = 0; i < r->n_entries; i++)
		for (unsigned k = 0; k < r->options->repeat; k++) {
			const struct run *x = &r->entries[i].runs[k];

			seconds += x->seconds;
			others += x->machine_cpu_seconds - x->cpu_seconds;
		}
	return seconds < DISTURBED_SECONDS ? NAN : others / seconds;
}

static void print_notes(const struct results *r)
{
	const struct run *any = &r->entries[0].runs[0];

	if (r->options->mode == MODE_UNCONTENDED)
		return;
	if (isnan(any->rescheduling_interrupts))
		printf("RES + CAL interrupts: not available on this machine.\n");
	if (r->options->rows >> ROW_HOG & 1)
		printf("hog: its CPU-seconds include those of the busy threads.\n");
	if (r->options->rows >> ROW_AWAKE & 1)
		printf("awake: its CPU-seconds include those of `ipcwait awake`; what the "
		       "kernel polls while it is idle is no CPU time.\n");
	if (r->options->mode == MODE_HAND_OFF)
		printf("ROI: T items per second, C CPUs busy; glibc's is 1.\n");
	if (r->options->mode == MODE_IDLE)
		printf("CPU us/item, and the bar: both workers, the producer's sleeps "
		       "(clock_nanosleep) included.\n");
	if (!isnan(r->block_cost_ns))
		printf("B, the cost of one block/wake pair as libipcwait knows it: %.1f "
		       "us, %s.\n",
		       r->block_cost_ns / 1e3,
		       r->block_samples >= MEASURE_SAMPLES_ENOUGH
			       ? "learned"
			       : "still partly a table value");
	if (busy_others(r) > DISTURBED)
		printf("DISTURBED: other programs or the host took %.2f CPUs during the "
		       "runs.\n",
		       busy_others(r));
	putchar('\n');
}

/* A line for each of its parts. */
static void print_sentence(const struct results *r)
{
	char text[SENTENCE_SIZE];

	sentence_write(r, text);
	for (const char *p = text; *p; p++)
		putchar(p > text && p[-1] == ';' ? '\n' : *p);
	if (text[0])
		putchar('\n');
}

static void print_bars(const struct results *r)
{
	struct bar bars[BARS_MOST];
	unsigned n = bars_get(r, bars);

	if (!n)
		return;
	printf("\nBars, set for %sa 2-vCPU KVM guest without halt polling\n",
	       r->options->mode == MODE_HAND_OFF ? "LOOPS 2000 on " : "");
	for (unsigned i = 0; i < n; i++) {
		const struct bar *b = &bars[i];
		const char *form = r->options->mode == MODE_UNCONTENDED ? ""
				   : b->processes                       ? "processes"
									: "threads";

		printf("  %-10s %-48s", form, b->text);
		if (isnan(b->value))
			printf(" %13s", "not available");
		else
			printf(" %13.2f", b->value);
		printf("   bar %s %5.2f  %s\n", b->at_least ? ">=" : "<=", b->limit,
		       b->reached ? "reached" : "NOT reached");
	}
}

/* Of the last run that is kept: counts of several runs do not add up to a median. */
static void print_objects(const struct results *r)
{
	printf("%-12s %-6s %11s %11s %12s %12s %12s\n", "semaphores", "", "waits", "slept",
	       "spun us", "in vain us", "asleep us");
	for (unsigned i = 0; i < r->n_entries; i++) {
		const struct entry *e = &r->entries[i];
		const struct run *x = &e->runs[r->first_kept + r->n_kept - 1];

		for (unsigned k = 0; k < OBJECTS && results_objects(r, e); k++) {
			const struct object_cost *o = &x->objects[k];

			printf("  %-10s %-6s", e->row->name, object_names[k]);
			print_count(12, (double)o->waits);
			print_count(12, (double)o->slept);
			print_count(13, (double)o->spun_useful_ns / 1e3);
			print_count(13, (double)o->spun_wasted_ns / 1e3);
			print_count(13, (double)o->slept_ns / 1e3);
			putchar('\n');
		}
	}
	putchar('\n');
}

void table_print(const struct results *r)
{
	if (r->options->threads)
		print_form(r, false);
	if (r->options->processes)
		print_form(r, true);
	if (r->options->objects)
		print_objects(r);
	print_notes(r);
	print_sentence(r);
	print_bars(r);
}
