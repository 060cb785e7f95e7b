/* SPDX-License-Identifier: MIT */
/* Tell the CPU that this is a spin loop, where the compiler has a builtin for it. */
#ifndef BENCH_SPIN_HINT_H
#define BENCH_SPIN_HINT_H

static inline void spin_hint(void)
{
#if __has_builtin(__builtin_ia32_pause)
	__builtin_ia32_pause();
#endif
}

#endif
