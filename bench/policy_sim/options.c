/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "../common/complain.h"
#include "../common/number.h"
#include "rule.h"
#include "trace.h"
#include "usage.h"

#include <string.h>

#define BLOCK_US_MAX 100000
#define SEE_HELP     "; see policy_sim --help"

static int number(const char *what, const char *text, uint64_t least, uint64_t most,
		  uint64_t *n)
{
	if (!number_parse(text, least, most, n))
		return 0;
	return complain("%s is '%s', but must be a whole number from %llu to %llu" SEE_HELP,
			what, shown(text, -1), (unsigned long long)least,
			(unsigned long long)most);
}

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
			return complain("--b-us has more than %d values" SEE_HELP,
					BLOCKS_MOST);
		if (length >= sizeof(name) ||
		    number_parse(name, 1, BLOCK_US_MAX, &o->blocks_us[o->n_blocks]))
			return complain(
				"--b-us has '%s', but must be whole numbers from 1 to "
				"%d with commas between" SEE_HELP,
				shown(begin, (int)(length < 100 ? length : 100)),
				BLOCK_US_MAX);
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
			return complain(
				"--policy has '%s', which is none of the names" SEE_HELP,
				shown(begin, (int)(length < 100 ? length : 100)));
		o->rules |= 1u << i;
		if (!*text)
			return 0;
	}
}

static int set_seed(struct options *o, const char *text)
{
	return number("--seed", text, 0, UINT64_MAX, &o->seed);
}

static int set_waits(struct options *o, const char *text)
{
	uint64_t n = 0;
	int r = number("--waits", text, 1, WAITS_MOST, &n);

	o->n_waits = (size_t)n;
	return r;
}

static int set_trace(struct options *o, const char *text)
{
	if (o->n_traces == TRACES_MOST)
		return complain("--trace: more than %d files" SEE_HELP, TRACES_MOST);
	o->trace_paths[o->n_traces++] = text;
	return *text ? 0
		     : complain("--trace is '', but must be the path of a file" SEE_HELP);
}

static int set_json(struct options *o, const char *text)
{
	o->json_path = text;
	return *text ? 0
		     : complain("--json is '', but must be the path of a file" SEE_HELP);
}

static int set_svg(struct options *o, const char *text)
{
	o->svg_path = text;
	return *text ? 0 : complain("--svg is '', but must be the path of a file" SEE_HELP);
}

static int set_members(struct options *o, const char *text)
{
	(void)text;
	o->members = true;
	return 0;
}

static int set_check(struct options *o, const char *text)
{
	(void)text;
	o->check = true;
	return 0;
}

static int show_help(struct options *o, const char *text)
{
	(void)o;
	(void)text;
	usage_print_help();
	return 1;
}

static const struct option {
	const char *name;
	bool has_value;
	int (*set)(struct options *o, const char *text);
} known[] = {
	{ "--b-us", true, set_b_us },    { "--seed", true, set_seed },
	{ "--waits", true, set_waits },  { "--policy", true, set_policy },
	{ "--trace", true, set_trace },  { "--members", false, set_members },
	{ "--json", true, set_json },    { "--svg", true, set_svg },
	{ "--check", false, set_check }, { "--help", false, show_help },
};

static const struct option *find_option(const char *text, size_t length)
{
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == length &&
		    !strncmp(known[i].name, text, length))
			return &known[i];
	return NULL;
}

/* argv[*i] is an option; its value is behind '=' or is the next argument. */
static int parse_option(struct options *o, int argc, char **argv, int *i)
{
	const char *text = argv[*i];
	size_t length = strcspn(text, "=");
	const struct option *option = find_option(text, length);
	const char *value = text[length] ? text + length + 1 : NULL;

	if (!option)
		return complain("unknown argument '%s'" SEE_HELP, shown(text, (int)length));
	if (!option->has_value && value)
		return complain("%s takes no value" SEE_HELP, option->name);
	if (option->has_value && !value) {
		if (*i + 1 >= argc)
			return complain("%s needs a value" SEE_HELP, option->name);
		value = argv[++*i];
	}
	return option->set(o, value);
}

int options_parse(struct options *o, int argc, char **argv)
{
	uint32_t all = (1u << n_rules) - 1;
	int r = 0;

	*o = (struct options){ .blocks_us = { 30 },
			       .n_blocks = 1,
			       .seed = 1,
			       .n_waits = 20000,
			       .rules = all };
	for (int i = 1; i < argc && !r; i++)
		r = parse_option(o, argc, argv, &i);
	if (!r && o->check && o->rules != all)
		return complain("--check compares all rules, and --policy leaves some "
				"out" SEE_HELP);
	if (!r && !o->n_traces)
		o->n_traces = trace_find_recorded(o->trace_paths);
	return r;
}
