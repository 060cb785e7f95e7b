/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include <ipcwait/mutex.h>

#include "common/mutex_word.h"
#include "interleave/mutex_roles.h"
#include "os/life.h"

/* Long enough not to expire before somebody could run, in ns. */
#define SOON_NS 500000

/* More than all readings of the clock in an execution take, in ns. */
#define LATE_NS 300000

/* Longer than it takes until the first alarms, in ns. */
#define HELD_NS 8000000

/*
 * The longest time, in ns, for which one that naps leaves a free mutex beside sleepers, as long as
 * nobody holds it: its third nap. Each is twice as long as the last.
 */
#define NAP_NS 450000

/* No nap is longer, in ns. */
#define NAP_MOST_NS 1000000

#define KINDS (IPCWAIT_RECURSIVE | IPCWAIT_ERRORCHECK | IPCWAIT_ROBUST)

/* What threads share. */
static struct ipcwait_mutex *mutex;
static struct shared {
	uint32_t users;
	uint32_t first, second; /* alike, but while an owner changes them */
} * shared;

/* Notes of the test's own. Volatile: in the middle of a function other coroutines change them. */
static volatile bool gone;
static volatile unsigned inside; /* number + 1 of the owner between lock and unlock */
static volatile unsigned told;   /* how often somebody was told of a death */
static volatile unsigned idle;   /* how often a death left it free beside sleepers */
static volatile int64_t free_ns; /* since when it is free, and nobody can run */
static volatile int64_t began_ns[MODEL_THREADS_MAX]; /* to lock; 0: it does not */
static volatile bool slept[MODEL_THREADS_MAX];       /* since it began to lock */
static volatile bool held;                           /* by one that sleeps meanwhile */
static volatile bool lost;
static volatile uint64_t final; /* the word when the memory was freed */

static const struct mutex_script *script(void)
{
	return model_script();
}

static bool is_robust(void)
{
	return script()->flags & IPCWAIT_ROBUST;
}

void mutex_begin(void)
{
	const struct mutex_script *s = script();

	engine_spins = s->spins;
	model_same_ids = s->namespaces;
	model_id_again = s->id_again;
	gone = held = lost = false;
	free_ns = 0;
	inside = told = idle = 0;
	mutex = model_alloc(sizeof(*mutex));
	if (!s->all_watched)
		model_quiet(&mutex->window, sizeof(mutex->window));
	if (!s->all_watched && !is_robust())
		model_quiet(&mutex->note, sizeof(mutex->note));
	/* Two fields in four bytes, which are one to the checker; an owner writes the second. */
	if (s->flags & KINDS)
		model_quiet(&mutex->flags, sizeof(mutex->flags) + sizeof(mutex->count));
	model_name(&mutex->word, "mutex.word");
	model_name(&mutex->note, "mutex.note");
	model_assert(ipcwait_mutex_init(mutex, s->flags) == 0);
	mutex->word.v |= s->word;
	mutex->note.v |= s->pace;
	shared = model_alloc(sizeof(*shared));
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++) {
		shared->users += s->role[i] != NOTHING;
		began_ns[i] = 0;
	}
}

static void free_all(void)
{
	final = model_peek(&mutex->word);
	gone = true;
	model_free(mutex);
	model_free(shared);
}

static unsigned deaths(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		n += model_dead(i);
	return n;
}

/* It is not over too soon, nor much too late. */
static int lock_until(void)
{
	int64_t after = script()->deadline_ns ? script()->deadline_ns : SOON_NS;
	int64_t deadline = model_now() + after;
	int r = ipcwait_mutex_lock_until(mutex, deadline);

	model_assert(r != -ETIMEDOUT || model_now() >= deadline);
	model_assert(r != -ETIMEDOUT || !script()->punctual ||
		     model_now() < deadline + LATE_NS);
	return r;
}

/* Changes that two owners at a time, or one that died, would leave half done. */
static void change(void)
{
	model_assert(shared->first == shared->second);
	shared->first++;
	model_point();
	shared->second++;
}

/* Others run meanwhile, and alarms ring. */
static void sleep_for(int64_t ns)
{
	uint32_t nobody = 0;

	(void)model_futex_wait(&nobody, 0, model_now() + ns, true, UINT32_MAX);
}

static void hold(void)
{
	held = true;
	sleep_for(script()->held_ns ? script()->held_ns : HELD_NS);
	held = false;
}

