/* SPDX-License-Identifier: MIT */
#ifndef TESTS_INTERLEAVE_ENGINE_H
#define TESTS_INTERLEAVE_ENGINE_H

/* What waiters do in this scenario; set in begin(). */
enum engine_spins {
	ENGINE_SLEEPS, /* at once */
	ENGINE_SPINS,  /* always, for whatever number of looks */
	ENGINE_EITHER,
	ENGINE_ANY, /* and whatever else the engine may be told: no facts, one CPU, a preset, ... */
};

extern enum engine_spins engine_spins;

#endif
