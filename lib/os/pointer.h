/* SPDX-License-Identifier: MIT */
/* Pointers that are kept in words, beside marks that are none. */
#ifndef IW_OS_POINTER_H
#define IW_OS_POINTER_H

#include <stdint.h>
#include <string.h>

static inline void *iw_pointer(uint64_t word)
{
	void *p;

	memcpy(&p, &word, sizeof(p));
	return p;
}

#endif
