/* SPDX-License-Identifier: MIT */
/*
 * What a barrier's parties do, and what must hold whatever they do: the table of
 * <ipcwait/barrier.h> in every state, nobody asleep whose round is over whenever nobody can
 * run, and as many released parties as there were rounds.
 */
#include <errno.h>

#include <ipcwait/barrier.h>

#include "common/gates_word.h"
#include "interleave/gates.h"

#define ROUNDS_MOST 2

/* What a thread does, rounds times. */
enum role {
	NOTHING,
	MEETS,
	MEETS_UNTIL, /* and may give up at a deadline */
	ENDS,        /* meets, and ends and frees the barrier while others come back */
	ENDS_UNTIL,  /* the same if it has not given up, and nobody is still to come */
};

struct script {
	enum role role[MODEL_THREADS_MAX];
	unsigned parties;
	unsigned rounds; /* 0 is 1 */
	uint64_t word;   /* to begin with */
	unsigned flags;
	enum engine_spins spins;
	bool data; /* all are in the same rounds and leave something for each other */
	bool all_watched; /* the learned window is no mere statistics here */
};

static struct ipcwait_barrier *barrier;
static struct shared {
	uint32_t data[ROUNDS_MOST][MODEL_THREADS_MAX];
} * shared;

/* Notes of the test's own. */
static volatile bool gone;
static volatile unsigned serials, released, given_up;

static const struct script *script(void)
{
	return model_script();
}

static void begin(void)
{
	const struct script *s = script();

	engine_spins = s->spins;
	gone = false;
	serials = released = given_up = 0;
	barrier = model_alloc(sizeof(*barrier));
	shared = model_alloc(sizeof(*shared));
	if (!s->all_watched)
		model_quiet(&barrier->window, sizeof(barrier->window));
	model_name(&barrier->word, "barrier.word");
	model_assert(ipcwait_barrier_init(barrier, s->parties, s->flags) == 0);
	/* Of no process yet, as one that was made without a call. */
	barrier->reserved = 0;
	barrier->word.v = s->word;
}

static void free_barrier(void)
{
	gone = true;
	model_free(barrier);
}

static int meet(enum role role)
{
	int64_t deadline = model_now() + GATES_SOON_NS;
	int r;

	if (role == MEETS || role == ENDS)
		return ipcwait_barrier_wait(barrier);
	r = ipcwait_barrier_wait_until(barrier, deadline);
	model_assert(r != -ETIMEDOUT || model_now() >= deadline);
	return r;
}

static void check_data(unsigned round)
{
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (script()->data && script()->role[i] != NOTHING)
			model_assert(shared->data[round][i] == 1);
}

static void end_barrier(void)
{
	model_assert(ipcwait_barrier_fini(barrier) == 0);
	free_barrier();
}

static void thread(unsigned i)
{
	const struct script *s = script();
	enum role role = s->role[i];
	int r = -ETIMEDOUT;

	for (unsigned n = 0; role != NOTHING && n < (s->rounds ? s->rounds : 1); n++) {
		if (s->data)
			shared->data[n][i] = 1;
		r = meet(role);
		model_assert(r == 0 || r == IPCWAIT_BARRIER_SERIAL ||
			     (r == -ETIMEDOUT && role != MEETS && role != ENDS));
		serials += r == IPCWAIT_BARRIER_SERIAL;
		released += r == 0;
		given_up += r == -ETIMEDOUT;
		check_data(n);
	}
	if (role == ENDS || (role == ENDS_UNTIL && r >= 0 && given_up))
		end_barrier();
}

static void look(void)
{
	uint64_t w;

	if (gone)
		return;
	w = model_peek(&barrier->word);
	model_assert(barrier_arrived(w) < script()->parties);
	model_assert(!(w & BARRIER_SLEEPS) || barrier_arrived(w));
	model_assert(barrier_arrived(w) + barrier_leaving(w) <= MODEL_THREADS_MAX);
}

/* Whoever sleeps is a party of a round that is not over. Naps are for the end of the barrier. */
static void at_rest(void)
{
	uint64_t w;

	if (gone)
		return;
	w = model_peek(&barrier->word);
	model_assert(model_sleepers_on(&barrier->word) == barrier_arrived(w));
	model_assert(!barrier_leaving(w));
}

