/* SPDX-License-Identifier: MIT */
/* `ipcwait stat`: what programs wait for, in numbers. */
#ifndef CLI_STAT_H
#define CLI_STAT_H

#include "watched.h"

/* The subcommand. Returns an exit status. */
int stat_main(int argc, char **argv);

/* As OpenMetrics text: all counters since the processes began. */
void stat_write_metrics(FILE *f, const struct watched *w);

#endif
