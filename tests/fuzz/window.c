/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic of lib/policy/window.c, histogram.c and rhythm.c on any window, any waits at its
 * call site, any B that the library can come to believe, any times: what is learned goes where the
 * tables in the headers say, and no plan spends more than 2B.
 */
#include "common/fuzz.h"
#include "fuzz/input.h"
#include "policy/histogram.h"
#include "policy/rhythm.h"
#include "policy/window.h"

#define ROUNDS_MOST 32

/* B is at most four times a latency below 2^32 ns and a waker's share likewise. */
#define TIME_MOST ((UINT64_C(1) << 35) - 1)

#define LAST         (IW_BINS - 1)
#define BIN_MOST     31
#define LEARNED_MOST 63
#define LEARNED(w)   ((w)->state.v >> 3 & LEARNED_MOST)
#define KNOWN        8
#define RHYTHM(w)    ((uint32_t)((w)->bins.v >> 40))

/* The preset and the CPU of the last waker: what learning leaves alone. */
#define OTHERS 0xffff0007u

/* Upper edges of the bins in 64ths of B, and the thresholds, from histogram.c. */
static const uint8_t edges[LAST] = { 4, 8, 16, 32, 48, 64, 112 };
static const uint8_t thresholds[] = { 0, 5, 10, 19, 22, 34, 37, 55, 64, 74, 112 };

struct world {
	struct ipcwait_window w;
	uint64_t block_ns;
	struct iw_timer_cost timer;
};

static uint64_t take_time(struct input *in)
{
	return take_64(in) >> take_8(in) % 64 & TIME_MOST;
}

static uint64_t share(uint64_t block_ns, unsigned of_64)
{
	return (uint64_t)((unsigned __int128)block_ns * of_64 / 64);
}

