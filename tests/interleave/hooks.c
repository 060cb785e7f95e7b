/* SPDX-License-Identifier: MIT */
/*
 * What gcc and clang call with -fsanitize=thread, before every access to memory and instead of
 * every atomic operation. Their own runtime is not linked; this takes its place. The names and
 * arguments are the compilers' (gcc: gcc/sanitizer.def; clang: tsan_interface_atomic.h).
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "interleave/location.h"
#include "interleave/memory.h"
#include "interleave/trace.h"

/* @old points to a value of @size bytes, and gets the one that was found. */
static int cas(void *p, unsigned size, void *old, uint64_t desired, int order,
	       int on_failure)
{
	uint64_t expected = peek(old, size);
	bool done = memory_cas(p, size, &expected, desired, order, on_failure);

	poke(old, size, expected);
	return done;
}

/* Returns what was found. */
static uint64_t cas_value(void *p, unsigned size, uint64_t old, uint64_t desired, int order,
			  int on_failure)
{
	(void)memory_cas(p, size, &old, desired, order, on_failure);
	return old;
}

#define HOOK __attribute__((visibility("default")))
#define HERE trace_place(__builtin_return_address(0))

/* Tables of functions that differ in a size. clang-format cannot read them. */
/* clang-format off */
#define U(bits) uint##bits##_t

#define PLAIN(name, size, store)                                                        \
	HOOK void __tsan_##name##size(void *p);                                         \
	HOOK void __tsan_##name##size(void *p)                                          \
	{                                                                               \
		HERE;                                                                   \
		memory_plain(p, size, store);                                           \
	}

#define PLAINS(size)                                                                    \
	PLAIN(read, size, false) PLAIN(write, size, true)                               \
	PLAIN(unaligned_read, size, false) PLAIN(unaligned_write, size, true)

PLAINS(1) PLAINS(2) PLAINS(4) PLAINS(8) PLAINS(16)

#define LOAD(bits)                                                                      \
	HOOK U(bits) __tsan_atomic##bits##_load(const void *p, int order);              \
	HOOK U(bits) __tsan_atomic##bits##_load(const void *p, int order)               \
	{                                                                               \
		HERE;                                                                   \
		return (U(bits))memory_load(p, bits / 8, order);                        \
	}

LOAD(8) LOAD(16) LOAD(32) LOAD(64)

#define STORE(bits)                                                                     \
	HOOK void __tsan_atomic##bits##_store(void *p, U(bits) v, int order);           \
	HOOK void __tsan_atomic##bits##_store(void *p, U(bits) v, int order)            \
	{                                                                               \
		HERE;                                                                   \
		memory_store(p, bits / 8, v, order);                                    \
	}

STORE(8) STORE(16) STORE(32) STORE(64)

#define RMW(bits, name, op)                                                             \
	HOOK U(bits) __tsan_atomic##bits##_##name(void *p, U(bits) v, int order);       \
	HOOK U(bits) __tsan_atomic##bits##_##name(void *p, U(bits) v, int order)        \
	{                                                                               \
		HERE;                                                                   \
		return (U(bits))memory_rmw(p, bits / 8, op, v, order);                  \
	}

#define RMWS(bits)                                                                      \
	RMW(bits, exchange, EXCHANGE) RMW(bits, fetch_add, ADD) RMW(bits, fetch_sub, SUB) \
	RMW(bits, fetch_and, AND) RMW(bits, fetch_or, OR) RMW(bits, fetch_xor, XOR)     \
	RMW(bits, fetch_nand, NAND)

RMWS(8) RMWS(16) RMWS(32) RMWS(64)

#define CAS(bits, kind)                                                                 \
	HOOK int __tsan_atomic##bits##_compare_exchange_##kind(void *, void *, U(bits), int, int); \
	HOOK int __tsan_atomic##bits##_compare_exchange_##kind(                         \
		void *p, void *old, U(bits) v, int order, int on_failure)               \
	{                                                                               \
		HERE;                                                                   \
		return cas(p, bits / 8, old, v, order, on_failure);                     \
	}

CAS(8, strong) CAS(16, strong) CAS(32, strong) CAS(64, strong)
CAS(8, weak) CAS(16, weak) CAS(32, weak) CAS(64, weak)

#define CAS_VALUE(bits, name)                                                           \
	HOOK U(bits) __tsan_atomic##bits##_##name(void *, U(bits), U(bits), int, int);  \
	HOOK U(bits) __tsan_atomic##bits##_##name(void *p, U(bits) old, U(bits) v,      \
						  int order, int on_failure)            \
	{                                                                               \
		HERE;                                                                   \
		return (U(bits))cas_value(p, bits / 8, old, v, order, on_failure);      \
	}

CAS_VALUE(8, compare_exchange_val) CAS_VALUE(16, compare_exchange_val)
CAS_VALUE(32, compare_exchange_val) CAS_VALUE(64, compare_exchange_val)
	/* clang-format on */

	HOOK void __tsan_init(void);
HOOK void __tsan_init(void)
{
}

HOOK void __tsan_func_entry(void *caller);
HOOK void __tsan_func_entry(void *caller)
{
	(void)caller;
}

HOOK void __tsan_func_exit(void);
HOOK void __tsan_func_exit(void)
{
}

HOOK void __tsan_read_range(void *p, size_t size);
HOOK void __tsan_read_range(void *p, size_t size)
{
	HERE;
	memory_plain(p, (unsigned)size, false);
}

HOOK void __tsan_write_range(void *p, size_t size);
HOOK void __tsan_write_range(void *p, size_t size)
{
	HERE;
	memory_plain(p, (unsigned)size, true);
}

/* What meson.build makes of memcpy() and the like. */
HOOK void *__tsan_memcpy(void *to, const void *from, size_t size);
HOOK void *__tsan_memcpy(void *to, const void *from, size_t size)
{
	HERE;
	memory_plain(from, (unsigned)size, false);
	memory_plain(to, (unsigned)size, true);
	return memmove(to, from, size);
}

HOOK void *__tsan_memmove(void *to, const void *from, size_t size);
HOOK void *__tsan_memmove(void *to, const void *from, size_t size)
{
	return __tsan_memcpy(to, from, size);
}

HOOK void *__tsan_memset(void *to, int byte, size_t size);
HOOK void *__tsan_memset(void *to, int byte, size_t size)
{
	HERE;
	memory_plain(to, (unsigned)size, true);
	return memset(to, byte, size);
}

HOOK void __tsan_atomic_thread_fence(int order);
HOOK void __tsan_atomic_thread_fence(int order)
{
	HERE;
	memory_fence(order);
}

/* Between a thread and its own handlers nothing is reordered here. */
HOOK void __tsan_atomic_signal_fence(int order);
HOOK void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}
