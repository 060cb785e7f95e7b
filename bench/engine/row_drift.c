/* SPDX-License-Identifier: MIT */
/*
 * Does B follow when waking becomes cheaper or dearer under the program? An open
 * /dev/cpu_dma_latency with a zero in it keeps idle CPUs awake, so a wake-up interrupts
 * nothing; closing it undoes that. Hand-offs go on all the time and the waker reads B every
 * 50 ms.
 *
 * Two forms: waits of 200 us, which sleep anyway, and waits of 10 us, which end while
 * spinning, so that nobody sleeps and the library has to notice in another way.
 *
 * The truth is measured before each run, in both states, with waits of the same length that
 * sleep on a plain futex: median added latency plus median cost of the post. A direction
 * takes from the change to the first reading of B that is within a factor of 1.5 of the
 * truth, if the median of the readings from one second after the change on is so too.
 */
#include "clock.h"
#include "handoff.h"
#include "row.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEVICE "/dev/cpu_dma_latency"

#define SAMPLE_NS 50000000
#define LEAD_NS   500000000
#define PHASE_NS  1500000000
#define WITHIN_S  1.0
#define FACTOR    1.5

/* Waits that measure the truth. */
#define TRUTH_WAITS 400
#define SETTLE_NS   50000000

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

/* -errno if that is not possible here. */
static int hold(void)
{
	const int32_t zero = 0;
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, &zero, sizeof(zero)) == sizeof(zero))
		return fd;
	close(fd);
	return -EIO;
}

static int must_hold(void)
{
	int fd = hold();

	if (fd < 0)
		row_failed(DEVICE ": %s", strerror(-fd));
	return fd;
}

static double measure_truth(struct handoff *h, const struct options *o, int64_t wait_ns)
{
	struct sem_room sem;
	struct batch b = { .ops = &sem_block, .sem = &sem, .wait_ns = wait_ns };
	struct figures f;

	b.warm = 20;
	b.n = options_scaled(o, TRUTH_WAITS, 20);
	b.ops->init(&sem);
	handoff_run(h, &b, &f);
	return f.latency_us + f.post_us;
}

struct drift {
	struct curve *curve;
	int64_t begin_ns, held_ns, freed_ns, end_ns, next_ns; /* moments */
	int fd;                                               /* -1: not held */
};

/* Between two hand-offs. */
static bool step(void *arg, int64_t now_ns)
{
	struct drift *d = arg;

	if (now_ns >= d->next_ns && d->curve->n < SAMPLES_MOST) {
		unsigned i = d->curve->n++;

		d->curve->at[i] = (double)(now_ns - d->begin_ns) / 1e9;
		d->curve->value[i] = row_block_cost_ns() / 1e3;
		d->next_ns += SAMPLE_NS;
	}
	if (d->fd < 0 && now_ns >= d->held_ns && now_ns < d->freed_ns) {
		d->fd = must_hold();
	} else if (d->fd >= 0 && now_ns >= d->freed_ns) {
		close(d->fd);
		d->fd = -1;
	}
	return now_ns < d->end_ns;
}

static bool near(double block_us, double truth_us)
{
	return block_us <= truth_us * FACTOR && block_us >= truth_us / FACTOR;
}

/* Seconds from @from_s to the first reading that is near; INFINITY if B did not stay so. */
static double seconds_to_follow(const struct curve *c, double from_s, double to_s,
				double truth_us)
{
	unsigned late = 0, late_near = 0;
	double first_s = INFINITY;

	for (unsigned i = 0; i < c->n; i++) {
		double since_s = c->at[i] - from_s;
		bool is_near = near(c->value[i], truth_us);

		if (since_s < 0 || c->at[i] >= to_s)
			continue;
		if (is_near && since_s < first_s)
			first_s = since_s;
		late += since_s >= WITHIN_S;
		late_near += is_near && since_s >= WITHIN_S;
	}
	return late_near * 2 >= late ? first_s : INFINITY;
}

static void measure_truths(struct handoff *h, const struct options *o,
			   const struct form *form, unsigned round, struct line *line)
{
	int fd = must_hold();

	clock_burn_until(clock_now_ns() + SETTLE_NS);
	line->value[HELD_TRUTH][round] = measure_truth(h, o, form->wait_ns);
	close(fd);
	clock_burn_until(clock_now_ns() + SETTLE_NS);
	line->value[FREE_TRUTH][round] = measure_truth(h, o, form->wait_ns);
}

/* Hand-offs through both changes, with @curve filled in. */
static void run_through(struct handoff *h, const struct options *o, const struct form *form,
			struct drift *d)
{
	struct sem_room sem;
	struct batch b = { .ops = &sem_adaptive, .sem = &sem, .wait_ns = form->wait_ns };
	double scale = fmin(o->scale, 1);
	struct figures f;

	d->fd = -1;
	d->begin_ns = d->next_ns = clock_now_ns();
	d->held_ns = d->begin_ns + (int64_t)(LEAD_NS * scale);
	d->freed_ns = d->held_ns + (int64_t)(PHASE_NS * scale);
	d->end_ns = d->freed_ns + (int64_t)(PHASE_NS * scale);
	b.more = step;
	b.arg = d;
	b.ops->init(&sem);
	handoff_run(h, &b, &f);
	if (d->fd >= 0)
		close(d->fd);
}

static void keep_curve(struct report *r, const struct form *form, unsigned round,
		       const struct curve *curve)
{
	struct curve *kept;
	char name[64];

	if (r->n_curves == CURVES_MOST)
		return;
	snprintf(name, sizeof(name), "B, waits of %s, round %u", form->point, round + 1);
	kept = report_curve(r, name);
	kept->n = curve->n;
	memcpy(kept->at, curve->at, sizeof(curve->at));
	memcpy(kept->value, curve->value, sizeof(curve->value));
}

static void run_once(struct report *r, struct handoff *h, const struct options *o,
		     const struct form *form, unsigned round, struct line *line)
{
	static struct curve curve;
	struct drift d = { .curve = &curve };
	double held_s, freed_s, end_s;

	measure_truths(h, o, form, round, line);
	curve.n = 0;
	run_through(h, o, form, &d);
	held_s = (double)(d.held_ns - d.begin_ns) / 1e9;
	freed_s = (double)(d.freed_ns - d.begin_ns) / 1e9;
	end_s = (double)(d.end_ns - d.begin_ns) / 1e9;
	line->value[TO_CHEAP][round] =
		seconds_to_follow(&curve, held_s, freed_s, line->value[HELD_TRUTH][round]);
	line->value[TO_DEAR][round] =
		seconds_to_follow(&curve, freed_s, end_s, line->value[FREE_TRUTH][round]);
	keep_curve(r, form, round, &curve);
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
			    "%s: holding " DEVICE " made waking cheaper by less than %.1f "
			    "just now.",
			    line->point, FACTOR);
}

static void run(struct report *r, const struct options *o)
{
	struct line *lines[FORMS];
	struct handoff *h;
	int fd = hold();

	if (fd < 0)
		report_unavailable(r, DEVICE ": %s", strerror(-fd));
	else
		close(fd);
	if (fd < 0 || !row_has_two_cpus(r))
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
	.seconds = 40,
	.run = run,
};
