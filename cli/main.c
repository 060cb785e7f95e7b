/* SPDX-License-Identifier: MIT */
/* The `ipcwait` command: one subcommand a file, listed here. */
#include "awake.h"
#include "calibrate.h"
#include "../tools/common/complain.h"
#include "info.h"
#include "run.h"
#include "stat.h"
#include "top.h"

#include <ipcwait/base.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char program_name[] = "ipcwait";

static int takes_nothing(int argc, char **argv)
{
	return argc < 2 ? 0
			: complain("takes no arguments, and got '%s'", shown(argv[1], -1));
}

static int version_main(int argc, char **argv)
{
	if (takes_nothing(argc, argv))
		return EXIT_BAD_INPUT;
	printf("ipcwait %s\n", ipcwait_version());
	return EXIT_DONE;
}

static int help_main(int argc, char **argv);

static const struct command {
	const char *name;
	const char *option; /* another name, or NULL */
	const char *what;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "awake", NULL, "keep idle CPUs polling while that pays", awake_main },
	{ "calibrate", NULL, "measure what sleeping and waking cost on this machine",
	  calibrate_main },
	{ "info", NULL, "show what one must know about this machine to judge a figure",
	  info_main },
	{ "run", NULL, "run a program with the library in front of its locks", run_main },
	{ "stat", NULL, "count what a program waits for", stat_main },
	{ "top", NULL, "watch what programs wait for", top_main },
	{ "version", "--version", "print the version of the library", version_main },
	{ "help", "--help", "print this", help_main },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int help_main(int argc, char **argv)
{
	if (takes_nothing(argc, argv))
		return EXIT_BAD_INPUT;
	fputs("Usage: ipcwait COMMAND [OPTION]...\n\n", stdout);
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-12s %s\n", commands[i].name, commands[i].what);
	fputs("\nOptions of a command: ipcwait COMMAND --help\n", stdout);
	return EXIT_DONE;
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(name, commands[i].name) ||
		    (commands[i].option && !strcmp(name, commands[i].option)))
			return &commands[i];
	return NULL;
}

/* Output that nobody gets is a failure: a full disk, a closed pipe. */
static int finish(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	complain("cannot write to the standard output: %s", strerror(errno));
	return status ? status : EXIT_FAILED;
}

int main(int argc, char **argv)
{
	const struct command *command = argc < 2 ? NULL : find(argv[1]);
	int status;

	if (argc < 2)
		refuse("a command is missing");
	else if (!command)
		refuse("unknown command '%s'", shown(argv[1], -1));
	if (!command)
		return EXIT_BAD_INPUT;
	program_command = command->name;
	status = command->run(argc - 1, argv + 1);
	program_command = NULL;
	return finish(status);
}
