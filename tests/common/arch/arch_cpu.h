/* SPDX-License-Identifier: MIT */
/* A CPU whose counter does what a test says, in place of a folder of lib/arch. */
#ifndef IW_ARCH_CPU_H
#define IW_ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

uint64_t fake_ticks(void);

#define iw_arch_ticks iw_arch_ticks
static inline uint64_t iw_arch_ticks(void)
{
	return fake_ticks();
}

#define iw_arch_ticks_steady iw_arch_ticks_steady
static inline bool iw_arch_ticks_steady(void)
{
	return true;
}

char *fake_thread_pointer(void);

#define iw_arch_thread_pointer iw_arch_thread_pointer
static inline char *iw_arch_thread_pointer(void)
{
	return fake_thread_pointer();
}

#endif
