/* SPDX-License-Identifier: MIT */
/* With little patience: a slot is spoiled after one look. */
#define IW_LOOKS 1

#include "queue/chain.c"
