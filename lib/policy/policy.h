/* SPDX-License-Identifier: MIT */
#ifndef IW_POLICY_POLICY_H
#define IW_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/policy.h>

#include "env/facts.h"
#include "policy/rhythm.h"

/* The preset of objects that have none: environment, then program, then ADAPTIVE. */
enum ipcwait_preset iw_policy_default_preset(const struct iw_facts *facts);

/* The preset that holds for one object, whose window has this state. */
enum ipcwait_preset iw_policy_preset(const struct iw_facts *facts, uint32_t state);

/* Threads that wait may be moved to other CPUs: environment, then program or preload module. */
bool iw_policy_moves(const struct iw_facts *facts);

/* No spin is longer, whatever was learned, but for those by the rules of kernels. */
uint64_t iw_policy_ceiling_ns(const struct iw_facts *facts);

/* What a timed sleep costs, and what it may cost on an object whose B is @block_ns. */
struct iw_timer_cost iw_policy_timer(const struct iw_facts *facts, uint64_t block_ns);

/*
 * How long a sleep may last that only an alarm ends, after one of @before_ns; the first, where that
 * is shorter.
 */
int64_t iw_policy_alarm_ns(int64_t before_ns);

/*
 * How long a sleeper that nobody can wake sleeps until it looks, after a sleep of @before_ns or, if
 * that is 0, the first time. @n: such sleepers in the process, this one included.
 */
int64_t iw_policy_look_ns(int64_t before_ns, uint32_t n);

#endif
