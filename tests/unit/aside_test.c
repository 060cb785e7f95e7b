/* SPDX-License-Identifier: MIT */
/* lib/engine/aside.c over a scripted clock: for how long a thread stands aside. */
#include <ipcwait/ipcwait.h>

#include "common/cmocka_all.h"
#include "common/fake_os.h"
#include "engine/aside.h"
#include "os/thread.h"

static struct ipcwait_window window;

#define STEP_NS 50
#define SOON_NS 1000
#define LATE_NS 1000000

/* How long it took, after @since_ns without. */
static int64_t stand_aside_after(int64_t since_ns)
{
	int64_t begin_ns;

	fake.now_ns += since_ns;
	begin_ns = fake.now_ns;
	iw_stand_aside(&window);
	return fake.now_ns - begin_ns;
}

/* The first reading of the clock and the last belong to it. */
static void lasted(int64_t ns, int64_t want_ns)
{
	CHECK(ns >= want_ns);
	CHECK(ns <= want_ns + 3 * STEP_NS);
}

static void begin(void)
{
	fake_reset();
	fake.step_ns = STEP_NS;
	iw_thread.aside_ns = 0;
	iw_thread.aside_until_ns = 0;
}

static void longer_each_time(void)
{
	static const int64_t want_ns[] = { 500, 1000, 2000, 4000, 5000, 5000 };

	begin();
	for (unsigned i = 0; i < sizeof(want_ns) / sizeof(*want_ns); i++)
		lasted(stand_aside_after(SOON_NS), want_ns[i]);
}

static void once_in_a_while(void)
{
	begin();
	for (unsigned i = 0; i < 3; i++)
		lasted(stand_aside_after(LATE_NS), 500);
}

static void shorter_after_a_while(void)
{
	static const int64_t want_ns[] = { 2500, 1250, 625, 500 };

	begin();
	for (unsigned i = 0; i < 6; i++)
		(void)stand_aside_after(SOON_NS);
	for (unsigned i = 0; i < sizeof(want_ns) / sizeof(*want_ns); i++)
		lasted(stand_aside_after(LATE_NS), want_ns[i]);
}

/* Where spinning is no use, or not wanted. */
static void not_at_all(void)
{
	begin();
	CHECK_EQ(ipcwait_window_set_preset(&window, IPCWAIT_BLOCK), 0);
	iw_stand_aside(&window);
	CHECK_EQ(iw_thread.aside_ns, 0);
	CHECK_EQ(ipcwait_window_set_preset(&window, IPCWAIT_ADAPTIVE), 0);
	iw_stand_aside(&window);
	CHECK(iw_thread.aside_ns > 0);
}

/* A clock that has stepped back ends it at once, and is no reason to stand aside for longer. */
static void step_back(void)
{
	fake.on_clock = NULL;
	fake.now_ns -= LATE_NS;
}

static void a_clock_that_steps_back(void)
{
	begin();
	fake.now_ns += 2 * LATE_NS;
	iw_stand_aside(&window);
	fake.on_clock = step_back;
	iw_stand_aside(&window);
	CHECK(iw_thread.aside_ns <= 1000);
	lasted(stand_aside_after(LATE_NS), 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(longer_each_time),        CHILD_TEST(once_in_a_while),
		CHILD_TEST(shorter_after_a_while),   CHILD_TEST(not_at_all),
		CHILD_TEST(a_clock_that_steps_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
