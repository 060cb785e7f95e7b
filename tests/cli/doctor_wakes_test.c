/* SPDX-License-Identifier: MIT */
/* What `ipcwait doctor` counts of threads that this test puts on CPUs as it likes. */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "../cli/doctor_place.h"
#include "../tools/common/place.h"

/* On no machine this number of threads wants to run. */
#define CPUS 4096

static unsigned usable, here, elsewhere;
static bool refused, apart;

unsigned place_cpus(unsigned *list, unsigned most)
{
	for (unsigned i = 0; i < usable && i < most; i++)
		list[i] = here;
	return usable;
}

static int pin(pthread_t thread, unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return -pthread_setaffinity_np(thread, sizeof(set), &set);
}

int place_thread(pthread_t thread, const unsigned *cpus, unsigned n)
{
	bool second = !pthread_equal(thread, pthread_self());

	(void)cpus;
	(void)n;
	if (refused)
		return -EPERM;
	return pin(thread, apart && second ? elsewhere : here);
}

/* Two CPUs of this test's, or one twice. */
static int setup(void **state)
{
	cpu_set_t set;
	unsigned found = 0;

	(void)state;
	usable = CPUS;
	refused = apart = false;
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		elsewhere = cpu;
		if (!found++)
			here = cpu;
	}
	return 0;
}

static struct doctor_place try(void)
{
	struct doctor_place found;

	doctor_place_try(&found);
	return found;
}

static void test_beside(void **state)
{
	struct doctor_place found = try();

	(void)state;
	assert_null(found.why_not);
	assert_true(found.wakes > 0);
	assert_int_equal(found.beside, found.wakes);
}

static void test_apart(void **state)
{
	struct doctor_place found;

	(void)state;
	if (here == elsewhere)
		skip();
	apart = true;
	found = try();
	assert_null(found.why_not);
	assert_true(found.wakes > 0);
	assert_int_equal(found.beside, 0);
}

static void test_one_cpu(void **state)
{
	(void)state;
	usable = 1;
	assert_string_equal(try().why_not, "there is one CPU for both threads");
}

static void test_refused(void **state)
{
	(void)state;
	refused = true;
	assert_string_equal(try().why_not, "threads cannot be placed on CPUs here");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_beside, setup),
		cmocka_unit_test_setup(test_apart, setup),
		cmocka_unit_test_setup(test_one_cpu, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
