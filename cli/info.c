/* SPDX-License-Identifier: MIT */
#include "info.h"
#include "complain.h"
#include "outfile.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
	"Usage: ipcwait info [OPTION]...\n"
	"\n"
	"Shows what one must know about a machine to judge a figure that was measured on "
	"it:\n"
	"CPUs, hypervisor, idle states, kernel, and what libipcwait makes of them. Needs "
	"no\n"
	"rights, changes nothing, and tells no host names, serial numbers or home "
	"folders.\n"
	"\n"
	"  --json [FILE]  also write everything to FILE; - or no FILE: to the standard "
	"output,\n"
	"                 and nothing for people\n"
	"  --root DIR     read the copies of /proc, /sys and /etc in DIR, of another "
	"machine\n"
	"  --help\n"
	"\n"
	"Exit status: 0 done; 1 it could not be written; 2 bad arguments.\n";

/* In place of an exit status: none yet. */
#define GO_ON (-1)

struct options {
	const char *json; /* path, "-" or NULL */
	const char *root; /* "": this machine */
};

/* The value behind '=' or, unless that is an option too, in the next argument; NULL. */
static const char *take_value(int argc, char **argv, int *i)
{
	const char *equals = strchr(argv[*i], '=');

	if (equals)
		return equals + 1;
	if (*i + 1 < argc && strncmp(argv[*i + 1], "--", 2) != 0)
		return argv[++*i];
	return NULL;
}

static bool is(const char *argument, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(argument, name, length) &&
	       (!argument[length] || argument[length] == '=');
}

static int take_json(struct options *o, const char *value)
{
	o->json = value ? value : "-";
	return *o->json ? GO_ON
			: refuse("info: --json is '', but must be the path of a file");
}

static int take_root(struct options *o, const char *value)
{
	struct stat st;
	int error = 0;

	if (!value || !*value)
		return refuse(
			"info: --root needs the path of a folder; see ipcwait info --help");
	if (stat(value, &st))
		error = errno;
	else if (!S_ISDIR(st.st_mode))
		error = ENOTDIR;
	if (error)
		return refuse("info: --root: cannot read '%s': %s", shown(value, -1),
			      strerror(error));
	o->root = value;
	return GO_ON;
}

/* One argument. Returns GO_ON or an exit status. */
static int parse_one(struct options *o, int argc, char **argv, int *i)
{
	if (is(argv[*i], "--json"))
		return take_json(o, take_value(argc, argv, i));
	if (is(argv[*i], "--root"))
		return take_root(o, take_value(argc, argv, i));
	if (strcmp(argv[*i], "--help") != 0)
		return refuse("info: unknown argument '%s'; see ipcwait info --help",
			      shown(argv[*i], -1));
	fputs(help, stdout);
	return EXIT_DONE;
}

static void read_all(struct info *info)
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
	int status;

	if (o->json && !strcmp(o->json, "-")) {
		info_write_json(stdout, info);
		return EXIT_DONE;
	}
	info_print(stdout, info);
	if (!o->json)
		return EXIT_DONE;
	status = outfile_begin(&out, "info: --json", o->json);
	if (status)
		return status;
	info_write_json(out.f, info);
	return outfile_complete(&out);
}

int info_main(int argc, char **argv)
{
	static struct info info;
	struct options options = { .root = "" };
	int status = GO_ON;

	for (int i = 1; i < argc && status == GO_ON; i++)
		status = parse_one(&options, argc, argv, &i);
	if (status == GO_ON && options.json && strcmp(options.json, "-") != 0)
		status = outfile_check("info: --json", options.json) ? EXIT_USAGE : GO_ON;
	if (status != GO_ON)
		return status;
	info.root = options.root;
	read_all(&info);
	return write_all(&options, &info);
}
