/* SPDX-License-Identifier: MIT */
/*
 * The once over a scripted kernel: each row of the table in <ipcwait/once.h>, everything that a
 * futex wait may return, and everything that can be known about the runner.
 */
#include <errno.h>
#include <unistd.h>

#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "common/gates_word.h"

#define MS INT64_C(1000000)

/* Somebody else, who runs the function. */
#define OTHER       (FAKE_ID + 1)
#define OTHER_BIRTH (FAKE_BIRTH + 1)
#define RUNS        ONCE_WORD(OTHER, OTHER_BIRTH)

static struct ipcwait_once o;
static unsigned runs;
static int result;

static int run(void *arg)
{
	CHECK(arg == &o);
	CHECK_EQ(gate_word(&o.word) & ~ONCE_SLEEPS, ONCE_WORD(FAKE_ID, FAKE_BIRTH));
	runs++;
	return result;
}

/* A fresh world. BLOCK keeps the spin out. */
static void world(uint64_t word, unsigned flags)
{
	fake_reset();
	fake.generation = FAKE_GENERATION;
	fake.life = IW_ALIVE;
	runs = 0;
	result = 0;
	CHECK_EQ(ipcwait_once_init(&o, flags), 0);
	CHECK_EQ(ipcwait_window_set_preset(&o.window, IPCWAIT_BLOCK), 0);
	gate_fabricate(&o.word, word);
	errno = 4711;
}

static void left(uint64_t word, unsigned waits, unsigned wakes)
{
	CHECK_EQ(gate_word(&o.word), word);
	CHECK_EQ(fake.waits, waits);
	CHECK_EQ(fake.wakes, wakes);
	CHECK_EQ(errno, 4711);
}

/* What the runner does while the waiter sleeps. */
static void succeed(void)
{
	gate_fabricate(&o.word, ONCE_DONE);
}

static void open_again(void)
{
	gate_fabricate(&o.word, 0);
}

static void die(void)
{
	fake.life = IW_DEAD;
}

static void nobody_waits(void)
{
	world(0, 0);
	CHECK_EQ(ipcwait_once_run(&o, run, &o), 0);
	CHECK_EQ(ipcwait_once_run(&o, run, &o), 0);
	left(ONCE_DONE, 0, 0);
	CHECK_EQ(runs, 1);
	CHECK_EQ(fake.clock_readings, 0);
}

/* They are woken when it is over, whatever comes of it. */
static void somebody_waits(void)
{
	static const int results[] = { 0, -EIO };
	const struct fake_step script[] = { { .sleep_ns = 20 * MS } };

	for (unsigned i = 0; i < 2; i++) {
		world(RUNS | ONCE_SLEEPS, 0);
		result = results[i];
		fake.life = IW_DEAD;
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_once_run(&o, run, &o), results[i]);
		left(results[i] ? 0 : ONCE_DONE, 1, 1);
		CHECK(fake.wake.word == (const uint32_t *)&o.word);
		CHECK_EQ(fake.wake.value, UINT32_MAX);
	}
}

static void woken_when_it_is_done(void)
{
	const struct fake_step script[] = { { .meanwhile = succeed } };

	world(RUNS, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_once_run(&o, run, &o), 0);
	left(ONCE_DONE, 1, 0);
	CHECK_EQ(runs, 0);
	CHECK(fake.wait.word == (const uint32_t *)&o.word);
	CHECK_EQ(fake.wait.value, (uint32_t)(RUNS | ONCE_SLEEPS));
	CHECK(!fake.wait.private_);
}

static void woken_to_run_it(void)
{
	const struct fake_step script[] = { { .meanwhile = open_again } };

	world(RUNS, 0);
	result = -EIO;
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_once_run(&o, run, &o), -EIO);
	left(0, 1, 0);
	CHECK_EQ(runs, 1);
}

static int note_alarm(const struct fake_call *call)
{
	static const int64_t want_ms[] = { 10, 20, 40, 80, 160, 320, 640, 1000, 1000 };

	CHECK((call->deadline_ns - fake.now_ns) / MS == want_ms[fake.waits] ||
	      (call->deadline_ns - fake.now_ns) / MS == want_ms[fake.waits] - 1);
	fake.now_ns = call->deadline_ns;
	if (++fake.waits == 9)
		succeed();
	return -ETIMEDOUT;
}

/* An alarm is not the end of the wait; who sleeps long sleeps ever longer. */
static void alarms(void)
{
	static const enum iw_life lives[] = { IW_ALIVE, IW_UNKNOWN };

	for (unsigned i = 0; i < 2; i++) {
		world(RUNS, 0);
		fake.life = lives[i];
		fake.on_wait = note_alarm;
		CHECK_EQ(ipcwait_once_run(&o, run, &o), 0);
		left(ONCE_DONE, 9, 0);
		CHECK_EQ(fake.life_readings, 8);
		CHECK_EQ(runs, 0);
	}
}

