/* SPDX-License-Identifier: MIT */
/*
 * The futex wrapper, lib/sync/futex.c, in the ways it is meant to be used: a word that says what
 * there is to wait for, changed before the wake and looked at after every return.
 */
#include <errno.h>
#include <limits.h>

#include <ipcwait/futex.h>

#include "interleave/engine.h"
#include "interleave/model.h"

#define SOON_NS 500000

enum role {
	NOTHING,
	AWAITS,       /* until the word is not 0 */
	AWAITS_UNTIL, /* and gives up at a deadline */
	WAITS_ONCE,   /* one call, whatever comes of it */
	SETS,         /* 1, and wakes one */
	SETS_FOR_ALL, /* 1, and wakes all */
	WAKES,        /* one, with the word as it is */
	LOCKS, /* a lock of three states: 0 free, 1 taken, 2 taken and somebody sleeps */
};

struct script {
	enum role role[MODEL_THREADS_MAX];
	unsigned rounds; /* 0 is 1 */
	bool no_window;
	unsigned flags;
	enum engine_spins spins;
};

static struct shared {
	uint32_t word;
	uint32_t users;
	uint32_t data;
	struct ipcwait_window window;
} * shared;

/* Notes of the test's own. Volatile: in the middle of a function other coroutines change them. */
static volatile bool set, woken;

static const struct script *script(void)
{
	return model_script();
}

static void begin(void)
{
	const struct script *s = script();

	engine_spins = s->spins;
	set = woken = false;
	shared = model_alloc(sizeof(*shared));
	model_quiet(&shared->window, sizeof(shared->window));
	model_name(&shared->word, "word");
	model_name(&shared->users, "users");
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (s->role[i] != NOTHING && s->role[i] != SETS &&
		    s->role[i] != SETS_FOR_ALL)
			shared->users++;
}

static int wait(uint32_t expected, int64_t deadline_ns)
{
	const struct script *s = script();

	return ipcwait_futex_wait(&shared->word, expected, deadline_ns,
				  s->no_window ? NULL : &shared->window, s->flags);
}

static uint32_t load(void)
{
	return __atomic_load_n(&shared->word, __ATOMIC_ACQUIRE);
}

static void await(void)
{
	while (load() == 0) {
		int r = wait(0, IPCWAIT_FOREVER);

		model_assert(r == 0 || r == -EAGAIN);
	}
	model_assert(shared->data == 42);
}

static void await_until(void)
{
	int64_t deadline = model_now() + SOON_NS;
	int r = 0;

	while (load() == 0 && r != -ETIMEDOUT) {
		r = wait(0, deadline);
		model_assert(r == 0 || r == -EAGAIN || r == -ETIMEDOUT);
	}
	model_assert(r != -ETIMEDOUT || model_now() >= deadline);
}

/* The word is changed before the wake, and the wake may come after the memory has gone. */
static void change(unsigned count)
{
	uint32_t *word = &shared->word;
	unsigned flags = script()->flags;

	shared->data = 42;
	set = true;
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	model_assert(ipcwait_futex_wake(word, count, flags) >= 0);
}

/* Drepper, "Futexes are tricky" (2011), the second mutex. */
static void lock(void)
{
	uint32_t w = 0;

	if (__atomic_compare_exchange_n(&shared->word, &w, 1, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&shared->word, 2, __ATOMIC_ACQUIRE) != 0)
		(void)wait(2, IPCWAIT_FOREVER);
}

static void unlock(void)
{
	uint32_t *word = &shared->word;

	if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
		model_assert(ipcwait_futex_wake(word, 1, script()->flags) >= 0);
}

