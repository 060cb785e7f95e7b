/* SPDX-License-Identifier: MIT */
#ifndef IW_POLICY_HASH_H
#define IW_POLICY_HASH_H

#include <stdint.h>

/*
 * For tables by address, and what is drawn by time: the upper bits are well mixed. 2^64 divided by
 * the golden ratio: Knuth, The Art of Computer Programming 3, 6.4.
 */
static inline uint64_t iw_hash(uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15);
}

#endif
