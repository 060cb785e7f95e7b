/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "row.h"
#include "usage.h"
#include "../../tools/common/arguments.h"
#include "../../tools/common/complain.h"

#include <string.h>

#define SCALE_PERCENT_MOST 1000

static int set_repeat(struct options *o, const char *text)
{
	uint64_t n = 1;
	int r = argument_number("--repeat", text, 1, ROUNDS_MOST, &n);

	o->rounds = (unsigned)n;
	return r;
}

static int set_scale(struct options *o, const char *text)
{
	uint64_t percent = 100;
	int r = argument_number("--scale", text, 1, SCALE_PERCENT_MOST, &percent);

	o->scale = (double)percent / 100;
	return r;
}

static int set_tick(struct options *o, const char *text)
{
	o->timer = !strcmp(text, "timer");
	if (o->timer || !strcmp(text, "busy"))
		return 0;
	return refuse("--tick is '%s', but must be busy or timer", shown(text, -1));
}

static int set_wakes(struct options *o, const char *text)
{
	static const struct {
		const char *name;
		unsigned wakes;
	} kinds[] = {
		{ "found", 1u << WAKES_FOUND },
		{ "cheap", 1u << WAKES_CHEAP },
		{ "both", 1u << WAKES_FOUND | 1u << WAKES_CHEAP },
	};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, text)) {
			o->wakes = kinds[i].wakes;
			return 0;
		}
	return refuse("--wakes is '%s', but must be found, cheap or both", shown(text, -1));
}

static int set_all(struct options *o, const char *none)
{
	(void)none;
	o->rows = (1u << ROW_COUNT) - 1;
	return 0;
}

static int add_row(struct options *o, const char *text, unsigned i)
{
	(void)i;
	for (unsigned row = 0; row < ROW_COUNT; row++)
		if (!strcmp(rows[row]->name, text)) {
			o->rows |= 1u << row;
			return 0;
		}
	return refuse("'%s' is none of the rows", shown(text, -1));
}

static const struct argument known[] = {
	{ "--all", ARGUMENT_DO, .set = set_all },
	{ "--repeat", ARGUMENT_VALUE, .set = set_repeat },
	{ "--scale", ARGUMENT_VALUE, .set = set_scale },
	{ "--tick", ARGUMENT_VALUE, .set = set_tick },
	{ "--wakes", ARGUMENT_VALUE, .set = set_wakes },
	{ "--json", ARGUMENT_PATH, .at = offsetof(struct options, json_path) },
	{ "--no-progress", ARGUMENT_FLAG, .at = offsetof(struct options, no_progress) },
	{ "--check", ARGUMENT_FLAG, .at = offsetof(struct options, check) },
	{ "--help", ARGUMENT_PRINT, .print = usage_print_help },
	{ "--version", ARGUMENT_PRINT, .print = usage_print_version },
};

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]),
					    add_row };

int options_parse(struct options *o, int argc, char **argv)
{
	int r;

	*o = (struct options){ .rounds = 5, .scale = 1, .wakes = 1u << WAKES_FOUND };
	o->argc = argc;
	o->argv = argv;
	r = arguments_parse(o, &arguments, argc, argv);
	if (!r && !o->rows)
		return refuse("no row is named, and --all is not given");
	return r;
}

uint64_t options_scaled(const struct options *o, uint64_t n, uint64_t least)
{
	uint64_t scaled = (uint64_t)((double)n * o->scale);

	return scaled > least ? scaled : least;
}
