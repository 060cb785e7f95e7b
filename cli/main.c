/* SPDX-License-Identifier: MIT */
/* The `ipcwait` command: one subcommand a file, listed here. */
#include "awake.h"
#include "bench.h"
#include "calibrate.h"
#include "doctor.h"
#include "../tools/common/complain.h"
#include "info.h"
#include "record.h"
#include "replay.h"
#include "report.h"
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
	const char *option, *letter; /* other names, or NULL */
	const char *what;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "doctor", NULL, NULL, "say what on this machine is in the way, and what to do",
	  doctor_main },
	{ "bench", NULL, NULL, "hand over between two threads, here and with glibc",
	  bench_main },
	{ "run", NULL, NULL, "run a program with the library in front of its locks",
	  run_main },
	{ "stat", NULL, NULL, "count what a program waits for", stat_main },
	{ "top", NULL, NULL, "watch what programs wait for", top_main },
	{ "record", NULL, NULL, "run a program and record each of its waits", record_main },
	{ "report", NULL, NULL, "show what is in a record", report_main },
	{ "replay", NULL, NULL, "show what would have become of it under other rules",
	  replay_main },
	{ "awake", NULL, NULL, "keep idle CPUs polling while that pays", awake_main },
	{ "calibrate", NULL, NULL, "measure what a sleep and its wake cost on this machine",
	  calibrate_main },
	{ "info", NULL, NULL,
	  "show what one must know about this machine to judge a figure", info_main },
	{ "version", "--version", "-V", "print the version of the library", version_main },
	{ "help", "--help", "-h", "print this, or the help of a command", help_main },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static bool is(const char *name, const char *known)
{
	return known && !strcmp(name, known);
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (is(name, commands[i].name) || is(name, commands[i].option) ||
		    is(name, commands[i].letter))
			return &commands[i];
	return NULL;
}

/* "ipcwait help COMMAND" is "ipcwait COMMAND --help"; those without options say what they are. */
static int help_of(const char *name)
{
	const struct command *command = find(name);
	char *argv[] = { (char *)name, (char *)"--help", NULL };

	if (!command) {
		refuse("unknown command '%s'", shown(name, -1));
		return EXIT_BAD_INPUT;
	}
	if (command->letter) {
		printf("Usage: ipcwait %s\n\nTo %s.\n", command->name, command->what);
		return EXIT_DONE;
	}
	program_command = command->name;
	return command->run(2, argv);
}

static int help_main(int argc, char **argv)
{
	if (argc > 2) {
		complain("takes one command, and got '%s' too", shown(argv[2], -1));
		return EXIT_BAD_INPUT;
	}
	if (argc == 2)
		return help_of(argv[1]);
	fputs("Usage: ipcwait COMMAND [OPTION]...\n\n", stdout);
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-12s %s\n", commands[i].name, commands[i].what);
	fputs("\nOptions of a command: ipcwait help COMMAND\n", stdout);
	return EXIT_DONE;
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
	status = finish(status);
	run_end_by_signal(status);
	return status;
}
