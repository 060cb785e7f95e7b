/* SPDX-License-Identifier: MIT */
/*
 * Runs scenarios. Each is searched in each kind of memory in up to three ways: exhaustively
 * with 0, 1, 2 ... preemptions, with random priorities, and at random. One that fails is made
 * short, printed step by step, and can be run again by its schedule.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interleave/explore.h"
#include "interleave/trace.h"

#define SEED 20240229

/* Executions of an exhaustive search that does not end before, unless the scenario says. */
#define RUNS_MOST 60000

/* So many times as many in a long run. */
#define TIMES_LONG   20
#define SECONDS_LONG 60

struct options {
	const char *only;   /* part of a scenario's name */
	const char *replay; /* a schedule */
	int memory;         /* one of enum model_memory, or -1 for all */
	unsigned bound;
	unsigned times;   /* so many more random executions, and one more preemption */
	unsigned percent; /* of the usual number of executions */
	uint64_t seed;
	bool list;
	bool quiet; /* no traces */
	bool first; /* stop at the first that is not as expected */
};

static const char *const memory_names[] = { "sc", "tso", "weak" };

static const char *const verdict_names[] = {
	"passes",   "assertion", "race",  "touched after free", "leak",
	"deadlock", "livelock",  "crash", "nondeterminism",
};

static struct explored found; /* too large for a stack */
static unsigned wrong;

static void print_row(const struct model_scenario *s, const struct explored *e,
		      const char *search, unsigned bound)
{
	printf("%-34s %u  %-4s %-6s %3u %10" PRIu64 "%s %7.0f/ms  %s\n", s->name,
	       s->threads, memory_names[e->run.memory], search, bound, e->executions,
	       e->complete ? " all" : "    ",
	       (double)e->executions / (e->seconds > 0 ? e->seconds : 1e-9) / 1000,
	       verdict_names[e->worst.verdict]);
	(void)fflush(stdout);
}

static void print_failure(struct explored *e)
{
	struct explored again;

	explore_shrink(e);
	printf("\n%s: %s\n\n", verdict_names[e->worst.verdict], e->worst.text);
	trace_begin();
	explore_replay(&e->run, &e->schedule, &again);
	trace_print();
	printf("\nagain: --only '%s' --memory %s --bound %u --replay ",
	       e->run.scenario->name, memory_names[e->run.memory], e->run.bound);
	schedule_print(&e->schedule);
	printf("\n\n");
}

/* True if the search ended as it should or may. */
static bool judge(const struct model_scenario *s, struct explored *e, const char *search,
		  unsigned bound, const struct options *o)
{
	enum model_verdict want = s->expect[e->run.memory];
	bool right = e->worst.verdict == MODEL_PASS || e->worst.verdict == want;

	print_row(s, e, search, bound);
	if (!right)
		wrong++;
	if (!right && !o->quiet)
		print_failure(e);
	return e->worst.verdict == MODEL_PASS;
}

/* Returns true if nothing was found. */
static bool search_all(const struct model_scenario *s, enum model_memory memory,
		       const struct options *o)
{
	uint64_t usual = s->search.runs_most ? s->search.runs_most : RUNS_MOST;
	uint64_t runs = usual * o->times * o->percent / 100;
	unsigned most = memory == MODEL_SC ? s->search.bound : s->search.weak_bound;

	if (!most)
		return true;
	most += o->times > 1;
	for (unsigned bound = most - 1; bound <= most; bound++) {
		struct run_params run = { s, memory, bound, STEPS_MOST };

		explore_all(&run, runs, o->seed, &found);
		if (!judge(s, &found, "all", bound, o))
			return false;
	}
	return true;
}

static bool search_by_chance(const struct model_scenario *s, enum model_memory memory,
			     enum search_mode mode, const struct options *o)
{
	struct run_params run = { s, memory, UNBOUNDED, STEPS_MOST };
	struct search how = { mode, s->search.pct_depth, o->seed, 0 };

	if (!s->search.pct_runs)
		return true;
	explore_random(&run, &how,
		       (uint64_t)s->search.pct_runs * o->times * o->percent / 100, &found);
	return judge(s, &found, mode == SEARCH_PCT ? "pct" : "random",
		     mode == SEARCH_PCT ? how.depth : 0, o);
}

static void search_in(const struct model_scenario *s, enum model_memory memory,
		      const struct options *o)
{
	bool passed = search_all(s, memory, o) &&
		      search_by_chance(s, memory, SEARCH_PCT, o) &&
		      search_by_chance(s, memory, SEARCH_RANDOM, o);

	if (!passed || s->expect[memory] == MODEL_PASS)
		return;
	printf("%s was not found\n", verdict_names[s->expect[memory]]);
	wrong++;
}

