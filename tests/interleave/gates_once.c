/* SPDX-License-Identifier: MIT */
/*
 * What threads do with a once, and what must hold whatever they do: the table of
 * <ipcwait/once.h> in every state, one run at a time, one success, and nobody asleep unless
 * somebody runs the function.
 */
#include <setjmp.h>
#include <unwind.h>

#include <ipcwait/once.h>

#include "common/gates_word.h"
#include "interleave/gates.h"

/* What the function returns when it fails. */
#define FAILURE (-4711)

/* What a call comes to that has not returned. */
#define LEFT (-4712)

/* A runner in a process that is not this one: no process has that id. */
#define STRANGER ONCE_WORD(77, 0x3fffff)

struct script {
	unsigned callers;  /* 0: somebody may die, and the end frees the memory */
	unsigned failures; /* so many runs fail */
	unsigned lefts;    /* so many after them are left, and their threads call no more */
	uint64_t word;     /* to begin with */
	unsigned flags;
	enum engine_spins spins;
	bool data;        /* runs leave something for each other and for all */
	bool all_watched; /* the learned window is no mere statistics here */
};

static struct ipcwait_once *once;
static struct shared {
	uint32_t users;
	uint32_t runs, result;
} * shared;

/* Notes of the test's own. */
static volatile bool gone, left[MODEL_THREADS_MAX];
static volatile bool ran[MODEL_THREADS_MAX];
static volatile unsigned runner, runs, failed, succeeded, lost;

/* Where the stack of a call ends that may be left, and what it is left by. */
static struct call {
	struct _Unwind_Exception exception;
	uintptr_t frame;
	jmp_buf caller;
} calls[MODEL_THREADS_MAX];

static const struct script *script(void)
{
	return model_script();
}

static void begin(void)
{
	const struct script *s = script();

	engine_spins = s->spins;
	gone = false;
	runner = MODEL_THREADS_MAX;
	runs = failed = succeeded = lost = 0;
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		left[i] = ran[i] = false;
	once = model_alloc(sizeof(*once));
	shared = model_alloc(sizeof(*shared));
	if (!s->all_watched)
		model_quiet(&once->window, sizeof(once->window));
	model_name(&once->word, "once.word");
	model_assert(ipcwait_once_init(once, s->flags) == 0);
	once->word.v = s->word;
	shared->users = s->callers;
}

static void free_all(void)
{
	gone = true;
	model_free(once);
	model_free(shared);
}

/* A caller needs the once no more; whoever is the last frees it at once. */
static void leave(unsigned i)
{
	left[i] = true;
	if (script()->callers &&
	    __atomic_sub_fetch(&shared->users, 1, __ATOMIC_ACQ_REL) == 0)
		free_all();
}

/*
 * Who succeeds leaves from inside, so that others may free the once before its call returns. Not if
 * it would be the last: the call is not over. And not if others were left: they do not look again,
 * so they could not free it.
 */
static void leave_early(unsigned i)
{
	if (script()->callers && !script()->lefts &&
	    __atomic_load_n(&shared->users, __ATOMIC_ACQUIRE) > 1)
		leave(i);
}

/* Asked at every frame, from the function on: the caller's is the last. */
static _Unwind_Reason_Code go_on(int version, _Unwind_Action actions,
				 _Unwind_Exception_Class class,
				 struct _Unwind_Exception *exception,
				 struct _Unwind_Context *context, void *arg)
{
	struct call *c = arg;

	(void)version, (void)actions, (void)class, (void)exception;
	if (_Unwind_GetCFA(context) > c->frame)
		_longjmp(c->caller, 1);
	return _URC_NO_REASON;
}

/* As pthread_exit(3) and cancellation do it, and much like exceptions. */
static void be_left(unsigned i)
{
	(void)_Unwind_ForcedUnwind(&calls[i].exception, go_on, &calls[i]);
	model_assert(!"unwound");
}

static int run(void *arg)
{
	unsigned i = model_thread();

	model_assert(arg == &shared);
	model_assert(runner == MODEL_THREADS_MAX || model_dead(runner));
	model_assert(!succeeded || gates_deaths());
	runner = i;
	runs++;
	if (script()->data)
		shared->runs++;
	model_point();
	runner = MODEL_THREADS_MAX;
	ran[i] = true;
	if (runs <= script()->failures)
		return FAILURE;
	if (runs <= script()->failures + script()->lefts)
		be_left(i);
	if (script()->data)
		shared->result = shared->runs;
	succeeded++;
	leave_early(i);
	return 0;
}

static __attribute__((noinline)) int call(unsigned i)
{
	calls[i].frame = (uintptr_t)__builtin_frame_address(0);
	if (_setjmp(calls[i].caller))
		return LEFT;
	return ipcwait_once_run(once, run, &shared);
}

static void thread(unsigned i)
{
	int r;

	while ((r = call(i)) == FAILURE)
		failed++;
	lost += r == LEFT;
	model_assert(r == LEFT || (r == 0 && succeeded));
	if (left[i])
		return;
	if (script()->data && r == 0)
		model_assert(shared->result == script()->failures + script()->lefts + 1);
	leave(i);
}

static void look(void)
{
	uint64_t w;

	if (gone)
		return;
	w = model_peek(&once->word);
	model_assert(!(w & ONCE_DONE) || (w == ONCE_DONE && succeeded));
	model_assert(once_runner(w) || !(w & ONCE_SLEEPS));
}

/*
 * Whoever sleeps, sleeps because a run is not over and its runner is dead, or because somebody
 * died between the end of a run and the wake.
 */
