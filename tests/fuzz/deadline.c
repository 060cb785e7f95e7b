/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic with times: deadlines from any int64_t at any moment, as the kernel gets them, and
 * the conversion between ticks and ns at any rate that a CPU's counter may have. Nothing wraps,
 * later stays later, and what is lost in rounding is bounded.
 */
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>

#include <ipcwait/base.h>

#include "common/fuzz.h"
#include "env/tick.h"
#include "fuzz/input.h"
#include "os/futex.h"
#include "os/syscall.h"

__extension__ typedef __int128 int128;

#define SECOND 1000000000

/* Counters in Hz: the timers of riscv64 boards run at 1 MHz and more, no TSC this fast. */
#define SLOWEST_HZ 1000000
#define FASTEST_HZ UINT64_C(10000000000)

/* Longest time that is converted: below 2^60 ticks at any of these rates. */
#define YEAR_NS (INT64_C(31536000) * SECOND)

/* The clock of lib/env/base.c. */
static int64_t clock_ns;

int64_t iw_clock_ns(void)
{
	return clock_ns;
}

/* As where the clock is libc's. */
int64_t iw_clock_of_kernel(clockid_t clock, int64_t at_ns)
{
	(void)clock;
	return at_ns;
}

int64_t iw_clock_raw_ns(void)
{
	return clock_ns;
}

int64_t iw_clock_boot_ns(void)
{
	return clock_ns;
}

/* What lib/os/futex.c asks the kernel. */
static struct {
	const uint32_t *word;
	int op;
	uint32_t value;
	bool timed;
	struct timespec deadline;
	long error; /* the answer */
} call;