static unsigned bin_of(uint64_t wait_ns, uint64_t block_ns)
{
	unsigned bin = 0;

	while (bin < LAST && wait_ns >= share(block_ns, edges[bin]))
		bin++;
	return bin;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Sleeps on a timer lie before the usual end, and are worth what they cost. */
static void check_timed(const struct world *u, uint32_t rhythm,
			const struct iw_timed_sleep *sleep)
{
	uint64_t length_ns = iw_rhythm_length_ns(rhythm);
	uint64_t deviation_ns = iw_rhythm_deviation_ns(rhythm);

	FUZZ_CHECK(sleep->cost_ns < u->timer.worth_ns && sleep->cost_ns < u->block_ns);
	FUZZ_CHECK(sleep->wake_ns > 0 &&
		   sleep->wake_ns + u->timer.late_ns + deviation_ns <= length_ns);
	FUZZ_CHECK(sleep->until_ns >= length_ns + deviation_ns &&
		   sleep->until_ns <= length_ns + 4 * deviation_ns);
	FUZZ_CHECK(sleep->span_ns >= u->timer.spread_ns + 2 * deviation_ns &&
		   sleep->span_ns <= u->timer.spread_ns + 8 * deviation_ns);
}

static bool a_threshold(unsigned share_)
{
	for (unsigned i = 0; i < sizeof(thresholds); i++)
		if (thresholds[i] == share_)
			return true;
	return false;
}

/* Jitter may lengthen the spin by an eighth: it stays below 2B even so. */
static void check_timed_plan(const struct world *u, uint64_t spin_ns)
{
	uint64_t most = share(u->block_ns, 112);
	struct iw_timed_plan plan;

	if (!iw_window_timed(&u->w, spin_ns, u->block_ns, &u->timer, &plan))
		return;
	check_timed(u, RHYTHM(&u->w), &plan.sleep);
	FUZZ_CHECK(iw_window_count(&u->w, LAST) > 0);
	FUZZ_CHECK(plan.sleep.wake_ns > 2 * spin_ns);
	FUZZ_CHECK(plan.sleep.span_ns <= plan.spin_ns);
	FUZZ_CHECK(spin_ns + u->timer.cpu_ns + plan.spin_ns <= most);
}

static void plan(struct world *u, struct input *in)
{
	uint64_t before = take_8(in) & 1 ? take_64(in) & IW_HISTOGRAM_MASK : 0, spin_ns;
	uint32_t state = iw_window_state(&u->w);
	unsigned threshold = iw_state_known(state) ? iw_state_share(state)
						   : iw_window_young_share(&u->w, before);

	FUZZ_CHECK(iw_state_known(state) == (LEARNED(&u->w) >= KNOWN));
	FUZZ_CHECK(iw_state_known(state) ? threshold <= IW_LONGEST_SHARE
					 : a_threshold(threshold));
	spin_ns = iw_of_block(u->block_ns, threshold);
	FUZZ_CHECK(spin_ns == share(u->block_ns, threshold));
	check_timed_plan(u, take_8(in) & 1 ? spin_ns : 0);
}

/* @n more in @bin; all are halved first if it would run over. */
static void check_learned(const struct ipcwait_window *before,
			  const struct ipcwait_window *after, unsigned bin, unsigned n)
{
	bool full = iw_window_count(before, bin) + n > BIN_MOST;
	uint32_t learned = LEARNED(before);

	for (unsigned i = 0; i < IW_BINS; i++)
		FUZZ_CHECK(iw_window_count(after, i) ==
			   iw_window_count(before, i) / (full ? 2 : 1) +
				   (i == bin ? n : 0));
	FUZZ_CHECK((before->state.v & OTHERS) == (after->state.v & OTHERS));
	FUZZ_CHECK(before->stamp.v == after->stamp.v);
	/* Where nobody spins a long wait changes nothing but the histogram. */
	if (bin == LAST && learned >= KNOWN && iw_state_share(before->state.v) == 0) {
		FUZZ_CHECK(before->state.v == after->state.v);
		return;
	}
	FUZZ_CHECK(LEARNED(after) == (learned < LEARNED_MOST ? learned + 1 : LEARNED_MOST));
	FUZZ_CHECK(a_threshold(iw_state_share(after->state.v)));
}

static void record(struct world *u, struct input *in)
{
	uint64_t wait_ns = take_64(in) >> take_8(in) % 64, interval_ns = take_time(in);
	unsigned bin = iw_bin_of(wait_ns, u->block_ns), n = 1 + take_8(in) % 8;
	struct ipcwait_window before = u->w;

	FUZZ_CHECK(bin == bin_of(wait_ns, u->block_ns));
	iw_window_record(&u->w, bin, n, interval_ns);
	check_learned(&before, &u->w, bin, n);
	if (bin == LAST && interval_ns)
		FUZZ_CHECK(RHYTHM(&u->w) == iw_rhythm_learn(RHYTHM(&before), interval_ns));
	else
		FUZZ_CHECK(RHYTHM(&u->w) == RHYTHM(&before));
}

static void record_unended(struct world *u)
{
	struct ipcwait_window before = u->w;

	iw_window_record(&u->w, LAST, 1, 0);
	check_learned(&before, &u->w, LAST, 1);
	FUZZ_CHECK(RHYTHM(&u->w) == RHYTHM(&before));
}

/* Within the format, towards the wait by 3/8 of the deviation at most; rounding may add a step. */
static void learn_rhythm(struct world *u, struct input *in)
{
	uint32_t before = take_8(in) & 1 ? RHYTHM(&u->w) : take_32(in) >> 8;
	uint64_t wait_ns = take_64(in) >> take_8(in) % 64;
	uint32_t after = iw_rhythm_learn(before, wait_ns);
	uint64_t was_ns = iw_rhythm_length_ns(before), is_ns = iw_rhythm_length_ns(after);
	uint64_t off_ns = (was_ns + is_ns) / 512 + 3 * iw_rhythm_deviation_ns(before) / 8;
	uint64_t trust = before >> 21, trusts = after >> 21;

	FUZZ_CHECK(after < UINT32_C(1) << IW_RHYTHM_BITS);
	FUZZ_CHECK(is_ns >= 8192 && is_ns < UINT64_C(1) << 29);
	FUZZ_CHECK(iw_rhythm_deviation_ns(after) >= 256 &&
		   iw_rhythm_deviation_ns(after) < UINT64_C(1) << 24);
	if (!before) {
		FUZZ_CHECK(trusts == 0);
		return;
	}
	FUZZ_CHECK(is_ns <= was_ns + off_ns && was_ns <= is_ns + off_ns);
	if (wait_ns > was_ns)
		FUZZ_CHECK(is_ns >= was_ns && is_ns - is_ns / 512 <= wait_ns);
	else
		FUZZ_CHECK(is_ns <= was_ns + was_ns / 512);
	FUZZ_CHECK(trusts == (trust < 7 ? trust + 1 : 7) ||
		   trusts == (trust < 2 ? 0 : trust - 2));
}

static void plan_rhythm(struct world *u, struct input *in)
{
	uint32_t rhythm = take_32(in) >> 8;
	struct iw_timed_sleep sleep = { 0 };

	if (iw_rhythm_plan(rhythm, u->block_ns, &u->timer, &sleep))
		check_timed(u, rhythm, &sleep);
}

/* A stamp is found again at its age, until the clock of stamps comes round. */
static void put_stamp(struct world *u, struct input *in)
{
	uint64_t now_ns = take_64(in) >> 1, later_ns = take_time(in), age_ns = 0;
	uint32_t cpu = take_32(in) >> take_8(in) % 32;
	struct ipcwait_window before = u->w;

	iw_window_put_stamp(&u->w, now_ns, cpu);
	FUZZ_CHECK(u->w.stamp.v != 0 && u->w.bins.v == before.bins.v);
	FUZZ_CHECK((u->w.state.v & 0xffff) == (before.state.v & 0xffff));
	FUZZ_CHECK(iw_state_waker_cpu(u->w.state.v) == (cpu < 0xffff ? cpu + 1 : 0));
	if (later_ns > TIME_MOST - 16)
		return;
	FUZZ_CHECK(iw_window_stamp_age(&u->w, now_ns + later_ns, later_ns + 16, &age_ns));
	FUZZ_CHECK(age_ns <= later_ns + 16 && later_ns <= age_ns + 16);
}

static void read_stamp(struct world *u, struct input *in)
{
	uint64_t now_ns = take_64(in) >> 1, since_ns = take_time(in), age_ns = 0;
	bool found = iw_window_stamp_age(&u->w, now_ns, since_ns, &age_ns);

	FUZZ_CHECK(found == (u->w.stamp.v && age_ns <= since_ns));
	FUZZ_CHECK(age_ns <= TIME_MOST && age_ns % 8 == 0);
}

static void set_preset(struct world *u, struct input *in)
{
	uint32_t preset = take_8(in) & 1 ? take_32(in) : take_8(in) % 8;
	struct ipcwait_window before = u->w;
	int r = ipcwait_window_set_preset(&u->w, (enum ipcwait_preset)preset);

	FUZZ_CHECK((r == 0) == (preset <= IPCWAIT_TICKS));
	if (r)
		FUZZ_CHECK(u->w.state.v == before.state.v);
	else
		FUZZ_CHECK(iw_state_preset(u->w.state.v) == preset &&
			   u->w.state.v >> 3 == before.state.v >> 3);
}

static void step(struct world *u, struct input *in)
{
	switch (take_8(in) % 8) {
	case 0:
		plan(u, in);
		break;
	case 1:
		record(u, in);
		break;
	case 2:
		record_unended(u);
		break;
	case 3:
		learn_rhythm(u, in);
		break;
	case 4:
		plan_rhythm(u, in);
		break;
	case 5:
		put_stamp(u, in);
		break;
	case 6:
		read_stamp(u, in);
		break;
	default:
		set_preset(u, in);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct world u;

	take_bytes(&in, &u.w, sizeof(u.w));
	u.block_ns = take_time(&in);
	u.timer.late_ns = take_time(&in);
	u.timer.spread_ns = take_time(&in);
	u.timer.cpu_ns = take_time(&in);
	u.timer.worth_ns = least(take_time(&in), u.block_ns);
	for (unsigned i = 0; i < ROUNDS_MOST && in.left; i++)
		step(&u, &in);
	return 0;
}
