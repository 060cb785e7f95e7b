/* SPDX-License-Identifier: MIT */
/*
 * What --help and --version print.
 */
#ifndef SEM_TEST_USAGE_H
#define SEM_TEST_USAGE_H

void usage_print_help(void);
void usage_print_version(void);

#endif
