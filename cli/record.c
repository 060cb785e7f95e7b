/* SPDX-License-Identifier: MIT */
#include "record.h"
#include "run.h"
#include "waits.h"
#include "../tools/common/arguments.h"
#include "../tools/common/complain.h"
#include "../tools/common/outfile.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The longest that the library takes, with the end. */
#define PATH_BYTES 1024

static const char help[] =
	"Usage: ipcwait record [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"\n"
	"Runs a program, and the programs that it starts, as `ipcwait run` does, and\n"
	"records each of their waits: what for, where, how long, spun or slept and why.\n"
	"`ipcwait report` shows them.\n"
	"\n"
	"  -o, --output FILE  the record (" RECORD_FILE "); one that is there already\n"
	"                     becomes FILE.old\n"
	"  --policy P         adaptive, latency, power, spin, block, haltpoll or ticks\n"
	"  --fd               also where it waits for sockets, pipes and eventfds\n"
	"  --module FILE      the preload module to use\n"
	"  -h, --help\n"
	"\n"
	"The record has room for a million waits. Programs that are linked with the\n"
	"library are recorded too.\n"
	"\n"
	"Exit status: as of `ipcwait run`.\n";

struct options {
	const char *output, *policy, *module;
	bool fd;
};

static void print_help(void)
{
	fputs(help, stdout);
}

static int set_policy(struct options *o, const char *text)
{
	return run_policy(&o->policy, text);
}

static const struct argument known[] = {
	{ "--output", ARGUMENT_PATH, .at = offsetof(struct options, output),
	  .letter = 'o' },
	{ "--policy", ARGUMENT_VALUE, .set = set_policy },
	{ "--fd", ARGUMENT_FLAG, .at = offsetof(struct options, fd) },
	{ "--module", ARGUMENT_PATH, .at = offsetof(struct options, module) },
	{ "--help", ARGUMENT_PRINT, .print = print_help },
};

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]), NULL };

/* What is there already is kept, and nothing but a record is moved. */
static int make_way(const char *path)
{
	char old[PATH_MAX];

	if (access(path, F_OK) != 0)
		return 0;
	if (snprintf(old, sizeof(old), "%s.old", path) >= (int)sizeof(old))
		return complain("the path '%s' is too long", shown(path, -1));
	if (!waits_is_record(path) || (access(old, F_OK) == 0 && !waits_is_record(old)))
		return complain("'%s' is there already, and no record of waits",
				shown(waits_is_record(path) ? old : path, -1));
	if (rename(path, old) != 0)
		return complain("cannot rename '%s': %s", shown(path, -1), strerror(errno));
	return 0;
}

/* As the library takes it: absolute, and each % twice. */
static int make_absolute(char absolute[PATH_BYTES], const char *path)
{
	char folder[PATH_MAX] = "", whole[2 * PATH_MAX];
	size_t n = 0;

	if (path[0] != '/' && !getcwd(folder, sizeof(folder)))
		return complain("the current folder is not known: %s", strerror(errno));
	(void)snprintf(whole, sizeof(whole), "%s%s%s", folder, folder[0] ? "/" : "", path);
	for (const char *at = whole; *at && n < PATH_BYTES - 1; at++) {
		absolute[n++] = *at;
		if (*at == '%' && n < PATH_BYTES - 1)
			absolute[n++] = '%';
	}
	absolute[n] = '\0';
	return n < PATH_BYTES - 1 ? 0
				  : complain("the path '%s' is too long", shown(path, -1));
}

static void tell(const char *path)
{
	struct waits w;

	if (access(path, F_OK) != 0) {
		complain(
			"there is no record: no wait had to wait, or it could not be made");
		return;
	}
	if (waits_open(&w, path))
		return;
	complain("%zu waits of %zu process%s in '%s'; `ipcwait report` shows them", w.n,
		 w.processes, w.processes == 1 ? "" : "es", shown(path, -1));
	waits_close(&w);
}

int record_main(int argc, char **argv)
{
	struct options o = { .output = RECORD_FILE };
	int first = arguments_parse_front(&o, &arguments, argc, argv), status;
	char path[PATH_BYTES];

	if (!first)
		return 0;
	if (first > 0 && first == argc)
		first = refuse("a program is missing");
	if (first < 0 || outfile_check("--output", o.output) ||
	    make_absolute(path, o.output))
		return RUN_FAILED;
	/* What cannot be run does not take the place of what was. */
	status = run_check(argv + first, o.module);
	if (status)
		return status;
	if (make_way(o.output))
		return RUN_FAILED;
	status = run_recorded(argv + first,
			      &(struct run_recording){ path, o.policy, o.module, o.fd });
	tell(o.output);
	return status;
}
