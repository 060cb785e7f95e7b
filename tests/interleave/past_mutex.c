/* SPDX-License-Identifier: MIT */
#include "interleave/past.h"

void lock_take(struct lock *l)
{
	uint32_t seen = 0;

	if (atomic_compare_exchange_strong(&l->word, &seen, 1))
		return;
	while (atomic_exchange(&l->word, 2))
		sleep_while(&l->word, 2);
}

void lock_give(struct lock *l)
{
	if (atomic_exchange(&l->word, 0) == 2)
		wake(&l->word, 1);
}

/* Whoever holds it counts itself out; the last one frees what holds the lock. */
static bool last_user(unsigned *users)
{
	return --*users == 0;
}

/*
 * The lost flag. A sleeper that was woken takes the mutex as if nobody else slept: its unlock
 * wakes nobody. The plain form of what glibc 20973 was for robust mutexes.
 */
enum { FREE, TAKEN, CROWDED };

struct flagged {
	_Atomic uint32_t word;
	unsigned users;
};

static struct flagged *flagged;

static void flag_begin(void)
{
	flagged = model_alloc(sizeof(*flagged));
	model_name(&flagged->word, "mutex");
	flagged->users = 3;
}

static void flag_take(void)
{
	uint32_t mine = TAKEN, seen = FREE;

	while (!atomic_compare_exchange_strong(&flagged->word, &seen, mine)) {
		if (seen == CROWDED ||
		    atomic_compare_exchange_strong(&flagged->word, &seen, CROWDED)) {
			sleep_while(&flagged->word, CROWDED);
			if (repaired())
				mine = CROWDED;
		}
		seen = FREE;
	}
}

static void flag_thread(unsigned i)
{
	bool last;

	(void)i;
	flag_take();
	last = last_user(&flagged->users);
	if (atomic_exchange(&flagged->word, FREE) == CROWDED)
		wake(&flagged->word, 1);
	if (last)
		model_free(flagged);
}

/*
 * glibc 13690. Unlock looks up in the mutex what kind of wake is due after it has released it.
 * By then the next owner may have been the last one, and have freed it.
 */
struct kind {
	struct lock lock;
	uint32_t shared;
	unsigned users;
};

static struct kind *kind;

static void kind_begin(void)
{
	kind = model_alloc(sizeof(*kind));
	model_name(&kind->lock, "mutex");
	model_name(&kind->shared, "shared");
	kind->users = 2;
}

static void kind_thread(unsigned i)
{
	bool last;
	uint32_t shared;

	(void)i;
	lock_take(&kind->lock);
	last = last_user(&kind->users);
	shared = kind->shared;
	if (atomic_exchange(&kind->lock.word, 0) == 2)
		(void)model_futex_wake((const void *)&kind->lock.word, 1,
				       repaired() ? shared : kind->shared, UINT32_MAX);
	if (last)
		model_free(kind);
}

/*
 * The class of glibc 23844. A reader asks in the phase word to be woken when the writer is
 * done; the try-lock of the writer sets that word by a plain store, over the request.
 */
enum { WRITING = 1, ASKED = 2 };

struct phase {
	_Atomic uint32_t taken;
	_Atomic uint32_t word;
};

static struct phase *phase;

static void phase_begin(void)
{
	phase = model_alloc(sizeof(*phase));
	model_name(&phase->taken, "taken");
	model_name(&phase->word, "phase");
}

static void phase_try_write(void)
{
	uint32_t seen = 0;

	if (!atomic_compare_exchange_strong(&phase->taken, &seen, 1))
		return;
	if (repaired())
		atomic_fetch_or(&phase->word, WRITING);
	else
		atomic_store(&phase->word, WRITING);
	atomic_store(&phase->taken, 0);
	if (atomic_exchange(&phase->word, 0) & ASKED)
		wake(&phase->word, UINT32_MAX);
}

static void phase_read(void)
{
	while (atomic_load(&phase->taken)) {
		uint32_t asked = atomic_fetch_or(&phase->word, ASKED) | ASKED;

		if (atomic_load(&phase->taken))
			sleep_while(&phase->word, asked);
	}
}

static void phase_thread(unsigned i)
{
	if (i == 0)
		phase_try_write();
	else
		phase_read();
}

static void phase_end(void)
{
	model_free(phase);
}

const struct model_scenario past_mutex[] = {
	{ .name = "lost flag",
	  .threads = 3,
	  .about = "a sleeper that was woken takes the mutex without the flag for others",
	  .begin = flag_begin,
	  .thread = flag_thread,
	  .search = { .bound = 2, .weak_bound = 2 },
	  .expect = { MODEL_DEADLOCK, MODEL_DEADLOCK, MODEL_DEADLOCK } },
	{ .name = "lost flag, repaired",
	  .threads = 3,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = flag_begin,
	  .thread = flag_thread,
	  .search = { .bound = 2, .weak_bound = 2 } },
	{ .name = "glibc 13690",
	  .threads = 2,
	  .about = "unlock reads the mutex after it has released it",
	  .begin = kind_begin,
	  .thread = kind_thread,
	  .search = { .bound = 2, .weak_bound = 2 },
	  .expect = { MODEL_RACE, MODEL_RACE, MODEL_RACE } },
	{ .name = "glibc 13690, repaired",
	  .threads = 2,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = kind_begin,
	  .thread = kind_thread,
	  .search = { .bound = 2, .weak_bound = 2 } },
	{ .name = "glibc 23844",
	  .threads = 2,
	  .about = "a try-lock stores over the flag of a reader that sleeps",
	  .begin = phase_begin,
	  .thread = phase_thread,
	  .end = phase_end,
	  .search = { .bound = 2, .weak_bound = 2 },
	  .expect = { MODEL_DEADLOCK, MODEL_DEADLOCK, MODEL_DEADLOCK } },
	{ .name = "glibc 23844, repaired",
	  .threads = 2,
	  .about = REPAIRED,
	  .script = &past_repaired,
	  .begin = phase_begin,
	  .thread = phase_thread,
	  .end = phase_end,
	  .search = { .bound = 2, .weak_bound = 2 } },
	{ 0 },
};