static const struct model_scenario *find(const struct model_scenario *s, const char *name)
{
	const struct model_scenario *hit = NULL;

	for (; !hit && (s->name || s->list); s++) {
		if (s->list)
			hit = find(s->list, name);
		else if (!name || strcmp(s->name, name) == 0)
			hit = s;
	}
	return hit;
}

static int replay(const struct options *o)
{
	static struct schedule schedule;
	const struct model_scenario *s = find(model_scenarios, o->only);

	if (!schedule_parse(o->replay, &schedule)) {
		(void)fprintf(stderr, "not a schedule: '%s'\n", o->replay);
		return 2;
	}
	if (!s || o->memory < 0) {
		(void)fprintf(stderr,
			      "--replay needs --memory, and --only with a whole name\n");
		return 2;
	}
	trace_begin();
	explore_replay(&(struct run_params){ s, (enum model_memory)o->memory, o->bound,
					     STEPS_MOST },
		       &schedule, &found);
	trace_print();
	printf("%s %s\n", verdict_names[found.worst.verdict], found.worst.text);
	return found.worst.verdict == MODEL_PASS ? 0 : 1;
}

static void usage(void)
{
	(void)fprintf(stderr,
		      "usage: [--list] [--only NAME] [--memory sc|tso|weak] [--times N]\n"
		      "       [--percent N]"
		      " [--seed N] [--quiet] [--first] [--bound N --replay SCHEDULE]\n");
	exit(2);
}

static int memory_of(const char *name)
{
	for (int i = 0; i < MODEL_MEMORIES; i++)
		if (strcmp(name, memory_names[i]) == 0)
			return i;
	usage();
	return -1;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (end == text || *end)
		usage();
	return n;
}

static void parse_value(struct options *o, const char *name, const char *value)
{
	if (strcmp(name, "--only") == 0)
		o->only = value;
	else if (strcmp(name, "--replay") == 0)
		o->replay = value;
	else if (strcmp(name, "--memory") == 0)
		o->memory = memory_of(value);
	else if (strcmp(name, "--bound") == 0)
		o->bound = (unsigned)number(value);
	else if (strcmp(name, "--times") == 0 && number(value))
		o->times = (unsigned)number(value);
	else if (strcmp(name, "--percent") == 0 && number(value))
		o->percent = (unsigned)number(value);
	else if (strcmp(name, "--seed") == 0)
		o->seed = number(value);
	else
		usage();
}

static struct options parse(char **arg)
{
	struct options o = {
		.memory = -1, .bound = UNBOUNDED, .times = 1, .percent = 100, .seed = SEED
	};
	const char *seconds = getenv("IW_STRESS_SECONDS");

	for (; *arg; arg++) {
		if (strcmp(*arg, "--list") == 0) {
			o.list = true;
		} else if (strcmp(*arg, "--quiet") == 0) {
			o.quiet = true;
		} else if (strcmp(*arg, "--first") == 0) {
			o.first = true;
		} else {
			if (!arg[1])
				usage();
			parse_value(&o, arg[0], arg[1]);
			arg++;
		}
	}
	/* The setups deep and long of the build, the first of them in scripts/check --deep. */
	if (seconds) {
		o.times = atoi(seconds) < SECONDS_LONG ? 1 : TIMES_LONG;
		o.percent = 100;
	}
	return o;
}

static void run(const struct model_scenario *s, const struct options *o)
{
	int memories = s->search.sc_only ? MODEL_TSO : MODEL_MEMORIES;

	if (o->list) {
		printf("%-34s %u threads: %s\n", s->name, s->threads, s->about);
		return;
	}
	for (int memory = 0; memory < memories; memory++)
		if ((o->memory < 0 || o->memory == memory) && !(o->first && wrong))
			search_in(s, (enum model_memory)memory, o);
}

/* Returns how many there were. */
static unsigned run_list(const struct model_scenario *s, const struct options *o)
{
	unsigned n = 0;

	for (; s->name || s->list; s++) {
		if (s->list) {
			n += run_list(s->list, o);
		} else if (!o->only || strstr(s->name, o->only)) {
			run(s, o);
			n++;
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	struct options o = parse(argv + 1);
	unsigned scenarios;

	(void)argc;
	coroutine_prepare();
	if (o.replay)
		return replay(&o);
	scenarios = run_list(model_scenarios, &o);
	if (!scenarios) {
		(void)fprintf(stderr, "no such scenario: '%s'\n", o.only);
		return 2;
	}
	if (!o.list)
		printf("%u scenarios, %u not as expected, seed %" PRIu64 "\n", scenarios,
		       wrong, o.seed);
	return wrong ? 1 : 0;
}
