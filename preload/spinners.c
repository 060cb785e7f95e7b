/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>

#include "os/life.h"
#include "policy/hash.h"
#include "spinners.h"

/*
 * A row has the address that it is about, how many spin there, and how many of those a wake has
 * released. 0: nobody spins, and any address may have it.
 */
#define COUNT_BITS   8
#define COUNT_MOST   255u
#define ONE_SPINS    (UINT64_C(1) << COUNT_BITS)
#define ONE_RELEASED UINT64_C(1)

/* User addresses are below, on all CPUs, unless a program asks for others. */
#define ADDRESS_BITS 48

#define ROW_BITS 9

static struct ipcwait_word64 rows[1u << ROW_BITS] __attribute__((aligned(64)));

/* The generation that has written them: a child of fork(2) has a copy, and none of the threads. */
static struct ipcwait_word32 written_by;

static struct ipcwait_word64 *row_of(const void *address)
{
	return &rows[iw_hash((uintptr_t)address) >> (64 - ROW_BITS)];
}

static uint64_t none_at(const void *address)
{
	return (uint64_t)(uintptr_t)address << (2 * COUNT_BITS);
}

static bool is_about(uint64_t row, const void *address)
{
	return row >> (2 * COUNT_BITS) == (uintptr_t)address;
}

static unsigned row_spinning(uint64_t row)
{
	return row >> COUNT_BITS & COUNT_MOST;
}

static unsigned row_released(uint64_t row)
{
	return row & COUNT_MOST;
}

/* A thread that is wiped out with them is not found by a wake, and leaves without one. */
static void begin_anew(uint32_t generation)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		/* ORD spinners.X1: relaxed, no order needed: a wake does not find its threads. */
		ipcwait_impl_store64_relaxed(&rows[i], 0);
	/* ORD spinners.X2: relaxed, no order needed, as spinners.X1. */
	ipcwait_impl_store32_relaxed(&written_by, generation);
}

bool iw_spinners_enter(const void *address)
{
	struct ipcwait_word64 *row = row_of(address);
	uint32_t generation = iw_process_generation();
	uint64_t is, next;

	if ((uintptr_t)address >> ADDRESS_BITS)
		return false;
	/* ORD spinners.X3: relaxed, no order needed, as spinners.X1. */
	if (ipcwait_impl_load32_relaxed(&written_by) != generation)
		begin_anew(generation);
	/* ORD spinners.X4: relaxed, re-checked by the CAS. */
	is = ipcwait_impl_load64_relaxed(row);
	do {
		if (is && (!is_about(is, address) || row_spinning(is) == COUNT_MOST))
			return false;
		next = (is ? is : none_at(address)) + ONE_SPINS;
		/* ORD spinners.X5: relaxed, no order: a wake that does not see it came before. */
	} while (!ipcwait_impl_cas64_relaxed(row, &is, next));
	return true;
}

bool iw_spinners_leave(const void *address)
{
	struct ipcwait_word64 *row = row_of(address);
	/* ORD spinners.X6: relaxed, re-checked by the CAS. */
	uint64_t is = ipcwait_impl_load64_relaxed(row), next;
	bool woken;

	do {
		if (!is_about(is, address) || !row_spinning(is))
			return false;
		woken = row_released(is);
		next = row_spinning(is) == 1 ? 0
					     : is - ONE_SPINS - (woken ? ONE_RELEASED : 0);
		/* ORD spinners.A1: acquire, what came before the wake. Pairs with spinners.R1. */
	} while (!ipcwait_impl_cas64_acquire(row, &is, next));
	return woken;
}

bool iw_spinners_woken(const void *address)
{
	/* ORD spinners.X7: relaxed, hint: iw_spinners_leave() tells. */
	uint64_t row = ipcwait_impl_load64_relaxed(row_of(address));

	return row_released(row) && is_about(row, address);
}

unsigned iw_spinners_wake(const void *address, unsigned most)
{
	struct ipcwait_word64 *row = row_of(address);
	/* ORD spinners.X8: relaxed, hint: a thread that comes later spins after the wake. */
	uint64_t is = ipcwait_impl_load64_relaxed(row);
	unsigned n;

	if (IPCWAIT_LIKELY(!is_about(is, address)))
		return 0;
	/* ORD spinners.X9: relaxed, no order needed, as spinners.X1. */
	if (ipcwait_impl_load32_relaxed(&written_by) != iw_process_generation())
		return 0;
	do {
		n = is_about(is, address) ? row_spinning(is) - row_released(is) : 0;
		n = n < most ? n : most;
		/* ORD spinners.R1: release, to whom it wakes. Pairs with spinners.A1. */
	} while (n && !ipcwait_impl_cas64_release(row, &is, is + n * ONE_RELEASED));
	return n;
}
