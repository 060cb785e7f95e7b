/* SPDX-License-Identifier: MIT */
/*
 * Who sleeps between processes looks by itself from time to time, so that nobody sleeps on because
 * the one who was to wake it is dead.
 */
#ifndef TESTS_IPC_ALARMS_H
#define TESTS_IPC_ALARMS_H

#include <stdbool.h>
#include <stdint.h>

/* False for kinds of objects whose sleepers do not. */
bool alarms_ring(const char *suspect);

/* For those it is done here: all who sleep on @futex look. */
void alarms_play(uint32_t *futex);

#endif
