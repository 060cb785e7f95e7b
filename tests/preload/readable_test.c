/* SPDX-License-Identifier: MIT */
/* preload/readable.c over the real kernel: what may be looked at without a crash. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cmocka_all.h"

#include "readable.h"

/* More than are remembered. */
#define MANY 600

static size_t page;

static char *map(unsigned pages, int protection)
{
	char *p = mmap(NULL, pages * page, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void test_memory_of_ours(void **state)
{
	static const uint32_t constant = 1;
	uint32_t on_stack[4] = { 0 };

	(void)state;
	errno = 4711;
	assert_true(iw_readable(&constant, 4));
	assert_true(iw_readable(on_stack, sizeof(on_stack)));
	assert_true(iw_readable(on_stack, 1));
	for (unsigned i = 1; i < 4; i++)
		assert_false(iw_readable((char *)on_stack + i, 4));
	assert_int_equal(errno, 4711);
}

static void test_a_hole_in_the_middle(void **state)
{
	char *p = map(3, PROT_READ | PROT_WRITE), *hole = p + page;

	(void)state;
	errno = 4711;
	assert_int_equal(mprotect(hole, page, PROT_NONE), 0);
	assert_false(iw_readable(hole, 4));
	assert_false(iw_readable(hole + page - 4, 4));
	assert_true(iw_readable(hole - 4, 4));
	assert_false(iw_readable(hole - 4, 5));
	assert_false(iw_readable(hole - 4, 8));
	assert_false(iw_readable(hole + page - 4, 8));
	assert_true(iw_readable(hole + page, 4));
	assert_true(iw_readable(p, page));
	assert_false(iw_readable(p, 3 * page));
	assert_int_equal(errno, 4711);
	/* What could not be read is asked for again. */
	assert_int_equal(mprotect(hole, page, PROT_READ), 0);
	assert_true(iw_readable(hole, 4));
	assert_true(iw_readable(p, 3 * page));
	/* And it stays: what has been read once is believed to be there still. */
}

static void test_memory_that_nobody_has_touched(void **state)
{
	char *p = map(2, PROT_READ);

	(void)state;
	assert_true(iw_readable(p, 4));
	assert_int_equal(munmap(p + page, page), 0);
	assert_false(iw_readable(p + page, 4));
	assert_int_equal(munmap(p, page), 0);
}

static void test_addresses_of_nothing(void **state)
{
	(void)state;
	assert_false(iw_readable(NULL, 4));
	assert_false(iw_readable((void *)4, 4));
	assert_false(iw_readable((void *)4096, 4));
	assert_false(iw_readable((void *)0xffff800000000000, 4));
	assert_false(iw_readable((void *)(UINTPTR_MAX - 3), 4));
	assert_false(iw_readable((void *)(UINTPTR_MAX - 3), 8));
}

static void test_more_pages_than_are_remembered(void **state)
{
	char *p = map(MANY, PROT_READ | PROT_WRITE);

	(void)state;
	for (unsigned i = 1; i < MANY; i += 2)
		assert_int_equal(mprotect(p + i * page, page, PROT_NONE), 0);
	for (unsigned turn = 0; turn < 3; turn++)
		for (unsigned i = 0; i < MANY; i++)
			assert_int_equal(iw_readable(p + i * page, 4), i % 2 == 0);
	assert_int_equal(munmap(p, MANY * page), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_of_ours),
		cmocka_unit_test(test_a_hole_in_the_middle),
		cmocka_unit_test(test_memory_that_nobody_has_touched),
		cmocka_unit_test(test_addresses_of_nothing),
		cmocka_unit_test(test_more_pages_than_are_remembered),
	};

	page = (size_t)sysconf(_SC_PAGESIZE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
