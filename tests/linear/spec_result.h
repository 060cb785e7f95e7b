/* SPDX-License-Identifier: MIT */
/* How an operation ended, for specifications. */
#ifndef TESTS_LINEAR_SPEC_RESULT_H
#define TESTS_LINEAR_SPEC_RESULT_H

#include "linear/specs.h"

static inline bool pending(const struct history_op *op)
{
	return op->ret == HISTORY_PENDING;
}

/* The operation did what it is for, or may have. */
static inline bool worked(const struct history_op *op)
{
	return pending(op) || op->result == 0;
}

/* It ended with @error. */
static inline bool failed(const struct history_op *op, int error)
{
	return !pending(op) && op->result == -error;
}

#endif
