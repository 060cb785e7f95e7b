/* SPDX-License-Identifier: MIT */
/*
 * Threads of programs that the module is loaded into may be moved, unless IPCWAIT_PLACE=0 says
 * otherwise: a user who runs a program under it has asked for speed and cannot change the program.
 */
#include "env/facts.h"

/* Before the library's constructors. */
#define FIRST 101

__attribute__((constructor(FIRST))) static void allow_moves(void)
{
	iw_place_is_default = true;
}
