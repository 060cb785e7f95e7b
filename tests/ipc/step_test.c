/* SPDX-License-Identifier: MIT */
/*
 * step_test kill|signal|stop OBJECT: an accident at every instruction of every call. The path of a
 * call is found by stepping through it once. Then there is one performance for each instruction
 * on it, and for each time that the call sleeps in the kernel.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "accidents.h"
#include "common/check.h"
#include "stage.h"

/* More instructions than any call has, also in a debug build; each may be one to sleep in. */
#define MOMENTS_MAX    32768
#define MOMENTS_OF_ONE 2

/* Steps that may be necessary from the last instruction that a breakpoint has reached. */
#define STEPS_MAX 60

/* To find the usual path on a busy machine. */
#define TRIES 20

#define LABELS_MAX 6

/* Just before an instruction, or asleep in it. */
struct moment {
	uintptr_t at;
	unsigned syscalls; /* that have returned, and those to futex(2) among them */
	unsigned futexes;
	unsigned times; /* that a breakpoint there is hit after the last of them */
	bool asleep;
};

static struct path {
	struct moment moment[MOMENTS_MAX];
	unsigned moments, syscalls, futexes, asked;
	unsigned known; /* the last that a breakpoint got to */
} path;

/* Every accident at every instruction. */
static bool thorough;

/* As many fewer instructions have their turn where nothing has changed: IW_STEPS_FEWER. */
static unsigned fewer = 1;

/* Where a breakpoint costs so much more, as many fewer instructions have their turn. */
#define SLOW_TURNS 4

/* Where the test is, for the parent of a child that has failed. */
struct progress {
	const char *scene, *accident;
	unsigned moment;
	uintptr_t at;
};

static struct progress *progress; /* shared */

/* What has been found, how often. */
struct tally {
	const char *label[LABELS_MAX];
	unsigned count[LABELS_MAX];
	unsigned all, missed;
};

static void begin(struct stage *st, const struct suspect *suspect,
		  const struct scene *scene)
{
	memset(st, 0, sizeof(*st));
	st->suspect = suspect;
	st->scene = scene;
	st->thorough = thorough;
}

/*
 * The kernel's code for reading the clock begins again if the clock has ticked meanwhile, which
 * it does all the time while somebody steps through it: what was in vain is forgotten.
 */
static void forget_retries(uintptr_t at)
{
	unsigned i = path.moments;

	while (trace_in_vdso(at) && i > 0 && trace_in_vdso(path.moment[i - 1].at))
		if (path.moment[--i].at == at)
			path.moments = i;
}

static void remember(uintptr_t at, bool asleep)
{
	path.moment[path.moments++] =
		(struct moment){ at, path.syscalls, path.futexes, 0, asleep };
}

/* Where the victim stands at the beginning and after a system call there is no hit. */
static void count_hits(void)
{
	unsigned first = 0;

	for (unsigned i = 0; i < path.moments; i++) {
		struct moment *m = &path.moment[i];

		if (m->syscalls != path.moment[first].syscalls)
			first = i;
		for (unsigned k = first + 1; k <= i; k++)
			m->times += path.moment[k].at == m->at && !path.moment[k].asleep;
	}
}

