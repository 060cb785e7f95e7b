/* SPDX-License-Identifier: MIT */
/*
 * What locks of libc have learned about their sections (lib/policy/pace.h), by place: a look at one
 * with short sections costs its owner more than it finds.
 */
#ifndef IW_PRELOAD_SECTIONS_H
#define IW_PRELOAD_SECTIONS_H

#include <stdint.h>

/* Two looks at @lock are so far apart at least. */
uint64_t iw_sections_apart_ns(const void *lock);

/* The caller has @lock, after a wait. Of sixteen sections that begin so one is measured. */
void iw_sections_note(const void *lock);

/*
 * The caller is about to unlock iw_after_unlock.lock: before the unlock, as that may wake others.
 * If the section was measured its length is learned.
 */
void iw_sections_end(void);

#endif
