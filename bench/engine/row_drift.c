/* SPDX-License-Identifier: MIT */
/*
 * Does B follow when waking becomes cheaper or dearer under the program? The
 * device of wakes.h is held and released. Hand-offs go on all the time, in slices of 40 ms;
 * between two slices B is read.
 *
 * Two forms: waits of 200 us, which sleep anyway, and waits of 10 us, which end while
 * spinning, so that nobody sleeps and the library has to notice in another way.
 *
 * The truth is measured there too, with waits of the same length that sleep on a plain
 * futex: median added latency plus median cost of the post. It does not follow the device at
 * once: the idle governor keeps its habits for up to a second. So a direction takes from the
 * moment when the truth has come within a factor of 1.5 of its median in the second half of
 * the phase, to the moment when B has, and B has to stay there: its median from one second
 * after the truth has arrived until the end of the phase is within that factor.
 */
#include "../common/quantile.h"
#include "../common/clock.h"
#include "handoff.h"
#include "row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SLICE_NS 40000000
#define LEAD_NS  500000000
#define HELD_NS  2000000000
#define FREED_NS 3000000000
#define WITHIN_S 1.0
#define FACTOR   1.5

/* Waits that measure the truth once. */
#define TRUTH_WAITS 15

enum { FREE_TRUTH, HELD_TRUTH, TO_CHEAP, TO_DEAR, COLUMNS };

static const struct column columns[COLUMNS] = {
	[FREE_TRUTH] = { "wake us", "wake_cost_us", 10, 2 },
	[HELD_TRUTH] = { "held us", "wake_cost_held_us", 10, 2 },
	[TO_CHEAP] = { "s to cheap", "seconds_to_cheap", 12, 2 },
	[TO_DEAR] = { "s to dear", "seconds_to_dear", 12, 2 },
};

static const struct form {
	const char *point;
	int64_t wait_ns;
} forms[] = {
	{ "200 us, sleep", 200000 },
	{ "10 us, spin", 10000 },
};

#define FORMS (sizeof(forms) / sizeof(forms[0]))

static int must_hold(void)
{
	int fd = wakes_hold();

	if (fd < 0)
		give_up(WAKES_DEVICE ": %s", strerror(-fd));
	return fd;
}

struct drift {
	struct handoff *h;
	struct curve *block, *truth; /* B and what it ought to be, in us */
	int64_t begin_ns, held_ns, freed_ns, end_ns, slice_end_ns; /* moments */
	int fd;                                                    /* -1: not held */
};

static double measure_truth(struct handoff *h, int64_t wait_ns)
{
	struct sem_room sem;
	struct batch b = { .ops = &sem_block, .sem = &sem, .wait_ns = wait_ns };
	struct figures f;

	b.warm = 1;
	b.n = TRUTH_WAITS;
	b.ops->init(&sem);
	handoff_run(h, &b, &f);
	return f.latency_us + f.post_us;
}

/* Between two hand-offs. */
static bool in_slice(void *arg, int64_t now_ns)
{
	return now_ns < ((const struct drift *)arg)->slice_end_ns;
}

/* A truth that could not be measured, as all its hand-offs went astray, leaves a gap. */
static void add(struct curve *c, double at_s, double value)
{
	if (c->n == SAMPLES_MOST || isnan(value))
		return;
	c->at[c->n] = at_s;
	c->value[c->n++] = value;
}

static void set_device(struct drift *d)
{
	int64_t now_ns = clock_now_ns();
	bool wanted = now_ns >= d->held_ns && now_ns < d->freed_ns;

	if (wanted && d->fd < 0) {
		d->fd = must_hold();
	} else if (!wanted && d->fd >= 0) {
		wakes_release(d->fd);
		d->fd = -1;
	}
}

static bool near(double block_us, double truth_us)
{
	return block_us <= truth_us * FACTOR && block_us >= truth_us / FACTOR;
}

/* The median of the readings in [@from_s, @to_s). */
static double median_in(const struct curve *c, double from_s, double to_s)
{
	uint64_t in_ns[SAMPLES_MOST];
	size_t n = 0;

	for (unsigned i = 0; i < c->n; i++)
		if (c->at[i] >= from_s && c->at[i] < to_s)
			in_ns[n++] = (uint64_t)(c->value[i] * 1e3);
	return n ? (double)quantile(in_ns, n, 0.5) / 1e3 : NAN;
}

/* The first moment from @from_s on at which a reading is near @value; INFINITY: none. */
static double first_near(const struct curve *c, double from_s, double value)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->at[i] >= from_s && near(c->value[i], value))
			return c->at[i];
	return INFINITY;
}

static double seconds_to_follow(const struct drift *d, double from_s, double to_s,
				double *truth)
{
	double arrived_s;

	*truth = median_in(d->truth, (from_s + to_s) / 2, to_s);
	arrived_s = first_near(d->truth, from_s, *truth);
	if (!near(median_in(d->block, arrived_s + WITHIN_S, to_s), *truth))
		return INFINITY;
	return fmax(0, first_near(d->block, from_s, *truth) - arrived_s);
}

