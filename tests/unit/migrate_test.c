/* SPDX-License-Identifier: MIT */
/* lib/engine/migrate.c over a fake kernel: who is moved, where to, and what the partner does. */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/probe.h"
#include "env/facts.h"
#include "os/thread.h"
#include "policy/migration.h"
#include "policy/window.h"

#define US INT64_C(1000)

#define WAITS 100

static struct ipcwait_kind_stats counted;

/* After 10 us, by a waker on that CPU. */
static unsigned waker;

static void wake(void)
{
	iw_window_put_stamp(&probe.window, (uint64_t)fake.now_ns, waker);
	probe_appear();
}

static void wait_briefly(void)
{
	static const struct fake_step script[] = { { .sleep_ns = 10000,
						     .meanwhile = wake } };

	FAKE_SCRIPT(script);
	probe_again(IPCWAIT_FOREVER);
	CHECK_EQ(iw_wait(&probe.base), 0);
}

static void world(enum ipcwait_preset preset, unsigned cpus, const char *place)
{
	if (place)
		CHECK_EQ(setenv("IPCWAIT_PLACE", place, 1), 0);
	probe_world(preset, cpus);
	CHECK(iw_facts() != NULL);
}

/* @n waits that a waker on @cpu ends. How often the thread was moved. */
static unsigned wait_for_waker_on(unsigned cpu, unsigned n)
{
	unsigned before = fake.moves;

	waker = cpu;
	while (n--)
		wait_briefly();
	return fake.moves - before;
}

static void leaves_its_waker(void)
{
	unsigned here;

	world(IPCWAIT_ADAPTIVE, 2, "1");
	here = fake.cpu;
	for (int i = 0; i < WAITS && !fake.moves; i++)
		(void)wait_for_waker_on(here, 1);
	CHECK_EQ(fake.moves, 1);
	CHECK_EQ(fake.cpu, !here);
	CHECK_EQ(probe_stats().moves_apart, 1);
	CHECK_EQ(probe_stats().moves_kept, 0);
}

static uint64_t ended(void)
{
	struct ipcwait_stats st = probe_stats();

	return st.moves_kept + st.moves_back + st.moves_undone;
}

/* The next trial begins and ends. Beside a waker on @cpu meanwhile, who need not be there. */
static void try_beside(unsigned cpu)
{
	uint64_t before = ended();
	unsigned moves = fake.moves;

	for (int i = 0; i < 100 * WAITS && fake.moves == moves; i++)
		(void)wait_for_waker_on(fake.cpu, 1);
	CHECK_EQ(fake.moves, moves + 1);
	for (int i = 0; i < 100 * WAITS && ended() == before; i++)
		(void)wait_for_waker_on(cpu, 1);
	CHECK_EQ(ended(), before + 1);
}

/* The first looks end its waits there: they are shorter than before. */
static void waits_there_no_more(void)
{
	for (int i = 0; i < WAITS && !ended(); i++) {
		probe_again(IPCWAIT_FOREVER);
		probe.there = true;
		CHECK_EQ(iw_wait(&probe.base), 0);
	}
}

static void counts_what_is_kept(void)
{
	leaves_its_waker();
	waits_there_no_more();
	CHECK_EQ(probe_stats().moves_kept, 1);
	CHECK_EQ(ended(), 1);
	CHECK_EQ(fake.moves, 1);
}

/* The waker is on the CPU to which the thread was moved. */
static void counts_what_is_undone(void)
{
	world(IPCWAIT_ADAPTIVE, 2, "1");
	try_beside(!fake.cpu);
	CHECK_EQ(probe_stats().moves_undone, 1);
	CHECK_EQ(probe_stats().moves_apart, 1);
	CHECK_EQ(fake.moves, 1);
}

