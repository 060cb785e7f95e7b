/* SPDX-License-Identifier: MIT */
/*
 * How much stack the first wait of a process takes, on a stack that has been painted. Of a
 * library that is compiled without optimization it is printed only.
 */
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "common/cmocka_all.h"
#include "common/every_wait.h"

#define STACK_BYTES 131072
#define PAINT       0x5a

static _Alignas(4096) unsigned char stack[STACK_BYTES];
static size_t top; /* how much of it was free before the wait */
static size_t free_bytes;

__attribute__((noinline)) static void paint(void)
{
	volatile unsigned char *bytes = stack;

	top = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)stack;
	for (size_t i = 0; i < top - 256; i++)
		bytes[i] = PAINT;
}

static void measure(void)
{
	free_bytes = 0;
	while (stack[free_bytes] == PAINT)
		free_bytes++;
}

static const struct every_wait *performed;

static void perform(void)
{
	size_t taken;

	every_wait_perform_on(performed, paint, measure, stack, STACK_BYTES);
	taken = top - free_bytes;
	printf("# %-30s %5zu bytes\n", performed->name, taken);
	(void)fflush(stdout);
#ifdef __OPTIMIZE__
	CHECK(taken <= performed->stack_most);
#endif
}

static void test_every_wait(void **state)
{
	(void)state;
	for (performed = every_wait; performed->name; performed++)
		assert_int_equal(check_in_child(perform), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
