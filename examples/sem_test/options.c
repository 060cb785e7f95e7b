/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "rows.h"
#include "../../tools/common/arguments.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/number.h"

#include <ipcwait/base.h>
#include <stdio.h>

#define ITEMS_MAX   1000000000
#define LOOPS_MAX   1000000000
#define IDLE_US_MAX 1000000
#define REPEAT_MAX  1000

#define BIT(row) (1u << (row))
#define ALL_ROWS (BIT(ROW_COUNT) - 1)

static int number(const char *what, const char *text, uint64_t most, uint64_t *n)
{
	if (!number_parse_large(text, 1, most, n))
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
		"--rows has '%s', but its names are glibc, ipcwait, spin, block, haltpoll,"
		" ticks, hog and awake, with commas between",
		shown(bad, length));
}

static int set_idle_us(struct options *o, const char *text)
{
	if (o->mode == MODE_UNCONTENDED)
		return refuse("--idle-us and --uncontended exclude each other");
	o->mode = MODE_IDLE;
	return number("--idle-us", text, IDLE_US_MAX, &o->idle_us);
}

static int set_uncontended(struct options *o, const char *none)
{
	(void)none;
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

static int set_processes(struct options *o, const char *none)
{
	(void)none;
	o->threads = false;
	o->processes = true;
	return 0;
}

static int set_both(struct options *o, const char *none)
{
	(void)none;
	o->threads = true;
	o->processes = true;
	return 0;
}

static const char before_rows[] = "Usage: sem_test ITEMS LOOPS [OPTION]...\n"
				  "       sem_test ITEMS --idle-us N [OPTION]...\n"
				  "       sem_test ITEMS --uncontended [OPTION]...\n"
				  "\n"
				  "A producer hands ITEMS items to a consumer through two "
				  "semaphores. For each item the\n"
				  "producer works for 2 x LOOPS and the consumer for "
				  "LOOPS, so the consumer waits. The table\n"
				  "compares semaphores with each other and with the "
				  "producer's work alone, the bound.\n"
				  "Numbers may end in k or M: sem_test 800k 2000.\n"
				  "\n"
				  "Rows:\n";

static const char after_rows[] =
	"\n"
	"  --rows LIST     only these rows, names with commas between (default: all but "
	"awake)\n"
	"  --processes     two processes with shared memory instead of two threads\n"
	"  --both          two threads, and then two processes\n"
	"  --one-cpu       everything on one CPU\n"
	"  --idle-us N     no work: the producer sleeps for N us before each item, so that "
	"the\n"
	"                  consumer's waits are long; shows the CPU time per item\n"
	"  --uncontended   no hand-off: one thread posts and waits ITEMS times\n"
	"  --objects       name the library's semaphores, and show what it counts of each\n"
	"  --repeat N      runs per row, interleaved (default 5); from 3 on the first and "
	"the last\n"
	"                  are dropped; the table shows medians\n"
	"  --json FILE     also write all runs, medians and the environment to FILE\n"
	"  --no-progress   no progress bar (there is none either if stderr is not a "
	"terminal)\n"
	"  --check         exit with 3 if a bar is not reached\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 0 done; 1 a run failed; 2 bad arguments, nothing was run; 3 see "
	"--check.\n";

static void print_help(void)
{
	fputs(before_rows, stdout);
	for (int i = 0; i < ROW_COUNT; i++)
		printf("  %-15s %s\n", rows[i].name, rows[i].what);
	fputs(after_rows, stdout);
}

static void print_version(void)
{
	printf("sem_test, libipcwait %s\n", ipcwait_version());
}

static const struct argument known[] = {
	{ "--rows", ARGUMENT_VALUE, .set = set_rows },
	{ "--processes", ARGUMENT_DO, .set = set_processes },
	{ "--both", ARGUMENT_DO, .set = set_both },
	{ "--one-cpu", ARGUMENT_FLAG, .at = offsetof(struct options, one_cpu) },
	{ "--idle-us", ARGUMENT_VALUE, .set = set_idle_us },
	{ "--uncontended", ARGUMENT_DO, .set = set_uncontended },
	{ "--objects", ARGUMENT_FLAG, .at = offsetof(struct options, objects) },
	{ "--repeat", ARGUMENT_VALUE, .set = set_repeat },
	{ "--json", ARGUMENT_PATH, .at = offsetof(struct options, json_path) },
	{ "--no-progress", ARGUMENT_FLAG, .at = offsetof(struct options, no_progress) },
	{ "--check", ARGUMENT_FLAG, .at = offsetof(struct options, check) },
	{ "--help", ARGUMENT_PRINT, .print = print_help },
	{ "--version", ARGUMENT_PRINT, .print = print_version },
};

static int set_number(struct options *o, const char *text, unsigned i)
{
	if (i == 0)
		return number("ITEMS", text, ITEMS_MAX, &o->items);
	if (i == 1)
		return number("LOOPS", text, LOOPS_MAX, &o->loops);
	return refuse("'%s' is one argument too many", shown(text, -1));
}

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]),
					    set_number };

static int check_numbers(const struct options *o)
{
	if (!o->items)
		return refuse("ITEMS is missing, a whole number from 1 to %d", ITEMS_MAX);
	if (o->mode == MODE_HAND_OFF && !o->loops)
		return refuse("LOOPS is missing, a whole number from 1 to %d", LOOPS_MAX);
	if (o->mode != MODE_HAND_OFF && o->loops)
		return refuse("LOOPS means nothing with --idle-us or --uncontended: no "
			      "work is done");
	return 0;
}

static int choose_rows(struct options *o)
{
	const unsigned defaults[] = {
		[MODE_HAND_OFF] = ALL_ROWS & ~BIT(ROW_AWAKE),
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
	if (o->objects && o->processes)
		return refuse("--objects counts in one process, and --processes and --both "
			      "have two");
	if (o->mode == MODE_UNCONTENDED && (o->rows & (BIT(ROW_HOG) | BIT(ROW_AWAKE))))
		return refuse("--rows has 'hog' or 'awake', which mean nothing with "
			      "--uncontended");
	if (o->check && (o->rows & checked) != checked)
		return refuse("--check compares the rows glibc and ipcwait, and --rows "
			      "leaves one out");
	return 0;
}

int options_parse(struct options *o, int argc, char **argv)
{
	int r;

	*o = (struct options){ .repeat = 5, .threads = true };
	o->argc = argc;
	o->argv = argv;
	r = arguments_parse(o, &arguments, argc, argv);
	if (!r)
		r = check_numbers(o);
	return r ? r : choose_rows(o);
}
