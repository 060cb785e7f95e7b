/* SPDX-License-Identifier: MIT */
#include "env/tick.h"

/*
 * Shortest comparison of counter and clock. Reading the two takes about 30 ns, so 200 us
 * keep the error below 0.1 %, where 1 % would do (docs/design/window.md).
 */
#define COMPARE_NS 200000

/*
 * Longest comparison: an old load time is no longer good for one. Nor is one that lies ahead: a
 * child that was forked into a time namespace may have clocks that are behind those of its parent.
 * The clock stands still while the machine is suspended, and the counter does so on some machines
 * only: then boot time, which goes on, is ahead by more than two readings are apart. It is also
 * slewed, by 5 ms here at most, and may so be taken for ahead, which costs a comparison of
 * COMPARE_NS.
 */
#define COMPARE_MAX_NS INT64_C(10000000000)
#define AHEAD_NS       1000000

/*
 * Then counter and clock are compared once more, over so many ns, within one part in so many: a
 * counter that stepped meanwhile, or that was another CPU's at the load, may have gone on for any
 * time beside the clock. Two readings are 0.1 us apart at most, 2 % of that.
 */
#define CHECK_NS   5000
#define CHECK_PART 8

/* Comparisons until the counter counts as none. */
#define COMPARISONS 3

/* Readings of which the tightest is taken, in case one is interrupted. */
#define READINGS 5

/* Counter and clock, read at the same moment, and boot time about then, but before. */
struct moment {
	uint64_t ticks;
	int64_t ns, boot_ns;
};

static struct moment load_time;

static struct moment read_moment(void)
{
	struct moment best = { .boot_ns = iw_clock_boot_ns() };
	uint64_t tightest = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		uint64_t before = iw_arch_ticks();
		int64_t ns = iw_clock_raw_ns();
		uint64_t width = iw_arch_ticks() - before;

		if (width < tightest) {
			tightest = width;
			best.ticks = before + width / 2;
			best.ns = ns;
		}
	}
	return best;
}

/* Runs before main() or inside dlopen(), so before any thread can wait. */
__attribute__((constructor)) static void note_load_time(void)
{
	load_time = read_moment();
}

static bool is_too_old(const struct moment *m)
{
	int64_t past_ns = iw_clock_raw_ns() - m->ns;
	int64_t boot_past_ns = iw_clock_boot_ns() - m->boot_ns;

	return m->ns == 0 || past_ns < 0 || boot_past_ns < 0 ||
	       boot_past_ns > COMPARE_MAX_NS || boot_past_ns - past_ns > AHEAD_NS;
}

/* Not before @ns have passed since @begin, which does not lie ahead. */
static struct moment read_after(const struct moment *begin, int64_t ns)
{
	while (iw_clock_raw_ns() - begin->ns < ns)
		iw_pause();
	return read_moment();
}

/* False if the counter, or the clock, has not gone on. */
static bool compare(const struct moment *begin, const struct moment *end,
		    struct iw_tick_rate *rate)
{
	uint64_t ticks = end->ticks - begin->ticks, ns = (uint64_t)(end->ns - begin->ns);

	if (end->ticks <= begin->ticks || end->ns <= begin->ns)
		return false;
	rate->ns_per_tick_q32 = (uint64_t)(((iw_u128)ns << 32) / ticks);
	rate->ticks_per_ns_q32 = (uint64_t)(((iw_u128)ticks << 32) / ns);
	return true;
}

static bool agrees(const struct iw_tick_rate *rate, const struct moment *begin,
		   const struct moment *end)
{
	uint64_t is_ns = (uint64_t)(end->ns - begin->ns);
	uint64_t said_ns = iw_tick_to_ns(rate, end->ticks - begin->ticks);

	return said_ns >= is_ns - is_ns / CHECK_PART &&
	       said_ns <= is_ns + is_ns / CHECK_PART;
}

struct iw_tick_rate iw_tick_measure(void)
{
	struct iw_tick_rate nanoseconds = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 };
	struct iw_tick_rate rate = { .counter = true };
	struct moment begin = load_time;

	if (!iw_arch_ticks_steady() || !iw_clock_counter_trusted())
		return nanoseconds;
	for (int i = 0; i < COMPARISONS; i++) {
		struct moment now, later;

		if (i > 0 || is_too_old(&begin))
			begin = read_moment();
		now = read_after(&begin, COMPARE_NS);
		later = read_after(&now, CHECK_NS);
		if (compare(&begin, &now, &rate) && agrees(&rate, &now, &later))
			return rate;
	}
	return nanoseconds;
}