/* Hand-offs through both changes, with the curves filled in. */
static void run_through(const struct form *form, struct drift *d, double scale)
{
	struct sem_room sem;
	struct batch b = { .ops = &sem_adaptive, .sem = &sem, .wait_ns = form->wait_ns };
	struct figures f;

	d->fd = -1;
	d->begin_ns = clock_now_ns();
	d->held_ns = d->begin_ns + (int64_t)(LEAD_NS * scale);
	d->freed_ns = d->held_ns + (int64_t)(HELD_NS * scale);
	d->end_ns = d->freed_ns + (int64_t)(FREED_NS * scale);
	b.more = in_slice;
	b.arg = d;
	b.ops->init(&sem);
	while (clock_now_ns() < d->end_ns) {
		double at_s = (double)(clock_now_ns() - d->begin_ns) / 1e9;

		set_device(d);
		add(d->truth, at_s, measure_truth(d->h, form->wait_ns));
		add(d->block, at_s, row_block_cost_ns() / 1e3);
		d->slice_end_ns = clock_now_ns() + SLICE_NS;
		handoff_run(d->h, &b, &f);
	}
	if (d->fd >= 0)
		wakes_release(d->fd);
}

static void keep_curve(struct report *r, const char *what, const struct form *form,
		       unsigned round, const struct curve *curve)
{
	struct curve *kept;
	char name[64];

	if (r->n_curves == CURVES_MOST)
		return;
	snprintf(name, sizeof(name), "%s, waits of %s, round %u", what, form->point,
		 round + 1);
	kept = report_curve(r, name);
	kept->n = curve->n;
	memcpy(kept->at, curve->at, sizeof(curve->at));
	memcpy(kept->value, curve->value, sizeof(curve->value));
}

static void run_once(struct report *r, struct handoff *h, const struct options *o,
		     const struct form *form, unsigned round, struct line *line)
{
	static struct curve block, truth;
	struct drift d = { .h = h, .block = &block, .truth = &truth };
	double held_s, freed_s, end_s;

	block.n = truth.n = 0;
	run_through(form, &d, fmin(o->scale, 1));
	held_s = (double)(d.held_ns - d.begin_ns) / 1e9;
	freed_s = (double)(d.freed_ns - d.begin_ns) / 1e9;
	end_s = (double)(d.end_ns - d.begin_ns) / 1e9;
	line->value[TO_CHEAP][round] =
		seconds_to_follow(&d, held_s, freed_s, &line->value[HELD_TRUTH][round]);
	line->value[TO_DEAR][round] =
		seconds_to_follow(&d, freed_s, end_s, &line->value[FREE_TRUTH][round]);
	keep_curve(r, "B", form, round, &block);
	keep_curve(r, "truth", form, round, &truth);
}

/* Where the truth hardly changes there is nothing to follow, and nothing to judge. */
static void judge(struct report *r, const struct line *line)
{
	bool changes = report_median(r, line->value[HELD_TRUTH]) * FACTOR <
		       report_median(r, line->value[FREE_TRUTH]);
	double to_cheap = report_median(r, line->value[TO_CHEAP]);
	double to_dear = report_median(r, line->value[TO_DEAR]);

	report_bar(r, changes ? to_cheap : NAN, WITHIN_S,
		   "%s: seconds until B has followed to cheap", line->point);
	report_bar(r, changes ? to_dear : NAN, WITHIN_S,
		   "%s: seconds until B has followed to dear", line->point);
	if (!changes)
		report_note(r,
			    "%s: holding " WAKES_DEVICE
			    " made waking cheaper by less than %.1f "
			    "just now.",
			    line->point, FACTOR);
}

/* Without it, or where wakes are cheap all the time, nothing changes. */
static bool can_hold(struct report *r)
{
	int fd = wakes_hold();

	if (fd < 0) {
		report_unavailable(r, WAKES_DEVICE ": %s", strerror(-fd));
		return false;
	}
	wakes_release(fd);
	if (r->wakes != WAKES_FOUND)
		report_unavailable(r, "wakes are %s all the time", wakes_names[r->wakes]);
	return r->wakes == WAKES_FOUND;
}

static void run(struct report *r, const struct options *o)
{
	struct line *lines[FORMS];
	struct handoff *h;

	if (!can_hold(r) || !row_has_two_cpus(r))
		return;
	report_columns(r, columns, COLUMNS);
	h = handoff_start();
	for (unsigned i = 0; i < FORMS; i++)
		lines[i] = report_line(r, forms[i].point, "ADAPTIVE");
	for (unsigned round = 0; round < r->rounds; round++) {
		row_progress(o, "drift", round, r->rounds);
		for (unsigned i = 0; i < FORMS; i++)
			run_once(r, h, o, &forms[i], round, lines[i]);
	}
	row_progress(o, "drift", 1, 1);
	for (unsigned i = 0; i < FORMS; i++)
		judge(r, lines[i]);
}

const struct row row_drift = {
	.name = "drift",
	.what = "the wake cost changes: does B follow within a second?",
	.seconds = 60,
	.run = run,
};
