/* SPDX-License-Identifier: MIT */
#ifndef IW_PRELOAD_TALLY_H
#define IW_PRELOAD_TALLY_H

/*
 * Count in the tally that is @where, see tools/common/tally_form.h; once, before main(). Nothing is
 * said about a file that is not there, or not for this process: the program runs as well, and may
 * have outlived who reads it.
 */
void tally_join(const char *where);

#endif
