/* SPDX-License-Identifier: MIT */
/*
 * Channels between processes beside other objects in one wait. Sleepers look again by themselves;
 * the scenarios still want everybody to be told while nobody has died.
 */
#include "interleave/made_objects.h"
#include "interleave/made_roles.h"

#define PLAIN \
	.begin = made_begin, .thread = made_thread, .end = made_end, .always = made_look
#define COMMON PLAIN, .at_rest = made_at_rest, .process = { 0, 1, 2, 3 }
#define MORTAL                                                                \
	PLAIN, .at_rest = made_rescue, .died = made_shared_died, .mortal = 1, \
	       .process = { 0, 1, 2, 3 }, .faults = { .kills = 1 }, .patient = true

const struct model_scenario made_shared_scenarios[] = {
	{ .name = "made: between processes",
	  .threads = 2,
	  COMMON,
	  .about = "between the look at the channel and the sleep, or after it",
	  SCRIPT{ .objects = "s",
		  .sole = true,
		  .does = { { { MADE_TAKES, "as" } }, { { MADE_PUTS, "s" } } },
		  .spins = ENGINE_EITHER },
	  SEARCH(2, 1, 1, 3, 1500) },
	{ .name = "made: between processes, one looks",
	  .threads = 4,
	  COMMON,
	  .about = "and leaves the element to the one who receives, who is told",
	  SCRIPT{ .objects = "s",
		  .does = { { { MADE_GETS, "s" } },
			    { { MADE_LOOKS, "as" } },
			    { { MADE_PUTS, "s" } },
			    { { MADE_PUTS, "a" } } } },
	  SEARCH(1, 1, 1, 4, 2000) },
	{ .name = "made: between processes, taken",
	  .threads = 2,
	  COMMON,
	  .about = "during the look: what lies behind it is there",
	  SCRIPT{ .objects = "s",
		  .does = { { { MADE_TAKES, "sa" } },
			    { { MADE_PUTS, "ss" }, { MADE_TRIES, "s" } } } },
	  SEARCH(3, 2, 1, 3, 1500) },
	{ .name = "made: between processes, drained",
	  .threads = 3,
	  COMMON,
	  .about = "one of two waits for it alone: both learn of the end",
	  SCRIPT{ .objects = "s",
		  .does = { { { MADE_DRAINS, "sa" } },
			    { { MADE_DRAINS, "s" } },
			    { { MADE_PUTS, "s" }, { MADE_CLOSES, "s" } } } },
	  SEARCH(1, 1, 1, 4, 2000) },
	{ .name = "made: a sender is killed",
	  .threads = 2,
	  MORTAL,
	  .about = "anywhere: what it has left there is found",
	  SCRIPT{ .objects = "s",
		  .does = { { { MADE_PUTS, "s" } }, { { MADE_TAKES, "as" } } } },
	  SEARCH(2, 1, 1, 4, 2000) },
	{ .name = "made: a sender is killed before another",
	  .threads = 3,
	  MORTAL,
	  .about = "its claim hides an element: who waits takes it away",
	  SCRIPT{ .objects = "s",
		  .does = { { { MADE_PUTS, "s" } },
			    { { MADE_TAKES, "as" } },
			    { { MADE_PUTS, "s" } } } },
	  SEARCH(1, 1, 1, 4, 2000) },
	{ .name = "made: who looks is killed",
	  .threads = 3,
	  MORTAL,
	  .about = "with what it was told, anywhere: the one who receives finds it",
	  SCRIPT{ .objects = "s",
		  .does = { { { MADE_LOOKS, "sa" } },
			    { { MADE_TAKES, "sa" } },
			    { { MADE_PUTS, "sa" } } } },
	  SEARCH(1, 1, 1, 4, 2000) },
	{ 0 },
};
