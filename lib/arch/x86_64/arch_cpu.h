/* SPDX-License-Identifier: MIT */
/* x86-64: PAUSE, the time stamp counter, and what CPUID says about the hypervisor. */
#ifndef IW_ARCH_CPU_H
#define IW_ARCH_CPU_H

#include <cpuid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Pairs of lines are fetched together, so 128 rather than 64. */
#define IW_ARCH_LINE_BYTES 128

/* Of programs for this CPU: e_machine in <elf.h>, and the name of glibc's loader. */
#define IW_ARCH_ELF_MACHINE 62
#define IW_ARCH_LOADER      "ld-linux-x86-64.so.2"

/* 10 to 140 cycles by model (Intel SDM, and measured: 26 ns on Zen 4): never count them. */
#define iw_arch_pause iw_arch_pause
static inline void iw_arch_pause(void)
{
	__builtin_ia32_pause();
}

/* Not serialised: an error of some ns does not matter, 20 ns of latency would. */
#define iw_arch_ticks iw_arch_ticks
static inline uint64_t iw_arch_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* Leaf 7, ECX bit 5: WAITPKG. Hypervisors offer it to vCPUs with a CPU of their own. */
#define iw_arch_can_monitor iw_arch_can_monitor
static inline bool iw_arch_can_monitor(unsigned long hwcap)
{
	unsigned a, b, c, d;

	(void)hwcap;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & (1u << 5));
}

/* UMONITOR RAX, as bytes: intrinsics and assemblers want to be told of the CPU. */
#define iw_arch_monitor iw_arch_monitor
static inline void iw_arch_monitor(const void *line)
{
	__asm__ volatile(".byte 0xf3, 0x0f, 0xae, 0xf0" : : "a"(line) : "memory");
}

/*
 * UMWAIT ECX. Bit 0 of ECX asks for C0.1, the state that is sooner left. The operating system
 * has a deadline of its own, 100000 ticks in Linux (/sys/devices/system/cpu/umwait_control).
 */
#define iw_arch_monitor_wait iw_arch_monitor_wait
static inline void iw_arch_monitor_wait(uint64_t until_ticks)
{
	__asm__ volatile(".byte 0xf2, 0x0f, 0xae, 0xf1"
			 :
			 : "a"((uint32_t)until_ticks), "d"((uint32_t)(until_ticks >> 32)),
			   "c"(1)
			 : "memory", "cc");
}

/* The first word of the thread's control block holds its own address (the ELF TLS ABI). */
#define iw_arch_thread_pointer iw_arch_thread_pointer
static inline char *iw_arch_thread_pointer(void)
{
	char *pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

/* The operand of an undefined instruction, from sys/rseq.h of glibc. */
#define IW_ARCH_RSEQ_SIGNATURE 0x53053053u

#define iw_arch_syscall iw_arch_syscall
static inline long iw_arch_syscall(long number, long a, long b, long c, long d, long e,
				   long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

/* Leaf 0x80000007, EDX bit 8: constant rate, runs in every power state. */
#define iw_arch_ticks_steady iw_arch_ticks_steady
static inline bool iw_arch_ticks_steady(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

/* Leaf 1, ECX bit 31. CPUID itself exits to the hypervisor: never on a wait path. */
#define iw_arch_hypervisor iw_arch_hypervisor
static inline bool iw_arch_hypervisor(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 31));
}

/*
 * KVM's leaf 0x40000001, EDX bit 0 (KVM_HINTS_REALTIME): "vCPUs are never preempted for
 * an unlimited time". Documentation/virt/kvm/x86/cpuid.rst in Linux.
 */
#define iw_arch_vcpu_dedicated iw_arch_vcpu_dedicated
static inline bool iw_arch_vcpu_dedicated(void)
{
	unsigned a, b, c, d;
	char signature[12];

	if (!iw_arch_hypervisor())
		return false;
	__cpuid(0x40000000, a, b, c, d);
	memcpy(signature, &b, 4);
	memcpy(signature + 4, &c, 4);
	memcpy(signature + 8, &d, 4);
	if (memcmp(signature, "KVMKVMKVM\0\0\0", 12) != 0)
		return false;
	__cpuid(0x40000001, a, b, c, d);
	return d & 1;
}

/*
 * The brand string of leaves 0x80000002 to 4, family and model of leaf 1, and under a
 * hypervisor its signature and features of leaves 0x40000000 and 1. The rest are zeros.
 */
#define iw_arch_describe iw_arch_describe
static inline void iw_arch_describe(char text[IW_ARCH_DESCRIPTION_BYTES])
{
	unsigned brand[12] = { 0 }, host[4] = { 0 }, features[4] = { 0 };
	unsigned model = 0, b, c, d;

	for (unsigned leaf = 0; leaf < 3; leaf++) {
		unsigned *part = brand + (size_t)leaf * 4;

		(void)__get_cpuid(0x80000002 + leaf, &part[0], &part[1], &part[2],
				  &part[3]);
	}
	(void)__get_cpuid(1, &model, &b, &c, &d);
	if (iw_arch_hypervisor()) {
		__cpuid(0x40000000, host[0], host[1], host[2], host[3]);
		__cpuid(0x40000001, features[0], features[1], features[2], features[3]);
	}
	(void)snprintf(text, IW_ARCH_DESCRIPTION_BYTES, "%.48s %x %.12s %x",
		       (const char *)brand, model, (const char *)&host[1], features[0]);
}

#endif
