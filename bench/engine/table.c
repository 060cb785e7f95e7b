/* SPDX-License-Identifier: MIT */
#include "table.h"
#include "../common/clock.h"
#include "../../tools/common/complain.h"

#include <ipcwait/base.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Of the columns of points and variants, at least; longer names make them wider. */
#define POINT_WIDTH   22
#define VARIANT_WIDTH 12
#define BAR_WIDTH     62

/* The curves that are shown; all are in the result file. */
#define CURVES_SHOWN 4

extern char **environ;

/* What changes the library's behaviour. */
static void print_environment(void)
{
	printf("settings    ");
	for (char **e = environ; *e; e++)
		if (!strncmp(*e, "IPCWAIT_", strlen("IPCWAIT_")))
			printf("%s ", shown(*e, -1));
	putchar('\n');
}

static double estimated_seconds(const struct options *o)
{
	double seconds = 0;

	for (unsigned i = 0; i < ROW_COUNT; i++)
		if (o->rows >> i & 1)
			seconds += rows[i]->seconds * o->scale *
				   (rows[i]->one_round ? 1 : o->rounds / 5.0);
	if (o->wakes == (1u << WAKES_KINDS) - 1)
		seconds *= WAKES_KINDS;
	return seconds;
}

static void print_rounds(const struct options *o)
{
	printf("rounds      %u, variants interleaved; ", o->rounds);
	if (o->rounds > 2)
		printf("the first and the last are dropped; medians of %u", o->rounds - 2);
	else
		printf("too few to drop any");
	printf("; lengths at %.0f %%\nduration    about %.0f s\n\n", o->scale * 100,
	       estimated_seconds(o));
}

void table_print_header(const struct options *o, const struct machine *m)
{
	show_command_line(o->argc, o->argv);
	printf("\nlibrary     libipcwait %s\n", ipcwait_version());
	printf("machine     %u of %u CPUs usable; %s; load average %s\n", m->cpus_usable,
	       m->cpus_online, m->cpu, m->load_average);
	printf("kernel      %s; clock source %s, a reading takes %lld ns\n", m->kernel,
	       m->clock_source, (long long)clock_cost_ns());
	printf("idle        driver %s; governor %s; guest halt polling: %s\n",
	       m->idle_driver, m->idle_governor, m->guest_halt_poll_ns);
	print_environment();
	print_rounds(o);
	fflush(stdout);
}

static void print_name(const struct row *row, const struct report *r)
{
	printf("%s", row->name);
	if (r->wakes != WAKES_FOUND)
		printf(", wakes %s", wakes_names[r->wakes]);
	printf(": ");
}

static void measure_names(const struct report *r, int *point, int *variant)
{
	*point = POINT_WIDTH;
	*variant = VARIANT_WIDTH;
	for (unsigned i = 0; i < r->n_lines; i++) {
		int points = (int)strlen(r->lines[i].point) + 2;
		int variants = (int)strlen(r->lines[i].variant) + 2;

		*point = points > *point ? points : *point;
		*variant = variants > *variant ? variants : *variant;
	}
}

static void print_titles(const struct row *row, const struct report *r)
{
	int point, variant;

	measure_names(r, &point, &variant);
	print_name(row, r);
	printf("%s\n  %*s", row->what, point + variant, "");
	for (unsigned c = 0; c < r->n_columns; c++)
		printf("%*s", r->columns[c].width, r->columns[c].title);
	putchar('\n');
}

static void print_cell(const struct column *c, double value)
{
	if (isnan(value))
		printf("%*s", c->width, "-");
	else if (isinf(value))
		printf("%*s", c->width, "never");
	else
		printf("%*.*f", c->width, c->decimals, value);
}

static void print_lines(const struct report *r)
{
	const char *point = "";
	int point_width, variant_width;

	measure_names(r, &point_width, &variant_width);
	for (unsigned i = 0; i < r->n_lines; i++) {
		const struct line *line = &r->lines[i];

		printf("  %-*s%-*s", point_width,
		       strcmp(point, line->point) ? line->point : "", variant_width,
		       line->variant);
		for (unsigned c = 0; c < r->n_columns; c++)
			print_cell(&r->columns[c], report_median(r, line->value[c]));
		putchar('\n');
		point = line->point;
	}
}

/* One character a reading, from nothing to the highest. */
static void print_curve(const struct curve *c)
{
	static const char *const steps[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	double most = DBL_MIN;

	for (unsigned i = 0; i < c->n; i++)
		most = fmax(most, c->value[i]);
	printf("  %s; 0 to %.1f us in %.1f s\n  |", c->name, most,
	       c->n ? c->at[c->n - 1] : 0);
	for (unsigned i = 0; i < c->n; i++)
		fputs(steps[(int)(c->value[i] / most * 8)], stdout);
	printf("|\n");
}

static void print_bars(const struct report *r)
{
	for (unsigned i = 0; i < r->n_bars; i++) {
		const struct bar *b = &r->bars[i];

		printf("  %-*s", BAR_WIDTH, b->text);
		if (isnan(b->value))
			printf(" not available");
		else if (isinf(b->value))
			printf("     never");
		else
			printf(" %9.3f", b->value);
		printf("   bar %s %.2f  %s%s\n", b->at_least ? ">=" : "<=", b->limit,
		       report_reached(b) ? "reached" : "NOT reached",
		       report_disturbed(r) ? " (disturbed)" : "");
	}
}

void table_print_row(const struct row *row, const struct report *r)
{
	if (r->unavailable[0]) {
		print_name(row, r);
		printf("not available: %s\n\n", r->unavailable);
		return;
	}
	print_titles(row, r);
	print_lines(r);
	for (unsigned i = 0; i < r->n_curves && i < CURVES_SHOWN; i++)
		print_curve(&r->curves[i]);
	for (unsigned i = 0; i < r->n_notes; i++)
		printf("  %s\n", r->notes[i]);
	if (report_disturbed(r))
		printf("  DISTURBED: other programs or the host took %.2f CPUs in these "
		       "%.0f s.\n",
		       r->busy_others, r->seconds);
	print_bars(r);
	putchar('\n');
	fflush(stdout);
}

void table_print_sum(unsigned reached, unsigned bars)
{
	printf("%u of %u bars reached.\n", reached, bars);
}
