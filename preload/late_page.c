/* SPDX-License-Identifier: MIT */
/*
 * Most processes that the module is loaded into never wait: what a shell starts, and each child of
 * it. They have no statistics page, and pay nothing for one.
 */
#include "watch/page.h"

/* Before the library's constructors. */
#define FIRST 101

__attribute__((constructor(FIRST))) static void put_off(void)
{
	iw_page_is_late = true;
}
