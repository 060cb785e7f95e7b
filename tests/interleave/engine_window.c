/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "policy/window.c"

/* As many waits as it counts. */
#define LEARNED_MOST (LEARNED_MASK >> LEARNED_SHIFT)

/* A long wait, and one that nobody ended. */
#define LONG_NS 6400000
#define UNENDED 0

/* A full bin. */
#define FULL 31u

/* CPUs of the wakers, and when they wake. */
#define CPU(i)     (3 * (i))
#define WOKE_NS(i) (ENGINE_NOW + 1000 * (i))

static struct ipcwait_window *window;

/* Notes of the test's own. */
static volatile unsigned recorded;
static volatile enum ipcwait_preset last_set;
static volatile bool woke[MODEL_THREADS_MAX];

static void begin_with(unsigned learned, uint64_t bins)
{
	window = model_alloc(sizeof(*window));
	model_name(&window->bins, "bins");
	model_name(&window->state, "state");
	model_name(&window->stamp, "stamp");
	window->bins.v = bins;
	window->state.v = learned * LEARNED_ONE;
	recorded = 0;
	last_set = IPCWAIT_INHERIT;
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		woke[i] = false;
}

static void begin_new(void)
{
	begin_with(0, 0);
}

/* One wait before it has seen as many as it counts, with every bin but the last full. */
static void begin_full(void)
{
	begin_with(LEARNED_MOST - 1, (UINT64_C(1) << (IW_HISTOGRAM_BITS - 5)) - 1);
}

/* One wait before it is known. */
static void begin_young(void)
{
	begin_with(KNOWN_WAITS - 1, 0);
}

static void record_short(void)
{
	recorded++;
	iw_window_record(window, 0, 1, 0);
}

static void record_long(void)
{
	recorded++;
	iw_window_record(window, IW_BIN_LONG, 1, LONG_NS);
}

static void set_preset(enum ipcwait_preset preset)
{
	model_assert(ipcwait_window_set_preset(window, preset) == 0);
	last_set = preset;
	model_assert(iw_state_preset(iw_window_state(window)) == preset);
}

static void wake(unsigned i)
{
	woke[i] = true;
	iw_window_put_stamp(window, WOKE_NS(i), CPU(i));
}

static void set_while_used(unsigned i)
{
	if (i == 0) {
		set_preset(IPCWAIT_POWER);
		set_preset(IPCWAIT_BLOCK);
	} else if (i == 1) {
		record_short();
		record_long();
	} else {
		wake(i);
		iw_window_record(window, IW_BIN_LONG, 1, UNENDED);
	}
}

/* One that a histogram can say. */
static bool is_threshold(uint32_t share)
{
	static const uint32_t thresholds[] = { 0, 5, 10, 19, 37, 55, IW_SHARES, 74, 112 };
	unsigned i = 0;

	while (i < sizeof(thresholds) / sizeof(thresholds[0]) && thresholds[i] != share)
		i++;
	return i < sizeof(thresholds) / sizeof(thresholds[0]);
}

/* A preset, a number of waits, a threshold and a CPU that somebody has put there. */
static void is_legal(void)
{
	uint32_t state = (uint32_t)model_peek(&window->state);
	uint32_t cpu = state >> CPU_SHIFT, preset = state & PRESET_MASK;

	model_assert(is_threshold((state & SHARE_MASK) >> SHARE_SHIFT));
	model_assert(preset == IPCWAIT_INHERIT || preset == IPCWAIT_POWER ||
		     preset == IPCWAIT_BLOCK);
	model_assert(preset == last_set || last_set != IPCWAIT_BLOCK);
	model_assert(!cpu || (cpu - 1) % 3 == 0);
	model_assert(!cpu || woke[(cpu - 1) / 3]);
}

static void preset_stays(void)
{
	model_assert(iw_state_preset(iw_window_state(window)) == last_set);
	is_legal();
	model_free(window);
}

static void record_more(unsigned i)
{
	if (i < 2)
		record_short();
	else
		wake(i);
	record_long();
}

static void become_known(unsigned i)
{
	if (i < 2)
		record_short();
	else
		wake(i);
	record_short();
}

/* Number of waits and threshold change in one step; all waits were short. */
static void known_is_judged(void)
{
	uint32_t state = (uint32_t)model_peek(&window->state);

	is_legal();
	model_assert(iw_state_share(state) == (iw_state_known(state) ? IW_SHARES : 0));
}

static void is_known(void)
{
	model_assert(iw_state_known(iw_window_state(window)));
	model_free(window);
}

/* Nothing has gone over into the part beside it. */
static void stays_full(void)
{
	uint64_t bins = model_peek(&window->bins);

	is_legal();
	model_assert(learned((uint32_t)model_peek(&window->state)) >= LEARNED_MOST - 1);
	for (unsigned i = 1; i < IW_BIN_LONG; i++)
		model_assert(iw_histogram_count(bins, i) == FULL ||
			     iw_histogram_count(bins, i) == FULL / 2 ||
			     iw_histogram_count(bins, i) == FULL / 4);
	model_assert(iw_histogram_count(bins, IW_BIN_LONG) <= recorded);
}

static void free_window(void)
{
	model_free(window);
}

/* Thread 0 slept from before the wakes on, and reads the clock between two of them. */
static void find_stamp(unsigned i)
{
	uint64_t now = WOKE_NS(1) + 500, age_ns;

	if (i > 0) {
		wake(i);
		return;
	}
	if (!iw_window_stamp_age(window, now, 2000, &age_ns))
		return;
	model_assert(woke[1]);
	model_assert(age_ns <= 500 && age_ns + (1 << STAMP_SHIFT) > 500);
}

const struct model_scenario engine_window[] = {
	{ .name = "window: preset set while in use",
	  .threads = 3,
	  .about = "neither waits nor wakes undo it, and the rest of the word stays legal",
	  .begin = begin_new,
	  .thread = set_while_used,
	  .always = is_legal,
	  .end = preset_stays,
	  .search = { .bound = 2,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "window: counts are full",
	  .threads = 3,
	  .about = "numbers that several threads raise at once do not go over into others",
	  .begin = begin_full,
	  .thread = record_more,
	  .always = stays_full,
	  .end = free_window,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "window: known at last",
	  .threads = 3,
	  .about = "whoever finds it known finds what was learned from its waits",
	  .begin = begin_young,
	  .thread = become_known,
	  .always = known_is_judged,
	  .end = is_known,
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ .name = "window: stamps",
	  .threads = 3,
	  .about = "a sleeper finds the stamp of a wake, or none; not one that is still to "
		   "come",
	  .begin = begin_new,
	  .thread = find_stamp,
	  .always = is_legal,
	  .end = free_window,
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 4000 } },
	{ 0 },
};
