/* SPDX-License-Identifier: MIT */
/*
 * What is learned about objects that have no room for it: windows by address. The table is fixed,
 * lossy and without locks, and nothing is cleaned up when an object dies: an address that finds its
 * place taken takes it over and begins as a young object does, with what its call site has taught.
 * What the words hold is statistics and hints; any content is legal.
 *
 * place.address   whose it is; 0: nobody's
 * place.window    lib/policy/window.h
 * place.asleep    how many sleep on it; too small or too large after a takeover, or a sleep that
 *                 was cancelled
 */
#ifndef IW_PRELOAD_PLACE_H
#define IW_PRELOAD_PLACE_H

#include <stdint.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>
#include <ipcwait/policy.h>

struct place {
	struct ipcwait_word64 address;
	struct ipcwait_window window;
	struct ipcwait_word32 asleep;
	uint32_t unused;
};

/* The place of the object at @address, which is its own from now on. */
struct place *iw_place_take(const void *address);

/* The same if it has one, else NULL. Async-signal-safe. */
struct place *iw_place_find(const void *address);

/* Around a sleep on the object. */
void iw_place_count(struct place *p, uint32_t n);

/* The place of the object if somebody may sleep on it, else NULL. Async-signal-safe. */
struct place *iw_place_of_sleepers(const void *address);

#endif
