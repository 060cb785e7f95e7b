/* SPDX-License-Identifier: MIT */
/* The result for people: a table, and beside it the spread of the latencies as a picture. */
#include "calibrate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the picture. */
#define PICTURE_WIDTH 36

/* More than so many CPUs kept busy by others is told. */

const char *calibrate_distance(uint32_t distance)
{
	static const char *const names[] = {
		[IPCWAIT_DISTANCE_UNKNOWN] = "distance unknown",
		[IPCWAIT_DISTANCE_CORE] = "one core",
		[IPCWAIT_DISTANCE_L2] = "one L2 cache",
		[IPCWAIT_DISTANCE_L3] = "one L3 cache",
		[IPCWAIT_DISTANCE_PACKAGE] = "one package",
		[IPCWAIT_DISTANCE_OTHER] = "two packages",
	};

	return names[distance <= IPCWAIT_DISTANCE_OTHER ? distance : 0];
}

static double us(uint64_t ns)
{
	return (double)ns / 1000;
}

static void print_figures(FILE *f, const struct ipcwait_calibration *c)
{
	fprintf(f, "a pause                         %8.1f ns\n",
		(double)c->pause_ps / 1000);
	fprintf(f, "a wake with nobody asleep       %8" PRIu64 " ns\n", c->empty_wake_ns);
	if (c->sleeper_cpu_ns)
		fprintf(f, "CPU time of a sleeper           %8.1f us a sleep\n",
			us(c->sleeper_cpu_ns));
	if (c->timer_ns)
		fprintf(f,
			"a timed sleep of 1 ms is late by%8.1f us, one in ten by %.1f us\n",
			us(c->timer_ns), us(c->timer_p90_ns));
	fprintf(f, "CPU counters are apart by       %8" PRId64 " ns, %s\n",
		(int64_t)llabs(c->counter_offset_ns),
		c->counter_one_way ? "and may be compared"
				   : "too far, so the kernel's clock was used");
}

/*
 * The end of the picture's axis: 1, 2, 3 or 5 times a power of ten. Room for all medians; a
 * spread that goes far beyond them is cut off, or it would be all that one sees.
 */
static uint64_t axis_ns(const struct ipcwait_calibration_pair *pair)
{
	static const uint64_t steps[] = { 10, 20, 30, 50 };
	uint64_t median = 0, spread = 0, scale = 100;

	for (unsigned i = 0; i < IPCWAIT_IDLE_AGES; i++) {
		const struct ipcwait_wake_latency *l = &pair->latency[i];

		median = l->median_ns > median ? l->median_ns : median;
		spread = l->p90_ns > spread ? l->p90_ns : spread;
	}
	if (spread > 2 * median)
		spread = 2 * median;
	for (;; scale *= 10)
		for (unsigned i = 0; i < 4; i++)
			if (steps[i] * scale >= spread)
				return steps[i] * scale;
}

static int column(uint64_t ns, uint64_t axis)
{
	int at = (int)(ns * PICTURE_WIDTH / axis);

	return at < PICTURE_WIDTH ? at : PICTURE_WIDTH - 1;
}

static void print_age(FILE *f, const struct ipcwait_wake_latency *l, uint64_t axis)
{
	char picture[PICTURE_WIDTH + 1];
	int from = column(l->p10_ns, axis), to = column(l->p90_ns, axis);

	fprintf(f, "%8g us", us(l->idle_ns));
	if (!l->used) {
		fprintf(f,
			l->discarded ? "   all %u samples discarded\n"
				     : "   not measured\n",
			l->discarded);
		return;
	}
	memset(picture, ' ', PICTURE_WIDTH);
	memset(picture + from, '-', (size_t)(to - from + 1));
	picture[column(l->median_ns, axis)] = '#';
	if (l->p90_ns > axis)
		picture[to] = '>';
	picture[to + 1] = '\0';
	fprintf(f, "%8.1f%8.1f%8.1f%8.1f  |%s\n", us(l->p10_ns), us(l->median_ns),
		us(l->p90_ns), us(l->waker_ns), picture);
}

static void print_pair(FILE *f, const struct ipcwait_calibration_pair *pair)
{
	uint64_t axis = axis_ns(pair);

	fprintf(f,
		"\nCPU %u wakes CPU %u (%s); a cache line there and back %" PRIu64 " ns\n",
		pair->cpu_a, pair->cpu_b, calibrate_distance(pair->distance),
		pair->line_ns);
	fputs("               late by ...             waker   the sleeper is late by\n", f);
	fprintf(f, " asleep for      10%%  median     90%%    pays  |0%*g us\n",
		PICTURE_WIDTH - 4, us(axis));
	for (unsigned i = 0; i < IPCWAIT_IDLE_AGES; i++)
		print_age(f, &pair->latency[i], axis);
}

static const char *source(const struct ipcwait_calibration *c)
{
	if (!c->samples_used)
		return "from a table";
	return c->is_from_cache ? "saved earlier" : "measured earlier";
}

static void print_end(FILE *f, const struct calibrate_result *r)
{
	const struct ipcwait_calibration *c = &r->now;

	fprintf(f, "\nB, what a sleep costs: %.1f us + %.1f us for the waker = %.1f us",
		us(c->block_ns - c->waker_ns), us(c->waker_ns), us(c->block_ns));
	fprintf(f, " (until now %.1f us, %s)\n", us(r->before.block_ns),
		source(&r->before));
	if (r->other_cpus > CALIBRATE_CPUS)
		fprintf(f,
			"DISTURBED: other programs kept %.1f CPUs busy meanwhile; repeat "
			"it on a "
			"quiet machine\n",
			r->other_cpus);
	else if (calibrate_disturbed(r))
		fputs("DISTURBED: most samples had to be discarded; repeat it on a quiet "
		      "machine\n",
		      f);
	if (!r->options->no_save && !r->saved && !r->refused)
		fprintf(f, "saved in %s\n", r->path);
}

void calibrate_print(FILE *f, const struct calibrate_result *r)
{
	fprintf(f, "%u samples in %.2f s, %u more were disturbed and discarded\n\n",
		r->now.samples_used, r->seconds, r->now.samples_discarded);
	print_figures(f, &r->now);
	for (unsigned i = 0; i < r->now.pair_count; i++)
		print_pair(f, &r->now.pair[i]);
	print_end(f, r);
}
