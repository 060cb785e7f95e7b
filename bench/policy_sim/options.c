/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "../../tools/common/arguments.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/number.h"
#include "../../tools/rules/rule.h"
#include "trace.h"
#include "usage.h"

#include <string.h>

#define BLOCK_US_MAX 100000

/*
 * Copy the next name of a comma-separated list. Returns the length, more than the room if it
 * does not fit.
 */
static size_t next_name(const char **list, char *name, size_t room)
{
	size_t length = strcspn(*list, ",");

	if (length < room) {
		memcpy(name, *list, length);
		name[length] = 0;
	}
	*list += length;
	return length;
}

static int set_b_us(struct options *o, const char *text)
{
	char name[24];

	o->n_blocks = 0;
	for (;; text++) {
		const char *begin = text;
		size_t length = next_name(&text, name, sizeof(name));

		if (o->n_blocks == BLOCKS_MOST)
			return refuse("--b-us has more than %d values", BLOCKS_MOST);
		if (length >= sizeof(name) ||
		    number_parse(name, 1, BLOCK_US_MAX, &o->blocks_us[o->n_blocks]))
			return refuse(
				"--b-us has '%s', but must be whole numbers from 1 to "
				"%d with commas between",
				shown(begin, (int)length), BLOCK_US_MAX);
		o->n_blocks++;
		if (!*text)
			return 0;
	}
}

static int set_policy(struct options *o, const char *text)
{
	char name[24];

	o->rules = 0;
	for (;; text++) {
		const char *begin = text;
		size_t length = next_name(&text, name, sizeof(name));
		unsigned i = 0;

		while (length < sizeof(name) && i < n_rules && strcmp(name, rules[i]->name))
			i++;
		if (length >= sizeof(name) || i == n_rules)
			return refuse("--policy has '%s', which is none of the names",
				      shown(begin, (int)length));
		o->rules |= 1u << i;
		if (!*text)
			return 0;
	}
}

static int set_seed(struct options *o, const char *text)
{
	return argument_number("--seed", text, 0, UINT64_MAX, &o->seed);
}

static int set_waits(struct options *o, const char *text)
{
	uint64_t n = 0;
	int r = argument_number("--waits", text, 1, WAITS_MOST, &n);

	o->n_waits = (size_t)n;
	return r;
}

static int set_trace(struct options *o, const char *text)
{
	if (o->n_traces == TRACES_MOST)
		return refuse("--trace: more than %d files", TRACES_MOST);
	o->trace_paths[o->n_traces++] = text;
	return *text ? 0 : refuse("--trace is '', but must be the path of a file");
}

static const struct argument known[] = {
	{ "--b-us", ARGUMENT_VALUE, .set = set_b_us },
	{ "--seed", ARGUMENT_VALUE, .set = set_seed },
	{ "--waits", ARGUMENT_VALUE, .set = set_waits },
	{ "--policy", ARGUMENT_VALUE, .set = set_policy },
	{ "--trace", ARGUMENT_VALUE, .set = set_trace },
	{ "--suite", ARGUMENT_FLAG, .at = offsetof(struct options, suite) },
	{ "--members", ARGUMENT_FLAG, .at = offsetof(struct options, members) },
	{ "--json", ARGUMENT_PATH, .at = offsetof(struct options, json_path) },
	{ "--svg", ARGUMENT_PATH, .at = offsetof(struct options, svg_path) },
	{ "--check", ARGUMENT_FLAG, .at = offsetof(struct options, check) },
	{ "--help", ARGUMENT_PRINT, .print = usage_print_help },
};

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]), NULL };

/* Own waits are not mixed with those that the rules are judged by, unless that is wanted. */
static int choose_waits(struct options *o)
{
	if (!o->n_traces)
		o->n_traces = trace_find_recorded(o->trace_paths);
	else if (o->suite)
		return 0;
	else if (o->check)
		return refuse("--check is for the suite: with --trace also say --suite");
	else
		o->n_waits = 0;
	return 0;
}

int options_parse(struct options *o, int argc, char **argv)
{
	uint32_t all = (1u << n_rules) - 1;
	int r;

	*o = (struct options){ .blocks_us = { 30 },
			       .n_blocks = 1,
			       .seed = 1,
			       .n_waits = 20000,
			       .rules = all };
	r = arguments_parse(o, &arguments, argc, argv);
	if (!r && o->check && o->rules != all)
		return refuse("--check compares all rules, and --policy leaves some "
			      "out");
	return r ? r : choose_waits(o);
}
