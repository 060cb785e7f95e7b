/* SPDX-License-Identifier: MIT */
/* Waits of a thread to whom spinning gives nothing, and that are passed on to libc: futile.h. */
#ifndef IW_PRELOAD_PASS_H
#define IW_PRELOAD_PASS_H

#include <stdbool.h>

#include "front.h"
#include "futile.h"

/* The calling thread's. */
extern _Thread_local struct iw_futile iw_futile __attribute__((tls_model("initial-exec")));

/* A wait of @kind begins: true if it is to be passed on. It then counts as one that slept. */
bool iw_wait_passes(enum ipcwait_kind kind);

/* It was waited for in full, and has slept, or has got what it waited for without a sleep. */
void iw_note_gain(const struct front *me);

#endif
