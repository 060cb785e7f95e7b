/* SPDX-License-Identifier: MIT */
/* Wake latency by idle age as gnuplot draws it: the median as a line, 10 to 90 % as a band. */
#include "calibrate.h"
#include "../tools/common/gnuplot.h"

#define WIDTH  760
#define HEIGHT 460

/* One for each pair: told apart by the colour-blind too (Okabe and Ito). */
static const char *const colours[IPCWAIT_CALIBRATION_PAIRS] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
};

static void write_data(FILE *g, const struct ipcwait_calibration_pair *pair, unsigned i)
{
	fprintf(g, "$pair%u << EOD\n", i);
	for (unsigned k = 0; k < IPCWAIT_IDLE_AGES; k++) {
		const struct ipcwait_wake_latency *l = &pair->latency[k];

		if (l->used)
			fprintf(g, "%g %g %g %g %g\n", (double)l->idle_ns / 1000,
				(double)l->p10_ns / 1000, (double)l->median_ns / 1000,
				(double)l->p90_ns / 1000, (double)l->waker_ns / 1000);
	}
	fputs("EOD\n", g);
}

static void write_plot(FILE *g, const struct ipcwait_calibration_pair *pair, unsigned i)
{
	fprintf(g,
		"%s $pair%u using 1:2:4 with filledcurves fc rgb '%s' fs transparent solid "
		"0.2 noborder notitle, $pair%u using 1:3 with linespoints lc rgb '%s' lw 2 "
		"pt 7 ps 0.6 title 'CPU %u wakes CPU %u (%s)'",
		i ? "," : "plot", i, colours[i], i, colours[i], pair->cpu_a, pair->cpu_b,
		calibrate_distance(pair->distance));
	if (i == 0)
		fputs(", $pair0 using 1:5 with lines lc rgb '#707070' dt 2 title 'what the "
		      "waker pays for it'",
		      g);
}

static void write_script(FILE *g, const void *calibration)
{
	const struct ipcwait_calibration *c = calibration;

	for (unsigned i = 0; i < c->pair_count; i++)
		write_data(g, &c->pair[i], i);
	fprintf(g,
		"set terminal svg size %d,%d font 'sans,13' background '#ffffff'\n"
		"set title 'How late a sleeper runs after a wake (median, and 10 to 90 "
		"%%)'\n"
		"set xlabel 'time it had been asleep, us'\nset ylabel 'late by, us'\n"
		"set logscale x\nset xrange [4:12500]\nset yrange [0:*]\n"
		"set xtics ('5' 5, '20' 20, '50' 50, '100' 100, '200' 200, '500' 500, "
		"'2000' 2000, '10 000' 10000)\n"
		"set grid y\nset border 3\nset tics nomirror\nset key top left reverse "
		"Left\n"
		"set offsets 0, 0, graph 0.2, 0\n",
		WIDTH, HEIGHT);
	for (unsigned i = 0; i < c->pair_count; i++)
		write_plot(g, &c->pair[i], i);
	fputc('\n', g);
}

int calibrate_draw(FILE *f, const struct calibrate_result *r)
{
	return gnuplot_draw(f, write_script, &r->now);
}
