/* SPDX-License-Identifier: MIT */
/*
 * The parts of the library whose answers engine.c makes up: each by itself, with its real source,
 * above the kernel's part that the scenarios make up. engine_<module>.c includes the source, so
 * that the checker can be told of its static data and put it back before each execution.
 *
 * What a scenario notes for itself is volatile: other threads and handlers run in the middle of
 * atomic accesses, which is nothing that a compiler expects.
 */
#ifndef TESTS_INTERLEAVE_ENGINE_MODULES_H
#define TESTS_INTERLEAVE_ENGINE_MODULES_H

#include "env/facts.h"
#include "interleave/model.h"

extern const struct model_scenario engine_calibrate[], engine_cost[], engine_credit[],
	engine_facts[], engine_objects[], engine_policy[], engine_record[], engine_sites[],
	engine_stats[], engine_team[], engine_window[];

/* Ticks are ns, there are two CPUs, nothing is configured. */
extern const struct iw_facts engine_usual_facts;

/* Some time, in ticks. */
#define ENGINE_NOW UINT64_C(1000000000000)

/* In begin(): the facts are watched, and known. */
void engine_know_facts(void);

/* The id of the process. */
extern uint32_t engine_process;

#endif
