/* SPDX-License-Identifier: MIT */
/* What `ipcwait awake` believes of a trial: rounds with figures as seen, and no real wakes. */
#include "common/cmocka_all.h"

#include "../../cli/awake_policy.h"
#include "../../cli/awake_trial.h"

#define ALL (1u << AWAKE_SPINS | 1u << AWAKE_POLLS)

/* A guest with haltpoll; the same as it looks where another program has the sleeper's CPU. */
static const struct awake_wakes gain = { { 15100, 9000, 2400 } };
static const struct awake_wakes busy = { { 15100, 16600, 16000 } };

/* A machine without a hypervisor, and a round that was disturbed. */
static const struct awake_wakes cheap = { { 3000, 2800, 2500 } };
static const struct awake_wakes nothing = { { 0, 0, 0 } };

/* Rounds until the trial is over, round i being @round[i], from @n on @rest. Return: how many. */
static unsigned play(struct awake_trial *t, const struct awake_wakes *known,
		     const struct awake_wakes *const *round, unsigned n,
		     const struct awake_wakes *rest)
{
	unsigned i = 0;

	awake_trial_begin(t, ALL, known);
	while (i < AWAKE_ROUNDS_MOST && awake_trial_add(t, i < n ? round[i] : rest))
		i++;
	return i + 1;
}

static unsigned play_all(struct awake_trial *t, const struct awake_wakes *known,
			 const struct awake_wakes *all)
{
	return play(t, known, NULL, 0, all);
}

static enum awake_answer answer(const struct awake_trial *t, enum awake_way way)
{
	struct awake_wakes w;

	(void)awake_trial_wakes(t, &w);
	return awake_wakes_answer(&w, way);
}

static void answers_of_wakes(void **state)
{
	const struct awake_wakes quarter = { { 20000, 15000, 15001 } };
	const struct awake_wakes no_halt = { { 0, 9000, 2400 } };
	const struct awake_wakes least = { { 6000, 4500, 0 } };

	(void)state;
	assert_int_equal(awake_wakes_answer(&quarter, AWAKE_SPINS), AWAKE_YES);
	assert_int_equal(awake_wakes_answer(&quarter, AWAKE_POLLS), AWAKE_NO);
	assert_int_equal(awake_wakes_answer(&no_halt, AWAKE_POLLS), AWAKE_NOT_KNOWN);
	assert_int_equal(awake_wakes_answer(&nothing, AWAKE_POLLS), AWAKE_NOT_KNOWN);
	assert_int_equal(awake_wakes_answer(&cheap, AWAKE_POLLS), AWAKE_NO);
	assert_false(awake_wakes_cheap(&nothing));
	assert_true(awake_wakes_cheap(&cheap));
	assert_false(awake_wakes_cheap(&least));
	assert_int_equal(awake_wakes_answer(&least, AWAKE_SPINS), AWAKE_YES);
	assert_int_equal(awake_wakes_answer(&least, AWAKE_POLLS), AWAKE_NOT_KNOWN);
}

static void a_yes_takes_three_rounds(void **state)
{
	struct awake_wakes w;
	struct awake_trial t;

	(void)state;
	assert_int_equal(play_all(&t, &nothing, &gain), 3);
	assert_int_equal(awake_trial_wakes(&t, &w), AWAKE_ROUNDS);
	assert_memory_equal(&w, &gain, sizeof(w));
	assert_int_equal(play_all(&t, &gain, &gain), 3);
}

static void a_no_takes_six_rounds(void **state)
{
	struct awake_trial t;

	(void)state;
	assert_int_equal(play_all(&t, &nothing, &busy), 6);
	assert_int_equal(answer(&t, AWAKE_POLLS), AWAKE_NO);
	assert_int_equal(play_all(&t, &nothing, &cheap), 6);
	assert_int_equal(answer(&t, AWAKE_SPINS), AWAKE_NO);
}

