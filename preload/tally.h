/* SPDX-License-Identifier: MIT */
#ifndef IW_PRELOAD_TALLY_H
#define IW_PRELOAD_TALLY_H

/*
 * Count in the tally that is @where, see tools/common/tally_form.h; once, before main(). If that
 * cannot be, the reader is told, who may be gone, and the program runs as well.
 */
void tally_join(const char *where);

/* @n programs more are started without the module. Async-signal-safe. */
void iw_tally_left_out(int n);

#endif
