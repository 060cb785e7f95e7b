/* SPDX-License-Identifier: MIT */
/* AArch64: ISB as the pause, the generic timer as the clock. */
#ifndef IW_ARCH_CPU_H
#define IW_ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

#define IW_ARCH_LINE_BYTES 128

/*
 * YIELD is a NOP on cores without SMT. ISB costs about 10 ns (github.com/rust-lang/rust
 * pull 84725) and empties the pipeline, which is what a spin loop wants.
 */
#define iw_arch_pause iw_arch_pause
static inline void iw_arch_pause(void)
{
	__asm__ volatile("isb" ::: "memory");
}

#define iw_arch_ticks iw_arch_ticks
static inline uint64_t iw_arch_ticks(void)
{
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
}

/* The architecture promises one rate for the whole system. */
#define iw_arch_ticks_steady iw_arch_ticks_steady
static inline bool iw_arch_ticks_steady(void)
{
	return true;
}

#endif
