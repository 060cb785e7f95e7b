/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include <ipcwait/rwlock.h>

#include "common/rwlock_word.h"
#include "interleave/rwlock_roles.h"
#include "engine/wake.h"

/* Long enough not to expire before somebody could run, in ns. */
#define SOON_NS 500000

/* Of lib/sync/rwlock_wait.c; a little more than the one, for the readings of the clock. */
#define DOUBT_NS    5000000
#define PATIENCE_NS 4100000

/* What threads share. */
static struct ipcwait_rwlock *lock;
static struct shared {
	uint32_t been; /* of the threads, so many had the lock or have given up */
	uint32_t data[2];
} * shared;

/*
 * Notes of the test's own. Volatile: in the middle of a function other coroutines change them.
 * Who holds the lock is seen in the word itself, at each of its changes.
 */
static volatile bool gone;
static volatile uint64_t seen;                           /* the word */
static volatile unsigned reading[MODEL_THREADS_MAX + 1]; /* how often thread i holds it */
static volatile unsigned writer;                         /* who does; NOBODY */
static volatile unsigned writes;                         /* that have begun */
static volatile unsigned made_way;                 /* times that waiting writers did */
static volatile bool waiting[MODEL_THREADS_MAX];   /* seen asleep in this wait ... */
static volatile unsigned begun[MODEL_THREADS_MAX]; /* ... when so many writes had begun */
static volatile bool asleep[MODEL_THREADS_MAX];    /* seen so, and not awake since */
static volatile bool forgotten[MODEL_THREADS_MAX]; /* by a roll call, and not awake since */
static volatile int64_t called_ns[MODEL_THREADS_MAX]; /* when its call began */
static volatile int64_t woken_ns; /* when whoever was last woken was stamped for */

#define NOBODY MODEL_THREADS_MAX

static const struct rwlock_script *script(void)
{
	return model_script();
}

static bool reads(enum role role)
{
	return role >= READS && role <= TRIES_READING;
}

static unsigned users(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		n += script()->role[i] != NOTHING;
	return n;
}

void rwlock_begin(void)
{
	const struct rwlock_script *s = script();

	engine_spins = s->spins;
	gone = false;
	seen = s->word;
	writer = NOBODY;
	writes = made_way = 0;
	woken_ns = 0;
	lock = model_alloc(sizeof(*lock));
	shared = model_alloc(sizeof(*shared));
	if (!s->all_watched)
		model_quiet(&lock->window, sizeof(lock->window));
	if (!s->all_watched)
		model_quiet(&lock->note, sizeof(lock->note));
	model_name(&lock->word, "rwlock.word");
	model_assert(ipcwait_rwlock_init(lock, s->flags) == 0);
	/* Of no process yet, as one that was made without a call. */
	lock->note.v = 0;
	(void)iw_stamp(&lock->window);
	model_elapse(s->age_ns);
	lock->word.v = s->word;
	lock->note.v |= s->pace;
	for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++)
		reading[i] = 0;
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		waiting[i] = asleep[i] = forgotten[i] = false;
}

static void free_all(void)
{
	gone = true;
	model_free(lock);
	model_free(shared);
}

/* In the lock. True for a writer after whom nobody comes. */
static bool be_there(enum role role)
{
	uint32_t before = __atomic_fetch_add(&shared->been, 1, __ATOMIC_ACQUIRE);

	return !reads(role) &&
	       before + 1 == users() * (script()->rounds ? script()->rounds : 1);
}

static void read_data(void)
{
	model_assert(shared->data[0] == shared->data[1]);
}

static void write_data(void)
{
	shared->data[0]++;
	shared->data[1]++;
}

/*
 * While a writer is overdue, and no readers have the turn, one that comes now has to wait until a
 * writer has been there or has given up. In weak memory it may not have seen them.
 */
static int read_lock(unsigned i, enum role role, int64_t deadline_ns)
{
	uint64_t w = model_peek(&lock->word);
	bool behind = w & WORD_URGENT && !word_is_readers_turn(w);
	unsigned before = writes + made_way;
	int r = role == READS_UNTIL     ? ipcwait_rwlock_rdlock_until(lock, deadline_ns)
		: role == TRIES_READING ? ipcwait_rwlock_tryrdlock(lock)
					: ipcwait_rwlock_rdlock(lock);

	if (r == 0 && behind)
		model_assert(writes + made_way != before);
	if (r == 0 && waiting[i])
		model_assert(writes - begun[i] <= 1);
	waiting[i] = false;
	return r;
}

