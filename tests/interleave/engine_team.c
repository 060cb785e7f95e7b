/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "calibrate/team.h"

/* Four readings of the checker's clock. */
#undef IW_TEAM_PATIENCE_NS
#define IW_TEAM_PATIENCE_NS 100

#include "calibrate/team.c"

/* Thread 0 calls iw_team_run(), the others are the two workers. */
#define WORKERS 2

enum { NOT_YET, STARTED, ENDED, NOT_NEEDED };

static struct place {
	uint32_t state;
	struct iw_worker *worker;
} * places;

static struct phase {
	struct iw_team team;
	struct iw_team_word ball;
	uint32_t data;
} * phase;

/* Notes of the test's own. */
static volatile unsigned started;
static volatile bool refused;
static volatile int first_error, known_error;

/* How starting and joining threads orders memory. */
static uint32_t state_of(const struct place *p)
{
	return __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
}

static void set_state(struct place *p, uint32_t state)
{
	__atomic_store_n(&p->state, state, __ATOMIC_RELEASE);
}

int iw_worker_start(struct iw_worker *w, unsigned cpu)
{
	(void)cpu;
	refused = model_choose(2, "no thread is to be had") == 1;
	if (refused)
		return -EINVAL;
	w->thread = started++;
	places[w->thread].worker = w;
	set_state(&places[w->thread], STARTED);
	return 0;
}

void iw_worker_join(struct iw_worker *w)
{
	while (state_of(&places[w->thread]) != ENDED)
		model_pause();
}

static void work(struct place *p)
{
	while (state_of(p) == NOT_YET)
		model_pause();
	if (state_of(p) == NOT_NEEDED)
		return;
	p->worker->body(p->worker->arg);
	set_state(p, ENDED);
}

static void begin(void)
{
	places = model_alloc(WORKERS * sizeof(*places));
	phase = model_alloc(sizeof(*phase));
	model_name(&phase->ball, "ball");
	model_name(&phase->team.failed, "failed");
	started = 0;
	refused = false;
	first_error = known_error = 0;
}

static void end(void)
{
	model_free(phase);
	model_free(places);
}

static int run(void (*first)(void *), void (*second)(void *))
{
	int r = iw_team_run(&phase->team, first, second, phase);

	for (unsigned i = started; i < WORKERS; i++)
		set_state(&places[i], NOT_NEEDED);
	return r;
}

static void throw_ball(void *arg)
{
	struct phase *p = arg;

	p->data = 1;
	iw_team_tell(&p->ball, 1);
	if (iw_team_await(&p->team, &p->ball, 2))
		model_assert(p->data == 2);
}

static void return_ball(void *arg)
{
	struct phase *p = arg;

	if (!iw_team_await(&p->team, &p->ball, 1))
		return;
	model_assert(p->data == 1);
	p->data = 2;
	iw_team_tell(&p->ball, 2);
}

static void hand_over(unsigned i)
{
	int r;

	if (i > 0) {
		work(&places[i - 1]);
		return;
	}
	r = run(throw_ball, return_ball);
	model_assert(r == -EAGAIN || (r == 0 && !refused && phase->data == 2));
}

/* The sleeper of a calibration looks without waiting. */
static void look_at_ball(void *arg)
{
	struct phase *p = arg;

	for (unsigned n = 0; n < 2; n++)
		if (iw_team_look(&p->ball) == 1)
			model_assert(p->data == 1);
}

static void tell(void *arg)
{
	struct phase *p = arg;

	p->data = 1;
	iw_team_tell(&p->ball, 1);
}

static void look_on(unsigned i)
{
	if (i > 0)
		work(&places[i - 1]);
	else
		(void)run(tell, look_at_ball);
}

/* An error that was there before this one is the first. */
static void fail_as(struct iw_team *t, int error)
{
	if (first_error && !known_error)
		known_error = first_error;
	iw_team_fail(t, error);
	if (!first_error)
		first_error = error;
}

static void fail_early(void *arg)
{
	fail_as(&((struct phase *)arg)->team, ENOSYS);
}

static void fail_late(void *arg)
{
	fail_as(&((struct phase *)arg)->team, EAGAIN);
}

static void fail(unsigned i)
{
	int r;

	if (i > 0) {
		work(&places[i - 1]);
		return;
	}
	r = run(fail_early, fail_late);
	model_assert(r == -ENOSYS || r == -EAGAIN);
	model_assert(!known_error || refused || r == -known_error);
}

const struct model_scenario engine_team[] = {
	{ .name = "team: hand-over",
	  .threads = 1 + WORKERS,
	  .about = "what was written before a thread told is there for the one that waits; "
		   "where one is missing the other gives up",
	  .begin = begin,
	  .thread = hand_over,
	  .end = end,
	  .search = { .stale = 2, .pct_depth = 3, .pct_runs = 1000 } },
	{ .name = "team: a look",
	  .threads = 1 + WORKERS,
	  .about = "likewise for the one that does not wait",
	  .begin = begin,
	  .thread = look_on,
	  .end = end,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "team: the first error",
	  .threads = 1 + WORKERS,
	  .about = "is the result",
	  .begin = begin,
	  .thread = fail,
	  .end = end,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ 0 },
};
