/* SPDX-License-Identifier: MIT */
/*
 * Wake latency by idle age as gnuplot draws it: the median as a line, 10 to 90 % as a band.
 * Above it stands what one has to know of a picture that was sent around: which machine,
 * when, B, and whether it was disturbed.
 */
#include "calibrate.h"
#include "../tools/common/gnuplot.h"
#include "../tools/common/machine.h"

#include <ipcwait/base.h>

#include <string.h>
#include <time.h>

#define WIDTH  760
#define HEIGHT 520

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

/* @text between quotes, where gnuplot takes nothing in it for a command. */
static void write_quoted(FILE *g, const char *text)
{
	static const char plain[] = " .,:;()+-_/@%=";

	fputc('\'', g);
	for (; *text; text++) {
		char c = *text;
		bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
			      (c >= 'a' && c <= 'z');

		fputc(letter || strchr(plain, c) ? c : ' ', g);
	}
	fputc('\'', g);
}

/* A line of the heading, @from_top pixels below the upper edge. */
static void write_line(FILE *g, unsigned from_top, const char *text, const char *look)
{
	static const double height = HEIGHT;

	fprintf(g, "set label ");
	write_quoted(g, text);
	fprintf(g, " at screen 0.02, screen %.4f noenhanced %s\n", 1 - from_top / height,
		look);
}

static void write_machine(FILE *g)
{
	struct machine m;
	char line[400];

	machine_read(&m);
	snprintf(line, sizeof(line), "%s, %u of %u CPUs, %s, hypervisor: %s", m.cpu,
		 m.cpus_usable, m.cpus_online, m.kernel, m.hypervisor);
	write_line(g, 46, line, "font ',11'");
}

static void write_b(FILE *g, const struct ipcwait_calibration *c)
{
	time_t then = (time_t)c->measured_at_s;
	char line[200], day[40] = "date not known";
	struct tm tm;

	if (gmtime_r(&then, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d %H:%M UTC", &tm);
	snprintf(line, sizeof(line),
		 "%s, libipcwait %s. B, what a sleep costs: %.1f us, of it %.1f us for the "
		 "waker",
		 day, ipcwait_version(), (double)c->block_ns / 1000,
		 (double)c->waker_ns / 1000);
	write_line(g, 64, line, "font ',11'");
}

static void write_disturbance(FILE *g, const struct calibrate_result *r)
{
	bool disturbed = calibrate_disturbed(r);
	char line[200] = "Not known whether it was disturbed: /proc/stat cannot be read";

	if (disturbed && r->other_cpus <= CALIBRATE_CPUS)
		snprintf(line, sizeof(line),
			 "DISTURBED: most samples had to be discarded (%u, %u were used)",
			 r->now.samples_discarded, r->now.samples_used);
	else if (r->other_cpus >= 0)
		snprintf(line, sizeof(line),
			 "%s: other programs kept %.2f CPUs busy meanwhile",
			 disturbed ? "DISTURBED" : "Not disturbed", r->other_cpus);
	write_line(g, 82, line, disturbed ? "font ',11' tc rgb '#b00000'" : "font ',11'");
}

static void write_heading(FILE *g, const struct calibrate_result *r)
{
	write_line(g, 24, "How late a sleeper runs after a wake (median, and 10 to 90 %)",
		   "font ',15'");
	write_machine(g);
	write_b(g, &r->now);
	write_disturbance(g, r);
}

static void write_script(FILE *g, const void *result)
{
	const struct calibrate_result *r = result;
	const struct ipcwait_calibration *c = &r->now;

	for (unsigned i = 0; i < c->pair_count; i++)
		write_data(g, &c->pair[i], i);
	fprintf(g,
		"set terminal svg size %d,%d font 'sans,13' background '#ffffff'\n"
		"set tmargin at screen %.4f\n"
		"set xlabel 'time it had been asleep, us'\nset ylabel 'late by, us'\n"
		"set logscale x\nset xrange [4:12500]\nset yrange [0:*]\n"
		"set xtics ('5' 5, '20' 20, '50' 50, '100' 100, '200' 200, '500' 500, "
		"'2000' 2000, '10 000' 10000)\n"
		"set grid y\nset border 3\nset tics nomirror\nset key top left reverse "
		"Left\n"
		"set offsets 0, 0, graph 0.2, 0\n",
		WIDTH, HEIGHT, 1 - 100.0 / HEIGHT);
	write_heading(g, r);
	for (unsigned i = 0; i < c->pair_count; i++)
		write_plot(g, &c->pair[i], i);
	fputc('\n', g);
}

int calibrate_draw(FILE *f, const struct calibrate_result *r)
{
	return gnuplot_draw(f, write_script, r);
}
