/* SPDX-License-Identifier: MIT */
/* The stack of the calling thread, seen from a signal handler. */
#ifndef STACKS_STACK_WALK_H
#define STACKS_STACK_WALK_H

#include <stdint.h>

/* What has to be done before the first signal: loads tables, takes locks. */
void walk_prepare(void);

/* Note where the calling thread's stack ends. Before its first signal. */
void walk_begin_thread(void);

/* The interrupted instruction, from the third argument of the handler. */
uint64_t walk_pc(const void *context);

/*
 * By the tables that the compiler writes for exceptions: they are there without frame
 * pointers and without debug information. @pcs[0] is the interrupted instruction.
 * Return: the number of frames, at least 1. Async-signal-safe from glibc 2.35 on.
 */
uint32_t walk_by_tables(const void *context, uint64_t *pcs, uint32_t most);

/* By frame pointers, for programs that are built with them. Async-signal-safe. */
uint32_t walk_by_frame_pointers(const void *context, uint64_t *pcs, uint32_t most);

#endif
