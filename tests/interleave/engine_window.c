/* SPDX-License-Identifier: MIT */
#include "interleave/engine_modules.h"
#include "policy/window.c"

#define BLOCK_NS UINT64_C(64000)

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
	begin_with(254, (UINT64_C(1) << (BIN_BITS * LAST_BIN)) - 1);
}

static void record_short(void)
{
	recorded++;
	iw_window_record(window, 100, 0, BLOCK_NS);
}

static void record_long(void)
{
	recorded++;
	iw_window_record(window, 100 * BLOCK_NS, 0, BLOCK_NS);
}

static void set_preset(enum ipcwait_preset preset)
{
	model_assert(ipcwait_window_set_preset(window, preset) == 0);
	last_set = preset;
	model_assert(iw_window_preset(window) == preset);
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
		iw_window_record_unended(window);
	}
}

/* A preset, a number of waits and a CPU that somebody has put there. */
static void is_legal(void)
{
	uint32_t state = (uint32_t)model_peek(&window->state);
	uint32_t cpu = state >> CPU_SHIFT, preset = state & PRESET_MASK;

	model_assert(preset == IPCWAIT_INHERIT || preset == IPCWAIT_POWER ||
		     preset == IPCWAIT_BLOCK);
	model_assert(preset == last_set || last_set != IPCWAIT_BLOCK);
	model_assert(!cpu || (cpu - 1) % 3 == 0);
	model_assert(!cpu || woke[(cpu - 1) / 3]);
}

static void preset_stays(void)
{
	model_assert(iw_window_preset(window) == last_set);
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

/* Nothing has gone over into the part beside it. */
static void stays_full(void)
{
	uint64_t bins = model_peek(&window->bins);

	is_legal();
	model_assert((model_peek(&window->state) & LEARNED_MASK) >= 254 * LEARNED_ONE);
	for (unsigned i = 1; i < LAST_BIN; i++)
		model_assert(count_in(bins, i) == BIN_MAX ||
			     count_in(bins, i) == BIN_MAX / 2 ||
			     count_in(bins, i) == BIN_MAX / 4);
	model_assert(count_in(bins, LAST_BIN) <= recorded);
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
