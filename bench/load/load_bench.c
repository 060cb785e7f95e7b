/* SPDX-License-Identifier: MIT */
/*
 * load_bench [--starts N]: what it costs a program to be linked with the library. Two programs
 * that do nothing are started in turn and waited for, all symbols resolved (LD_BIND_NOW); the
 * one that is linked with nothing takes what starting takes anyway.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../tools/common/arguments.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/median.h"

#define STARTS_MOST 100000

const char program_name[] = "load_bench";

struct options {
	uint64_t starts;
};

static const char *const names[] = { "load_nothing", "load_library" };

#define PROGRAMS (sizeof(names) / sizeof(names[0]))

static double us[PROGRAMS][STARTS_MOST];

static int set_starts(struct options *o, const char *text)
{
	return argument_number("--starts", text, 1, STARTS_MOST, &o->starts);
}

static void help(void)
{
	fputs("Usage: load_bench [--starts N]\n\n"
	      "Starts a program that is linked with libipcwait, and one that is not, N "
	      "times each\n"
	      "in turn (600), and prints how long they take.\n",
	      stdout);
}

static double now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double start(char *path)
{
	char *const argv[] = { path, NULL };
	double begin = now_us();
	int status;
	pid_t child;

	if (posix_spawn(&child, path, NULL, NULL, argv, environ) != 0 ||
	    waitpid(child, &status, 0) != child || status != 0)
		give_up("cannot run %s", path);
	return now_us() - begin;
}

/* The programs lie beside this one. */
static void find(char path[PATH_MAX], const char *name)
{
	char self[PATH_MAX] = "";

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 ||
	    snprintf(path, PATH_MAX, "%s/%s", dirname(self), name) >= PATH_MAX)
		give_up("cannot find %s", name);
}

int main(int argc, char **argv)
{
	static const struct argument known[] = {
		{ "--starts", ARGUMENT_VALUE, .set = set_starts },
		{ "--help", ARGUMENT_PRINT, .print = help },
	};
	static const struct arguments arguments = { known, 2, NULL };
	struct options o = { .starts = 600 };
	char path[PROGRAMS][PATH_MAX];
	int r = arguments_parse(&o, &arguments, argc, argv);

	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	(void)setenv("LD_BIND_NOW", "1", 1);
	for (size_t p = 0; p < PROGRAMS; p++)
		find(path[p], names[p]);
	for (uint64_t i = 0; i < o.starts; i++)
		for (size_t p = 0; p < PROGRAMS; p++)
			us[p][i] = start(path[p]);
	puts("program        shortest  lowest tenth  median, us");
	for (size_t p = 0; p < PROGRAMS; p++) {
		double tenth = lowest_tenth(us[p], (unsigned)o.starts);
		double middle = median(us[p], (unsigned)o.starts);

		printf("%-13s %9.0f %13.0f %7.0f\n", names[p], us[p][0], tenth, middle);
	}
	return EXIT_DONE;
}
