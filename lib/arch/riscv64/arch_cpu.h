/* SPDX-License-Identifier: MIT */
/* RISC-V: the Zihintpause hint and the time CSR, whose rate only the kernel knows. */
#ifndef IW_ARCH_CPU_H
#define IW_ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

#define IW_ARCH_LINE_BYTES 64

/* Of programs for this CPU: e_machine in <elf.h>, and the name of glibc's loader. */
#define IW_ARCH_ELF_MACHINE 243
#define IW_ARCH_LOADER      "ld-linux-riscv64-lp64d.so.1"

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

#define iw_arch_syscall iw_arch_syscall
static inline long iw_arch_syscall(long number, long a, long b, long c, long d, long e,
				   long f)
{
	register long a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c, a3 __asm__("a3") = d, a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;

	__asm__ volatile("ecall"
			 : "+r"(a0)
			 : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			 : "memory");
	return a0;
}

#define iw_arch_ticks_steady iw_arch_ticks_steady
static inline bool iw_arch_ticks_steady(void)
{
	return true;
}

#endif
