/* SPDX-License-Identifier: MIT */
#include "os/calls.h"

struct ipcwait_word32 iw_calls;

void iw_calls_forbid(uint32_t calls)
{
	/* ORD calls.X2: relaxed, protected by the load: there is one thread. */
	ipcwait_impl_store32_relaxed(&iw_calls, calls);
}

bool iw_calls_begin_filter(void)
{
	/* ORD calls.X3: relaxed, no order needed, as calls.X1. */
	return ipcwait_impl_add32_relaxed(&iw_calls, IW_CALLS_FILTER) < IW_CALLS_FILTER;
}

void iw_calls_no_filter(void)
{
	/* ORD calls.X4: relaxed, no order needed, as calls.X1. */
	(void)ipcwait_impl_add32_relaxed(&iw_calls, (uint32_t)-IW_CALLS_FILTER);
}