static void at_rest(void)
{
	unsigned now = gone ? 0 : once_runner(model_peek(&once->word));
	bool told = true;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		told = told && !(ran[i] && model_dead(i));
	model_assert(now ? model_dead(now - 1) : !told);
}

static void end(void)
{
	model_assert(gates_deaths() || (failed == script()->failures &&
					lost == script()->lefts && succeeded == 1));
	if (gone)
		return;
	model_assert(model_peek(&once->word) == ONCE_DONE || gates_deaths() > 1);
	free_all();
}

#define COMMON \
	.begin = begin, .thread = thread, .end = end, .always = look, .at_rest = at_rest
#define SCRIPT .script = &(const struct script)

const struct model_scenario gates_once[] = {
	{ .name = "once: two call",
	  .threads = 2,
	  COMMON,
	  .about = "one runs it, and who waits frees it while the other is still inside",
	  SCRIPT{ .callers = 2, .spins = ENGINE_EITHER, .data = true, .all_watched = true },
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ .name = "once: three call",
	  .threads = 3,
	  COMMON,
	  .about = "one call of the kernel's wakes both who wait",
	  SCRIPT{ .callers = 3, .data = true },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ .name = "once: the first fails",
	  .threads = 2,
	  COMMON,
	  .about = "the next run sees what it did",
	  SCRIPT{ .callers = 2, .failures = 1, .spins = ENGINE_EITHER, .data = true },
	  .search = { .bound = 2,
		      .weak_bound = 2,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ .name = "once: two fail",
	  .threads = 3,
	  COMMON,
	  .about = "nobody sleeps while it is open",
	  SCRIPT{ .callers = 3, .failures = 2, .spins = ENGINE_EITHER, .data = true },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 3000,
		      .runs_most = 5000 } },
	{ .name = "once: the first is left",
	  .threads = 2,
	  COMMON,
	  .about = "who waits runs it, and sees what that run did",
	  SCRIPT{ .callers = 2, .lefts = 1, .spins = ENGINE_EITHER, .data = true },
	  .search = { .bound = 2,
		      .weak_bound = 2,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ .name = "once: two are left",
	  .threads = 4,
	  COMMON,
	  .about = "one of those who wait runs it, and the last finds it done",
	  SCRIPT{ .callers = 4, .lefts = 2, .data = true },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ .name = "once: any engine",
	  .threads = 2,
	  COMMON,
	  .about = "whatever it decides, the end of the run is what ends a wait",
	  SCRIPT{ .callers = 2, .spins = ENGINE_ANY },
	  .search = { .bound = 2, .pct_depth = 3, .pct_runs = 2000, .runs_most = 5000 } },
	{ .name = "once: signals",
	  .threads = 2,
	  COMMON,
	  .about = "no signal ends a wait",
	  SCRIPT{ .callers = 2 },
	  .faults = { .signals = 2 },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 500,
		      .runs_most = 5000 } },
	{ .name = "once: spurious returns",
	  .threads = 3,
	  COMMON,
	  .about = "a return of the kernel's means nothing",
	  SCRIPT{ .callers = 3 },
	  .faults = { .spurious = 2 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .pct_depth = 4,
		      .pct_runs = 1000,
		      .runs_most = 5000 } },
	{ .name = "once: sleeps on a timer",
	  .threads = 3,
	  COMMON,
	  .about =
		  "a waiter looks on and sleeps again, and leaves the others to the runner",
	  SCRIPT{ .callers = 3, .spins = ENGINE_SPINS },
	  .faults = { .timers = 2 },
	  .search = { .bound = 1, .pct_depth = 4, .pct_runs = 2000, .runs_most = 5000 } },
	{ .name = "once: private",
	  .threads = 3,
	  COMMON,
	  .about = "the private futex: waiter and waker agree on it",
	  SCRIPT{ .callers = 3, .flags = IPCWAIT_PRIVATE },
	  .search = { .bound = 1, .pct_depth = 3, .pct_runs = 300, .runs_most = 5000 } },
	{ .name = "once: a copy in a child",
	  .threads = 2,
	  COMMON,
	  .about = "its runner is in another process: one of two begins anew",
	  SCRIPT{ .callers = 2,
		  .word = STRANGER | ONCE_SLEEPS,
		  .flags = IPCWAIT_PRIVATE,
		  .spins = ENGINE_EITHER,
		  .data = true },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 1000,
		      .runs_most = 5000 } },
	{ .name = "once: killed",
	  .threads = 3,
	  COMMON,
	  .process = { 0, 1, 1 },
	  .mortal = 1,
	  .faults = { .kills = 1 },
	  .about = "whoever dies wherever, one of the others runs it, and all return",
	  SCRIPT{ .spins = ENGINE_EITHER },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .pct_depth = 4,
		      .pct_runs = 3000,
		      .runs_most = 5000 } },
	{ .name = "once: killed, failing",
	  .threads = 3,
	  COMMON,
	  .process = { 0, 1, 1 },
	  .mortal = 1,
	  .faults = { .kills = 1 },
	  .about = "the same with a run that fails",
	  SCRIPT{ .failures = 1 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .pct_depth = 4,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ .name = "once: killed, left",
	  .threads = 3,
	  COMMON,
	  .process = { 0, 1, 1 },
	  .mortal = 1,
	  .faults = { .kills = 1 },
	  .about = "the same with a run that is left, by the dead perhaps",
	  SCRIPT{ .lefts = 1 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .pct_depth = 4,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ 0 },
};
