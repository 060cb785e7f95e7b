/* SPDX-License-Identifier: MIT */
/*
 * The interleaving checker: the library's real sources, compiled so that every access to memory
 * calls the checker (that is what compilers do for race detectors), over a kernel and a clock
 * that are the checker's own. The threads of a scenario are coroutines in one thread of the
 * operating system; a scheduler decides at every access to shared memory and in every system
 * call who goes on and what else happens. docs/verification.md
 *
 * A scenario is a few functions and a list of what may go wrong. It is run again and again,
 * each time with other decisions, until all have been tried or a limit is reached.
 *
 * What the checker finds without being told: two threads that access memory without order, one of
 * them not atomically (a data race); any touch of memory that was freed; memory that was not;
 * threads that sleep for good; executions that do not end. What a scenario adds: model_assert(),
 * a look at every state (always), a look whenever nobody can run (at_rest).
 */
#ifndef TESTS_INTERLEAVE_MODEL_H
#define TESTS_INTERLEAVE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_THREADS_MAX 6

/* How memory behaves. */
enum model_memory {
	MODEL_SC,   /* one order of all accesses */
	MODEL_TSO,  /* stores wait in a buffer of their thread: x86-64 */
	MODEL_WEAK, /* loads may find old values, where C11 lets them: arm64, riscv64 */
	MODEL_MEMORIES,
};

/* What a scenario can end with. */
enum model_verdict {
	MODEL_PASS,
	MODEL_ASSERTION,      /* model_assert(), always() or at_rest() */
	MODEL_RACE,           /* unordered accesses, one of them not atomic */
	MODEL_FREED,          /* memory touched after model_free() */
	MODEL_LEAK,           /* memory not freed, or freed twice */
	MODEL_DEADLOCK,       /* somebody sleeps for good */
	MODEL_LIVELOCK,       /* too many steps */
	MODEL_CRASH,          /* a signal of the processor's */
	MODEL_NONDETERMINISM, /* the scenario keeps something for the next execution */
	MODEL_VERDICTS,
};

/* How many times in an execution, at most, this happens, at any moment. */
struct model_faults {
	uint8_t spurious; /* a futex wait returns 0 for no reason */
	uint8_t signals;  /* a handler runs; a futex wait that it ends returns -EINTR */
	uint8_t kills;    /* a process dies */
	uint8_t jumps;    /* the clock goes on by two milliseconds */
	uint8_t steps;    /* the CPU's counter steps back by a second */
	uint8_t timers;   /* the engine bounds a sleep by a timer of its own */
	uint8_t cancels;  /* a thread that sleeps is cancelled */
};

/* How it is searched, in each of three ways if not 0. */
struct model_search {
	uint8_t bound;      /* all schedules with at most so many preemptions */
	uint8_t weak_bound; /* the same for MODEL_TSO and MODEL_WEAK */
	uint8_t stale;      /* loads of old values in an execution, MODEL_WEAK */
	uint8_t pct_depth;  /* random priorities that change depth - 1 times ... */
	uint32_t pct_runs;  /* ... in so many executions, and as many at random */
	uint32_t runs_most; /* stop the exhaustive search there; 0: at 60000 */
	bool sc_only;       /* in no other kind of memory */
};

struct model_scenario {
	const char *name;
	const struct model_scenario *list; /* without a name: those of another list */
	const char *about;
	unsigned threads;
	const void *script;             /* what the functions below make of it */
	void (*begin)(void);            /* before the threads: makes the objects */
	void (*thread)(unsigned i);     /* 0 .. threads - 1 */
	void (*end)(void);              /* after them: destroys what is left */
	void (*always)(void);           /* in every state; only looks */
	void (*at_rest)(void);          /* nobody can run and somebody sleeps */
	void (*handler)(unsigned i);    /* signal handler of thread i */
	void (*died)(unsigned process); /* what the kernel does for the dead */
	void (*cancelled)(unsigned i);  /* cleanup handler of thread i */
	uint8_t process[MODEL_THREADS_MAX];
	uint8_t mortal; /* mask of processes that may be killed */
	bool patient;   /* deadlines pass in time, which goes on when nobody can run */
	struct model_faults faults;
	struct model_search search;
	enum model_verdict expect[MODEL_MEMORIES];
};

