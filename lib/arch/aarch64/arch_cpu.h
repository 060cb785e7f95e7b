/* SPDX-License-Identifier: MIT */
/* AArch64: ISB as the pause, the generic timer as the clock. */
#ifndef IW_ARCH_CPU_H
#define IW_ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

#define IW_ARCH_LINE_BYTES 128

/* Of programs for this CPU: e_machine in <elf.h>, and the name of glibc's loader. */
#define IW_ARCH_ELF_MACHINE 183
#define IW_ARCH_LOADER      "ld-linux-aarch64.so.1"

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

/*
 * HWCAP_EVTSTRM: the kernel makes every WFE end within 100 us, by a stream of events at
 * 10 kHz (Documentation/arch/arm64/elf_hwcaps.rst in Linux).
 */
#define iw_arch_can_monitor iw_arch_can_monitor
static inline bool iw_arch_can_monitor(unsigned long hwcap)
{
	return hwcap & (1ul << 2);
}

/* A store by another CPU to what was loaded exclusively is an event. */
#define iw_arch_monitor iw_arch_monitor
static inline void iw_arch_monitor(const void *line)
{
	uint32_t unused;

	__asm__ volatile("ldxrb %w0, [%1]" : "=r"(unused) : "r"(line) : "memory");
}

/*
 * WFE knows no deadline. So that it does not end long after @until_ticks, it is used only
 * while that is further off than two periods of the stream.
 */
#define iw_arch_monitor_wait iw_arch_monitor_wait
static inline void iw_arch_monitor_wait(uint64_t until_ticks)
{
	uint64_t ticks_per_s;

	__asm__("mrs %0, cntfrq_el0" : "=r"(ticks_per_s));
	if ((int64_t)(until_ticks - iw_arch_ticks()) > (int64_t)(ticks_per_s / 5000))
		__asm__ volatile("wfe" ::: "memory");
	else
		iw_arch_pause();
}

#define iw_arch_thread_pointer iw_arch_thread_pointer
static inline char *iw_arch_thread_pointer(void)
{
	char *pointer;

	__asm__("mrs %0, tpidr_el0" : "=r"(pointer));
	return pointer;
}

/* BRK #0x45e0, from sys/rseq.h of glibc. */
#define IW_ARCH_RSEQ_SIGNATURE 0xd428bc00u

#define iw_arch_syscall iw_arch_syscall
static inline long iw_arch_syscall(long number, long a, long b, long c, long d, long e,
				   long f)
{
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

/* The architecture promises one rate for the whole system. */
#define iw_arch_ticks_steady iw_arch_ticks_steady
static inline bool iw_arch_ticks_steady(void)
{
	return true;
}

#endif