static void a_no_that_is_known_takes_three(void **state)
{
	struct awake_trial t;

	(void)state;
	assert_int_equal(play_all(&t, &cheap, &cheap), 3);
	assert_int_equal(play_all(&t, &busy, &busy), 3);
	assert_int_equal(answer(&t, AWAKE_POLLS), AWAKE_NO);
}

static void what_contradicts_this_boot_takes_six(void **state)
{
	struct awake_trial t;

	(void)state;
	assert_int_equal(play_all(&t, &busy, &gain), 6);
	assert_int_equal(answer(&t, AWAKE_POLLS), AWAKE_YES);
	assert_int_equal(play_all(&t, &gain, &busy), 6);
	assert_int_equal(answer(&t, AWAKE_POLLS), AWAKE_NO);
}

/* A calibration knows the wake of a halted CPU only. */
static void a_wake_far_from_the_calibrated_takes_six(void **state)
{
	const struct awake_wakes near = { { 15100 / 2 + 1, 0, 0 } };
	const struct awake_wakes less = { { 15100 / 2 - 1, 0, 0 } };
	const struct awake_wakes more = { { 15100 * 2 + 1, 0, 0 } };
	struct awake_trial t;

	(void)state;
	assert_int_equal(play_all(&t, &near, &gain), 3);
	assert_int_equal(play_all(&t, &less, &gain), 6);
	assert_int_equal(play_all(&t, &more, &gain), 6);
	assert_int_equal(answer(&t, AWAKE_POLLS), AWAKE_YES);
}

/* What was seen: the first rounds fall into the end of another program. */
static void first_rounds_that_are_wrong(void **state)
{
	const struct awake_wakes *const round[] = { &busy, &busy, &busy, &busy };
	struct awake_trial t;

	(void)state;
	assert_int_equal(play(&t, &nothing, round, 4, &gain), AWAKE_ROUNDS_MOST);
	assert_int_equal(answer(&t, AWAKE_POLLS), AWAKE_YES);
	assert_int_equal(play(&t, &nothing, round, 1, &gain), AWAKE_ROUNDS_MOST);
	assert_int_equal(answer(&t, AWAKE_POLLS), AWAKE_YES);
}

/* Where the rounds do not agree. */
static void what_this_boot_has_found_stays(void **state)
{
	const struct awake_wakes *const round[] = { &busy, &busy, &busy, &busy, &gain };
	struct awake_wakes w;
	struct awake_trial t;

	(void)state;
	assert_int_equal(play(&t, &gain, round, 5, &busy), AWAKE_ROUNDS_MOST);
	assert_int_equal(awake_trial_wakes(&t, &w), AWAKE_BEFORE);
	assert_memory_equal(&w, &gain, sizeof(w));
	assert_int_equal(play(&t, &nothing, round, 5, &busy), AWAKE_ROUNDS_MOST);
	assert_int_equal(answer(&t, AWAKE_POLLS), AWAKE_NO);
}

static void disturbed_rounds_do_not_count(void **state)
{
	const struct awake_wakes *const round[] = { &nothing, &gain, &nothing, &gain };
	struct awake_trial t;

	(void)state;
	assert_int_equal(play(&t, &nothing, round, 4, &gain), 5);
	assert_int_equal(answer(&t, AWAKE_POLLS), AWAKE_YES);
	assert_int_equal(answer(&t, AWAKE_SPINS), AWAKE_YES);
}

static void a_busy_machine_tells_nothing(void **state)
{
	const struct awake_wakes *const round[] = { &gain, &gain };
	struct awake_wakes w;
	struct awake_trial t;

	(void)state;
	assert_int_equal(play_all(&t, &nothing, &nothing), AWAKE_ROUNDS_MOST);
	assert_int_equal(awake_trial_wakes(&t, &w), AWAKE_NOWHERE);
	assert_int_equal(answer(&t, AWAKE_POLLS), AWAKE_NOT_KNOWN);
	/* Two rounds are not enough. */
	assert_int_equal(play(&t, &nothing, round, 2, &nothing), AWAKE_ROUNDS_MOST);
	assert_int_equal(awake_trial_wakes(&t, &w), AWAKE_NOWHERE);
	assert_int_equal(play_all(&t, &gain, &nothing), AWAKE_ROUNDS_MOST);
	assert_int_equal(awake_trial_wakes(&t, &w), AWAKE_BEFORE);
	assert_int_equal(answer(&t, AWAKE_SPINS), AWAKE_YES);
}

