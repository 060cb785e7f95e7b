/* SPDX-License-Identifier: MIT */
/* The `ipcwait` command: one subcommand a file, listed here. */
#include "calibrate.h"
#include "complain.h"
#include "info.h"

#include <ipcwait/base.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int version_main(int argc, char **argv)
{
	if (argc > 1)
		return refuse("version takes no arguments, and got '%s'",
			      shown(argv[1], -1));
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
	{ "calibrate", NULL, "measure what sleeping and waking cost on this machine",
	  calibrate_main },
	{ "info", NULL, "show what one must know about this machine to judge a figure",
	  info_main },
	{ "version", "--version", "print the version of the library", version_main },
	{ "help", "--help", "print this", help_main },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int help_main(int argc, char **argv)
{
	if (argc > 1)
		return refuse("help takes no arguments, and got '%s'", shown(argv[1], -1));
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
	const struct command *command;

	if (argc < 2)
		return refuse("a command is missing; see ipcwait --help");
	command = find(argv[1]);
	if (!command)
		return refuse("unknown command '%s'; see ipcwait --help",
			      shown(argv[1], -1));
	return finish(command->run(argc - 1, argv + 1));
}
