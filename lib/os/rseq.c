/* SPDX-License-Identifier: MIT */
#include "os/rseq.h"

/* Those of glibc since 2.35 (sys/rseq.h), which other libcs lack. */
/* NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming) */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
/* NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming) */

/*
 * Kernels before 6.19 look at the whole description before they clear the field: the abort
 * address must follow libc's signature, or the thread gets SIGSEGV. It is never jumped to.
 */
static const struct {
	uint32_t signature;
	uint32_t after;
} never_run = { .signature = IW_ARCH_RSEQ_SIGNATURE };

const struct iw_rseq_sequence iw_rseq_sequence = { .abort = &never_run.after };

ptrdiff_t iw_rseq_offset;

/* The field's place in struct rseq, since Linux 4.18. */
#define FIELD 8

__attribute__((constructor)) static void find_field(void)
{
	if (IW_ARCH_RSEQ_SIGNATURE && &__rseq_size && &__rseq_offset && __rseq_size)
		iw_rseq_offset = __rseq_offset + FIELD;
}
