/* SPDX-License-Identifier: MIT */
#include "info.h"
#include "../tools/common/arguments.h"
#include "../tools/common/begin_again.h"
#include "../tools/common/complain.h"
#include "../tools/common/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
	"Usage: ipcwait info [OPTION]...\n"
	"\n"
	"Shows what one must know about a machine to judge a figure that was measured\n"
	"on it: CPUs, hypervisor, idle states, kernel, and what libipcwait makes of\n"
	"them. Needs no rights, changes nothing, and tells no host names, serial\n"
	"numbers or home folders.\n"
	"\n"
	"  --json [FILE]  also write everything to FILE; - or no FILE: to the standard\n"
	"                 output, and nothing for people\n"
	"  --root DIR     read the copies of /proc, /sys and /etc in DIR, of another\n"
	"                 machine\n"
	"  -h, --help\n"
	"\n"
	"Exit status: 0 done; 1 it could not be written; 2 bad arguments.\n";

struct options {
	const char *json; /* path, "-" or NULL */
	const char *root; /* "": this machine */
};

static int set_json(struct options *o, const char *path)
{
	o->json = path ? path : "-";
	return *o->json ? 0 : refuse("--json is '', but must be the path of a file");
}

int info_check_root(const char *path)
{
	struct stat st;
	int error = 0;

	if (stat(path, &st))
		error = errno;
	else if (!S_ISDIR(st.st_mode))
		error = ENOTDIR;
	return error ? complain("--root: cannot read '%s': %s", shown(path, -1),
				strerror(error))
		     : 0;
}

static int set_root(struct options *o, const char *path)
{
	o->root = path;
	return info_check_root(path);
}

static void print_help(void)
{
	fputs(help, stdout);
}

static const struct argument known[] = {
	{ "--json", ARGUMENT_MAYBE, .set = set_json },
	{ "--root", ARGUMENT_VALUE, .set = set_root },
	{ "--help", ARGUMENT_PRINT, .print = print_help },
};

static const struct arguments arguments = { known, sizeof(known) / sizeof(known[0]), NULL };

void info_read_all(struct info *info)
{
	info->section = "library";
	info_read_library(info);
	info->section = "machine";
	info_read_cpu(info);
	info_read_cache(info);
	info_read_quota(info);
	info_read_load(info);
	info_read_virtual(info);
	info->section = "idle";
	info_read_idle(info);
	info->section = "kernel";
	info_read_kernel(info);
	info_read_mitigations(info);
	info->section = "policy";
	info_read_policy(info);
}

static int write_all(const struct options *o, const struct info *info)
{
	struct outfile out;

	if (o->json && !strcmp(o->json, "-")) {
		info_write_json(stdout, info);
		return EXIT_DONE;
	}
	info_print(stdout, info);
	if (!o->json)
		return EXIT_DONE;
	if (outfile_open(&out, "--json", o->json))
		return EXIT_FAILED;
	info_write_json(out.f, info);
	return outfile_complete(&out) ? EXIT_FAILED : EXIT_DONE;
}

void info_hide_recording(char **argv)
{
	static const char hidden[] = "IW_HIDDEN_RECORD";
	const char *wanted = getenv("IPCWAIT_RECORD"), *shown_only = getenv(hidden);

	if (shown_only)
		(void)setenv("IPCWAIT_RECORD", shown_only, 1);
	else if (wanted && setenv(hidden, wanted, 1) == 0)
		begin_again(argv, "IPCWAIT_RECORD", NULL);
}

int info_main(int argc, char **argv)
{
	static struct info info;
	struct options options = { .root = "" };
	int r = arguments_parse(&options, &arguments, argc, argv);

	if (r > 0)
		return EXIT_DONE;
	if (!r && options.json && strcmp(options.json, "-") != 0)
		r = outfile_check("--json", options.json);
	if (r)
		return EXIT_BAD_INPUT;
	/* The name of the program stands before that of the command. */
	info_hide_recording(argv - 1);
	info.root = options.root;
	info_read_all(&info);
	return write_all(&options, &info);
}
