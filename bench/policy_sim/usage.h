/* SPDX-License-Identifier: MIT */
#ifndef POLICY_SIM_USAGE_H
#define POLICY_SIM_USAGE_H

void usage_print_help(void);

#endif
