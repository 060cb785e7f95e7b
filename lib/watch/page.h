/* SPDX-License-Identifier: MIT */
/*
 * IPCWAIT_PAGE=1: the counters of watch/stats.h and the tables of watch/objects.h lie in a file
 * that other processes read, <ipcwait/page.h>. It is made before main(), and mapped over the
 * memory that is counted in anyway: whoever counts knows nothing of it.
 */
#ifndef IW_WATCH_PAGE_H
#define IW_WATCH_PAGE_H

#include <stdint.h>

/* What a sleep and its wake cost here, for readers. */
void iw_page_note_cost(uint64_t block_ns, uint64_t samples);

#endif