long iw_syscall(long number, long word, long op, long value, long deadline, long word2,
		long bits)
{
	const struct timespec *at = (const struct timespec *)deadline;

	FUZZ_CHECK(number == SYS_futex && !word2);
	FUZZ_CHECK((op & FUTEX_CMD_MASK) != FUTEX_WAKE || !deadline);
	FUZZ_CHECK((op & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET ||
		   bits == FUTEX_BITSET_MATCH_ANY);
	call.word = (const uint32_t *)word;
	call.op = (int)op;
	call.value = (uint32_t)value;
	call.timed = at;
	if (at)
		call.deadline = *at;
	return -call.error;
}

static int64_t take_time(struct input *in)
{
	return (int64_t)take_64(in) >> take_8(in) % 64;
}

/* Never wraps, passed for what is not in the future, and later for later. */
static void check_deadlines(struct input *in)
{
	int64_t a_ns = take_time(in), b_ns = take_time(in), a, b;

	clock_ns = take_time(in) & INT64_MAX;
	a = ipcwait_deadline_in_ns(a_ns);
	b = ipcwait_deadline_in_ns(b_ns);
	FUZZ_CHECK(ipcwait_now_ns() == clock_ns);
	FUZZ_CHECK(a == IPCWAIT_FOREVER || (int128)a == (int128)clock_ns + a_ns);
	FUZZ_CHECK(a != IPCWAIT_FOREVER || (int128)clock_ns + a_ns >= IPCWAIT_FOREVER);
	FUZZ_CHECK((a_ns <= 0) == (a <= clock_ns) || clock_ns == INT64_MAX);
	FUZZ_CHECK(a_ns <= b_ns ? a <= b : a >= b);
}

static void check_answer(int r)
{
	FUZZ_CHECK(r == -(int)call.error);
}

/* The kernel gets the deadline to the nanosecond, or the latest, and refuses none as malformed. */
static void check_wait(struct input *in)
{
	int64_t deadline_ns = take_time(in) & INT64_MAX;
	uint32_t word = take_32(in), expected = take_32(in);
	bool private_ = take_8(in) & 1;

	call.error = take_8(in) % 128;
	check_answer(iw_futex_wait(&word, expected, deadline_ns, private_));
	FUZZ_CHECK(call.word == &word && call.value == expected);
	FUZZ_CHECK(!!(call.op & FUTEX_PRIVATE_FLAG) == private_);
	FUZZ_CHECK(call.timed == (deadline_ns != IPCWAIT_FOREVER));
	FUZZ_CHECK((call.op & FUTEX_CMD_MASK) ==
		   (call.timed ? FUTEX_WAIT_BITSET : FUTEX_WAIT));
	if (!call.timed)
		return;
	FUZZ_CHECK(call.deadline.tv_sec >= 0);
	FUZZ_CHECK(call.deadline.tv_nsec >= 0 && call.deadline.tv_nsec < SECOND);
	FUZZ_CHECK((int128)call.deadline.tv_sec * SECOND + call.deadline.tv_nsec ==
		   (deadline_ns < IW_DEADLINE_MOST_NS ? deadline_ns : IW_DEADLINE_MOST_NS));
}

static void check_wake(struct input *in)
{
	uint32_t word = 0, count = take_32(in) >> take_8(in) % 32;

	call.error = take_8(in) % 128;
	check_answer(iw_futex_wake(&word, count, false));
	FUZZ_CHECK(call.word == &word && call.op == FUTEX_WAKE);
	FUZZ_CHECK(call.value == (count > INT_MAX ? INT_MAX : count));
}

/* As iw_tick_measure() makes one, from a comparison of at least 200 us. */
static struct iw_tick_rate take_rate(struct input *in)
{
	uint64_t hz = SLOWEST_HZ + take_64(in) % (FASTEST_HZ - SLOWEST_HZ);
	uint64_t ns = 200000 + take_64(in) % (UINT64_C(10) * SECOND);
	uint64_t ticks = (uint64_t)((iw_u128)hz * ns / SECOND);

	if (take_8(in) % 8 == 0)
		return (struct iw_tick_rate){ false, UINT64_C(1) << 32, UINT64_C(1) << 32 };
	return (struct iw_tick_rate){ true, (uint64_t)(((iw_u128)ns << 32) / ticks),
				      (uint64_t)(((iw_u128)ticks << 32) / ns) };
}

/* Rounded down, by less than one and by what the rate was rounded. */
static void check_converted(uint64_t from, uint64_t to, uint64_t rate_q32)
{
	iw_u128 exact_q32 = (iw_u128)from * rate_q32;

	FUZZ_CHECK(((iw_u128)to << 32) <= exact_q32);
	FUZZ_CHECK(exact_q32 - ((iw_u128)to << 32) < (iw_u128)1 << 32);
}

static void check_ticks(struct input *in)
{
	struct iw_tick_rate rate = take_rate(in);
	uint64_t ns = (uint64_t)take_time(in) % YEAR_NS;
	uint64_t more_ns = (uint64_t)take_time(in) % YEAR_NS;
	uint64_t ticks = iw_tick_from_ns(&rate, ns), back_ns = iw_tick_to_ns(&rate, ticks);
	uint64_t tick_ns = (rate.ns_per_tick_q32 >> 32) + 1;

	check_converted(ns, ticks, rate.ticks_per_ns_q32);
	check_converted(ticks, back_ns, rate.ns_per_tick_q32);
	FUZZ_CHECK(back_ns <= ns);
	FUZZ_CHECK(ns - back_ns <= tick_ns * ((ns >> 32) + 2) + (ticks >> 32) + 1);
	FUZZ_CHECK(iw_tick_from_ns(&rate, ns + more_ns) >= ticks);
	ticks += iw_tick_from_ns(&rate, more_ns);
	FUZZ_CHECK(iw_tick_to_ns(&rate, ticks) >= back_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	while (in.left) {
		switch (take_8(&in) % 4) {
		case 0:
			check_deadlines(&in);
			break;
		case 1:
			check_wait(&in);
			break;
		case 2:
			check_wake(&in);
			break;
		default:
			check_ticks(&in);
			break;
		}
	}
	return 0;
}