/* The trial fails, and nothing takes the thread back: it has no answer. */
static void counts_who_cannot_go_back(void)
{
	leaves_its_waker();
	fake.pinned = true;
	for (int i = 0; i < 100 * WAITS && !ended(); i++)
		(void)wait_for_waker_on(!fake.cpu, 1);
	CHECK_EQ(probe_stats().moves_undone, 1);
	CHECK_EQ(probe_stats().moves_back, 0);
}

/* Waits are no shorter there: it comes back, and is counted. */
static void comes_back(void)
{
	unsigned here;

	world(IPCWAIT_ADAPTIVE, 2, "1");
	here = fake.cpu;
	for (int i = 0; i < 100 * WAITS && fake.moves < 2; i++)
		(void)wait_for_waker_on(here, 1);
	CHECK_EQ(fake.moves, 2);
	CHECK_EQ(fake.cpu, here);
	CHECK_EQ(probe_stats().moves_back, 1);
	CHECK_EQ(ended(), 1);
}

static unsigned moves_of(enum ipcwait_preset preset, unsigned cpus, const char *place)
{
	world(preset, cpus, place);
	return wait_for_waker_on(fake.cpu, WAITS);
}

static void not_unless_asked(void)
{
	CHECK_EQ(moves_of(IPCWAIT_ADAPTIVE, 2, NULL), 0);
}

static void not_if_forbidden(void)
{
	iw_place_is_default = true;
	CHECK_EQ(moves_of(IPCWAIT_ADAPTIVE, 2, "0"), 0);
}

static void by_default_under_the_module(void)
{
	iw_place_is_default = true;
	CHECK(moves_of(IPCWAIT_ADAPTIVE, 2, NULL) >= 1);
}

static void not_with_one_cpu(void)
{
	CHECK_EQ(moves_of(IPCWAIT_ADAPTIVE, 1, "1"), 0);
}

