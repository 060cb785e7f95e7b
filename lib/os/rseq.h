/* SPDX-License-Identifier: MIT */
/*
 * Was this thread switched out, moved to another CPU or sent a signal since it armed the
 * sentinel? Costs two stores and a load per question, where the kernel's own counts cost a
 * system call. docs/design/harm.md
 *
 * The kernel keeps, for every thread that libc registered with rseq(2), the address of the
 * restartable sequence that the thread is in. Returning to user mode after one of those
 * events it clears the address, unless the thread is inside that sequence. Ours is empty,
 * so nobody ever is inside it: what is left is the clearing.
 *
 * Where libc has not registered the thread (musl, glibc before 2.35, emulators, the tunable
 * glibc.pthread.rseq=0) nothing is stored and iw_rseq_disturbed() is false. A handler that
 * arms and disarms the sentinel of the thread it interrupts leaves it disturbed, as it is.
 *
 * The library may be unloaded once iw_rseq_disarm() has run: until then the kernel may read
 * the sequence's description, which lies in the library.
 */
#ifndef IW_OS_RSEQ_H
#define IW_OS_RSEQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"

/* struct rseq_cs of <linux/rseq.h>, for 64-bit little-endian CPUs. */
struct iw_rseq_sequence {
	uint32_t version, flags;
	const void *start;
	uint64_t length_bytes;
	const void *abort;
} __attribute__((aligned(32)));

extern const struct iw_rseq_sequence iw_rseq_sequence;

/*
 * From the thread pointer to the field with the address, the same in every thread; 0 if
 * threads are not registered. Set before main() and never again.
 */
extern ptrdiff_t iw_rseq_offset;

/* Only meaningful if iw_rseq_offset is not 0. */
static inline volatile uint64_t *iw_rseq_field(void)
{
	return (volatile uint64_t *)(void *)(iw_arch_thread_pointer() + iw_rseq_offset);
}

static inline void iw_rseq_arm(void)
{
	if (iw_rseq_offset)
		*iw_rseq_field() = (uintptr_t)&iw_rseq_sequence;
}

/* Compared with our own address: a handler may have left one of its own. */
static inline bool iw_rseq_disturbed(void)
{
	return iw_rseq_offset && *iw_rseq_field() != (uintptr_t)&iw_rseq_sequence;
}

static inline void iw_rseq_disarm(void)
{
	if (iw_rseq_offset && !iw_rseq_disturbed())
		*iw_rseq_field() = 0;
}

/* The CPU that the thread runs on, which the kernel keeps right before; negative: unknown. */
static inline int iw_rseq_cpu(void)
{
	return iw_rseq_offset ? ((volatile int32_t *)iw_rseq_field())[-1] : -1;
}

#endif
