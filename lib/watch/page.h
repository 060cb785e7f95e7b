/* SPDX-License-Identifier: MIT */
/*
 * IPCWAIT_PAGE=1: the counters of watch/stats.h and the tables of watch/objects.h lie in a file
 * that other processes read, <ipcwait/page.h>. It is mapped over the memory that is counted in
 * anyway: the code that counts knows nothing of it.
 *
 * It is made before main(), and in a child of fork(3) when that begins. In the preload module,
 * which is in every process, it is late: made at the end of the first wait that had to wait.
 */
#ifndef IW_WATCH_PAGE_H
#define IW_WATCH_PAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Set before the library's constructors run: the page is late. */
extern bool iw_page_is_late;

/*
 * A late page that is wanted is made now, if there is none yet. System calls, 0.2 ms, once in a
 * process, with signals blocked. errno is preserved.
 */
void iw_page_make_due(void);

/* What a sleep and its wake cost here, for readers. */
void iw_page_note_cost(uint64_t block_ns, uint64_t samples);

#endif
