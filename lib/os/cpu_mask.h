/* SPDX-License-Identifier: MIT */
#ifndef IW_OS_CPU_MASK_H
#define IW_OS_CPU_MASK_H

#include <stdbool.h>
#include <stdint.h>

/* The largest number of CPUs that the kernel can be built for. */
#define IW_CPU_MOST 8192

/* A set of CPUs, in the kernel's form. */
struct iw_cpu_mask {
	uint64_t word[IW_CPU_MOST / 64];
};

static inline void iw_cpu_mask_add(struct iw_cpu_mask *mask, unsigned cpu)
{
	mask->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static inline bool iw_cpu_mask_has(const struct iw_cpu_mask *mask, unsigned cpu)
{
	return cpu < IW_CPU_MOST && (mask->word[cpu / 64] >> cpu % 64 & 1);
}

/* Where the calling thread may run; empty if the kernel does not tell. */
void iw_cpu_mask_of_thread(struct iw_cpu_mask *mask);

/* The same for the first thread of the process, which is rarely pinned later on. */
void iw_cpu_mask_of_process(struct iw_cpu_mask *mask);

#endif
