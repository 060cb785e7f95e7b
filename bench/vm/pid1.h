/* SPDX-License-Identifier: MIT */
/* The duties of a guest's first process. */
#ifndef BENCH_VM_PID1_H
#define BENCH_VM_PID1_H

/* Mount proc, sys and devtmpfs. What fails is reported, and shows again where it is missed. */
void pid1_mount(void);

/* Ends QEMU as well. */
_Noreturn void pid1_power_off(void);

#endif
