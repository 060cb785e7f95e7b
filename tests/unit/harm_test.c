/* SPDX-License-Identifier: MIT */
/* lib/policy/harm.c over a fake kernel: spins that went wrong shorten those to come. */
#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "os/thread.h"
#include "policy/harm.h"

#define SECOND UINT64_C(1000000000)
#define START  (100 * SECOND)

/* Ticks are half nanoseconds, so that no test takes one for the other. */
static const struct iw_facts facts = {
	.rate = { false, UINT64_C(1) << 31, UINT64_C(1) << 33 },
};

static void noted(unsigned times, uint64_t at_ns)
{
	while (times--)
		iw_harm_note(&facts, 2 * at_ns);
}

static unsigned level(uint64_t at_ns)
{
	return iw_harm_level(&facts, 2 * at_ns);
}

static void halves_and_doubles_again(void)
{
	fake_reset();
	CHECK_EQ(level(START), 0);
	noted(1, START);
	CHECK_EQ(level(START), 1);
	noted(2, START + 1000);
	CHECK_EQ(level(START + 1000), 3);
	/* Each quiet second takes one back. */
	CHECK_EQ(level(START + SECOND), 3);
	CHECK_EQ(level(START + 1000 + SECOND), 2);
	CHECK_EQ(level(START + 1000 + 2 * SECOND), 1);
	CHECK_EQ(level(START + 1000 + 3 * SECOND), 0);
	CHECK_EQ(level(START + 1000000 * SECOND), 0);
	/* The next one counts from what is left, and from then. */
	noted(1, START + 1000 + 2 * SECOND);
	CHECK_EQ(level(START + 1000 + 2 * SECOND), 2);
	CHECK_EQ(level(START + 1000 + 3 * SECOND), 1);
}

static void stops_at_a_sixteenth(void)
{
	fake_reset();
	noted(100, START);
	CHECK_EQ(level(START), 4);
	CHECK_EQ(level(START + 4 * SECOND), 0);
}

static void is_the_threads_own(void)
{
	fake_reset();
	noted(2, START);
	iw_thread = (struct iw_thread){ 0 };
	CHECK_EQ(level(START), 0);
}

/* Whatever a handler or a counter that jumps may leave: at most forgotten, never for good. */
static void odd_numbers(void)
{
	fake_reset();
	noted(3, START);
	CHECK_EQ(level(START - 1), 0);
	noted(1, 0);
	CHECK_EQ(level(0), 1);
	iw_thread.harm = UINT32_MAX;
	iw_thread.harmed_at = 2 * START;
	noted(1, START);
	CHECK(level(START + UINT64_C(5000000000) * SECOND) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(halves_and_doubles_again),
		CHILD_TEST(stops_at_a_sixteenth),
		CHILD_TEST(is_the_threads_own),
		CHILD_TEST(odd_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
