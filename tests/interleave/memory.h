/* SPDX-License-Identifier: MIT */
/* The values of watched memory, by the rules of C11 or of a processor. */
#ifndef TESTS_INTERLEAVE_MEMORY_H
#define TESTS_INTERLEAVE_MEMORY_H

#include "interleave/view.h"

enum rmw { EXCHANGE, ADD, SUB, AND, OR, XOR, NAND };

/* Orders are those of the compilers' __ATOMIC_ macros; sizes are 1, 2, 4 or 8 bytes. */
uint64_t memory_load(const volatile void *p, unsigned size, int order);
void memory_store(volatile void *p, unsigned size, uint64_t value, int order);
uint64_t memory_rmw(volatile void *p, unsigned size, enum rmw op, uint64_t operand,
		    int order);
bool memory_cas(volatile void *p, unsigned size, uint64_t *expected, uint64_t desired,
		int order, int order_of_failure);
void memory_fence(int order);

/* membarrier(2): every thread has a SEQ_CST fence at this moment. */
void memory_fence_all(void);

/* Data that is not atomic. */
void memory_plain(const volatile void *p, unsigned size, bool store);

/* Before each execution, and for each thread at its start. */
void memory_reset(void);

/*
 * The kernel's comparison in FUTEX_WAIT, and what FUTEX_WAKE has before it looks for sleepers: a
 * waiter sees what a waker saw that found nobody. Neither orders anything else.
 */
uint32_t memory_futex_load(const uint32_t *word);
void memory_futex_wake(const uint32_t *word);

/* Stores that wait in the buffer of a thread; only MODEL_TSO has any. */
unsigned memory_buffered(unsigned thread);
void memory_flush_one(unsigned thread);
void memory_flush_all(unsigned thread);

#endif
