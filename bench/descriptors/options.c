/* SPDX-License-Identifier: MIT */
/* The command line of pairs. */
#include "pairs.h"

#include "../../tools/common/arguments.h"
#include "../../tools/common/complain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORK_MOST_US  100000
#define PAUSE_MOST_US 1000000
#define NICE_MOST     19
#define SECONDS_LEAST 0.01
#define SECONDS_MOST  60

const char *const kind_names[KINDS] = { "pipe", "unix", "tcp", "eventfd" };
const char *const way_names[WAYS] = { "plain", "fixed", "library" };
const char *const place_names[PLACES] = { "free", "apart", "together", "start" };
static const char *const beside_names[BESIDES] = { "none", "hog", "compute", "one" };

static int one_of(const char *what, const char *text, const char *const *names, unsigned n,
		  unsigned *i)
{
	for (*i = 0; *i < n; ++*i)
		if (strcmp(text, names[*i]) == 0)
			return 0;
	return refuse("%s: there is no %s", what, shown(text, 40));
}

static int set_kind(struct options *o, const char *text)
{
	return one_of("--kind", text, kind_names, KINDS, &o->kind);
}

static int set_way(struct options *o, const char *text)
{
	return one_of("--way", text, way_names, WAYS, &o->way);
}

static int set_place(struct options *o, const char *text)
{
	return one_of("--place", text, place_names, PLACES, &o->place);
}

static int set_beside(struct options *o, const char *text)
{
	return one_of("--beside", text, beside_names, BESIDES, &o->beside);
}

static int set_pairs(struct options *o, const char *text)
{
	return argument_number("--pairs", text, 1, PAIRS_MOST, &o->pairs);
}

static int set_work(struct options *o, const char *text)
{
	return argument_number("--work-us", text, 0, WORK_MOST_US, &o->work_us);
}

static int set_long(struct options *o, const char *text)
{
	return argument_number("--long-us", text, 0, WORK_MOST_US, &o->long_us);
}

static int set_nice(struct options *o, const char *text)
{
	return argument_number("--nice", text, 0, NICE_MOST, &o->nice);
}

static int set_pause(struct options *o, const char *text)
{
	return argument_number("--pause-us", text, 0, PAUSE_MOST_US, &o->pause_us);
}

static int set_window(struct options *o, const char *text)
{
	return argument_number("--window-us", text, 0, WORK_MOST_US, &o->window_us);
}

static int set_seconds(struct options *o, const char *text)
{
	char *end;

	o->seconds = strtod(text, &end);
	if (strspn(text, "0123456789.") != strlen(text) || end == text || *end ||
	    !(o->seconds >= SECONDS_LEAST && o->seconds <= SECONDS_MOST))
		return refuse("--seconds: %s is no number from %g to %d", shown(text, 40),
			      SECONDS_LEAST, SECONDS_MOST);
	return 0;
}

static void help(void)
{
	fputs("Usage: pairs [OPTION...]\n\n"
	      "  --kind pipe|unix|tcp|eventfd  what is written to (pipe)\n"
	      "  --way plain|fixed|library     how it is waited for (plain)\n"
	      "  --window-us W                 fixed: look so long before the call (50)\n"
	      "  --pairs N                     pairs of processes (1)\n"
	      "  --work-us W                   work of each side in each turn (0)\n"
	      "  --long-us W                   the same in the middle third of the time\n"
	      "  --place free|apart|together|start\n"
	      "                                the ends pinned to two CPUs, or to one; or "
	      "to "
	      "one\n"
	      "                                until they begin, and all is measured "
	      "(free)\n"
	      "  --beside none|hog|compute|one a busy process on each CPU: of SCHED_IDLE, "
	      "or as any\n"
	      "                                that computes; or one of these anywhere "
	      "(none)\n"
	      "  --nice N                      of the pairs (0)\n"
	      "  --pause-us P                  one side sleeps before each turn (0)\n"
	      "  --seconds S                   how long (1)\n",
	      stdout);
}

int options_parse(struct options *o, int argc, char **argv)
{
	static const struct argument known[] = {
		{ "--kind", ARGUMENT_VALUE, .set = set_kind },
		{ "--way", ARGUMENT_VALUE, .set = set_way },
		{ "--long-us", ARGUMENT_VALUE, .set = set_long },
		{ "--nice", ARGUMENT_VALUE, .set = set_nice },
		{ "--place", ARGUMENT_VALUE, .set = set_place },
		{ "--pairs", ARGUMENT_VALUE, .set = set_pairs },
		{ "--work-us", ARGUMENT_VALUE, .set = set_work },
		{ "--beside", ARGUMENT_VALUE, .set = set_beside },
		{ "--pause-us", ARGUMENT_VALUE, .set = set_pause },
		{ "--window-us", ARGUMENT_VALUE, .set = set_window },
		{ "--seconds", ARGUMENT_VALUE, .set = set_seconds },
		{ "--help", ARGUMENT_PRINT, .print = help },
	};
	static const struct arguments arguments = { known, sizeof(known) / sizeof(*known),
						    NULL };

	return arguments_parse(o, &arguments, argc, argv);
}