/* System calls besides futex(2) that belong to what an object does. */
static bool is_question(long syscall)
{
	static const long questions[] = {
		SYS_tkill,  SYS_fcntl, SYS_fstat,  SYS_newfstatat, SYS_close,
		SYS_openat, SYS_mmap,  SYS_munmap, SYS_madvise,
	};

	for (unsigned i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		if (questions[i] == syscall)
			return true;
	return false;
}

static void note_syscall(const struct scene *scene, long syscall)
{
	path.syscalls++;
	path.futexes += syscall == SYS_futex;
	path.asked += scene->asks && is_question(syscall);
}

static void skip(struct stage *st)
{
	for (unsigned i = 0; i < st->scene->skip; i++) {
		CHECK_EQ(stage_resume(st, STAGE_CALL), TRACED_STOPPED);
		note_syscall(st->scene, trace_in_syscall(st->victim));
		CHECK_EQ(stage_resume(st, STAGE_CALL), TRACED_STOPPED);
	}
}

/* Who is stepped slowly enough sees alarms go off again and again. */
static bool endless_path(void)
{
	return path.moments > MOMENTS_MAX - MOMENTS_OF_ONE;
}

/* Step through the call, which then ends as it should. */
static void step_through(const struct suspect *suspect, const struct scene *scene)
{
	struct stage st;

	begin(&st, suspect, scene);
	stage_open(&st, NULL, false);
	path.moments = path.syscalls = path.futexes = path.asked = path.known = 0;
	skip(&st);
	while (!stage_over(&st) && !endless_path()) {
		uintptr_t at = trace_at(st.victim);
		long syscall = trace_at_syscall(st.victim);
		unsigned slept = st.slept;

		forget_retries(at);
		remember(at, false);
		if (syscall == SYS_futex && scene->patient)
			trace_sleep_for_ever(st.victim);
		CHECK_EQ(stage_resume(&st, STAGE_STEP), TRACED_STOPPED);
		if (st.slept > slept)
			remember(at, true);
		if (syscall >= 0)
			note_syscall(scene, syscall);
	}
	CHECK_EQ(stage_resume(&st, STAGE_GO_ON), TRACED_ENDED);
	suspect->audit(&st);
	stage_close(&st);
}

/*
 * Once in a tenth of a second the library looks at the machine again, in a slow call therefore
 * too; and a wake that is under way for long is in doubt. Such a path is not the usual one.
 */
static bool usual_path(const struct scene *scene)
{
	return path.syscalls == path.futexes + path.asked &&
	       !(scene->silent && path.futexes) && !endless_path();
}

static void find_path(const struct suspect *suspect, const struct scene *scene)
{
	int tries = TRIES;

	do {
		check_watchdog(60);
		step_through(suspect, scene);
	} while (!usual_path(scene) && --tries);
	CHECK(!endless_path());
	count_hits();
}

/* Run until the moment. False if the victim has gone another way and is over. */
static bool run_to(struct stage *st, const struct moment *m)
{
	for (unsigned i = 0; i < m->syscalls; i++)
		if (stage_resume(st, STAGE_CALL) == TRACED_ENDED ||
		    stage_resume(st, STAGE_CALL) == TRACED_ENDED)
			return false;
	trace_break_at(st->victim, m->times ? m->at : 0);
	for (unsigned i = 0; i < m->times; i++)
		if (stage_resume(st, STAGE_GO_ON) == TRACED_ENDED)
			return false;
	trace_break_at(st->victim, 0);
	return true;
}

/*
 * Step from one moment to another, which is known by the number of times that its instruction
 * comes up on the way. False if it is not met.
 */
static bool step_to(struct stage *st, unsigned from, unsigned to)
{
	const struct moment *m = &path.moment[to];
	unsigned visits = 0, steps = 2 * (to - from) + STEPS_MAX;

	for (unsigned i = from + 1; i <= to; i++)
		visits += path.moment[i].at == m->at && !path.moment[i].asleep;
	while (visits && steps-- && !stage_over(st)) {
		CHECK_EQ(stage_resume(st, STAGE_STEP), TRACED_STOPPED);
		visits -= trace_at(st->victim) == m->at;
	}
	if (!visits && (!m->asleep || stage_sleep(st) == TRACED_ASLEEP))
		return true;
	return false;
}

/*
 * Open the stage, and get to moment @to by a breakpoint at moment @from and steps from there.
 * False if the call has taken another path than before: that has ended well.
 */
static bool reach(struct stage *st, unsigned from, unsigned to,
		  const struct accident *accident)
{
	st->hurried = (from > 0 || to == 0) && !path.moment[to].asleep;
	stage_open(st, accident->handler, accident->restarts);
	if (run_to(st, &path.moment[from]) && step_to(st, from, to)) {
		st->asleep = path.moment[to].asleep;
		st->wake_pending = path.futexes > path.moment[to].futexes;
		return true;
	}
	if (!st->ended)
		CHECK_EQ(stage_resume(st, STAGE_GO_ON), TRACED_ENDED);
	st->suspect->audit(st);
	stage_close(st);
	return false;
}

static const char *strike(struct stage *st, const struct accident *accident)
{
	const char *found = "as it should be";

	if (accident->handler) {
		CHECK_EQ(stage_resume(st, STAGE_GO_ON_WITH_SIGNAL), TRACED_ENDED);
		st->suspect->audit(st);
	} else if (accident->stops) {
		stage_stop(st);
		if (st->suspect->detour)
			st->suspect->detour(st);
		stage_continue(st);
		st->suspect->audit(st);
	} else {
		if (st->suspect->witness)
			st->suspect->witness(st);
		region_kill(st->victim);
		found = st->suspect->mourn(st, accident->heal);
	}
	stage_close(st);
	return found;
}

static void count(struct tally *tally, const char *label)
{
	unsigned i = 0;

	while (i < LABELS_MAX && tally->label[i] && strcmp(tally->label[i], label) != 0)
		i++;
	CHECK(i < LABELS_MAX);
	tally->label[i] = label;
	tally->count[i]++;
	tally->all++;
}

static void print(const struct scene *scene, const struct tally *tally)
{
	printf("%-34s %5u %5u  ", scene->name, path.moments, tally->all);
	for (unsigned i = 0; i < LABELS_MAX && tally->label[i]; i++)
		printf("%s%s %u", i ? ", " : "", tally->label[i], tally->count[i]);
	if (tally->missed)
		printf(", not reached again %u", tally->missed);
	printf("\n");
	(void)fflush(stdout);
}

/*
 * Where a breakpoint does not get to a moment, steps from the last one that it got to may.
 * Where those do not either, it is an instruction for what a stepped call has met with and a
 * fast one has not: a spin that was broken off, another length of the wait.
 */
static bool perform(struct stage *st, const struct suspect *suspect,
		    const struct scene *scene, unsigned i, const struct accident *accident)
{
	begin(st, suspect, scene);
	if (!scene->between && reach(st, i, i, accident)) {
		path.known = i;
		return true;
	}
	begin(st, suspect, scene);
	return (scene->between || i - path.known < STEPS_MAX) &&
	       reach(st, path.known, i, accident);
}

/* An accident happens at one instruction in so many. */
static unsigned turns_of(const struct suspect *suspect, const struct scene *scene,
			 const struct accident *accident)
{
	unsigned turns = accident->turns;

	if (thorough)
		return 1;
	turns *= fewer;
	if (trace_is_slow())
		turns *= SLOW_TURNS;
	if (scene->rare)
		turns *= scene->rare;
	return accident->handler && suspect->calm ? turns * suspect->calm : turns;
}

/* Sleeps are few, and always looked at. */
static bool is_its_turn(unsigned i, unsigned turn, unsigned turns)
{
	return i % turns == turn % turns || path.moment[i].asleep;
}

/* At the moments of the path that was found. */
static struct tally perform_along(const struct suspect *suspect, const struct scene *scene,
				  const struct accident *accident)
{
	unsigned turns = turns_of(suspect, scene, accident);
	struct tally tally = { 0 };

	for (unsigned i = 0; i < path.moments; i++) {
		struct stage st;

		if (!is_its_turn(i, accident->turn, turns))
			continue;
		check_watchdog(60);
		progress->moment = i;
		progress->at = path.moment[i].at;
		if (perform(&st, suspect, scene, i, accident))
			count(&tally, strike(&st, accident));
		else
			tally.missed++;
	}
	return tally;
}

/* A path of which half is not reached again was a detour, as on a busy machine: find another. */
static void perform_all(const struct suspect *suspect, const struct scene *scene,
			const struct accident *accident)
{
	struct tally tally;
	int tries = TRIES;
	bool detour;

	do {
		find_path(suspect, scene);
		tally = perform_along(suspect, scene, accident);
		detour = tally.missed * 2 > tally.all && usual_path(scene);
	} while (detour && --tries);
	print(scene, &tally);
	CHECK(!detour);
}

static const struct suspect *suspect_named(const char *name)
{
	static const struct suspect *const suspects[] = {
		&sem_suspect,    &futex_suspect,      &robust_suspect, &channel_suspect,
		&rwlock_suspect, &barrier_suspect,    &latch_suspect,  &once_suspect,
		&event_suspect,  &eventcount_suspect, &cond_suspect,
	};

	for (unsigned i = 0; i < sizeof(suspects) / sizeof(suspects[0]); i++)
		if (strcmp(suspects[i]->name, name) == 0)
			return suspects[i];
	return NULL;
}

static const char *table;
static const struct suspect *suspected;

static void run_table(const struct accident *accident)
{
	const struct scene *scene;

	printf("\n%s\n", accident->name);
	if (!thorough)
		printf("not at every step; that is done with IW_STRESS_SECONDS set%s\n",
		       trace_is_slow() ? "; no debug registers: fewer steps" : "");
	printf("%-34s steps  done  what was found\n", "call");
	progress->accident = accident->name;
	for (unsigned i = 0; (scene = suspected->scene(i)); i++) {
		progress->scene = scene->name;
		perform_all(suspected, scene, accident);
	}
}

static void run_tables(void)
{
	stage_build(strcmp(table, "kill") == 0);
	for (const struct accident *a = accidents; a->name; a++)
		if (strcmp(a->table, table) == 0)
			run_table(a);
}

static void usage(void)
{
	fputs("usage: step_test kill|signal|stop "
	      "sem|futex|robust|channel|rwlock|barrier|latch|"
	      "once|event|eventcount|cond\n",
	      stderr);
	exit(2);
}

static bool is_table(const char *name)
{
	const struct accident *a = accidents;

	while (a->name && strcmp(a->table, name) != 0)
		a++;
	return a->name;
}

int main(int argc, char **argv)
{
	if (argc != 3 || !is_table(argv[1]))
		usage();
	suspected = suspect_named(argv[2]);
	if (!suspected)
		usage();
	if (!trace_possible()) {
		puts("skipped: no ptrace(2) of children, or no breakpoints");
		return 77;
	}
	table = argv[1];
	thorough = getenv("IW_STRESS_SECONDS") != NULL;
	if (getenv("IW_STEPS_FEWER"))
		fewer = (unsigned)atoi(getenv("IW_STEPS_FEWER"));
	CHECK(fewer > 0);
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(progress != MAP_FAILED);
	if (check_in_child(run_tables) == 0)
		return 0;
	fprintf(stderr, "%s: %s, at step %u, address %#lx\n", progress->accident,
		progress->scene, progress->moment, (unsigned long)progress->at);
	return 1;
}
