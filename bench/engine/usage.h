/* SPDX-License-Identifier: MIT */
#ifndef WAIT_BENCH_USAGE_H
#define WAIT_BENCH_USAGE_H

void usage_print_help(void);
void usage_print_version(void);

#endif
