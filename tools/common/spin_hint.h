/* SPDX-License-Identifier: MIT */
/*
 * Tell the CPU that this is a spin loop, where the compiler has a builtin for it: pause on x86-64,
 * isb on AArch64 as in the library (clang only), pause on RISC-V (newer compilers only).
 */
#ifndef TOOLS_SPIN_HINT_H
#define TOOLS_SPIN_HINT_H

static inline void spin_hint(void)
{
#if __has_builtin(__builtin_ia32_pause)
	__builtin_ia32_pause();
#elif __has_builtin(__builtin_arm_isb)
	__builtin_arm_isb(15);
#elif __has_builtin(__builtin_riscv_pause)
	__builtin_riscv_pause();
#endif
}

#endif
