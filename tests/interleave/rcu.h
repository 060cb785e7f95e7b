/* SPDX-License-Identifier: MIT */
#ifndef TESTS_INTERLEAVE_RCU_H
#define TESTS_INTERLEAVE_RCU_H

#include "interleave/model.h"

/* In begin() and end() of a scenario whose sources use lib/os/rcu.h. */
void rcu_begin(void);
void rcu_end(void);

/* Whether the calling thread is in a section. */
bool rcu_inside(void);

#endif
