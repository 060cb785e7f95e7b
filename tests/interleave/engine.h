/* SPDX-License-Identifier: MIT */
#ifndef TESTS_INTERLEAVE_ENGINE_H
#define TESTS_INTERLEAVE_ENGINE_H

#include <stdint.h>

/* From here on, nobody lives to see it. */
#define ENGINE_NEVER_NS (INT64_MAX / 4)

/* What waiters do in this scenario; set in begin(). */
enum engine_spins {
	ENGINE_SLEEPS, /* at once */
	ENGINE_SPINS,  /* always, for whatever number of looks */
	ENGINE_EITHER,
	ENGINE_ANY, /* and whatever else the engine may be told: no facts, one CPU, a preset, ... */
};

extern enum engine_spins engine_spins;

#endif
