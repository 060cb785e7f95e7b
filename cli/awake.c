/* SPDX-License-Identifier: MIT */
#include "awake.h"
#include "../tools/common/arguments.h"
#include "../tools/common/complain.h"

#include <errno.h>
#include <string.h>

#define BUDGET_MOST 10000

static const char help[] =
	"Usage: ipcwait awake [OPTION]... [--] [PROGRAM [ARGUMENT]...]\n"
	"\n"
	"Keeps idle CPUs polling while a program runs, or until it is interrupted, but\n"
	"only while they idle so shortly that to halt and to be woken costs more.\n"
	"\n"
	"  --budget PERCENT  of one CPU that polling may take, 1 to 10000; 100 by\n"
	"                    default\n"
	"  --backend B       auto, qos or spinner\n"
	"  --explain         say what was chosen, and at the end what was done\n"
	"  --status          show what this machine offers, and run nothing\n"
	"  -h, --help\n"
	"\n"
	"Exit status: that of the program; a signal that ended it ends ipcwait too, for a\n"
	"shell 128 + N; 125 ipcwait itself failed, or there is no program and nothing to\n"
	"be done; 126 the program cannot be run; 127 it was not found. Without a program:\n"
	"0 after SIGINT, SIGTERM, SIGHUP or SIGQUIT.\n";

struct options {
	struct awake_options awake;
	bool explain, status;
};

static void print_help(void)
{
	fputs(help, stdout);
}

static int set_backend(struct options *o, const char *text)
{
	static const char *const names[] = { "auto", "qos", "spinner" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			o->awake.backend = (enum awake_backend)i;
			return 0;
		}
	}
	return refuse("--backend is '%s', but must be one of auto, qos, spinner",
		      shown(text, -1));
}

static int set_budget(struct options *o, const char *text)
{
	uint64_t n = 0;

	if (argument_number("--budget", text, 1, BUDGET_MOST, &n))
		return -EINVAL;
	o->awake.budget_percent = (unsigned)n;
	return 0;
}

static const struct argument known[] = {
	{ "--budget", ARGUMENT_VALUE, .set = set_budget },
	{ "--backend", ARGUMENT_VALUE, .set = set_backend },
	{ "--explain", ARGUMENT_FLAG, .at = offsetof(struct options, explain) },
	{ "--status", ARGUMENT_FLAG, .at = offsetof(struct options, status) },
	{ "--help", ARGUMENT_PRINT, .print = print_help },
};

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]), NULL };

static int print_status(const struct options *o)
{
	struct awake_machine machine;
	struct awake_choice choice;

	(void)awake_machine_read(&machine, INT64_MAX);
	awake_choose(&choice, &machine, &o->awake);
	awake_print_status(&machine, &choice, &o->awake);
	return EXIT_DONE;
}

static int run_beside(const struct options *o, char **argv)
{
	static struct awake awake;
	struct run_program p;
	struct run_end end;
	int r = run_find(&p, argv, NULL);

	if (r) {
		complain("cannot run '%s': %s", shown(argv[0], -1), strerror(-r));
		return r == -ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE;
	}
	if (awake_open(&awake, &o->awake))
		return run_exec(&p);
	r = run_child(&p, &awake.watch, &end);
	awake_close(&awake);
	return r ? RUN_FAILED : run_status_of(end.wait_status);
}

static int run_alone(const struct options *o)
{
	static struct awake awake;
	sigset_t set;

	run_block_ends(&set);
	if (awake_open(&awake, &o->awake))
		return RUN_FAILED;
	(void)run_until_signal(&set, &awake.watch);
	awake_close(&awake);
	return EXIT_DONE;
}

int awake_main(int argc, char **argv)
{
	struct options o = { .awake = { .budget_percent = AWAKE_BUDGET_PERCENT } };
	int first = arguments_parse_front(&o, &arguments, argc, argv);

	if (!first)
		return EXIT_DONE;
	if (first > 0 && o.status && first < argc)
		first = refuse("--status runs no program");
	if (first < 0)
		return RUN_FAILED;
	o.awake.explain = o.explain;
	o.awake.alone = first == argc;
	if (o.status)
		return print_status(&o);
	return first < argc ? run_beside(&o, argv + first) : run_alone(&o);
}
