/* SPDX-License-Identifier: MIT */
/*
 * `ipcwait awake` asks again after a no: its loop beside machines whose trials say what the test
 * wants, in model time. What it would do to a real machine is replaced here.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmocka_all.h"

#include "../../cli/awake.h"
#include "../../tools/common/complain.h"

#define S (1000 * (int64_t)AWAKE_MS)

static const struct awake_wakes gain = { { 15100, 9000, 2400 } };
static const struct awake_wakes no_gain = { { 15100, 16600, 16000 } };

static struct {
	int64_t now;
	struct awake_wakes says; /* what trials come to */
	unsigned rounds;         /* of one trial; the start waits for one round only */
	bool alone;              /* without a program */
	unsigned left, trials, samples, lines;
	char line[512];
} world;

int64_t ipcwait_now_ns(void)
{
	return world.now;
}

int complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(world.line, sizeof(world.line), format, args);
	va_end(args);
	world.lines++;
	return -EINVAL;
}

void awake_machine_ask(struct awake_machine *m)
{
	(void)m;
	world.left = world.rounds;
	world.trials++;
}

uint64_t awake_machine_round(struct awake_machine *m)
{
	world.left--;
	world.now += 15 * AWAKE_MS;
	m->wakes = world.left ? (struct awake_wakes){ .ns = { 0 } } : world.says;
	return world.left ? AWAKE_MS : 0;
}

uint64_t awake_machine_read(struct awake_machine *m, int64_t most_ns)
{
	assert_int_equal(most_ns, world.alone ? INT64_MAX : S / 2);
	awake_machine_ask(m);
	m->wake_from = "a test";
	return awake_machine_round(m);
}

/* The kernel can poll if that gains something; there are no spinners. */
void awake_choose(struct awake_choice *c, const struct awake_machine *m,
		  const struct awake_options *o)
{
	(void)o;
	*c = (struct awake_choice){ .spinner_not = "none", .qos_not = "no gain" };
	if (awake_wakes_answer(&m->wakes, AWAKE_POLLS) == AWAKE_YES)
		c->qos_not = NULL;
	c->qos = !c->qos_not;
	c->nothing = c->qos_not;
	c->again = !c->qos;
}

struct awake_sampler *awake_sampler_open(const struct awake_machine *m)
{
	return (struct awake_sampler *)m;
}

void awake_sampler_close(struct awake_sampler *s)
{
	(void)s;
}

void awake_sampler_read(struct awake_sampler *s, enum awake_mode mode, int64_t now_ns,
			struct awake_sample *sample)
{
	(void)s;
	(void)mode;
	(void)now_ns;
	memset(sample, 0, sizeof(*sample));
	world.samples++;
}

uint64_t awake_sampler_least_ns(const struct awake_sampler *s)
{
	(void)s;
	return 0;
}

int awake_hold_begin(int *fd)
{
	(void)fd;
	return 0;
}

void awake_hold_end(int *fd)
{
	(void)fd;
}

struct awake_spinners *awake_spinners_make(const struct awake_machine *m, uint64_t *mask)
{
	(void)m;
	*mask = 0;
	return NULL;
}

void awake_spinners_set(struct awake_spinners *s, uint64_t mask)
{
	(void)s;
	(void)mask;
}

void awake_spinners_end(struct awake_spinners *s)
{
	(void)s;
}

void awake_spinners_read(struct awake_spinners *s, struct awake_sample *sample)
{
	(void)s;
	(void)sample;
}

static void begin(struct awake *a, const struct awake_wakes *says, unsigned rounds)
{
	const struct awake_options options = { .budget_percent = 100 };

	memset(&world, 0, sizeof(world));
	world.says = *says;
	world.rounds = rounds;
	unsetenv(AWAKE_VARIABLE);
	assert_int_equal(awake_open(a, &options), 0);
}

/* As the process does that waits for the program's end. */
static void go_on_until(struct awake *a, int64_t end)
{
	while (world.now < end) {
		int64_t pause = a->watch.tick(a->watch.arg);

		assert_true(pause >= 0);
		world.now += pause;
	}
}

