/* SPDX-License-Identifier: MIT */
/*
 * What threads do with a latch, and what must hold whatever they do: the table of
 * <ipcwait/latch.h> in every state, and nobody asleep beside an open latch.
 */
#include <errno.h>

#include <ipcwait/latch.h>

#include "common/gates_word.h"
#include "interleave/gates.h"

/* What a thread does. */
enum role {
	NOTHING,
	COUNTS,     /* down by one */
	COUNTS_TWO, /* at once */
	ASKS,       /* whether it is open */
	AWAITS,
	AWAITS_UNTIL, /* and may give up at a deadline */
	ARRIVES,      /* counts and waits */
	FINISHES,     /* waits, then ends the latch's life */
};

struct script {
	enum role role[MODEL_THREADS_MAX];
	uint64_t word; /* to begin with */
	uint64_t left; /* in the end, if the latch has not opened */
	unsigned flags;
	enum engine_spins spins;
	int64_t deadline_ns; /* 0 is GATES_SOON_NS */
	bool data;           /* who counts leaves something for who waits */
	bool excess;         /* counts may be too many */
	bool all_watched;    /* the learned window is no mere statistics here */
	bool counters_stay;  /* the memory is freed when those who count are done as well */
};

static struct ipcwait_latch *latch;
static struct shared {
	uint32_t users;
	uint32_t data[MODEL_THREADS_MAX];
} * shared;

/* Notes of the test's own. */
static volatile bool gone, slept_beside[MODEL_THREADS_MAX]; /* ... the open latch */
static volatile uint64_t final;                             /* the word when it was freed */
static volatile uint64_t counted, begun;

static const struct script *script(void)
{
	return model_script();
}

static bool counts(enum role role)
{
	return role == COUNTS || role == COUNTS_TWO || role == ARRIVES;
}

static bool stays(enum role role)
{
	return role >= AWAITS || (role != NOTHING && script()->counters_stay);
}

static void begin(void)
{
	const struct script *s = script();

	engine_spins = s->spins;
	gone = false;
	counted = begun = 0;
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		slept_beside[i] = false;
	latch = model_alloc(sizeof(*latch));
	shared = model_alloc(sizeof(*shared));
	if (!s->all_watched)
		model_quiet(&latch->window, sizeof(latch->window));
	model_name(&latch->word, "latch.word");
	model_assert(ipcwait_latch_init(latch, 0, s->flags) == 0);
	/* Of no process yet, as one that was made without a call. */
	latch->reserved = 0;
	latch->word.v = s->word;
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		shared->users += stays(s->role[i]);
}

static void free_all(void)
{
	gone = true;
	final = model_peek(&latch->word);
	model_free(latch);
	model_free(shared);
}

/* The caller needs the latch no more; whoever is the last frees it at once. */
static void leave(void)
{
	if (__atomic_fetch_sub(&shared->users, 1, __ATOMIC_ACQ_REL) == 1)
		free_all();
}

static void count(uint32_t n)
{
	int r;

	begun += n;
	r = ipcwait_latch_count_down(latch, n);
	model_assert(r == 0 || (r == -EOVERFLOW && script()->excess));
	if (r == 0)
		counted += n;
	else
		begun -= n;
}

static int arrive(void)
{
	int r;

	begun++;
	r = ipcwait_latch_arrive_and_wait(latch);
	counted++;
	return r;
}

static int wait_until(void)
{
	int64_t after = script()->deadline_ns ? script()->deadline_ns : GATES_SOON_NS;
	int64_t deadline = model_now() + after;
	int r = ipcwait_latch_wait_until(latch, deadline);

	model_assert(r == 0 || (r == -ETIMEDOUT && model_now() >= deadline));
	/* In weak memory a thread may not yet see what nobody has told it. */
	model_assert(r == 0 || !slept_beside[model_thread()] ||
		     model_memory() == MODEL_WEAK);
	return r;
}

static int act(enum role role)
{
	int r = -EAGAIN;

	switch (role) {
	case COUNTS:
	case COUNTS_TWO:
		count(role == COUNTS ? 1 : 2);
		break;
	case ASKS:
		r = ipcwait_latch_trywait(latch);
		model_assert(r == 0 || r == -EAGAIN);
		break;
	case AWAITS_UNTIL:
		r = wait_until();
		break;
	default:
		r = role == ARRIVES ? arrive() : ipcwait_latch_wait(latch);
		model_assert(r == 0);
	}
	return r;
}

static void thread(unsigned i)
{
	const struct script *s = script();
	enum role role = s->role[i];
	bool mine = stays(role);

	if (role == NOTHING)
		return;
	if (s->data)
		shared->data[i] = 1;
	/* It is open: everybody has counted, and what they did before is seen. */
	if (act(role) == 0 && s->data)
		for (unsigned k = 0; k < MODEL_THREADS_MAX; k++)
			model_assert(!counts(s->role[k]) || shared->data[k] == 1);
	if (role == FINISHES)
		model_assert(ipcwait_latch_fini(latch) == 0);
	if (mine)
		leave();
}

