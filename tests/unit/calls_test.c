/* SPDX-License-Identifier: MIT */
/* Calls of the library's own that are forbidden: what is answered without them, and when. */
#include <errno.h>
#include <unistd.h>

#include "common/cmocka_all.h"
#include "os/calls.h"
#include "os/cpu.h"
#include "os/descriptor.h"
#include "os/file.h"
#include "os/futex.h"
#include "os/life.h"
#include "os/status.h"

static void filters_are_counted(void)
{
	CHECK(iw_call_allowed(IW_CALL_YIELD) && iw_call_allowed(IW_CALL_AGAIN));
	iw_calls_forbid(IW_CALL_FLAGS);
	CHECK(iw_call_allowed(IW_CALL_YIELD) && !iw_call_allowed(IW_CALL_FLAGS));
	CHECK(iw_calls_begin_filter());
	CHECK(!iw_call_allowed(IW_CALL_YIELD) && !iw_call_allowed(IW_CALL_AGAIN));
	CHECK(!iw_calls_begin_filter());
	iw_calls_no_filter();
	CHECK(!iw_call_allowed(IW_CALL_YIELD));
	iw_calls_no_filter();
	CHECK(iw_call_allowed(IW_CALL_YIELD) && !iw_call_allowed(IW_CALL_FLAGS));
}

/* Each answer sends the caller to the call that the program has made. */
static void descriptors_answer_themselves(void)
{
	int ends[2];
	char byte;

	CHECK_EQ(pipe(ends), 0);
	CHECK(!iw_fd_nonblocking(ends[0]) && !iw_fd_readable(ends[0]));
	iw_calls_forbid(IW_CALLS_EXTRA);
	CHECK(iw_fd_nonblocking(ends[0]) && iw_fd_readable(ends[0]));
	CHECK_EQ(iw_fd_read_now(ends[0], &byte, 1), -EOPNOTSUPP);
}

static void files_are_opened(void)
{
	CHECK(iw_file_exists("/proc/self/stat") && !iw_file_exists("/no/such"));
	iw_calls_forbid(IW_CALLS_EXTRA);
	CHECK(iw_file_exists("/proc/self/stat") && !iw_file_exists("/no/such"));
}

static void cpus_are_read(void)
{
	struct iw_cpu_set asked = iw_cpu_allowed(true), read;

	iw_calls_forbid(IW_CALLS_EXTRA);
	read = iw_cpu_allowed(true);
	CHECK_EQ(read.count, asked.count);
	CHECK_EQ(read.first, asked.first);
}

static void memory_is_not_asked_about(void)
{
	uint32_t word = 0;

	CHECK(iw_futex_readable(&word));
	iw_calls_forbid(IW_CALLS_EXTRA);
	CHECK(iw_futex_readable(&word));
	(void)iw_calls_begin_filter();
	CHECK(!iw_futex_readable(&word));
}

static uint32_t generation;

static void is_another(void)
{
	CHECK(iw_process_generation() != generation);
	CHECK_EQ(iw_process_generation(), iw_process_generation());
}

/* By libc's hooks. */
static void forks_are_told(void)
{
	iw_calls_forbid(IW_CALLS_EXTRA);
	CHECK_EQ(iw_thread_id(), 0);
	generation = iw_process_generation();
	CHECK(generation != 0);
	CHECK_EQ(iw_process_generation(), generation);
	CHECK_EQ(check_in_child(is_another), 0);
	CHECK_EQ(iw_process_generation(), generation);
}

static void check_cpus(const char *list, unsigned first, unsigned count)
{
	struct iw_cpu_set set = iw_status_cpus(list);

	assert_int_equal(set.count, count);
	assert_int_equal(set.first, first);
}

static void test_lists_of_cpus(void **state)
{
	(void)state;
	check_cpus("0", 0, 1);
	check_cpus("2-3", 2, 2);
	check_cpus("1,4-7,12", 1, 6);
	check_cpus("", 0, 0);
	check_cpus("x", 0, 0);
	check_cpus("3-1", 0, 0);
}

static void test_the_status(void **state)
{
	struct iw_status s;

	(void)state;
	assert_true(iw_status_read(&s));
	assert_true(s.cpus.count > 0);
	assert_true(s.filtered || !s.filters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(filters_are_counted),
		CHILD_TEST(descriptors_answer_themselves),
		CHILD_TEST(files_are_opened),
		CHILD_TEST(cpus_are_read),
		CHILD_TEST(memory_is_not_asked_about),
		CHILD_TEST(forks_are_told),
		cmocka_unit_test(test_lists_of_cpus),
		cmocka_unit_test(test_the_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