static int write_lock(unsigned i, enum role role, int64_t deadline_ns)
{
	int r = role == WRITES_AT_ONCE  ? 0
		: role == WRITES_UNTIL  ? ipcwait_rwlock_wrlock_until(lock, deadline_ns)
		: role == TRIES_WRITING ? ipcwait_rwlock_trywrlock(lock)
					: ipcwait_rwlock_wrlock(lock);

	if (r == 0 && waiting[i])
		model_assert(writes - begun[i] <= 1);
	waiting[i] = false;
	return r;
}

static void end_life(enum role role)
{
	seen = model_peek(&lock->word);
	if (role == WRITES_AND_ENDS)
		model_assert(ipcwait_rwlock_fini(lock) == 0);
	free_all();
}

static void give_up(enum role role, int r, int64_t deadline_ns)
{
	if (role == READS_UNTIL || role == WRITES_UNTIL)
		model_assert(r == -ETIMEDOUT && model_now() >= deadline_ns);
	else if (role == TRIES_READING || role == TRIES_WRITING)
		model_assert(r == -EBUSY || (r == -EAGAIN && script()->full));
	else
		model_assert(r == -EAGAIN && script()->full);
	(void)__atomic_fetch_add(&shared->been, 1, __ATOMIC_RELEASE);
}

static void act(unsigned i, enum role role)
{
	int64_t after_ns = script()->deadline_ns ? script()->deadline_ns : SOON_NS;
	int64_t deadline_ns = model_now() + after_ns;
	int r;
	bool last;

	called_ns[i] = model_now();
	r = reads(role) ? read_lock(i, role, deadline_ns)
			: write_lock(i, role, deadline_ns);

	if (r) {
		give_up(role, r, deadline_ns);
		return;
	}
	last = be_there(role) && !script()->end_frees;
	if (reads(role))
		read_data();
	else
		write_data();
	model_assert(ipcwait_rwlock_unlock(lock) == 0);
	if (last)
		end_life(role);
}

void rwlock_thread(unsigned i)
{
	const struct rwlock_script *s = script();

	for (unsigned n = 0; n < (s->rounds ? s->rounds : 1); n++)
		if (s->role[i] != NOTHING)
			act(i, s->role[i]);
}

static bool is_free(uint64_t w)
{
	return !(w & WORD_WRITER) && !word_is_readers_turn(w) && !word_readers(w);
}

/* What the table calls never. What strangers have left is not counted right. */
static void look_at_word(uint64_t w)
{
	model_assert(w & WORD_WRITER || !(w & WORD_TIMED));
	if (w & WORD_WRITER)
		model_assert(!word_readers(w) && !word_is_readers_turn(w));
	if (w & (WORD_RWAKE | WORD_RURGENT))
		model_assert(word_rsleepers(w));
	if (w & (WORD_WAKE | WORD_URGENT | WORD_QUIET | WORD_NEXT))
		model_assert(word_wsleepers(w));
	if (is_free(w))
		model_assert(!(w & WORD_SPINNER));
	if (!(w & (WORD_WRITER | WORD_RWAKE)) && word_rsleepers(w))
		model_assert(w & WORD_URGENT);
}

/* A writer that spins makes a wake needless. */
static void check_wake(uint64_t was, uint64_t w)
{
	bool unlocks = is_free(w) && !is_free(was) && !word_is_readers_turn(was);

	if (unlocks && was & WORD_SPINNER && !(was & (WORD_URGENT | WORD_WAKE)))
		model_assert(!(w & WORD_WAKE));
}

/* How long ago somebody has last said that he is about to wake, in ns. */
static int64_t stamp_age_ns(void)
{
	uint32_t stamp = (uint32_t)model_peek(&lock->window.stamp);

	return (int64_t)(int32_t)((uint32_t)(model_now() >> 3) - stamp) * 8;
}

/* Nobody is doubted who has just been woken, by one who was not long about it. */
static void check_doubt(void)
{
	if (model_memory() != MODEL_WEAK)
		model_assert(model_now() - woken_ns >= DOUBT_NS - 16);
}

/* Somebody calls the roll: all rights of those who wait are forgotten. */
static void note_roll_call(uint64_t was, uint64_t w)
{
	model_assert(!(was & WORD_WRITER));
	model_assert(was & (WORD_RWAKE | WORD_WAKE));
	model_assert((w & ~WORD_EPOCH) == WORD(word_readers(was), 0, 0));
	check_doubt();
	made_way = made_way + 1;
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++) {
		waiting[i] = false;
		forgotten[i] = true;
	}
}