static void handler(unsigned i)
{
	(void)i;
	count(1);
}

static void look(void)
{
	uint64_t w;

	if (gone || latch->flags == UINT32_MAX)
		return;
	w = model_peek(&latch->word);
	model_assert(latch_count(w) || !latch_sleepers(w));
	model_assert(latch_count(w) + begun >= latch_count(script()->word));
	model_assert(latch_count(w) + counted <= latch_count(script()->word));
	for (unsigned i = 0; i < MODEL_THREADS_MAX && !latch_count(w); i++)
		slept_beside[i] = slept_beside[i] || model_asleep(i);
}

/* Whoever sleeps, with or without a deadline, sleeps because the latch is closed. */
static void at_rest(void)
{
	/* Who waits for a copy to be mended looks again by itself. */
	if (gone || model_sleepers() > model_sleepers_on(&latch->word))
		return;
	model_assert(latch_count(model_peek(&latch->word)));
	model_assert(model_sleepers() <= latch_sleepers(model_peek(&latch->word)));
}

/* One who has opened it may be dead before his wake. Those who sleep have deadlines. */
static void at_rest_with_the_dead(void)
{
	if (!gates_deaths())
		at_rest();
}

static void end(void)
{
	if (!gone)
		free_all();
	model_assert(gates_deaths() || !final || final == script()->left);
}

#define PLAIN  .begin = begin, .thread = thread, .end = end, .always = look
#define COMMON PLAIN, .at_rest = at_rest
#define SCRIPT .script = &(const struct script)