/* Nobody else has waited since before the last alarm. */
static bool nobody_overdue(void)
{
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (i != model_thread() && began_ns[i] &&
		    model_now() - began_ns[i] > ALARM_NS + ALARM_NS / 25)
			return false;
	return true;
}

/* The caller owns it, with result @r of the lock. */
static void enter(int r, enum role role)
{
	model_assert(!lost);
	model_assert(!inside || (model_dead(inside - 1) && r == -EOWNERDEAD));
	inside = model_thread() + 1;
	model_assert(!script()->one_is_next || nobody_overdue());
	model_assert(!free_ns || deaths() || model_now() - free_ns < NAP_NS);
	if (slept[model_thread()] || !deaths())
		free_ns = 0;
	if (r == -EOWNERDEAD) {
		model_assert(is_robust());
		told++;
		lost = role == LOSES;
		if (lost)
			return;
		shared->second = shared->first;
		model_assert(ipcwait_mutex_consistent(mutex) == 0);
	}
	change();
	if (role == HOLDS)
		hold();
	if (role == DIES)
		model_die();
}

static void unlock(void)
{
	inside = 0;
	model_assert(ipcwait_mutex_unlock(mutex) == 0);
}

static void relock(void)
{
	unsigned flags = script()->flags;
	int r = ipcwait_mutex_lock(mutex);

	model_assert(r == (flags & IPCWAIT_RECURSIVE ? 0 : -EDEADLK));
	model_assert(ipcwait_mutex_trylock(mutex) ==
		     (flags & IPCWAIT_RECURSIVE ? 0 : -EBUSY));
	for (int n = flags & IPCWAIT_RECURSIVE ? 2 : 0; n; n--) {
		change();
		model_assert(ipcwait_mutex_unlock(mutex) == 0);
	}
}

/*
 * The caller needs the mutex no more; the last who does frees it at once. So it locks it first if
 * it is not the owner: the one before may still be inside.
 */
static void leave(bool owner)
{
	bool last = false;

	if (!script()->end_frees)
		last = __atomic_fetch_sub(&shared->users, 1, __ATOMIC_ACQ_REL) == 1;
	if (last && !owner)
		model_assert(ipcwait_mutex_lock(mutex) == 0);
	if (last || owner)
		unlock();
	if (last && script()->role[model_thread()] == FINISHES)
		model_assert(ipcwait_mutex_fini(mutex) == 0);
	if (last)
		free_all();
}

static int lock(enum role role)
{
	/* A stranger cannot unlock. */
	if (role == TRIES && script()->flags & KINDS)
		model_assert(ipcwait_mutex_unlock(mutex) == -EPERM);
	if (role == LOCKS_UNTIL)
		return lock_until();
	return role == TRIES ? ipcwait_mutex_trylock(mutex) : ipcwait_mutex_lock(mutex);
}

static bool may_fail(enum role role, int r)
{
	if (r == -ENOTRECOVERABLE)
		return lost;
	if (r == -EBUSY)
		return role == TRIES;
	return r == -ETIMEDOUT && role == LOCKS_UNTIL;
}

static void act(enum role role, bool last)
{
	bool owner;
	int r;

	slept[model_thread()] = false;
	began_ns[model_thread()] = model_now();
	r = lock(role);
	began_ns[model_thread()] = 0;
	owner = r == 0 || r == -EOWNERDEAD;
	model_assert(owner || may_fail(role, r));
	if (owner) {
		enter(r, role);
		if (role == RELOCKS)
			relock();
	}
	if (last)
		leave(owner);
	else if (owner)
		unlock();
}

void mutex_thread(unsigned i)
{
	const struct mutex_script *s = script();

	if (s->role[i] == NOTHING || (s->id_again && i && !model_dead(i - 1)))
		return;
	if (s->role[i] == LOCKS_LATE)
		sleep_for(s->later_ns);
	for (unsigned n = s->rounds && s->role[i] != HOLDS ? s->rounds : 1; n; n--)
		act(s->role[i], n == 1);
	/* It is not still that of the dead, which has had the same id. */
	model_assert(!s->id_again || !mutex_word_owner(model_peek(&mutex->word)));
}