static void a_dead_runner(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 10 * MS },
		{ .result = -ETIMEDOUT, .sleep_ns = 20 * MS, .meanwhile = die }
	};

	world(RUNS, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_once_run(&o, run, &o), 0);
	/* The others who sleep were not woken when it was taken over. */
	left(ONCE_DONE, 2, 1);
	CHECK_EQ(runs, 1);
}

/* The same id, another thread: the caller itself. */
static void a_dead_namesake(void)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 10 * MS, .meanwhile = die }
	};

	world(ONCE_WORD(FAKE_ID, OTHER_BIRTH), 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_once_run(&o, run, &o), 0);
	left(ONCE_DONE, 1, 1);
}

static int run_private(void *arg)
{
	(void)arg;
	runs++;
	return result;
}

/* A runner, thread and process, that is none of this process's. */
static void begins_anew(uint32_t runner, uint32_t process, uint32_t generation)
{
	world(ONCE_WORD(runner, process) | ONCE_SLEEPS, IPCWAIT_PRIVATE);
	fake.generation = generation;
	CHECK_EQ(ipcwait_once_run(&o, run_private, NULL), 0);
	left(ONCE_DONE, 0, 1);
	CHECK(fake.wake.private_);
	CHECK_EQ(runs, 1);
	CHECK_EQ(fake.life_readings, 0);
}

/* The thread that forked has the same id, where each of the two is the first of a namespace. */
static void a_copy_in_a_child(void)
{
	begins_anew(OTHER, FAKE_GENERATION - 1, FAKE_GENERATION);
	begins_anew(FAKE_ID, FAKE_GENERATION - 1, FAKE_GENERATION);
	begins_anew(FAKE_ID, (uint32_t)getpid(), FAKE_GENERATION);
	begins_anew(OTHER, (uint32_t)getpid() + 1, 0);
}

static void from_inside(void)
{
	world(ONCE_WORD(FAKE_ID, FAKE_GENERATION), IPCWAIT_PRIVATE);
	CHECK_EQ(ipcwait_once_run(&o, run_private, NULL), -EDEADLK);
	world(ONCE_WORD(FAKE_ID, getpid()), IPCWAIT_PRIVATE);
	fake.generation = 0;
	CHECK_EQ(ipcwait_once_run(&o, run_private, NULL), -EDEADLK);
	CHECK_EQ(runs, 0);
}

static void a_private_runner_dies(uint32_t process, uint32_t generation)
{
	const struct fake_step script[] = {
		{ .result = -ETIMEDOUT, .sleep_ns = 10 * MS },
		{ .result = -ETIMEDOUT, .sleep_ns = 20 * MS, .meanwhile = die }
	};

	world(ONCE_WORD(OTHER, process), IPCWAIT_PRIVATE);
	fake.generation = generation;
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_once_run(&o, run_private, NULL), 0);
	left(ONCE_DONE, 2, 1);
	CHECK(fake.wait.private_);
	CHECK_EQ(runs, 1);
}

static void a_private_runner(void)
{
	a_private_runner_dies(FAKE_GENERATION, FAKE_GENERATION);
	a_private_runner_dies((uint32_t)getpid(), 0);
}

static void returns_of_the_kernel(void)
{
	const struct fake_step script[] = {
		{ 0 },
		{ .result = -EAGAIN },
		{ .result = -EINTR },
		{ .result = -EINTR, .sleep_ns = 5 * MS },
		{ .result = -EAGAIN, .meanwhile = succeed },
	};

	world(RUNS, 0);
	FAKE_SCRIPT(script);
	CHECK_EQ(ipcwait_once_run(&o, run, &o), 0);
	left(ONCE_DONE, 5, 0);
}

static void no_futex(void)
{
	static const int errors[] = { -ENOSYS, -EFAULT, -EINVAL };

	for (unsigned i = 0; i < 3; i++) {
		const struct fake_step script[] = { { .result = errors[i] } };

		world(RUNS, 0);
		FAKE_SCRIPT(script);
		CHECK_EQ(ipcwait_once_run(&o, run, &o), errors[i]);
		left(RUNS | ONCE_SLEEPS, 1, 0);
		CHECK_EQ(runs, 0);
	}
}

static int run_and_lose(void *arg)
{
	gate_fabricate(&o.word, RUNS | ONCE_SLEEPS);
	return run_private(arg);
}

/* The thread of a child that was forked in the function, and somebody has begun anew. */
static void taken_over_meanwhile(void)
{
	world(0, 0);
	CHECK_EQ(ipcwait_once_run(&o, run_and_lose, NULL), 0);
	left(RUNS | ONCE_SLEEPS, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(nobody_waits),
		CHILD_TEST(somebody_waits),
		CHILD_TEST(woken_when_it_is_done),
		CHILD_TEST(woken_to_run_it),
		CHILD_TEST(alarms),
		CHILD_TEST(a_dead_runner),
		CHILD_TEST(a_dead_namesake),
		CHILD_TEST(a_copy_in_a_child),
		CHILD_TEST(from_inside),
		CHILD_TEST(a_private_runner),
		CHILD_TEST(returns_of_the_kernel),
		CHILD_TEST(no_futex),
		CHILD_TEST(taken_over_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