/* One way of two is not known: the other one is believed all the same. */
static void one_way_is_disturbed(void **state)
{
	const struct awake_wakes no_poll = { { 15100, 9000, 0 } };
	struct awake_wakes w;
	struct awake_trial t;

	(void)state;
	assert_int_equal(play_all(&t, &nothing, &no_poll), AWAKE_ROUNDS_MOST);
	assert_int_equal(awake_trial_wakes(&t, &w), AWAKE_ROUNDS);
	assert_int_equal(answer(&t, AWAKE_SPINS), AWAKE_YES);
	assert_int_equal(answer(&t, AWAKE_POLLS), AWAKE_NOT_KNOWN);
	/* A way that is not measured is not waited for. */
	awake_trial_begin(&t, 1u << AWAKE_SPINS, &nothing);
	for (int i = 0; i < 2; i++)
		assert_true(awake_trial_add(&t, &no_poll));
	assert_false(awake_trial_add(&t, &no_poll));
}

/* The program is started before the trial is over. */
static void a_trial_under_way(void **state)
{
	struct awake_wakes w;
	struct awake_trial t;

	(void)state;
	awake_trial_begin(&t, ALL, &nothing);
	assert_int_equal(awake_trial_wakes(&t, &w), AWAKE_NOWHERE);
	for (int i = 0; i < 5; i++)
		assert_true(awake_trial_add(&t, &busy));
	assert_int_equal(awake_trial_wakes(&t, &w), AWAKE_NOWHERE);
	assert_memory_equal(&w, &nothing, sizeof(w));
	awake_trial_begin(&t, ALL, &gain);
	assert_true(awake_trial_add(&t, &busy));
	assert_int_equal(awake_trial_wakes(&t, &w), AWAKE_BEFORE);
	assert_int_equal(answer(&t, AWAKE_POLLS), AWAKE_YES);
}

/* The medians: neither the least nor the greatest. */
static void figures_are_medians(void **state)
{
	const struct awake_wakes low = { { 14000, 8000, 2000 } };
	const struct awake_wakes high = { { 19000, 9500, 9000 } };
	const struct awake_wakes *const round[] = { &high, &low };
	struct awake_wakes w;
	struct awake_trial t;

	(void)state;
	assert_int_equal(play(&t, &nothing, round, 2, &gain), 3);
	assert_int_equal(awake_trial_wakes(&t, &w), AWAKE_ROUNDS);
	assert_memory_equal(&w, &gain, sizeof(w));
}

static void pauses_grow_and_are_bounded(void **state)
{
	static const uint64_t ms[] = { 1, 1, 10, 20, 40, 80, 80, 80, 0 };
	struct awake_trial t;

	(void)state;
	awake_trial_begin(&t, ALL, &nothing);
	for (unsigned i = 0; i < AWAKE_ROUNDS_MOST; i++)
		assert_int_equal(awake_trial_add(&t, &nothing), ms[i] * AWAKE_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_of_wakes),
		cmocka_unit_test(a_yes_takes_three_rounds),
		cmocka_unit_test(a_no_takes_six_rounds),
		cmocka_unit_test(a_no_that_is_known_takes_three),
		cmocka_unit_test(what_contradicts_this_boot_takes_six),
		cmocka_unit_test(a_wake_far_from_the_calibrated_takes_six),
		cmocka_unit_test(first_rounds_that_are_wrong),
		cmocka_unit_test(what_this_boot_has_found_stays),
		cmocka_unit_test(disturbed_rounds_do_not_count),
		cmocka_unit_test(a_busy_machine_tells_nothing),
		cmocka_unit_test(one_way_is_disturbed),
		cmocka_unit_test(a_trial_under_way),
		cmocka_unit_test(figures_are_medians),
		cmocka_unit_test(pauses_grow_and_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