/* The current thread has changed the word from @was to @w. */
static void note_change(uint64_t was, uint64_t w)
{
	unsigned me = model_thread();

	if ((was ^ w) & WORD_EPOCH) {
		note_roll_call(was, w);
		return;
	}
	if (w & WORD_WRITER && !(was & WORD_WRITER)) {
		model_assert(is_free(was));
		/* Kept for one that was overdue, which takes the mark along. */
		model_assert(!(was & WORD_URGENT) || !(w & WORD_URGENT));
		writer = me;
		writes = writes + 1;
	} else if (was & WORD_WRITER && !(w & WORD_WRITER)) {
		/* All who slept are woken, but where a writer is overdue, and no reader. */
		model_assert(!word_rsleepers(was) || w & WORD_RWAKE ||
			     (w & WORD_URGENT && !(w & WORD_RURGENT)));
		writer = NOBODY;
	}
	if (w & ~was & (WORD_RWAKE | WORD_WAKE))
		woken_ns = model_now() - stamp_age_ns();
	if ((word_wsleepers(was) && !word_wsleepers(w)) ||
	    (word_is_readers_turn(w) && !word_is_readers_turn(was)) ||
	    (was & WORD_URGENT && !(w & WORD_URGENT)))
		made_way = made_way + 1;
	check_wake(was, w);
	reading[me] += word_readers(w) - word_readers(was);
	if (word_readers(w) > word_readers(was))
		model_assert(!(was & WORD_URGENT) || word_is_readers_turn(was));
	if (word_is_readers_turn(was) && !word_is_readers_turn(w))
		model_assert(!word_rsleepers(w) && word_rsleepers(was) <= 1);
}

/*
 * Thread @i falls asleep, and is overdue then: from now on one writer at most comes before it if it
 * is a reader, and none if it is a writer.
 */
static void note_sleep(unsigned i)
{
	bool late = model_now() - called_ns[i] >= PATIENCE_NS;

	if (!model_asleep(i)) {
		forgotten[i] = asleep[i] = false;
		return;
	}
	if (!asleep[i] && !forgotten[i] && !waiting[i] && script()->punctual && late) {
		waiting[i] = true;
		begun[i] = writes;
	}
	asleep[i] = true;
}

void rwlock_look(void)
{
	uint64_t w;

	if (gone)
		return;
	w = model_peek(&lock->word);
	if (w != seen) {
		look_at_word(w);
		note_change(seen, w);
		seen = w;
	}
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		note_sleep(i);
}

/*
 * A thread that sleeps cannot have it. One that is unpublished, since it could not be counted, will
 * look by itself, as one that naps.
 */
void rwlock_at_rest(void)
{
	uint64_t w = model_peek(&lock->word);

	if (gone || model_sleepers() > model_sleepers_on(&lock->word))
		return;
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++) {
		if (script()->role[i] == NOTHING || !model_asleep(i))
			continue;
		if (reads(script()->role[i]))
			model_assert(w & WORD_WRITER ||
				     (w & WORD_URGENT && !word_is_readers_turn(w)));
		else
			model_assert(!is_free(w) || w & WORD_QUIET);
	}
}

/* What the dead held is given back by somebody who knows what they did with it. */
void rwlock_died(unsigned process)
{
	(void)process;
	rwlock_look();
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++) {
		if (!model_dead(i) || gone)
			continue;
		if (writer == i)
			model_assert(ipcwait_rwlock_wrunlock(lock) == 0);
		for (; reading[i]; reading[i] = reading[i] - 1)
			model_assert(ipcwait_rwlock_rdunlock(lock) == 0);
		writer = writer == i ? NOBODY : writer;
		made_way = made_way + 1;
		seen = model_peek(&lock->word);
	}
}

static unsigned deaths(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		n += model_dead(i);
	return n;
}

/* Nothing is left of those who came back. */
void rwlock_end(void)
{
	uint64_t w = gone ? seen : model_peek(&lock->word);

	if (!deaths() && !script()->strangers)
		model_assert((w & ~WORD_EPOCH) == script()->left);
	if (!deaths())
		model_assert(!(w & (WORD_URGENT | WORD_RURGENT | WORD_SPINNER | WORD_NEXT |
				    WORD_QUIET)));
	model_assert(!(w & WORD_WRITER) || script()->left & WORD_WRITER);
	model_assert(word_readers(w) == word_readers(script()->left));
	if (!gone)
		free_all();
}