const struct model_scenario gates_latch[] = {
	{ .name = "latch: two count, one waits",
	  .threads = 3,
	  COMMON,
	  .about = "it frees the latch while the others are still inside",
	  SCRIPT{ .role = { COUNTS, COUNTS, AWAITS },
		  .word = LATCH_WORD(2, 0),
		  .data = true,
		  .spins = ENGINE_EITHER },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ .name = "latch: nothing is touched late",
	  .threads = 2,
	  COMMON,
	  .about = "every access to the learned window is seen",
	  SCRIPT{ .role = { COUNTS, AWAITS },
		  .word = LATCH_WORD(1, 0),
		  .all_watched = true },
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 1000 } },
	{ .name = "latch: two wait",
	  .threads = 3,
	  COMMON,
	  .about = "one call wakes both",
	  SCRIPT{ .role = { COUNTS, AWAITS, AWAITS }, .word = LATCH_WORD(1, 0) },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ .name = "latch: asked",
	  .threads = 3,
	  COMMON,
	  .about = "what those who counted did is seen by who finds it open",
	  SCRIPT{ .role = { COUNTS, COUNTS, ASKS },
		  .word = LATCH_WORD(2, 0),
		  .data = true,
		  .counters_stay = true },
	  .search = { .bound = 2,
		      .weak_bound = 2,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 500 } },
	{ .name = "latch: two arrive",
	  .threads = 2,
	  COMMON,
	  .about = "the last need not wait, and has seen what the other did",
	  SCRIPT{ .role = { ARRIVES, ARRIVES }, .word = LATCH_WORD(2, 0), .data = true },
	  .search = { .bound = 2,
		      .weak_bound = 2,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 1000,
		      .runs_most = 5000 } },
	{ .name = "latch: the last to arrive",
	  .threads = 2,
	  COMMON,
	  .about = "it does not touch what a waiter may have freed",
	  SCRIPT{ .role = { ARRIVES, FINISHES },
		  .word = LATCH_WORD(1, 0),
		  .left = LATCH_WORD(IPCWAIT_LATCH_COUNT_MAX, UINT32_MAX) },
	  .search = { .bound = 2, .weak_bound = 1, .pct_depth = 3, .pct_runs = 500 } },
	{ .name = "latch: more than is left",
	  .threads = 3,
	  COMMON,
	  .about = "what is too much counts for nothing",
	  SCRIPT{ .role = { COUNTS_TWO, COUNTS_TWO, COUNTS },
		  .word = LATCH_WORD(4, 0),
		  .left = LATCH_WORD(1, 0),
		  .excess = true,
		  .counters_stay = true },
	  .search = { .bound = 3, .weak_bound = 2, .pct_depth = 3, .pct_runs = 500 } },
	{ .name = "latch: more than is left, with sleepers",
	  .threads = 3,
	  .begin = begin,
	  .thread = thread,
	  .end = end,
	  .always = look,
	  .about = "the same in the slow path",
	  SCRIPT{ .role = { COUNTS_TWO, COUNTS_TWO, COUNTS },
		  .word = LATCH_WORD(3, 7),
		  .left = LATCH_WORD(1, 7),
		  .excess = true,
		  .counters_stay = true },
	  .search = { .bound = 3, .weak_bound = 2, .pct_depth = 3, .pct_runs = 500 } },
	{ .name = "latch: any engine",
	  .threads = 2,
	  COMMON,
	  .about = "whatever it decides, the opening is what ends a wait",
	  SCRIPT{ .role = { COUNTS, AWAITS },
		  .word = LATCH_WORD(1, 0),
		  .spins = ENGINE_ANY },
	  .search = { .bound = 2, .pct_depth = 3, .pct_runs = 2000 } },
	{ .name = "latch: deadline beside a waiter",
	  .threads = 3,
	  COMMON,
	  .about = "who gives up takes nobody's wake along",
	  SCRIPT{ .role = { COUNTS, AWAITS, AWAITS_UNTIL },
		  .word = LATCH_WORD(1, 0),
		  .spins = ENGINE_EITHER },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 3000,
		      .runs_most = 5000 } },
	{ .name = "latch: two deadlines",
	  .threads = 3,
	  COMMON,
	  .about = "those who give up are counted no more",
	  SCRIPT{ .role = { COUNTS, AWAITS_UNTIL, AWAITS_UNTIL },
		  .word = LATCH_WORD(2, 0),
		  .left = LATCH_WORD(1, 0),
		  .counters_stay = true },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .pct_depth = 4,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ .name = "latch: deadline in the past",
	  .threads = 3,
	  COMMON,
	  .about = "who never slept takes nobody out of the count",
	  SCRIPT{ .role = { COUNTS, AWAITS, AWAITS_UNTIL },
		  .word = LATCH_WORD(1, 0),
		  .deadline_ns = -1 },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 1000,
		      .runs_most = 5000 } },
	{ .name = "latch: a handler counts",
	  .threads = 2,
	  COMMON,
	  .handler = handler,
	  .about = "anywhere in a wait or a count; no signal ends a wait",
	  SCRIPT{ .role = { COUNTS, AWAITS_UNTIL },
		  .word = LATCH_WORD(2, 0),
		  .left = LATCH_WORD(1, 0),
		  .spins = ENGINE_EITHER,
		  .excess = true,
		  .counters_stay = true },
	  .faults = { .signals = 1 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 2000,
		      .runs_most = 5000 } },
	{ .name = "latch: signals",
	  .threads = 2,
	  COMMON,
	  .about = "no signal ends a wait",
	  SCRIPT{ .role = { COUNTS, AWAITS }, .word = LATCH_WORD(1, 0) },
	  .faults = { .signals = 2 },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 500 } },
	{ .name = "latch: spurious returns",
	  .threads = 3,
	  COMMON,
	  .about = "a return of the kernel's means nothing",
	  SCRIPT{ .role = { COUNTS, AWAITS, AWAITS }, .word = LATCH_WORD(1, 0) },
	  .faults = { .spurious = 2 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .pct_depth = 4,
		      .pct_runs = 1000,
		      .runs_most = 5000 } },
	{ .name = "latch: sleeps on a timer",
	  .threads = 3,
	  COMMON,
	  .about = "a waiter withdraws, looks on and sleeps again",
	  SCRIPT{ .role = { COUNTS, AWAITS, AWAITS_UNTIL },
		  .word = LATCH_WORD(1, 0),
		  .spins = ENGINE_SPINS },
	  .faults = { .timers = 2 },
	  .search = { .bound = 1, .pct_depth = 4, .pct_runs = 3000, .runs_most = 5000 } },
	{ .name = "latch: private",
	  .threads = 3,
	  COMMON,
	  .about = "the private futex: waiter and waker agree on it",
	  SCRIPT{ .role = { COUNTS, AWAITS, AWAITS },
		  .word = LATCH_WORD(1, 0),
		  .flags = IPCWAIT_PRIVATE },
	  .search = { .bound = 1, .pct_depth = 3, .pct_runs = 300 } },
	{ .name = "latch: a copy",
	  .threads = 3,
	  COMMON,
	  .about = "the parent's waiters are in it",
	  SCRIPT{ .role = { COUNTS, AWAITS, AWAITS },
		  .word = LATCH_WORD(1, 2),
		  .flags = IPCWAIT_PRIVATE },
	  .search = { .bound = 1, .pct_depth = 3, .pct_runs = 300 } },
	{ .name = "latch: killed",
	  .threads = 4,
	  PLAIN,
	  .at_rest = at_rest_with_the_dead,
	  .process = { 0, 0, 1, 1 },
	  .mortal = 1,
	  .faults = { .kills = 1 },
	  .about = "a process dies at any moment; those with deadlines go on",
	  SCRIPT{ .role = { COUNTS, AWAITS, AWAITS_UNTIL, COUNTS },
		  .word = LATCH_WORD(2, 0),
		  .spins = ENGINE_EITHER,
		  .counters_stay = true },
	  .search = { .pct_depth = 4, .pct_runs = 3000 } },
	{ 0 },
};
