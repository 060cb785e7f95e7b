/* SPDX-License-Identifier: MIT */
#ifndef POLICY_SIM_TABLE_H
#define POLICY_SIM_TABLE_H

#include "results.h"

/* The reports for people, on stdout. */
void table_print(const struct results *r);

#endif