/* What the table in <ipcwait/mutex.h> rules out. */
static void check_word(uint64_t w)
{
	model_assert(!(w & MUTEX_WORD_PROCESS) || script()->namespaces);
	model_assert(!(w & MUTEX_WORD_CHECKED) == !(script()->flags & KINDS));
	model_assert(mutex_word_owner(w) <=
		     (script()->flags & KINDS ? MODEL_THREADS_MAX : 1));
	if (!mutex_word_sleepers(w))
		model_assert(!(w & (MUTEX_WORD_WAKE | MUTEX_WORD_QUIET | MUTEX_WORD_URGENT |
				    MUTEX_WORD_PASSES)));
	model_assert(mutex_word_owner(w) || !(w & MUTEX_WORD_TIMED));
	if (w & MUTEX_WORD_LOST)
		model_assert(w & MUTEX_WORD_DIED && !mutex_word_owner(w));
	if (w & MUTEX_WORD_DIED)
		model_assert(is_robust());
}

/* Beside an owner stands its own birth or none: else it would be taken for dead. */
static void check_birth(uint64_t w)
{
	uint32_t began = (uint32_t)model_peek(&mutex->note) & IW_BIRTH_BEGAN;

	model_assert(!began || !mutex_word_owner(w) || began == mutex_word_owner(w) ||
		     script()->id_again);
}

void mutex_look(void)
{
	uint64_t w;

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		slept[i] = slept[i] || model_asleep(i);
	if (gone)
		return;
	w = model_peek(&mutex->word);
	check_word(w);
	if (is_robust())
		check_birth(w);
	model_assert(mutex_word_sleepers(w) >=
		     mutex_word_sleepers(script()->word) + model_sleepers_on(&mutex->word));
}

/* Naps are short, and end when they should. */
static bool prompt(void)
{
	const struct mutex_script *s = script();

	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (s->role[i] == HOLDS)
			return false;
	return model_patient() && !s->leaps && !s->word;
}

static bool somebody_naps(void)
{
	for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
		if (model_sleeps_until(i) <= model_now() + NAP_MOST_NS)
			return true;
	return false;
}

/*
 * If nobody holds it, whoever sleeps does so beside a free mutex. That is for one of them who naps,
 * and says so, to find soon.
 */
void mutex_at_rest(void)
{
	uint64_t w;

	if (gone || held)
		return;
	w = model_peek(&mutex->word);
	model_assert(!mutex_word_owner(w) && !(w & MUTEX_WORD_URGENT));
	model_assert((w & MUTEX_WORD_QUIET && somebody_naps()) ||
		     !model_sleepers_on(&mutex->word));
	if (prompt() && model_sleepers_on(&mutex->word) && !free_ns)
		free_ns = model_now();
}

/* Any thread may unlock a plain mutex. */
static void unlock_for_the_dead(void)
{
	inside = 0;
	shared->second = shared->first;
	model_assert(ipcwait_mutex_unlock(mutex) == 0);
}

/*
 * A process may have died. A plain mutex that it owned stays locked. What else it has left, the
 * first alarm puts right; but what was kept for it is so until another has waited as long.
 */
void mutex_rescue(void)
{
	uint64_t w = model_peek(&mutex->word);

	if (!deaths())
		mutex_at_rest();
	if (!deaths() || (held && !model_dead(inside - 1)))
		return;
	if (mutex_word_owner(w) && !is_robust())
		unlock_for_the_dead();
	if (mutex_word_owner(w) || !model_sleepers_on(&mutex->word))
		return;
	model_assert(!(w & MUTEX_WORD_LOST));
	if ((w & MUTEX_WORD_QUIET && somebody_naps()) || free_ns)
		return;
	free_ns = model_now();
	model_assert(idle++ < deaths());
}

/* Nothing of the living is left in the word. */
void mutex_end(void)
{
	uint64_t w = gone ? final : model_peek(&mutex->word);

	if (script()->role[0] != FINISHES)
		check_word(w);
	if (mutex_word_owner(w))
		model_assert(script()->flags & KINDS ? model_dead(mutex_word_owner(w) - 1)
						     : deaths());
	model_assert(mutex_word_sleepers(w) <=
		     mutex_word_sleepers(script()->word) + deaths());
	if (!deaths()) {
		model_assert(!(w & (MUTEX_WORD_OWNERS | MUTEX_WORD_SPINNER |
				    MUTEX_WORD_URGENT | MUTEX_WORD_DIED)));
	}
	model_assert(told <= deaths());
	if (!gone)
		free_all();
}
