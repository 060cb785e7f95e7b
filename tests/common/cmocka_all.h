/* SPDX-License-Identifier: MIT */
/* CMocka, with the headers that it wants before it, and tests that run in a child process. */
#ifndef TESTS_COMMON_CMOCKA_ALL_H
#define TESTS_COMMON_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/check.h"

static inline void run_in_child(void **state)
{
	void (*body)(void) = *(void (**)(void)) * state;

	assert_int_equal(check_in_child(body), 0);
}

/*
 * A test of what a process does once. @body takes no argument and uses CHECK(). CMocka
 * passes a pointer to data on, so here to a pointer to the function.
 */
#define CHILD_TEST(body)                                           \
	{                                                          \
#body, run_in_child, NULL, NULL, &(void (*)(void)) \
		{                                                  \
			body                                       \
		}                                                  \
	}

#endif
