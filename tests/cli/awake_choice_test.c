/* SPDX-License-Identifier: MIT */
/* What follows for `ipcwait awake` from what a machine offers and a trial has come to. */
#include <errno.h>
#include <string.h>

#include "common/cmocka_all.h"

#include "../../cli/awake.h"

static const struct awake_wakes gain = { { 15100, 9000, 2400 } };
static const struct awake_wakes no_gain = { { 15100, 16600, 16000 } };
static const struct awake_wakes cheap = { { 3000, 2800, 0 } };
static const struct awake_wakes not_known = { { 30000, 0, 0 } };

/* Two CPUs that can poll. */
static struct awake_machine machine(const struct awake_wakes *w)
{
	return (struct awake_machine){ .online = 2,
				       .usable = 2,
				       .usable_mask = 3,
				       .poll = true,
				       .wakes = *w,
				       .wake_from = "a test" };
}

static struct awake_choice choose(const struct awake_machine *m, enum awake_backend backend)
{
	static struct awake_choice c;
	const struct awake_options o = { .backend = backend };

	awake_choose(&c, m, &o);
	return c;
}

static void what_gains_is_taken(void **state)
{
	struct awake_machine m = machine(&gain);
	struct awake_choice c = choose(&m, AWAKE_BACKEND_AUTO);

	(void)state;
	assert_null(c.nothing);
	assert_true(c.qos);
	assert_int_equal(c.spinner_cpus, 3);
	assert_false(c.again);
}

static void a_no_of_the_trial_may_be_asked_again(void **state)
{
	struct awake_machine m = machine(&no_gain);
	struct awake_choice c = choose(&m, AWAKE_BACKEND_AUTO);

	(void)state;
	assert_non_null(c.nothing);
	assert_non_null(
		strstr(c.nothing, "16.0 us of a CPU that polls, 15.1 us of a halted"));
	assert_non_null(strstr(c.nothing, "16.6 us of a CPU with a spinner"));
	assert_true(c.again);
	m = machine(&cheap);
	c = choose(&m, AWAKE_BACKEND_AUTO);
	assert_non_null(strstr(c.nothing, "wakes are cheap here, 3.0 us (a test)"));
	assert_true(c.again);
}

/* Polling by the kernel does no harm, spinners may. */
static void what_is_not_known(void **state)
{
	struct awake_machine m = machine(&not_known);
	struct awake_choice c = choose(&m, AWAKE_BACKEND_AUTO);

	(void)state;
	assert_null(c.nothing);
	assert_true(c.qos);
	assert_int_equal(c.spinner_cpus, 0);
	assert_true(c.again);
	m.poll = false;
	c = choose(&m, AWAKE_BACKEND_AUTO);
	assert_non_null(strstr(c.nothing, "its gain could not be measured"));
	assert_true(c.again);
}

/* Spinners that gain nothing are no matter where the kernel can poll. */
static void one_back_end_is_enough(void **state)
{
	const struct awake_wakes spinner_only = { { 15100, 9000, 16000 } };
	const struct awake_wakes polling_only = { { 15100, 16600, 2400 } };
	struct awake_machine m = machine(&polling_only);
	struct awake_choice c = choose(&m, AWAKE_BACKEND_AUTO);

	(void)state;
	assert_true(c.qos);
	assert_false(c.again);
	m = machine(&spinner_only);
	c = choose(&m, AWAKE_BACKEND_AUTO);
	assert_false(c.qos);
	assert_int_equal(c.spinner_cpus, 3);
	assert_true(c.again);
	m.poll = false;
	c = choose(&m, AWAKE_BACKEND_AUTO);
	assert_false(c.again);
}

static void what_no_trial_can_change(void **state)
{
	struct awake_machine m = machine(&no_gain);
	struct awake_choice c;

	(void)state;
	m.idle_poll = true;
	c = choose(&m, AWAKE_BACKEND_AUTO);
	assert_non_null(strstr(c.nothing, "idle=poll"));
	assert_false(c.again);
	m = machine(&no_gain);
	m.quota_cpus = 1.5;
	c = choose(&m, AWAKE_BACKEND_AUTO);
	assert_non_null(strstr(c.nothing, "1.50 CPUs"));
	assert_false(c.again);
	m = machine(&cheap);
	m.usable = 1;
	c = choose(&m, AWAKE_BACKEND_AUTO);
	assert_non_null(strstr(c.nothing, "one CPU"));
	assert_false(c.again);
}

static void a_back_end_by_name(void **state)
{
	struct awake_machine m = machine(&cheap);
	struct awake_choice c = choose(&m, AWAKE_BACKEND_QOS);

	(void)state;
	assert_null(c.nothing);
	assert_true(c.qos && !c.spinner_cpus && !c.again);
	c = choose(&m, AWAKE_BACKEND_SPINNER);
	assert_null(c.nothing);
	assert_true(!c.qos && c.spinner_cpus && !c.again);
	m.device_error = EACCES;
	c = choose(&m, AWAKE_BACKEND_QOS);
	assert_non_null(strstr(c.nothing, strerror(EACCES)));
	assert_false(c.again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_gains_is_taken),
		cmocka_unit_test(a_no_of_the_trial_may_be_asked_again),
		cmocka_unit_test(what_is_not_known),
		cmocka_unit_test(one_back_end_is_enough),
		cmocka_unit_test(what_no_trial_can_change),
		cmocka_unit_test(a_back_end_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
