/* SPDX-License-Identifier: MIT */
/* Waits of a thread to whom spinning gives nothing, and that are passed on: lib/policy/futile.h. */
#ifndef IW_ENGINE_PASS_H
#define IW_ENGINE_PASS_H

#include <stdbool.h>

#include <ipcwait/stats.h>

#include "policy/reason.h"

struct iw_waiter;

/* A wait of @me has ended; @slept_for why it slept, or IW_NO_REASON. */
void iw_note_gain(const struct iw_waiter *me, enum iw_reason slept_for);

/*
 * Before another library's wait: true if the caller had better make it as it is, without iw_wait().
 * It counts as one that slept.
 */
bool iw_wait_passes(enum ipcwait_kind kind);

#endif
