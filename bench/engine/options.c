/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "row.h"
#include "usage.h"
#include "../common/complain.h"
#include "../common/number.h"

#include <string.h>

#define SCALE_PERCENT_MOST 1000

#define SEE_HELP "; see wait_bench --help"

static int number(const char *what, const char *text, uint64_t most, uint64_t *n)
{
	if (!number_parse(text, 1, most, n))
		return 0;
	return complain("%s is '%s', but must be a whole number from 1 to %llu" SEE_HELP,
			what, shown(text, -1), (unsigned long long)most);
}

static int set_repeat(struct options *o, const char *text)
{
	uint64_t n = 1;
	int r = number("--repeat", text, ROUNDS_MOST, &n);

	o->rounds = (unsigned)n;
	return r;
}

static int set_scale(struct options *o, const char *text)
{
	uint64_t percent = 100;
	int r = number("--scale", text, SCALE_PERCENT_MOST, &percent);

	o->scale = (double)percent / 100;
	return r;
}

static int set_tick(struct options *o, const char *text)
{
	o->timer = !strcmp(text, "timer");
	if (o->timer || !strcmp(text, "busy"))
		return 0;
	return complain("--tick is '%s', but must be busy or timer" SEE_HELP,
			shown(text, -1));
}

static int set_json(struct options *o, const char *text)
{
	o->json_path = text;
	return *text ? 0
		     : complain("--json is '', but must be the path of a file" SEE_HELP);
}

static int set_all(struct options *o, const char *text)
{
	(void)text;
	o->rows = (1u << ROW_COUNT) - 1;
	return 0;
}

static int set_no_progress(struct options *o, const char *text)
{
	(void)text;
	o->progress = false;
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

static int show_version(struct options *o, const char *text)
{
	(void)o;
	(void)text;
	usage_print_version();
	return 1;
}

static const struct option {
	const char *name;
	bool has_value;
	int (*set)(struct options *o, const char *text);
} known[] = {
	{ "--all", false, set_all },          { "--repeat", true, set_repeat },
	{ "--scale", true, set_scale },       { "--tick", true, set_tick },
	{ "--json", true, set_json },         { "--no-progress", false, set_no_progress },
	{ "--check", false, set_check },      { "--help", false, show_help },
	{ "--version", false, show_version },
};

static const struct option *find_option(const char *text, size_t length)
{
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == length &&
		    !strncmp(known[i].name, text, length))
			return &known[i];
	return NULL;
}

/* argv[*i] begins with two dashes; a value is behind '=' or is the next argument. */
static int parse_option(struct options *o, int *i)
{
	const char *text = o->argv[*i];
	size_t length = strcspn(text, "=");
	const struct option *option = find_option(text, length);
	const char *value = text[length] ? text + length + 1 : NULL;

	if (!option)
		return complain("unknown option '%s'" SEE_HELP, shown(text, (int)length));
	if (!option->has_value && value)
		return complain("%s takes no value" SEE_HELP, option->name);
	if (option->has_value && !value) {
		if (*i + 1 >= o->argc)
			return complain("%s needs a value" SEE_HELP, option->name);
		value = o->argv[++*i];
	}
	return option->set(o, value);
}

static int parse_row(struct options *o, const char *text)
{
	for (unsigned i = 0; i < ROW_COUNT; i++)
		if (!strcmp(rows[i]->name, text)) {
			o->rows |= 1u << i;
			return 0;
		}
	return complain("'%s' is none of the rows" SEE_HELP, shown(text, -1));
}

int options_parse(struct options *o, int argc, char **argv)
{
	int r = 0;

	*o = (struct options){ .rounds = 5, .scale = 1, .progress = true };
	o->argc = argc;
	o->argv = argv;
	for (int i = 1; i < argc && !r; i++)
		r = !strncmp(argv[i], "--", 2) ? parse_option(o, &i)
					       : parse_row(o, argv[i]);
	if (!r && !o->rows)
		return complain("no row is named, and --all is not given" SEE_HELP);
	return r;
}

uint64_t options_scaled(const struct options *o, uint64_t n, uint64_t least)
{
	uint64_t scaled = (uint64_t)((double)n * o->scale);

	return scaled > least ? scaled : least;
}
