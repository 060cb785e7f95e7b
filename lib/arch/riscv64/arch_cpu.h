/* SPDX-License-Identifier: MIT */
/* RISC-V: the Zihintpause hint and the time CSR, whose rate only the kernel knows. */
#ifndef IW_ARCH_CPU_H
#define IW_ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

#define IW_ARCH_LINE_BYTES 64

/* The encoding of PAUSE, a hint that CPUs without Zihintpause execute as a NOP. */
#define iw_arch_pause iw_arch_pause
static inline void iw_arch_pause(void)
{
	__asm__ volatile(".4byte 0x0100000f" ::: "memory");
}

#define iw_arch_ticks iw_arch_ticks
static inline uint64_t iw_arch_ticks(void)
{
	uint64_t t;

	__asm__ volatile("rdtime %0" : "=r"(t));
	return t;
}

#define iw_arch_thread_pointer iw_arch_thread_pointer
static inline char *iw_arch_thread_pointer(void)
{
	char *pointer;

	__asm__("mv %0, tp" : "=r"(pointer));
	return pointer;
}

/* CSRR of a register that user mode may not read, from sys/rseq.h of glibc. */
#define IW_ARCH_RSEQ_SIGNATURE 0xf1401073u

#define iw_arch_ticks_steady iw_arch_ticks_steady
static inline bool iw_arch_ticks_steady(void)
{
	return true;
}

#endif