/*
 * Memory that the checker watches. Threads share nothing else, but for notes of the test's own,
 * which must be volatile: compilers do not know that another coroutine may run in a function.
 */
void *model_alloc(size_t size);
void model_free(void *p);

/* Static data of the code under test, watched and the same at the beginning of each execution. */
void model_share(void *p, size_t size);

/* Part of watched memory that holds statistics: any content is legal, its order is irrelevant. */
void model_quiet(const void *p, size_t size);

/* True if somebody will read what the scenario prints: the execution is being shown. */
bool model_tracing(void);

/* In a trace, this is what the memory is called. */
void model_name(const void *p, const char *name);

#define model_assert(condition) \
	((condition) ? (void)0 : model_fail(MODEL_ASSERTION, #condition))

_Noreturn void model_fail(enum model_verdict verdict, const char *text);

/* One of @n possibilities; the checker tries all. 0 is the usual one. */
unsigned model_choose(unsigned n, const char *what);

/* The same where all but 0 are unusual. */
unsigned model_choose_rarely(unsigned n, const char *what);

/* A moment at which others may run; the tool of models without atomics. */
void model_point(void);

/* One step of a spin that ends by itself: others may run now. */
void model_yield(void);

/* The same for one that does not: others must change something first, if they can. */
void model_pause(void);

/* The process of the calling thread dies here. */
_Noreturn void model_die(void);

/* Of the scenario that runs. */
const void *model_script(void);

/* True if its deadlines pass in time. */
bool model_patient(void);

/* What it runs on. */
enum model_memory model_memory(void);

/* The thread that runs, MODEL_THREADS_MAX outside of all. */
unsigned model_thread(void);

/* True if the process of thread @i has been killed; threads that do not end are. */
bool model_dead(unsigned i);

/* True if thread @i sleeps in the kernel; how many do; how many of them on @word. */
bool model_asleep(unsigned i);
unsigned model_sleepers(void);
unsigned model_sleepers_on(const void *word);

/* When thread @i wakes by itself; INT64_MAX if it does not sleep, or does so for good. */
int64_t model_sleeps_until(unsigned i);

/* What is in memory, for looking only: neither order nor life are checked. */
uint64_t model_peek(const void *p);

/* Time in ns: CLOCK_MONOTONIC and the CPU's counter. They go on with every reading. */
int64_t model_now(void);
uint64_t model_counter(void);
void model_elapse(int64_t ns);

/* A word to sleep on. */
struct model_word {
	const uint32_t *word;
	uint32_t expected;
	bool private_;
};

#define MODEL_WORDS_MAX 4

/* The kernel's futex_waitv(), as in lib/os/futex_waitv.h. */
int model_futex_waitv(const struct model_word *words, unsigned n, int64_t deadline_ns);

/*
 * Set in begin(): a kernel without it; a CPU for all threads, where each has its own as a rule; a
 * namespace for each, where they share one, so that all have the same id; and the same id for all
 * of them, of whom one lives at a time.
 */
extern bool model_lacks_waitv, model_one_cpu, model_same_ids, model_id_again;

/* The kernel's futex, as in lib/os/futex.h. */
int model_futex_wait(const uint32_t *word, uint32_t expected, int64_t deadline_ns,
		     bool private_, uint32_t bits);
int model_futex_wake(const uint32_t *word, uint32_t count, bool private_, uint32_t bits);

/* How many of the engine's own timers may still be set in this execution. */
bool model_timer_left(void);

/* The scenarios of a program, ended by one without name and list. */
extern const struct model_scenario model_scenarios[];

#endif
