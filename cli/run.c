/* SPDX-License-Identifier: MIT */
#include "run.h"
#include "awake.h"
#include "../tools/common/arguments.h"
#include "../tools/common/complain.h"
#include "../tools/common/outfile.h"
#include "../tools/common/tally_form.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
	"Usage: ipcwait run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"\n"
	"Runs a program, and the programs that it starts, with libipcwait in front of\n"
	"the C library's locks, semaphores and condition variables: they spin before\n"
	"they sleep, where that pays.\n"
	"\n"
	"  --policy P     adaptive, latency, power, spin, block, haltpoll or ticks\n"
	"  --fd           also where it waits for sockets, pipes and eventfds\n"
	"  --awake        idle CPUs poll while that pays, as with `ipcwait awake`\n"
	"  --no-place     move no thread to another CPU\n"
	"  --stats        at the end, show on the standard error what was gained\n"
	"  --json         the same as a JSON object\n"
	"  --output FILE  with --stats or --json: write it to FILE\n"
	"  --page         other processes can watch it: ipcwait top, ipcwait stat\n"
	"  --explain      each process explains at its end how it has waited\n"
	"  --no-follow    not in the programs that the program starts\n"
	"  --module FILE  the preload module to use\n"
	"  -h, --help\n"
	"\n"
	"Exit status: that of the program; a signal that ended it ends ipcwait too, for a\n"
	"shell 128 + N; 125 ipcwait itself failed; 126 the program cannot be run; 127 it\n"
	"was not found.\n";

struct options {
	bool fd, awake, no_place, stats, json, page, explain, no_follow;
	const char *policy, *output, *module, *record;
};

static void print_help(void)
{
	fputs(help, stdout);
}

int run_policy(const char **policy, const char *text)
{
	static const char *const names[] = { "adaptive", "latency",  "power", "spin",
					     "block",    "haltpoll", "ticks" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			*policy = names[i];
			return 0;
		}
	}
	return refuse(
		"--policy is '%s', but must be one of adaptive, latency, power, spin, "
		"block, haltpoll, ticks",
		shown(text, -1));
}

static int set_policy(struct options *o, const char *text)
{
	return run_policy(&o->policy, text);
}

static const struct argument known[] = {
	{ "--policy", ARGUMENT_VALUE, .set = set_policy },
	{ "--fd", ARGUMENT_FLAG, .at = offsetof(struct options, fd) },
	{ "--awake", ARGUMENT_FLAG, .at = offsetof(struct options, awake) },
	{ "--no-place", ARGUMENT_FLAG, .at = offsetof(struct options, no_place) },
	{ "--stats", ARGUMENT_FLAG, .at = offsetof(struct options, stats) },
	{ "--json", ARGUMENT_FLAG, .at = offsetof(struct options, json) },
	{ "--output", ARGUMENT_PATH, .at = offsetof(struct options, output) },
	{ "--page", ARGUMENT_FLAG, .at = offsetof(struct options, page) },
	{ "--explain", ARGUMENT_FLAG, .at = offsetof(struct options, explain) },
	{ "--no-follow", ARGUMENT_FLAG, .at = offsetof(struct options, no_follow) },
	{ "--module", ARGUMENT_PATH, .at = offsetof(struct options, module) },
	{ "--help", ARGUMENT_PRINT, .print = print_help },
};

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]), NULL };

static int check(const struct options *o)
{
	if (o->page && (o->stats || o->json))
		return refuse(
			"--page and %s exclude each other: both count in the same place",
			o->stats ? "--stats" : "--json");
	if (o->output && !o->stats && !o->json)
		return refuse("--output needs --stats or --json");
	return o->output ? outfile_check("--output", o->output) : 0;
}

/* What the library reads, in the module or linked with a program. */
static int set_variables(const struct options *o)
{
	if ((o->policy && setenv("IPCWAIT_POLICY", o->policy, 1)) ||
	    (o->fd && setenv("IPCWAIT_FD", "1", 1)) ||
	    (o->no_place && setenv("IPCWAIT_PLACE", "0", 1)) ||
	    (o->record && setenv("IPCWAIT_RECORD", o->record, 1)) ||
	    (o->page && setenv("IPCWAIT_PAGE", "1", 1)) ||
	    ((o->stats || o->json) && unsetenv("IPCWAIT_PAGE")) ||
	    (o->explain && setenv("IPCWAIT_EXPLAIN", "1", 1)) ||
	    (o->no_follow && setenv(FOLLOW_VARIABLE, "0", 1)))
		return complain("cannot set the environment: %s", strerror(errno));
	return 0;
}

