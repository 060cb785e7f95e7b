/* SPDX-License-Identifier: MIT */
#include "env/tick.h"

/*
 * Shortest comparison of counter and clock. Reading the two takes about 30 ns, so 200 us
 * keep the error below 0.1 %, where 1 % would do (docs/design/window.md).
 */
#define COMPARE_NS 200000

/*
 * Longest comparison: an old load time is no longer good for one. The clock stands still while the
 * machine is suspended, and the counter does so on some machines only: then boot time, which goes
 * on, is ahead by more than two readings are apart. It is also slewed, by 5 ms here at most, and
 * may so be taken for ahead, which costs a comparison of COMPARE_NS.
 */
#define COMPARE_MAX_NS INT64_C(10000000000)
#define AHEAD_NS       1000000

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

	return m->ns == 0 || boot_past_ns > COMPARE_MAX_NS ||
	       boot_past_ns - past_ns > AHEAD_NS;
}

struct iw_tick_rate iw_tick_measure(void)
{
	struct iw_tick_rate nanoseconds = { false, UINT64_C(1) << 32, UINT64_C(1) << 32 };
	struct iw_tick_rate rate = { .counter = true };
	struct moment begin = load_time, now;

	if (!iw_arch_ticks_steady() || !iw_clock_counter_trusted())
		return nanoseconds;
	if (is_too_old(&begin))
		begin = read_moment();
	while (iw_clock_raw_ns() - begin.ns < COMPARE_NS)
		iw_pause();
	now = read_moment();
	if (now.ticks <= begin.ticks)
		return nanoseconds;
	uint64_t ticks = now.ticks - begin.ticks;
	uint64_t ns = (uint64_t)(now.ns - begin.ns);
	rate.ns_per_tick_q32 = (uint64_t)(((iw_u128)ns << 32) / ticks);
	rate.ticks_per_ns_q32 = (uint64_t)(((iw_u128)ticks << 32) / ns);
	return rate;
}