static void act(enum role role)
{
	switch (role) {
	case AWAITS:
		await();
		break;
	case AWAITS_UNTIL:
		await_until();
		break;
	case WAITS_ONCE:
		model_assert(wait(0, IPCWAIT_FOREVER) == 0);
		model_assert(woken);
		break;
	case SETS:
	case SETS_FOR_ALL:
		change(role == SETS ? 1 : INT_MAX);
		break;
	case WAKES:
		while (!model_sleepers())
			model_pause();
		ipcwait_window_stamp(&shared->window);
		woken = true;
		model_assert(ipcwait_futex_wake(&shared->word, 1, script()->flags) == 1);
		break;
	default:
		lock();
		shared->data++;
		unlock();
	}
}

static void thread(unsigned i)
{
	const struct script *s = script();

	for (unsigned n = 0; n < (s->rounds ? s->rounds : 1); n++)
		act(s->role[i]);
	if (s->role[i] != SETS && s->role[i] != SETS_FOR_ALL &&
	    __atomic_fetch_sub(&shared->users, 1, __ATOMIC_ACQ_REL) == 1)
		model_free(shared);
}

/* Nobody waits for a word that has been set and announced. */
static void at_rest(void)
{
	model_assert(!set);
}

#define COMMON .begin = begin, .thread = thread
#define SCRIPT .script = &(const struct script)

const struct model_scenario model_scenarios[] = {
	{ .name = "futex: a word is set",
	  .threads = 2,
	  COMMON,
	  .at_rest = at_rest,
	  .about = "the waiter sees what came before, and frees the memory before the wake",
	  SCRIPT{ .role = { AWAITS, SETS }, .spins = ENGINE_EITHER },
	  .search = { .bound = 4,
		      .weak_bound = 3,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 20000 } },
	{ .name = "futex: without a window",
	  .threads = 2,
	  COMMON,
	  .at_rest = at_rest,
	  .about = "the plain system call",
	  SCRIPT{ .role = { AWAITS, SETS }, .no_window = true },
	  .search = { .bound = 4,
		      .weak_bound = 3,
		      .stale = 2,
		      .pct_depth = 3,
		      .pct_runs = 20000 } },
	{ .name = "futex: three wait, one call",
	  .threads = 4,
	  COMMON,
	  .at_rest = at_rest,
	  .about = "a wake of all reaches whoever sleeps",
	  SCRIPT{ .role = { AWAITS, AWAITS, AWAITS, SETS_FOR_ALL } },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 2,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ .name = "futex: deadline and signal",
	  .threads = 3,
	  COMMON,
	  .at_rest = at_rest,
	  .about = "beside a wake; and a return for no reason",
	  SCRIPT{ .role = { AWAITS_UNTIL, AWAITS, SETS_FOR_ALL } },
	  .faults = { .signals = 1, .spurious = 1 },
	  .search = { .bound = 1,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ .name = "futex: a wake, the same word",
	  .threads = 2,
	  COMMON,
	  .about = "one wake ends a wait, whatever the word holds",
	  SCRIPT{ .role = { WAITS_ONCE, WAKES }, .spins = ENGINE_EITHER },
	  .search = { .bound = 3,
		      .weak_bound = 2,
		      .stale = 1,
		      .pct_depth = 3,
		      .pct_runs = 20000 } },
	{ .name = "futex: a lock of three states",
	  .threads = 3,
	  COMMON,
	  .about = "a user's own lock on it: exclusion, order, no waiter forgotten",
	  SCRIPT{ .role = { LOCKS, LOCKS, LOCKS } },
	  .search = { .bound = 2,
		      .weak_bound = 2,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ .name = "futex: that lock, spinning",
	  .threads = 2,
	  COMMON,
	  .about = "the same with spins and the private futex, twice",
	  SCRIPT{ .role = { LOCKS, LOCKS },
		  .rounds = 2,
		  .flags = IPCWAIT_PRIVATE,
		  .spins = ENGINE_EITHER },
	  .search = { .bound = 2,
		      .weak_bound = 1,
		      .stale = 1,
		      .pct_depth = 4,
		      .pct_runs = 40000 } },
	{ 0 },
};
