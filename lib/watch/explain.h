/* SPDX-License-Identifier: MIT */
/* What is printed about waits when a process ends; <ipcwait/explain.h> is the same on demand. */
#ifndef IW_WATCH_EXPLAIN_H
#define IW_WATCH_EXPLAIN_H

/* All objects of the table, on stderr. Their memory is not touched: it may be gone. */
void iw_explain_print(void);

/* The counters of the process, on stderr. */
void iw_stats_print(void);

/* "moved threads 7 times away from their waker's CPU: 4 kept, 2 back, 1 undone" */
struct iw_text;
void iw_stats_add_moves(struct iw_text *t);

#endif
