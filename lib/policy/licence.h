/* SPDX-License-Identifier: MIT */
/*
 * How many threads of the process may spin at a time: one fewer than there are CPUs, so that
 * one is left for whoever ends the waits. Beyond that, spinners take the CPUs from those they
 * wait for.
 */
#ifndef IW_POLICY_LICENCE_H
#define IW_POLICY_LICENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "env/facts.h"

/*
 * A licence from @now until iw_licence_return(), at most for a time no spin lasts: one whose
 * thread was cancelled or jumped out of the spin expires. Returns its number, 0 if all are
 * taken.
 */
uint32_t iw_licence_take(const struct iw_facts *facts, uint64_t now);

void iw_licence_return(uint32_t licence);

#endif
