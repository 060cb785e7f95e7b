/* SPDX-License-Identifier: MIT */
/*
 * A thread to whom spinning has given nothing for many waits: beside a program that computes, or
 * where all its waits are longer than its credit lasts. What is left then of a wait's cost is the
 * planning, the clock and the learning. So most of its waits are passed on as they are, and now and
 * then one is waited for in full: if that gains something, all are again.
 *
 * Pure arithmetic on the struct, any content of which is legal.
 */
#ifndef IW_PRELOAD_FUTILE_H
#define IW_PRELOAD_FUTILE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/reason.h"

/* Of one thread. */
struct iw_futile {
	uint8_t row;    /* waits in a row that gained nothing */
	uint8_t passes; /* waits that were passed on last, between two in full */
	uint8_t left;   /* of these, still to come */
	uint8_t reason; /* why the last one slept */
};

/*
 * After IW_FUTILE_ROW waits in a row that gained nothing the next are passed on. That is twice the
 * number of waits before a move to another CPU (lib/policy/migration.c). IW_FUTILE_FIRST waits are
 * passed on before one is waited for in full; twice as many each time, up to IW_FUTILE_MOST.
 */
#define IW_FUTILE_ROW   64
#define IW_FUTILE_FIRST 8
#define IW_FUTILE_MOST  64

/* A wait begins. True: it is to be passed on, as if it slept for f->reason. */
static inline bool iw_futile_passes(struct iw_futile *f)
{
	if (f->row < IW_FUTILE_ROW)
		return false;
	if (f->left) {
		f->left--;
		return true;
	}
	if (f->passes < IW_FUTILE_MOST)
		f->passes = f->passes ? (uint8_t)(2 * f->passes) : IW_FUTILE_FIRST;
	f->left = f->passes;
	return false;
}

/* A wait in full has ended without a sleep. */
static inline void iw_futile_gained(struct iw_futile *f)
{
	*f = (struct iw_futile){ 0 };
}

/*
 * It has slept for @reason. Where waits are long, or another thread spins, the thread might gain at
 * other times; and what slept for a probe might have gained.
 */
static inline void iw_futile_slept(struct iw_futile *f, enum iw_reason reason)
{
	switch (reason) {
	case IW_WINDOW_OVER:
	case IW_PRESET_BLOCK:
	case IW_ONE_CPU:
	case IW_RATIONED:
	case IW_SAME_CPU:
	case IW_BUDGET_EMPTY:
	case IW_PREEMPTED:
	case IW_STOLEN:
	case IW_CHEAP:
		f->reason = (uint8_t)reason;
		if (f->row < IW_FUTILE_ROW)
			f->row++;
		return;
	default:
		return;
	}
}

#endif
