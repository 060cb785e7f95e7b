/* SPDX-License-Identifier: MIT */
/* Waits of a thread that may be moved: policy/migration.h decides, this does it. */
#ifndef IW_ENGINE_MIGRATE_H
#define IW_ENGINE_MIGRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/wait.h"

/* The waiter's thread may be moved, by the user's settings, the preset and the machine. */
bool iw_may_migrate(const struct iw_waiter *me);

/*
 * Before a wait of a thread that is on trial does anything: the trial may be over, and the thread
 * go back. Later the wait may have been published, and others rely on it.
 */
void iw_migrate_judge(const struct iw_facts *facts);

/*
 * The wait is about to spin or sleep, as iw_plan() has said: move first, where that is due, and
 * plan it anew. Returns what the other function is to be called with when the wait is over.
 */
uint64_t iw_migrate_before(struct iw_waiter *me);
void iw_migrate_after(const struct iw_waiter *me, uint64_t began_at);

/* The first looks have ended it. */
void iw_migrate_short(const struct iw_waiter *me);

#endif
