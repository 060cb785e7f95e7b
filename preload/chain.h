/* SPDX-License-Identifier: MIT */
/* The module in an environment: in LD_PRELOAD, whose entries blanks and colons separate. */
#ifndef IW_PRELOAD_CHAIN_H
#define IW_PRELOAD_CHAIN_H

#include <stdbool.h>
#include <stddef.h>

#define IW_CHAIN_VARIABLE   "LD_PRELOAD"
#define IW_CHAIN_SEPARATORS " :"

/* Where the value of the variable @name begins; NULL if @entry is another variable. */
char *iw_chain_value(char *entry, const char *name);

/*
 * The value of LD_PRELOAD in @environment, which may be NULL, if this module is in it; else NULL.
 */
const char *iw_chain_of(char *const *environment);

/*
 * The entry of this module in @chain, which may be by another path to the file. NULL: there is
 * none.
 */
const char *iw_chain_entry(const char *chain, size_t *length);

/* Takes it out of @chain, where that is. */
void iw_chain_cut(char *chain);

#endif
