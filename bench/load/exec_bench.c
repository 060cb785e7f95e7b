/* SPDX-License-Identifier: MIT */
/*
 * exec_bench --module FILE [--rounds N] [--starts N]: what a program pays under the module that
 * starts others, as a shell does: fork, exec of `true`, and the wait for its end. In each round a
 * process without the module, one with it, and one with it and IPCWAIT_PAGE=1 start as many, in
 * turn; the quotients are formed within a round.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../tools/common/arguments.h"
#include "../../tools/common/complain.h"
#include "../../tools/common/median.h"

#define ROUNDS_MOST 1000
#define STARTS_MOST 100000

/* In the environment of the processes that start others: how many. */
#define STARTS_VARIABLE "EXEC_BENCH_STARTS"

#define DECIMAL 10

const char program_name[] = "exec_bench";

struct options {
	uint64_t rounds, starts;
	const char *module;
};

enum { PLAIN, MODULE, PAGE, ARMS };

static const char *const names[ARMS] = { "without", "module", "module, page" };

static double us[ARMS][ROUNDS_MOST], times[ARMS][ROUNDS_MOST];

static int set_rounds(struct options *o, const char *text)
{
	return argument_number("--rounds", text, 1, ROUNDS_MOST, &o->rounds);
}

static int set_starts(struct options *o, const char *text)
{
	return argument_number("--starts", text, 1, STARTS_MOST, &o->starts);
}

static void help(void)
{
	fputs("Usage: exec_bench --module FILE [--rounds N] [--starts N]\n\n"
	      "Starts `true` N times (100) in each of N rounds (15), by fork and exec, "
	      "without\n"
	      "and under the module FILE, libipcwait-preload.so, and prints how long it "
	      "takes.\n",
	      stdout);
}

static double now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void start_one(void)
{
	int status;
	pid_t child = fork();

	if (child < 0)
		give_up("cannot fork: %s", strerror(errno));
	if (!child) {
		(void)execl("/bin/true", "true", (char *)NULL);
		_exit(EXIT_FAILURE);
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		give_up("cannot run /bin/true");
}

/* The process of one arm in one round: prints the median, in us. */
static int start_many(unsigned n)
{
	double *took = calloc(n, sizeof(*took));

	if (!n || !took)
		give_up("no memory");
	for (unsigned i = 0; i < n; i++) {
		double begin = now_us();

		start_one();
		took[i] = now_us() - begin;
	}
	printf("%.3f\n", median(took, n));
	free(took);
	return EXIT_DONE;
}

static double run_arm(const char *module, unsigned arm)
{
	double result = 0;
	FILE *f;

	if (arm == PLAIN ? unsetenv("LD_PRELOAD") : setenv("LD_PRELOAD", module, 1))
		give_up("no memory");
	if (arm == PAGE ? setenv("IPCWAIT_PAGE", "1", 1) : unsetenv("IPCWAIT_PAGE"))
		give_up("no memory");
	f = popen("exec /proc/$PPID/exe", "re");
	if (!f || fscanf(f, "%lf", &result) != 1 || pclose(f) != 0)
		give_up("cannot run this program anew");
	return result;
}

static void run_round(const struct options *o, unsigned round)
{
	for (unsigned i = 0; i < ARMS; i++) {
		unsigned arm = round % 2 ? ARMS - 1 - i : i;

		us[arm][round] = run_arm(o->module, arm);
	}
	for (unsigned arm = 0; arm < ARMS; arm++)
		times[arm][round] = us[arm][round] / us[PLAIN][round];
}

int main(int argc, char **argv)
{
	static const struct argument known[] = {
		{ "--module", ARGUMENT_PATH, .at = offsetof(struct options, module) },
		{ "--rounds", ARGUMENT_VALUE, .set = set_rounds },
		{ "--starts", ARGUMENT_VALUE, .set = set_starts },
		{ "--help", ARGUMENT_PRINT, .print = help },
	};
	static const struct arguments arguments = { known, 4, NULL };
	struct options o = { .rounds = 15, .starts = 100 };
	const char *starts = getenv(STARTS_VARIABLE);
	char text[32];
	int r;

	if (starts)
		return start_many((unsigned)strtoul(starts, NULL, DECIMAL));
	r = arguments_parse(&o, &arguments, argc, argv);
	if (r)
		return r < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
	if (!o.module || access(o.module, R_OK) != 0)
		return refuse("--module FILE is missing, or cannot be read");
	(void)snprintf(text, sizeof(text), "%lu", (unsigned long)o.starts);
	if (setenv(STARTS_VARIABLE, text, 1))
		give_up("no memory");
	for (unsigned i = 0; i < o.rounds; i++)
		run_round(&o, i);
	puts("fork, exec, wait   median, us   times");
	for (unsigned arm = 0; arm < ARMS; arm++)
		printf("%-16s %12.0f %7.2f\n", names[arm],
		       median(us[arm], (unsigned)o.rounds),
		       median(times[arm], (unsigned)o.rounds));
	return EXIT_DONE;
}
