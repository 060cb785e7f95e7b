/* SPDX-License-Identifier: MIT */
/*
 * What is learned about objects that have no room for it: windows by address. The table is fixed,
 * lossy and without locks, and nothing is cleaned up when an object dies: an address that finds its
 * place taken takes it over and begins as a young object does, with what its call site has taught.
 * What the words hold is statistics and hints; any content is legal.
 *
 * place.address   whose it is; 0: nobody's
 * place.window    lib/policy/window.h
 * place.asleep    how many sleep on it; too large after a sleep that was cancelled, and for a
 *                 moment too small after a takeover
 * place.entered   of a semaphore: when the last that was noted began, by iw_clock_common() in units
 *                 of 8 ns, modulo 2^32; 0: none was
 * place.pace      of a mutex or a reader-writer lock: lib/policy/pace.h
 */
#ifndef IW_PRELOAD_PLACE_H
#define IW_PRELOAD_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/base.h>
#include <ipcwait/impl/word.h>
#include <ipcwait/policy.h>

struct place {
	struct ipcwait_word64 address;
	struct ipcwait_window window;
	struct ipcwait_word32 asleep;
	union {
		struct ipcwait_word32 entered;
		struct ipcwait_word32 pace;
	};
};

/* The place of the object at @address, which is its own from now on. */
struct place *iw_place_take(const void *address);

/* The same if it has one, else NULL. Async-signal-safe. */
struct place *iw_place_find(const void *address);

/* Before and after a sleep on the object at @address. */
void iw_place_enter(struct place *p);
void iw_place_leave(struct place *p, const void *address);

/* The place of the object if somebody may sleep on it, else NULL. Async-signal-safe. */
struct place *iw_place_of_sleepers(const void *address);

/*
 * Of objects whose wakes are timed: a sleep begins at @now_ns of iw_clock_common(); and the last
 * one that began in this process did so long before @now_ns that the thread is asleep. Who is
 * woken may be another: of several sleepers the last speaks for all, and what a wake has cost is
 * left out where it has only just come. The latter is async-signal-safe.
 */
void iw_place_note_entry(struct place *p, uint64_t now_ns);
bool iw_place_asleep(const struct place *p, uint64_t now_ns);

/* What the lock has learned. Its owners write, readers at the same time; any content is legal. */
uint32_t iw_place_pace(const struct place *p);
void iw_place_set_pace(struct place *p, uint32_t pace);

#endif
