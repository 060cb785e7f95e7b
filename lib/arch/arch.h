/* SPDX-License-Identifier: MIT */
/*
 * What the CPU offers. Every CPU's arch_cpu.h defines what it has, each as a function
 * and a macro of the same name; what it lacks is filled in below. The build puts one
 * lib/arch/<cpu> on the include path, so there is no CPU #if anywhere.
 *
 *   iw_arch_pause()             tell the CPU that this is a spin loop
 *   iw_arch_ticks()             a counter that all CPUs share, or 0
 *   iw_arch_ticks_steady()      true if that counter runs at one rate in every state
 *   iw_arch_hypervisor()        true if the CPU says that it is virtual
 *   iw_arch_vcpu_dedicated()    true if the hypervisor promises not to take the vCPU away
 *   iw_arch_describe()          the CPU's and the hypervisor's names for themselves, as text
 */
#ifndef IW_ARCH_ARCH_H
#define IW_ARCH_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#define IW_ARCH_DESCRIPTION_BYTES 96

#include "arch_cpu.h"

#ifndef iw_arch_pause
#define iw_arch_pause iw_arch_pause
static inline void iw_arch_pause(void)
{
	__asm__ volatile("" ::: "memory");
}
#endif

#ifndef iw_arch_ticks
#define iw_arch_ticks iw_arch_ticks
static inline uint64_t iw_arch_ticks(void)
{
	return 0;
}
#endif

#ifndef iw_arch_ticks_steady
#define iw_arch_ticks_steady iw_arch_ticks_steady
static inline bool iw_arch_ticks_steady(void)
{
	return false;
}
#endif

#ifndef iw_arch_hypervisor
#define iw_arch_hypervisor iw_arch_hypervisor
static inline bool iw_arch_hypervisor(void)
{
	return false;
}
#endif

#ifndef iw_arch_vcpu_dedicated
#define iw_arch_vcpu_dedicated iw_arch_vcpu_dedicated
static inline bool iw_arch_vcpu_dedicated(void)
{
	return false;
}
#endif

/* @text is terminated, and empty where the CPU does not tell. */
#ifndef iw_arch_describe
#define iw_arch_describe iw_arch_describe
static inline void iw_arch_describe(char text[IW_ARCH_DESCRIPTION_BYTES])
{
	text[0] = '\0';
}
#endif

/* Largest distance at which two words still disturb each other, in bytes. */
#ifndef IW_ARCH_LINE_BYTES
#define IW_ARCH_LINE_BYTES 128
#endif

#endif
