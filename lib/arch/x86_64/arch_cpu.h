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