/*
 * A process may have died: as a party that has arrived, on its way out, or as the last to arrive
 * before its wake. Those who sleep have deadlines, and find out at the latest then.
 */
static void at_rest_with_the_dead(void)
{
	if (!gates_deaths())
		at_rest();
}

static void end(void)
{
	uint64_t w;

	if (!gates_deaths())
		model_assert(released == serials * (script()->parties - 1));
	if (!gone) {
		w = model_peek(&barrier->word);
		model_assert(gates_deaths() ||
			     (!barrier_arrived(w) && !barrier_leaving(w)));
		model_assert(gates_deaths() ||
			     barrier_round(w) == (uint32_t)(script()->word + serials));
		free_barrier();
	}
	model_free(shared);
}

#define PLAIN  .begin = begin, .thread = thread, .end = end, .always = look
#define COMMON PLAIN, .at_rest = at_rest
#define SCRIPT .script = &(const struct script)

const struct model_scenario gates_barrier[] = {
	{ .name = "barrier: two meet",
	  .threads = 2,
	  COMMON,
	  .about = "each sees what the other did before",
	  SCRIPT{ .role = { MEETS, MEETS },
		  .parties = 2,
		  .rounds = 2,
		  .spins = ENGINE_EITHER,
		  .data = true },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 2000 } },
	{ .name = "barrier: three meet",
	  .threads = 3,
	  COMMON,
	  .about = "all wait for the last, whom one call of the kernel's is enough",
	  SCRIPT{ .role = { MEETS, MEETS, MEETS }, .parties = 3, .data = true },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 2000 } },
	{ .name = "barrier: three meet, some spinning",
	  .threads = 3,
	  COMMON,
	  .about = "the same, in two rounds",
	  SCRIPT{ .role = { MEETS, MEETS, MEETS },
		  .parties = 3,
		  .rounds = 2,
		  .spins = ENGINE_EITHER,
		  .data = true },
	  .search = { .pct_depth = 4, .pct_runs = 3000 } },
	{ .name = "barrier: the round wraps",
	  .threads = 2,
	  COMMON,
	  .about = "nothing is carried into the other fields",
	  SCRIPT{ .role = { MEETS, MEETS }, .parties = 2, .rounds = 2, .word = UINT32_MAX },
	  .search = { .bound = 2, .pct_depth = 3, .pct_runs = 1000 } },
	{ .name = "barrier: ended by one of two",
	  .threads = 2,
	  COMMON,
	  .about = "freed as soon as its own wait is over; the other may still be inside",
	  SCRIPT{ .role = { MEETS, ENDS },
		  .parties = 2,
		  .spins = ENGINE_EITHER,
		  .all_watched = true },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 3000,
		      .runs_most = 5000 } },
	{ .name = "barrier: ended by one of three",
	  .threads = 3,
	  COMMON,
	  .about = "two others may still be inside, asleep or not",
	  SCRIPT{ .role = { MEETS, ENDS, MEETS }, .parties = 3, .all_watched = true },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 3000,
		      .runs_most = 5000 } },
	{ .name = "barrier: ended under signals",
	  .threads = 2,
	  COMMON,
	  .about = "no signal keeps who ends it from waiting for the other",
	  SCRIPT{ .role = { MEETS, ENDS }, .parties = 2 },
	  .faults = { .signals = 1 },
	  .search = { .bound = 2, .pct_depth = 3, .pct_runs = 1000, .runs_most = 5000 } },
	{ .name = "barrier: ended when one has given up",
	  .threads = 3,
	  COMMON,
	  .about = "two meet and one of them frees it; nothing of the third is late",
	  SCRIPT{ .role = { MEETS_UNTIL, ENDS_UNTIL, MEETS_UNTIL },
		  .parties = 2,
		  .all_watched = true },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .pct_depth = 4,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ .name = "barrier: more threads than parties",
	  .threads = 4,
	  COMMON,
	  .about = "they meet in pairs, whoever is still on his way out",
	  SCRIPT{ .role = { MEETS, MEETS, MEETS, MEETS },
		  .parties = 2,
		  .spins = ENGINE_EITHER },
	  .search = { .bound = 1, .pct_depth = 5, .pct_runs = 3000, .runs_most = 5000 } },
	{ .name = "barrier: any engine",
	  .threads = 2,
	  COMMON,
	  .about = "whatever it decides, the end of the round is what ends a wait",
	  SCRIPT{ .role = { MEETS, MEETS }, .parties = 2, .spins = ENGINE_ANY },
	  .search = { .bound = 2, .pct_depth = 3, .pct_runs = 2000 } },
	{ .name = "barrier: deadlines",
	  .threads = 2,
	  COMMON,
	  .about = "both give up, or neither",
	  SCRIPT{ .role = { MEETS_UNTIL, MEETS_UNTIL },
		  .parties = 2,
		  .spins = ENGINE_EITHER },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 3000,
		      .runs_most = 5000 } },
	{ .name = "barrier: three deadlines, two parties",
	  .threads = 3,
	  COMMON,
	  .about = "who gives up beside the last to arrive is released all the same",
	  SCRIPT{ .role = { MEETS_UNTIL, MEETS_UNTIL, MEETS_UNTIL }, .parties = 2 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 3000,
		      .runs_most = 5000 } },
	{ .name = "barrier: four deadlines, three parties",
	  .threads = 4,
	  COMMON,
	  .about = "who gives up leaves the sleepers of its round to the last",
	  SCRIPT{ .role = { MEETS_UNTIL, MEETS_UNTIL, MEETS_UNTIL, MEETS_UNTIL },
		  .parties = 3 },
	  .search = { .pct_depth = 5, .pct_runs = 5000 } },
	{ .name = "barrier: signals",
	  .threads = 2,
	  COMMON,
	  .about = "no signal ends a wait",
	  SCRIPT{ .role = { MEETS, MEETS }, .parties = 2 },
	  .faults = { .signals = 2 },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 1000 } },
	{ .name = "barrier: spurious returns",
	  .threads = 3,
	  COMMON,
	  .about = "a return of the kernel's means nothing",
	  SCRIPT{ .role = { MEETS, MEETS, MEETS }, .parties = 3 },
	  .faults = { .spurious = 2 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .pct_depth = 4,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ .name = "barrier: sleeps on a timer",
	  .threads = 2,
	  COMMON,
	  .about = "a party that looks on for a while has not given up",
	  SCRIPT{ .role = { MEETS, MEETS }, .parties = 2, .spins = ENGINE_SPINS },
	  .faults = { .timers = 2 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ .name = "barrier: private",
	  .threads = 3,
	  COMMON,
	  .about = "the private futex: waiter and waker agree on it",
	  SCRIPT{ .role = { MEETS, MEETS, MEETS }, .parties = 3, .flags = IPCWAIT_PRIVATE },
	  .search = { .bound = 1, .pct_depth = 4, .pct_runs = 500 } },
	{ .name = "barrier: a copy",
	  .threads = 3,
	  COMMON,
	  .about = "the parent's parties are in it: the round begins anew",
	  SCRIPT{ .role = { MEETS, MEETS, MEETS },
		  .parties = 3,
		  .word = BARRIER_WORD(5, 2, 1) | BARRIER_SLEEPS,
		  .flags = IPCWAIT_PRIVATE },
	  .search = { .bound = 2, .pct_depth = 4, .pct_runs = 500, .runs_most = 20000 } },
	{ .name = "barrier: killed party",
	  .threads = 3,
	  PLAIN,
	  .at_rest = at_rest_with_the_dead,
	  .process = { 0, 1, 1 },
	  .mortal = 1,
	  .faults = { .kills = 1 },
	  .about = "a process dies at any moment; those with deadlines go on",
	  SCRIPT{ .role = { MEETS_UNTIL, MEETS_UNTIL, MEETS_UNTIL },
		  .parties = 2,
		  .spins = ENGINE_EITHER },
	  .search = { .pct_depth = 4, .pct_runs = 3000 } },
	{ 0 },
};
