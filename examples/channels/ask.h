/* SPDX-License-Identifier: MIT */
/* One thread asks fifty workers, each over a channel to it and one back, round after round. */
#ifndef CHANNELS_ASK_H
#define CHANNELS_ASK_H

#include <stdbool.h>

/* The whole program, with its options. @writes: all write records to the null device meanwhile. */
int ask_workers(int argc, char **argv, bool writes);

#endif
