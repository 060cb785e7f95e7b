/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "common/check.h"
#include "common/edges.h"

/* Later than any time that an object of the case before may remember. */
#define LATER_NS (INT64_C(10) * 1000000000)

struct edge_sleep edge_slept[EDGE_SLEEPS];
unsigned edge_sleeps;

/* The combination of now. */
static const struct edges *axis;
static unsigned axis_count;
static int64_t values[EDGE_AXES];

static uint64_t *object;
static const struct edge_step *steps;
static unsigned step_count;

static const uint64_t *watched;
static unsigned watch_from;
static uint64_t watched_last;
static bool was_watched;

int64_t edge_value(int64_t edge, int64_t base)
{
	return edge >> 50 == 1 ? base + (edge - EDGE_FROM(0)) : edge;
}

/* The next one, as an odometer has it. False after the last. */
static bool turn(unsigned *at)
{
	unsigned i = 0;

	while (i < axis_count && ++at[i] == axis[i].n)
		at[i++] = 0;
	return i < axis_count;
}

unsigned edge_walk(const struct edges *axes, unsigned n,
		   void (*property)(const int64_t *values))
{
	unsigned at[EDGE_AXES] = { 0 }, cases = 0;

	CHECK(n <= EDGE_AXES);
	axis = axes;
	axis_count = n;
	do {
		for (unsigned i = 0; i < n; i++)
			values[i] = axis[i].v[at[i]];
		cases++;
		property(values);
	} while (turn(at));
	return cases;
}

static void print_value(const struct edges *a, int64_t v)
{
	if (v >> 50 == 1)
		fprintf(stderr, " %s=other%+" PRId64, a->name, v - EDGE_FROM(0));
	else
		fprintf(stderr, " %s=%" PRId64, a->name, v);
}

void edge_same(const char *file, int line, const char *what, uint64_t is, uint64_t want)
{
	if (is == want)
		return;
	fprintf(stderr, "%s:%d: %s is %#" PRIx64 ", not %#" PRIx64 ", with", file, line,
		what, is, want);
	for (unsigned i = 0; i < axis_count; i++)
		print_value(&axis[i], values[i]);
	fputc('\n', stderr);
	check_failed(file, line, what);
}

void edge_world(void)
{
	fake.now_ns += LATER_NS;
	fake.waits = fake.wakes = fake.vectors = 0;
	fake.clock_readings = 0;
	fake.on_wait = NULL;
	fake.on_clock = NULL;
	fake.on_wake = NULL;
	edge_sleeps = 0;
}

static int sleep_as_told(const struct fake_call *call)
{
	const struct edge_step *step;

	SAME(edge_sleeps < step_count, true);
	step = &steps[edge_sleeps];
	/* It has told the truth about the word that it sleeps on. */
	SAME(*call->word, call->value);
	edge_slept[edge_sleeps++] = (struct edge_sleep){
		.call = *call,
		.word = *object,
		.began_ns = fake.now_ns,
	};
	fake.now_ns += step->sleep_ns;
	if (step->meanwhile)
		step->meanwhile();
	if (step->changes)
		*object = step->word;
	return step->result;
}

void edge_script(uint64_t *word, const struct edge_step *told, unsigned n)
{
	CHECK(n <= EDGE_SLEEPS);
	object = word;
	steps = told;
	step_count = n;
	fake.on_wait = sleep_as_told;
}

static void look_at_it(void)
{
	if (fake.clock_readings < watch_from || edge_sleeps)
		return;
	watched_last = *watched;
	was_watched = true;
}

void edge_watch(const uint64_t *word, unsigned from)
{
	watched = word;
	watch_from = from;
	was_watched = false;
	fake.on_clock = look_at_it;
}

uint64_t edge_watched(uint64_t else_)
{
	return was_watched ? watched_last : else_;
}
