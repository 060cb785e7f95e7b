/* SPDX-License-Identifier: MIT */
/* What the parameters of all objects here have in common. */
#ifndef IW_QUEUE_PARAMS_H
#define IW_QUEUE_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

/* A program that means something by a member for later would be ignored. */
static inline bool iw_reserved_is_zero(const uint32_t reserved[3])
{
	return !(reserved[0] | reserved[1] | reserved[2]);
}

#endif