/* The program's own status comes first. */
static int write_report(const struct options *o, const struct run_report *r)
{
	void (*const write)(FILE *, const struct run_report *) =
		o->json ? run_write_json : run_print;
	struct outfile file;
	int result;

	if (!o->output) {
		write(stderr, r);
		return fflush(stderr) || ferror(stderr);
	}
	if (outfile_open(&file, "--output", o->output))
		return -EINVAL;
	write(file.f, r);
	result = outfile_complete(&file);
	outfile_abandon(&file);
	return result;
}

/* A module that is not there has nothing to count in. */
static int run_and_report(const struct options *o, const struct run_program *p,
			  const char *module, const struct run_watch *watch)
{
	struct run_report report = { .program = p, .module = module };
	struct run_tally tally = { .fd = -1, .socket = -1 };
	int r = p->plain ? 0 : run_tally_make(&tally), status;

	if (r) {
		complain("cannot count: %s", strerror(-r));
		return RUN_FAILED;
	}
	if (run_child(p, watch, &report.end))
		return RUN_FAILED;
	status = run_status_of(report.end.wait_status);
	if (!p->plain && run_tally_read(&tally, &report.counts))
		complain("cannot read what was counted: the module is of another version");
	if (!write_report(o, &report) || status)
		return status;
	return RUN_FAILED;
}

static int run_beside(const struct options *o, const struct run_program *p,
		      const char *module, const struct run_watch *watch)
{
	struct run_end end;

	if (o->stats || o->json)
		return run_and_report(o, p, module, watch);
	if (!watch && !o->record)
		return run_exec(p);
	return run_child(p, watch, &end) ? RUN_FAILED : run_status_of(end.wait_status);
}

/* Where nothing can be done about idle CPUs the program runs all the same. */
static int run_awake(const struct options *o, const struct run_program *p,
		     const char *module)
{
	const struct awake_options options = { .budget_percent = AWAKE_BUDGET_PERCENT };
	static struct awake awake;
	int status;

	if (!o->awake || awake_open(&awake, &options))
		return run_beside(o, p, module, NULL);
	status = run_beside(o, p, module, &awake.watch);
	awake_close(&awake);
	return status;
}

/* 0, or an exit status after one line on stderr. */
static int find(struct run_program *p, char module[PATH_MAX], char **argv,
		const char *wanted)
{
	int r;

	if (run_module_find(module, wanted))
		return RUN_FAILED;
	r = run_find(p, argv, module);
	if (!r)
		return 0;
	complain("cannot run '%s': %s", shown(argv[0], -1), strerror(-r));
	return r == -ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE;
}

static int start(const struct options *o, char **argv)
{
	char module[PATH_MAX];
	struct run_program p;
	int status = find(&p, module, argv, o->module);

	if (status)
		return status;
	if (p.plain)
		complain("'%s' runs without the module: %s", shown(argv[0], -1), p.plain);
	/* A record is also of those that are linked with the library. */
	if (((!p.plain || o->record) && set_variables(o)) ||
	    (!p.plain && (run_calls_hand_down() || run_module_chain(module))))
		return RUN_FAILED;
	return run_awake(o, &p, module);
}

int run_check(char **argv, const char *module)
{
	char path[PATH_MAX];
	struct run_program p;

	return find(&p, path, argv, module);
}

int run_counted(char **argv, bool json, const char *output)
{
	const struct options options = { .stats = true, .json = json, .output = output };

	return start(&options, argv);
}

int run_recorded(char **argv, const struct run_recording *r)
{
	const struct options options = {
		.record = r->path, .policy = r->policy, .module = r->module, .fd = r->fd
	};

	return start(&options, argv);
}

int run_main(int argc, char **argv)
{
	struct options options = { .policy = NULL };
	int first = arguments_parse_front(&options, &arguments, argc, argv);

	if (!first)
		return 0;
	if (first > 0 && first == argc)
		first = refuse("a program is missing");
	if (first < 0 || check(&options))
		return RUN_FAILED;
	return start(&options, argv + first);
}
