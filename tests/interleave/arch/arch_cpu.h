/* SPDX-License-Identifier: MIT */
/* The checker's CPU: in place of a folder of lib/arch. */
#ifndef IW_ARCH_CPU_H
#define IW_ARCH_CPU_H

#include "interleave/model.h"

#define iw_arch_pause iw_arch_pause
static inline void iw_arch_pause(void)
{
	model_yield();
}

#define iw_arch_ticks iw_arch_ticks
static inline uint64_t iw_arch_ticks(void)
{
	return model_counter();
}

#endif
