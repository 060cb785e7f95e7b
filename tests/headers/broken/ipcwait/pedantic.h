/* SPDX-License-Identifier: MIT */
/* Neither C11 nor C++17: an empty initialiser list for an array of no elements. */
#ifndef IPCWAIT_PEDANTIC_H
#define IPCWAIT_PEDANTIC_H

static inline int ipcwait_pedantic(void)
{
	int none[0] = {};

	return (int)sizeof(none);
}

#endif