static void not_by_other_rules(void)
{
	static const enum ipcwait_preset presets[] = { IPCWAIT_POWER, IPCWAIT_SPIN,
						       IPCWAIT_BLOCK, IPCWAIT_HALTPOLL,
						       IPCWAIT_TICKS };

	for (unsigned i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		CHECK_EQ(moves_of(presets[i], 2, "1"), 0);
}

static void not_while_others_want_the_cpus(void)
{
	world(IPCWAIT_ADAPTIVE, 2, "1");
	fake.crowded = true;
	CHECK_EQ(wait_for_waker_on(fake.cpu, WAITS), 0);
}

/* Each failure is a call less in the end. */
static void gives_up_where_it_cannot_be_moved(void)
{
	world(IPCWAIT_ADAPTIVE, 2, "1");
	fake.pinned = true;
	CHECK(wait_for_waker_on(fake.cpu, 100000) <= 10);
}

static void not_beside_a_waker_elsewhere(void)
{
	world(IPCWAIT_ADAPTIVE, 2, "1");
	CHECK_EQ(wait_for_waker_on(!fake.cpu, WAITS), 0);
}

/* The stamp says that the waker is here, and 20 us later a thread has left. */
static void leave_here(void)
{
	iw_window_put_stamp(&probe.window, (uint64_t)fake.now_ns, fake.cpu);
	fake.now_ns += 20 * US;
	iw_migration_note_left(fake.cpu, (uint64_t)fake.now_ns);
	fake.now_ns += 2 * US;
	probe_again(IPCWAIT_FOREVER);
}

/* The thread spins for it, once, and believes the stamp no more. */
static void expects_who_has_left(void)
{
	world(IPCWAIT_ADAPTIVE, 2, "1");
	leave_here();
	CHECK_EQ(probe_wait(&counted), IPCWAIT_REASON_WINDOW_OVER);
	CHECK(counted.spun_wasted_ns >= 200 * (uint64_t)US);
	CHECK(counted.spun_wasted_ns < 210 * (uint64_t)US);
}

/* Not longer, whatever the user's ceiling is. */
static void not_for_long(void)
{
	CHECK_EQ(setenv("IPCWAIT_MAX_SPIN_US", "100000", 1), 0);
	expects_who_has_left();
}

static void expects_nobody_by_other_rules(void)
{
	world(IPCWAIT_POWER, 2, "1");
	leave_here();
	CHECK_EQ(probe_wait(&counted), IPCWAIT_REASON_SAME_CPU);
}

/* Some other thread has left. */
static void expects_nobody_where_waits_are_long(void)
{
	world(IPCWAIT_ADAPTIVE, 2, "1");
	probe_teach(20, 7);
	leave_here();
	CHECK_EQ(probe_wait(&counted), IPCWAIT_REASON_SAME_CPU);
}

/* A waker that could not leave is here. */
static void expects_nobody_who_stayed(void)
{
	world(IPCWAIT_ADAPTIVE, 2, "1");
	fake.pinned = true;
	for (int i = 0; i < WAITS && !fake.moves; i++)
		(void)wait_for_waker_on(fake.cpu, 1);
	CHECK_EQ(fake.moves, 1);
	CHECK(!iw_migration_may_have_left(fake.cpu));
}

/* Waits beside the waker, with @left_ns to the deadline if that is not 0. */
static void never_moved(int64_t left_ns, bool interruptible)
{
	static const struct fake_step script[] = { { .sleep_ns = 10000,
						     .meanwhile = wake } };

	world(IPCWAIT_ADAPTIVE, 2, "1");
	waker = fake.cpu;
	for (int i = 0; i < WAITS; i++) {
		FAKE_SCRIPT(script);
		probe_again(left_ns ? fake.now_ns + left_ns : IPCWAIT_FOREVER);
		probe.base.interruptible = interruptible;
		CHECK_EQ(iw_wait(&probe.base), 0);
	}
	CHECK_EQ(fake.moves, 0);
}

/* No time for a move. */
static void not_before_a_near_deadline(void)
{
	never_moved(1000 * US, false);
}

static void not_if_a_signal_ends_the_wait(void)
{
	never_moved(0, true);
}

static void the_program_may_ask(void)
{
	CHECK_EQ(ipcwait_policy_set_default(&(struct ipcwait_policy){ .place = 2 }),
		 -EINVAL);
	CHECK_EQ(ipcwait_policy_set_default(&(struct ipcwait_policy){ .place = 1 }), 0);
	CHECK(moves_of(IPCWAIT_ADAPTIVE, 2, NULL) >= 1);
}

static void the_user_wins(void)
{
	CHECK_EQ(ipcwait_policy_set_default(&(struct ipcwait_policy){ .place = 1 }), 0);
	CHECK_EQ(moves_of(IPCWAIT_ADAPTIVE, 2, "0"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(leaves_its_waker),
		CHILD_TEST(counts_what_is_kept),
		CHILD_TEST(counts_what_is_undone),
		CHILD_TEST(counts_who_cannot_go_back),
		CHILD_TEST(comes_back),
		CHILD_TEST(not_unless_asked),
		CHILD_TEST(not_if_forbidden),
		CHILD_TEST(by_default_under_the_module),
		CHILD_TEST(not_with_one_cpu),
		CHILD_TEST(not_by_other_rules),
		CHILD_TEST(not_while_others_want_the_cpus),
		CHILD_TEST(gives_up_where_it_cannot_be_moved),
		CHILD_TEST(not_beside_a_waker_elsewhere),
		CHILD_TEST(expects_who_has_left),
		CHILD_TEST(not_for_long),
		CHILD_TEST(expects_nobody_by_other_rules),
		CHILD_TEST(expects_nobody_where_waits_are_long),
		CHILD_TEST(expects_nobody_who_stayed),
		CHILD_TEST(not_before_a_near_deadline),
		CHILD_TEST(not_if_a_signal_ends_the_wait),
		CHILD_TEST(the_program_may_ask),
		CHILD_TEST(the_user_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