static void a_no_is_asked_again(void **state)
{
	static struct awake a;

	(void)state;
	begin(&a, &no_gain, 1);
	assert_int_equal(world.lines, 1);
	assert_non_null(strstr(world.line, "keeps no CPU awake: no gain"));
	assert_non_null(strstr(world.line, "in 10 s"));
	go_on_until(&a, 9 * S);
	assert_int_equal(world.trials, 1);
	go_on_until(&a, 11 * S);
	assert_int_equal(world.trials, 2);
	go_on_until(&a, 29 * S);
	assert_int_equal(world.trials, 2);
	go_on_until(&a, 31 * S);
	assert_int_equal(world.trials, 3);
	/* The same answer is not said again. */
	assert_int_equal(world.lines, 1);
	awake_close(&a);
}

/* In an hour: after 10, 30, 70, 150, 310 s, then each 320 s. */
static void it_is_asked_ever_less(void **state)
{
	static struct awake a;

	(void)state;
	begin(&a, &no_gain, 1);
	go_on_until(&a, 3600 * S);
	assert_int_equal(world.trials, 1 + 5 + 10);
	/* Nothing is watched meanwhile: what a trial does is forgotten, that is all. */
	assert_int_equal(world.samples, world.trials - 1);
	awake_close(&a);
}

static void a_yes_is_taken(void **state)
{
	static struct awake a;

	(void)state;
	begin(&a, &no_gain, 1);
	world.says = gain;
	go_on_until(&a, 11 * S);
	assert_int_equal(world.lines, 2);
	assert_non_null(strstr(world.line, "qos; a wake costs 15.1 us"));
	assert_true(a.policy.rules.qos);
	assert_int_equal(a.policy.rules.wake_ns, 15100);
	assert_true(world.samples > 50);
	go_on_until(&a, 1000 * S);
	assert_int_equal(world.trials, 2);
	awake_close(&a);
}

static void a_yes_is_not_asked_again(void **state)
{
	static struct awake a;

	(void)state;
	begin(&a, &gain, 1);
	assert_int_equal(world.lines, 0);
	go_on_until(&a, 1000 * S);
	assert_int_equal(world.trials, 1);
	awake_close(&a);
}

/* A trial that takes too long goes on beside the program, at once. */
static void a_trial_goes_on_beside_the_program(void **state)
{
	static struct awake a;

	(void)state;
	begin(&a, &gain, 5);
	assert_int_equal(world.lines, 1);
	assert_non_null(strstr(world.line, "the trial goes on"));
	assert_false(a.policy.rules.qos);
	go_on_until(&a, S / 5);
	assert_int_equal(world.trials, 1);
	assert_int_equal(world.left, 0);
	assert_true(a.policy.rules.qos);
	assert_non_null(strstr(world.line, "qos; a wake costs"));
	awake_close(&a);
}

/* While something is held a trial would measure that. */
static void nothing_is_tried_in_a_hold(void **state)
{
	static struct awake a;

	(void)state;
	begin(&a, &no_gain, 1);
	a.policy.mode = AWAKE_SPIN;
	a.choice.nothing = NULL;
	go_on_until(&a, 15 * S);
	assert_int_equal(world.trials, 1);
	a.policy.mode = AWAKE_WATCH;
	go_on_until(&a, 16 * S);
	assert_int_equal(world.trials, 2);
	awake_close(&a);
}

/* Nobody would know that a process which does nothing still runs. */
static void a_no_is_the_end_without_a_program(void **state)
{
	const struct awake_options options = { .budget_percent = 100, .alone = true };
	static struct awake a;

	(void)state;
	begin(&a, &no_gain, 1);
	awake_close(&a);
	world.alone = true;
	unsetenv(AWAKE_VARIABLE);
	assert_int_equal(awake_open(&a, &options), -EINVAL);
	assert_non_null(strstr(world.line, "keeps no CPU awake: no gain"));
	assert_null(strstr(world.line, "next trial"));
	world.says = gain;
	assert_int_equal(awake_open(&a, &options), 0);
	awake_close(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_no_is_asked_again),
		cmocka_unit_test(it_is_asked_ever_less),
		cmocka_unit_test(a_yes_is_taken),
		cmocka_unit_test(a_yes_is_not_asked_again),
		cmocka_unit_test(a_trial_goes_on_beside_the_program),
		cmocka_unit_test(nothing_is_tried_in_a_hold),
		cmocka_unit_test(a_no_is_the_end_without_a_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
