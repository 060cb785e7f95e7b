/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "number.h"
#include "rows.h"
#include "shown.h"
#include "usage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ITEMS_MAX   1000000000
#define LOOPS_MAX   1000000000
#define IDLE_US_MAX 1000000
#define REPEAT_MAX  1000

#define BIT(row) (1u << (row))
#define ALL_ROWS (BIT(ROW_COUNT) - 1)

__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...)
{
	va_list args;

	fputs("sem_test: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("; see sem_test --help\n", stderr);
	return -EINVAL;
}

static int number(const char *what, const char *text, uint64_t most, uint64_t *n)
{
	if (!number_parse(text, 1, most, n))
		return 0;
	return refuse("%s is '%s', but must be a whole number from 1 to %llu"
		      " (k: thousand, M: million)",
		      what, shown(text, -1), (unsigned long long)most);
}

static int set_rows(struct options *o, const char *text)
{
	const char *bad;
	int length;

	if (!rows_parse(text, &o->rows, &bad, &length))
		return 0;
	return refuse(
		"--rows has '%s', but its names are glibc, ipcwait, spin, block and hog,"
		" with commas between",
		shown(bad, length));
}

static int set_idle_us(struct options *o, const char *text)
{
	if (o->mode == MODE_UNCONTENDED)
		return refuse("--idle-us and --uncontended exclude each other");
	o->mode = MODE_IDLE;
	return number("--idle-us", text, IDLE_US_MAX, &o->idle_us);
}

static int set_uncontended(struct options *o, const char *text)
{
	(void)text;
	if (o->mode == MODE_IDLE)
		return refuse("--idle-us and --uncontended exclude each other");
	o->mode = MODE_UNCONTENDED;
	return 0;
}

static int set_repeat(struct options *o, const char *text)
{
	uint64_t n = 0;
	int r = number("--repeat", text, REPEAT_MAX, &n);

	o->repeat = (unsigned)n;
	return r;
}

static int set_json(struct options *o, const char *text)
{
	o->json_path = text;
	return *text ? 0 : refuse("--json is '', but must be the path of a file");
}

static int set_processes(struct options *o, const char *text)
{
	(void)text;
	o->threads = false;
	o->processes = true;
	return 0;
}

static int set_both(struct options *o, const char *text)
{
	(void)text;
	o->threads = true;
	o->processes = true;
	return 0;
}

static int set_one_cpu(struct options *o, const char *text)
{
	(void)text;
	o->one_cpu = true;
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
	{ "--rows", true, set_rows },
	{ "--processes", false, set_processes },
	{ "--both", false, set_both },
	{ "--one-cpu", false, set_one_cpu },
	{ "--idle-us", true, set_idle_us },
	{ "--uncontended", false, set_uncontended },
	{ "--repeat", true, set_repeat },
	{ "--json", true, set_json },
	{ "--no-progress", false, set_no_progress },
	{ "--check", false, set_check },
	{ "--help", false, show_help },
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
	const struct option *known_option = find_option(text, length);
	const char *value = text[length] ? text + length + 1 : NULL;

	if (!known_option)
		return refuse("unknown option '%s'", shown(text, (int)length));
	if (!known_option->has_value && value)
		return refuse("%s takes no value", known_option->name);
	if (known_option->has_value && !value) {
		if (*i + 1 >= o->argc)
			return refuse("%s needs a value", known_option->name);
		value = o->argv[++*i];
	}
	return known_option->set(o, value);
}

static int parse_positional(struct options *o, const char *text, int n)
{
	if (n == 0)
		return number("ITEMS", text, ITEMS_MAX, &o->items);
	if (n == 1)
		return number("LOOPS", text, LOOPS_MAX, &o->loops);
	return refuse("'%s' is one argument too many", shown(text, -1));
}

static int check_positionals(const struct options *o, int n)
{
	if (n == 0)
		return refuse("ITEMS is missing, a whole number from 1 to %d", ITEMS_MAX);
	if (o->mode == MODE_HAND_OFF && n == 1)
		return refuse("LOOPS is missing, a whole number from 1 to %d", LOOPS_MAX);
	if (o->mode != MODE_HAND_OFF && n == 2)
		return refuse("LOOPS means nothing with --idle-us or --uncontended: no "
			      "work is done");
	return 0;
}

static int choose_rows(struct options *o)
{
	const unsigned defaults[] = {
		[MODE_HAND_OFF] = ALL_ROWS,
		[MODE_IDLE] = BIT(ROW_GLIBC) | BIT(ROW_IPCWAIT),
		[MODE_UNCONTENDED] = BIT(ROW_GLIBC) | BIT(ROW_IPCWAIT) | BIT(ROW_BLOCK),
	};
	const unsigned checked = BIT(ROW_GLIBC) | BIT(ROW_IPCWAIT);

	if (!o->rows)
		o->rows = defaults[o->mode];
	if (o->mode == MODE_UNCONTENDED && o->processes)
		return refuse(
			"--processes and --both mean nothing with --uncontended: one thread"
			" does everything");
	if (o->mode == MODE_UNCONTENDED && (o->rows & BIT(ROW_HOG)))
		return refuse("--rows has 'hog', which means nothing with --uncontended");
	if (o->check && (o->rows & checked) != checked)
		return refuse("--check compares the rows glibc and ipcwait, and --rows "
			      "leaves one out");
	return 0;
}

int options_parse(struct options *o, int argc, char **argv)
{
	int positionals = 0;
	int r = 0;

	*o = (struct options){ .repeat = 5, .threads = true, .progress = true };
	o->argc = argc;
	o->argv = argv;
	for (int i = 1; i < argc && !r; i++)
		r = !strncmp(argv[i], "--", 2)
			    ? parse_option(o, &i)
			    : parse_positional(o, argv[i], positionals++);
	if (!r)
		r = check_positionals(o, positionals);
	return r ? r : choose_rows(o);
}
